"""`dagora learn --bootstrap`: the table, the files, and what it refuses."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dagora
from dagora.cli.posterior_outputs import strength_lines
from dagora.data.writers import write_table
from dagora.graph.dag import DAG
from dagora.network.greenhouse import greenhouse
from dagora.network.sample import sample_network

Invoke = Callable[..., Any]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("bootstrap") / "plants.csv"
    write_table(sample_network(greenhouse(), 300, seed=5), path)
    return str(path)


def test_prints_strengths_beside_the_graph(run: Invoke, table: str) -> None:
    plain = run("learn", table, "-m", "hill-climb")
    found = run("learn", table, "-m", "hill-climb", "--bootstrap", "10")
    assert found.code == 0, found.err
    graph = [line for line in plain.out.splitlines() if line.startswith("  ")]
    assert set(graph) <= set(found.out.splitlines()), "the graph is that of all rows"
    assert "strengths: 10 samples of as many rows, drawn with replacement" in found.out
    rows = found.out[found.out.index("either way") :].splitlines()[1:]
    shares = [float(row.split()[-3]) for row in rows if row[2:].count("→")]
    assert shares == sorted(shares, reverse=True)
    assert len([row for row in rows if row.startswith("* ") and "→" in row]) == len(graph)


def test_files_hold_the_strengths(run: Invoke, table: str, tmp_path: Path) -> None:
    truth = tmp_path / "truth.json"
    dagora.write_graph(greenhouse().graph, truth)
    page, file, kept = (tmp_path / name for name in ("page.html", "graph.json", "samples.npz"))
    line = ["learn", table, "-m", "pc", "--bootstrap", "6", "--truth", str(truth), "--json"]
    line += ["--report", str(page), "-o", str(file), "--checkpoint", str(kept)]
    found = json.loads(run(*line).out)
    again = found["bootstrap"]
    assert (again["samples"], again["resample"]) == (6, "halves")
    assert again["expected"]["cpdag"]["shd"] > 0
    assert json.loads(file.read_text(encoding="utf-8"))["bootstrap"]["strengths"] == again["strengths"]
    assert "6 of them from a file" in json.loads(run(*line).out)["bootstrap"]["message"]
    text = page.read_text(encoding="utf-8")
    assert "What most samples agree on" in text
    assert "share of samples" in text
    assert "half of the rows, drawn without replacement" in text


def test_a_report_on_strengths_alone(tmp_path: Path) -> None:
    data = sample_network(greenhouse(), 300, seed=5)
    strengths = dagora.bootstrap(data, "hill-climb", samples=5)
    dagora.write_report(strengths, tmp_path / "page.html", truth=greenhouse().graph, source="plants")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Strengths of edges given plants" in text
    assert "in the truth" in text
    without_time = dagora.bootstrap(data, "hill-climb", samples=5, time_limit=1e-9)
    dagora.write_report(without_time, tmp_path / "page.html")
    assert "0 samples" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--bootstrap", "1"], "1 is not in the range x>=2"),
        (["--bootstrap", "0"], "0 is not in the range x>=2"),
        (["--bootstrap", "100000000000"], "a whole number from 2 to 1000000, not 100000000000"),
        (["--resample", "halves"], "--resample goes with --bootstrap"),
        (["--checkpoint", "x.npz"], "--checkpoint goes with --bootstrap"),
        (["--bootstrap", "5", "--resample", "thirds"], "'thirds' is not one of"),
        (["--bootstrap", "5", "--checkpoint", "no/such/x.npz"], "there is no folder"),
    ],
)
def test_refuses_in_one_line(run: Invoke, table: str, given: list[str], said: str) -> None:
    found = run("learn", table, *given)
    assert found.code == 2
    assert said in found.err


def test_a_time_limit_is_for_both(run: Invoke, table: str) -> None:
    found = run("learn", table, "-m", "hill-climb", "--bootstrap", "100000", "--time-limit", "1", "--json")
    content = json.loads(found.out)
    assert found.code == 0
    assert content["bootstrap"]["status"] in {"time-limit", "failed"}
    assert content["edges"] or content["status"] == "time-limit"
    assert "time limit of 1 s was reached before 100000 samples" in content["bootstrap"]["message"]


@pytest.mark.parametrize("turned", [False, True])
def test_the_more_frequent_direction_is_printed(turned: bool) -> None:
    edges, compelled = np.array([[0, 0.25], [0.75, 0]]), np.array([[0, 0.1], [0.2, 0]])
    found = SimpleNamespace(
        nodes=("a", "b"),
        adjacency_frequency=np.array([[0, 1.0], [1.0, 0]]),
        edge_frequency=edges.T if turned else edges,
        compelled_frequency=compelled.T if turned else compelled,
    )
    line = strength_lines(found, DAG("ab", [("a", "b")]))[1]
    assert line.split() == ["*", *("a → b" if turned else "b → a").split(), "1.000", "0.750", "0.200"]
