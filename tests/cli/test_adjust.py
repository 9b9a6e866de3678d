"""`dagora adjust`: the answer in words and as JSON, the class that a learned network knows, and bad input."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import dagora


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    dagora.write_graph(dagora.DAG("abcmy", ["ca", "cb", "by", "am", "my"]), tmp_path / "graph.json")
    return tmp_path / "graph.json"


def test_words_and_sets(run: Callable, graph: Path) -> None:
    ran = run("adjust", graph, "--from", "a", "--to", "y", "--set", "c", "--all")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "the effect of 'a' on 'y' is identified by adjustment",
        "adjust for: b (least variance)",
        "never adjust for: m",
        "c: a valid set",
        "valid: c",
        "valid: b",
    ]


def test_names_with_commas(run: Callable, tmp_path: Path) -> None:
    """Each is a whole, and others may stand in a list beside it."""
    names = ["a", "c, old", "c, new", "d", "y"]
    edges = [(name, other) for name in names[1:4] for other in ("a", "y")]
    dagora.write_graph(dagora.DAG(names, [*edges, ("a", "y")]), tmp_path / "g.json")
    line = ("adjust", tmp_path / "g.json", "--from", "a", "--to", "y", "--json")
    ran = run(*line, "--set", "c, old", "--set", "d", "--set", "c, new")
    assert json.loads(ran.out)["set"] == {"names": ["c, old", "d", "c, new"], "valid": True}
    ran = run(*line, "--set", "d,a")
    assert json.loads(ran.out)["set"] == {"names": ["d", "a"], "valid": False}
    assert "set" not in json.loads(run(*line).out)
    assert json.loads(run(*line, "--set", "").out)["set"] == {"names": [], "valid": False}


def test_json(run: Callable, graph: Path) -> None:
    ran = run("adjust", graph, "--from", "a", "--to", "y", "--set", "m", "--all", "--json")
    content = json.loads(ran.out)
    assert content["verdict"] == "adjustment"
    assert content["optimal"] == ["b"]
    assert content["set"] == {"names": ["m"], "valid": False}
    assert content["minimal_sets"] == [["c"], ["b"]]


def test_all_pairs(run: Callable, graph: Path, tmp_path: Path) -> None:
    """Each line is the answer about its pair alone."""
    assert "b on y: adjust for m" in run("adjust", graph, "--all-pairs").out.splitlines()
    ran = run("adjust", graph, "--all-pairs", "-o", tmp_path / "sets.csv", "--json")
    answers = json.loads(ran.out)["pairs"]
    rows = list(csv.DictReader((tmp_path / "sets.csv").read_text().splitlines()))
    assert len(rows) == len(answers) == 5 * 4
    for row, answer in zip(rows, answers, strict=True):
        alone = json.loads(run("adjust", graph, "--from", row["from"], "--to", row["to"], "--json").out)
        assert answer == alone
        assert row["verdict"] == alone["verdict"]
        for name in ("optimal", "minimal"):
            assert row[name] == ",".join(alone[name] or [])
    dagora.write_graph(dagora.CPDAG("abc", [], ["ab", "bc"]), tmp_path / "class.json")
    said = run("adjust", tmp_path / "class.json", "--all-pairs").out.splitlines()
    assert said[0] == "a on b: not identified: a — b is open"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (("--all-pairs", "--from", "a"), "--all-pairs asks about all pairs"),
        (("--from", "a"), "an effect is from one variable to another"),
        (("--from", "a", "--to", "y", "-o", "x.csv"), "--output goes with --all-pairs"),
        (("--all-pairs", "-o", "x.txt"), "ends in .csv or .json"),
    ],
)
def test_questions_that_do_not_go_together(run: Callable, graph: Path, line: tuple, words: str) -> None:
    ran = run("adjust", graph, *line)
    assert ran.code == 2
    assert words in ran.err


def test_a_learned_network_knows_what_is_open(run: Callable, tmp_path: Path) -> None:
    rows = dagora.example("patients")
    result = dagora.learn(rows)
    dagora.write_network(dagora.fit(result, rows), tmp_path / "n.json")
    open_edge = result.directions.open[0]
    said = run("adjust", tmp_path / "n.json", "--from", open_edge[0], "--to", open_edge[1]).out
    assert "is not identified" in said
    assert " — ".join(open_edge) in said
    assert dagora.adjustment(result, *open_edge).to_text() == said.strip()
    # the same arrow in a file without that memory is taken as a cause
    assert dagora.adjustment(result.graph, *open_edge).identified


def test_knowledge_settles_it(run: Callable, tmp_path: Path) -> None:
    lines = [("severity", "drug"), ("severity", "death"), ("drug", "death")]
    dagora.write_graph(dagora.CPDAG(["severity", "drug", "death"], [], lines), tmp_path / "g.json")
    (tmp_path / "known.json").write_text('{"tiers": [["severity"], ["drug"], ["death"]]}')
    asked = ["adjust", tmp_path / "g.json", "--from", "drug", "--to", "death"]
    assert "the directions of drug — severity, drug — death decide it" in run(*asked).out
    assert "adjust for: severity" in run(*asked, "--knowledge", tmp_path / "known.json").out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--from", "q", "--to", "y"], "there is no node named 'q'"),
        (["--from", "a", "--to", "a"], "'a' cannot be both set and the outcome"),
        (["--from", "a", "--to", "y", "--set", "q"], "there is no node named 'q'"),
    ],
)
def test_bad_input(run: Callable, graph: Path, arguments: list[str], words: str) -> None:
    ran = run("adjust", graph, *arguments)
    assert ran.code == 2
    assert words in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_question_is_handed_over(run: Callable, graph: Path, tmp_path: Path) -> None:
    line = ("adjust", graph, "--from", "a", "--to", "y", "--hand-over")
    assert run(*line, tmp_path / "question.dagitty").code == 0
    text = (tmp_path / "question.dagitty").read_text()
    assert "a [exposure]\nb [adjusted]\n" in text
    assert dagora.read_graph(tmp_path / "question.dagitty") == dagora.read_graph(graph)
    assert run(*line, tmp_path / "question.gml").code == 0
    assert (tmp_path / "question.gml").read_text().startswith("graph [\ndirected 1\n")
    for target, words in (("question.txt", ".dagitty or .gml"), (graph, "is read and would be overwritten")):
        ran = run(*line, tmp_path / target)
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert words in ran.err
    ran = run("adjust", graph, "--from", "y", "--to", "a", "--hand-over", tmp_path / "zero.gml")
    assert "there is no adjustment set to hand over: the verdict is 'zero'" in ran.err
    assert not (tmp_path / "zero.gml").exists()
