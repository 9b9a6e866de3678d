"""Weights and counts by the commands: the sites name their columns, the policies and the log say so."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dagora.parties.horizontal.policy.policy_file import CODEBOOK_NAME, POLICY_NAME, read_policy
from tests.cli.federate.consortium import COORDINATOR, Play, client_line, coordinator_line, only_line

SITES = ("north", "south", "west")


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """A file with dependent numbers, a weight and a number of rows; its parts lie beside it."""
    random = np.random.default_rng(3)
    x = random.normal(size=(4, 240))
    x[2] += x[0]
    x[3] += x[1] - x[2]
    frame = pd.DataFrame(x.T, columns=list("abcd")).round(6)
    frame["w"] = random.gamma(2.0, 1.0, 240).round(3)
    frame["n"] = random.integers(0, 4, 240)
    frame.to_csv(tmp_path / "all.csv", index=False)
    for place, site in enumerate(SITES):
        frame.iloc[place::3].to_csv(tmp_path / f"{site}.csv", index=False)
    return tmp_path / "all.csv"


@pytest.fixture
def keys(run: Callable, tmp_path: Path) -> Path:
    """The folder that `dagora federate keys` makes."""
    assert run("federate", "keys", tmp_path / "keys", "--sites", ",".join(SITES)).code == 0
    return tmp_path / "keys"


def alone(keys: Path, file: Path, *arguments: object) -> list[str]:
    """A client that would find nobody."""
    line = client_line(keys, "north", file, *arguments)
    return ["127.0.0.1:1" if part == "ADDRESS" else part for part in line]


def clients(keys: Path, rows: Path, *arguments: object) -> dict[str, list[str]]:
    return {site: client_line(keys, site, rows.with_name(f"{site}.csv"), *arguments) for site in SITES}


def test_weights_by_the_commands_give_the_graph_of_the_pooled_rows(
    run: Callable, keys: Path, rows: Path
) -> None:
    ran = run("federate", "policy", "init", rows, "--keys", keys, "--weights", "w", "--drop", "n")
    assert ran.code == 0, ran.err
    policy = read_policy(keys / "north" / POLICY_NAME, [])
    assert policy.questions == ("moments", "weights")
    assert policy.codebook.largest_weight > pd.read_csv(rows)["w"].max()
    assert (
        f"largest_weight = {policy.codebook.largest_weight}"
        in (keys / COORDINATOR / CODEBOOK_NAME).read_text()
    )
    checked = run("federate", "policy", "check", keys / "north" / POLICY_NAME, rows, "--weights", "w")
    assert checked.code == 0, checked.err
    assert f"rows with weights of at most {policy.codebook.largest_weight:g}" in checked.out
    line = coordinator_line(keys, "--method", "tabu", "--json", sites=SITES)
    ended = Play()(line, clients(keys, rows, "--weights", "w"))
    assert {name: one.code for name, one in ended.items()} == dict.fromkeys(ended, 0), ended
    found = json.loads(ended[COORDINATOR].out)
    pooled = json.loads(run("learn", rows, "--weights", "w", "--drop", "n", "--method", "tabu", "--json").out)
    assert found["edges"] == pooled["edges"]
    assert found["score"] == pytest.approx(pooled["score"], rel=1e-5)
    assert found["stats"]["effective_rows"] == pooled["stats"]["effective_rows"]
    told = run("federate", "log", keys / "north").out
    assert "rows count by their weights, of at most" in told
    assert "into the sum: the weights of rows, and their squares, 3 numbers" in told


def test_a_client_without_its_weights_is_refused_before_it_connects(
    run: Callable, keys: Path, rows: Path
) -> None:
    assert run("federate", "policy", "init", rows, "--keys", keys, "--weights", "w", "--drop", "n").code == 0
    lacking = run(*alone(keys, rows))
    assert lacking.code == 2
    assert "--weights says which column of this table has the weights" in only_line(lacking)
    larger = rows.with_name("larger.csv")
    frame = pd.read_csv(rows)
    frame.assign(w=frame["w"] * 3).to_csv(larger, index=False)
    assert "agree on a larger one" in only_line(run(*alone(keys, larger, "--weights", "w")))
    assert run("federate", "policy", "init", rows, "--keys", keys, "--drop", "n,w", "--overwrite").code == 0
    needless = run(*alone(keys, rows, "--weights", "w"))
    assert "rows count alike by the codebook, and these have weights" in only_line(needless)


def test_a_policy_refuses_a_plan_that_weighs_otherwise(run: Callable, keys: Path, rows: Path) -> None:
    assert run("federate", "policy", "init", rows, "--keys", keys, "--weights", "w", "--drop", "n").code == 0
    book = keys / COORDINATOR / CODEBOOK_NAME
    weight = read_policy(keys / "north" / POLICY_NAME, []).codebook.largest_weight
    book.write_text(book.read_text().replace(f"largest_weight = {weight}", "largest_weight = 100.0"))
    plan = keys / "plan.json"
    line = ("federate", "coordinator", "--keys", keys / COORDINATOR, "--method", "tabu", "--write-plan", plan)
    assert run(*line).code == 0
    ran = run("federate", "client", rows, "--keys", keys / "north", "--weights", "w", "--dry-run", plan)
    assert ran.code == 2
    assert "(largest_weight): the plan weighs rows up to 100" in ran.err
    vote = run(
        "federate", "coordinator", "--keys", keys / COORDINATOR, "--method", "vote", "--write-plan", plan
    )
    assert vote.code == 2
    assert "the method vote over sites takes every row for one" in only_line(vote)
    for what in ("effect", "coordinator"):
        more = ("--from", "a", "--to", "c", "--graph", keys / "g.json") if what == "effect" else ("--privacy", "epsilon=1")  # fmt: skip
        (keys / "g.json").write_text('{"nodes": ["a", "c"], "edges": [["a", "c"]]}')
        refused = run("federate", what, "--keys", keys / COORDINATOR, *more, "--write-plan", plan)
        assert refused.code == 2
        assert "takes every row for one" in only_line(refused)


@pytest.mark.parametrize("column", [("--weights", "w", "--drop", "n"), ("--counts", "n", "--drop", "w")])
@pytest.mark.parametrize("way", [("--in-memory",), pytest.param((), marks=pytest.mark.full)])
def test_simulate_with_weights_and_counts(run: Callable, rows: Path, column: tuple, way: tuple) -> None:
    ran = run("federate", "simulate", rows, "--parties", 3, "--method", "tabu", "--json", *column, *way)
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    pooled = json.loads(run("learn", rows, "--method", "tabu", "--json", *column).out)
    assert found["edges"] == pooled["edges"]
    assert found["stats"].get("effective_rows") == pooled["stats"].get("effective_rows")
