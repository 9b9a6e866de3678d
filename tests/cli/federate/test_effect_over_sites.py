"""`dagora federate effect`: the question in the plan, the answer of the pooled rows, the log, and refusals."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.data.partition import split_rows
from dagora.data.writers import write_table
from dagora.network.greenhouse import greenhouse
from dagora.parties.horizontal.policy.policy_file import CODEBOOK_NAME
from tests.cli.federate.consortium import (
    COORDINATOR,
    Play,
    Troupe,
    agree_on,
    client_line,
    coordinator_line,
    log_of,
)
from tests.conftest import Ran
from tests.parties.unhurried import take_time

SITES = ("east", "north", "south")


@pytest.fixture(scope="module")
def garden_graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("graph") / "graph.json"
    dagora.write_graph(greenhouse().graph, file)
    return file


def effect_line(keys: Path, *arguments: object) -> list[str]:
    return coordinator_line(keys, *arguments, sites=SITES, command="effect")


def dealt(file: Path, folder: Path) -> dict[str, Path]:
    """The rows of a table at three sites."""
    for site, part in zip(SITES, split_rows(dagora.read_table(file), 3, seed=2), strict=True):
        write_table(part, folder / f"{site}.csv")
    return {site: folder / f"{site}.csv" for site in SITES}


def ask(keys: Path, files: dict[str, Path], *arguments: object) -> dict[str, Ran]:
    clients = {site: client_line(keys, site, files[site]) for site in SITES}
    return Play()(effect_line(keys, *arguments), clients)


def agree(keys: Path, tables: list[Path], changes: dict[str, dict[str, object]] | None = None) -> None:
    """Tables of four columns are allowed, except for those of the changes."""
    wide = {"columns_per_table": 4}
    agree_on(keys, tables, SITES, {site: {**wide, **(changes or {}).get(site, {})} for site in SITES})
    set_columns(keys, 4)


def set_columns(keys: Path, columns: int) -> None:
    """Let the codebook say how many columns a table has at most."""
    codebook = keys / COORDINATOR / CODEBOOK_NAME
    found = re.sub(r"columns_per_table = \d+", f"columns_per_table = {columns}", codebook.read_text())
    codebook.write_text(found)


QUESTION = ("--from", "heating", "--to", "harvest=late")


def test_the_answer_is_that_of_pooled_rows(
    run: Callable,
    keys: Path,
    garden: Path,
    garden_graph: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    take_time(monkeypatch)
    files = dealt(garden / "garden.csv", tmp_path)
    agree(keys, list(files.values()))
    question = (*QUESTION, "--graph", garden_graph)
    ended = ask(keys, files, *question, "-o", tmp_path / "effect.json")
    assert {name: ran.code for name, ran in ended.items()} == dict.fromkeys((COORDINATOR, *SITES), 0)
    pooled = run("effect", garden / "garden.csv", *question)
    assert ended[COORDINATOR].out == pooled.out
    assert json.loads((tmp_path / "effect.json").read_text())["adjustment"] == ["season", "light"]
    written = run("federate", "log", keys / "east").out
    assert "accepted a plan for effect over 4 columns with east, north, south, on 1000 rows" in written
    assert (
        "the question, as the coordinator words it: heating=on instead of off, on P(harvest=late)" in written
    )
    assert "counts of these tables and no others: season × heating × light × harvest" in written
    assert "into the sum: counts of 1 table (season × heating × light × harvest), 36 cells" in written


def test_numbers_are_regressed(
    run: Callable, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_time(monkeypatch)
    rng = np.random.default_rng(1)
    z = rng.standard_normal(600)
    x = z + rng.standard_normal(600)
    y = x - z + rng.standard_normal(600) * (1 + np.abs(x))
    table = dagora.Table.from_numpy(np.column_stack([z, x, y]), names=["z", "x", "y"])
    write_table(table, tmp_path / "all.csv")
    dagora.write_graph(dagora.DAG("zxy", [("z", "x"), ("z", "y"), ("x", "y")]), tmp_path / "g.json")
    files = dealt(tmp_path / "all.csv", tmp_path)
    agree(keys, [tmp_path / "all.csv"])
    question = ("--from", "x", "--to", "y", "--graph", tmp_path / "g.json")
    ended = ask(keys, files, *question, "--json")
    assert ended[COORDINATOR].code == 0, ended
    found = json.loads(ended[COORDINATOR].out)["estimates"]["difference"]
    known = json.loads(run("effect", tmp_path / "all.csv", *question, "--json").out)["estimates"][
        "difference"
    ]
    assert found == pytest.approx(known, rel=0.01)
    written = run("federate", "log", keys / "north").out
    assert "sums of products of up to four columns of regressions: y on z + x" in written
    assert "into the sum: products of up to four columns of y × z × x, 105 numbers" in written
    assert log_of(keys, "north")[-2]["asks"] == "fourth"


def test_a_policy_decides(
    keys: Path, garden: Path, garden_graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_time(monkeypatch)
    files = dealt(garden / "garden.csv", tmp_path)
    agree(keys, list(files.values()), {"north": {"methods": ("tabu",)}})
    ended = ask(keys, files, *QUESTION, "--graph", garden_graph)
    assert ended["north"].code == 2
    assert "(methods): the plan is for the method effect" in ended["north"].err
    assert ended[COORDINATOR].code == 1
    agree(keys, list(files.values()), {"north": {"methods": ("effect",)}})
    assert ask(keys, files, *QUESTION, "--graph", garden_graph)[COORDINATOR].code == 0


def test_a_plan_can_be_looked_at_first(
    run: Callable, keys: Path, garden: Path, garden_graph: Path, tmp_path: Path
) -> None:
    files = dealt(garden / "garden.csv", tmp_path)
    agree(keys, list(files.values()))
    plan = tmp_path / "plan.json"
    assert run(*effect_line(keys, *QUESTION, "--graph", garden_graph, "--write-plan", plan)).code == 0
    tried = run("federate", "client", files["east"], "--keys", keys / "east", "--dry-run", plan)
    assert tried.code == 0
    assert "counts of these tables and no others: season × heating × light × harvest" in tried.out
    assert tried.out.endswith("this site's policy allows it\n")


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        (("--from", "heating", "--to", "heating"), "'heating' cannot be both set and the outcome"),
        (("--from", "heat", "--to", "harvest"), "there is no column named 'heat'"),
        (("--from", "season", "--to", "harvest"), "say which two to compare (--levels)"),
        (("--from", "heating", "--to", "harvest", "--given", "soil"), "--given takes NAME=LEVEL"),
    ],
)
def test_bad_questions_get_one_line(
    run: Callable, keys: Path, garden: Path, garden_graph: Path, asked: tuple[str, ...], line: str
) -> None:
    agree(keys, [garden / "garden.csv"])
    ran = run(*effect_line(keys, *asked, "--graph", garden_graph))
    assert ran.code == 2
    assert line in ran.err
    assert ran.err.count("\n") == 1


def test_too_large_a_table_is_refused_before_anybody_is_asked(
    run: Callable, keys: Path, garden: Path, garden_graph: Path
) -> None:
    agree(keys, [garden / "garden.csv"])
    set_columns(keys, 3)
    ran = run(*effect_line(keys, *QUESTION, "--graph", garden_graph, "--wait", 5))
    assert ran.code == 2
    assert "has 4 columns, and 3 are allowed (columns_per_table of the codebook)" in ran.err


@pytest.mark.full
def test_real_processes_over_tls(
    run: Callable, keys: Path, garden: Path, garden_graph: Path, tmp_path: Path
) -> None:
    files = dealt(garden / "garden.csv", tmp_path)
    agree(keys, list(files.values()))
    question = (*QUESTION, "--graph", garden_graph)
    with Troupe(keys) as troupe:
        troupe.begin(files, *question, command="effect")
        ended = troupe.end()
    assert {name: ran.code for name, ran in ended.items()} == dict.fromkeys((COORDINATOR, *SITES), 0)
    assert ended[COORDINATOR].out == run("effect", garden / "garden.csv", *question).out
