"""`dagora statistics`, and `learn --start`, `--minus` and `check --against` on its files."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import dagora

ROWS = [f"{'yn'[k % 3 > 0]},{'yn'[(k * k) % 5 > 2]},{'uvw'[k % 3]}" for k in range(120)]


@pytest.fixture
def months(tmp_path: Path) -> Path:
    for name, part in (("all", ROWS), ("march", ROWS[:50]), ("april", ROWS[50:]), ("changed", ROWS[:1] * 60)):
        (tmp_path / f"{name}.csv").write_text("\n".join(["a,b,c", *part]))
    return tmp_path


def test_months_are_added_and_taken_away(run: Callable, months: Path) -> None:
    for name in ("all", "march", "april"):
        ran = run("statistics", months / f"{name}.csv", "-o", months / f"{name}.stats")
        assert (ran.code, ran.out) == (0, "")
        assert "3 columns, 1 table of" in ran.err
        assert "numbers in all" in ran.err
    both = [months / "march.stats", months / "april.stats"]
    ours = json.loads(run("learn", *both, "--json", "--quiet").out)
    theirs = json.loads(run("learn", months / "all.csv", "--json", "--quiet").out)
    assert ours["edges"] == theirs["edges"]
    assert ours["score"] == theirs["score"]
    less = json.loads(
        run("learn", months / "all.stats", "--minus", months / "march.stats", "--json", "--quiet").out
    )
    april = json.loads(run("learn", months / "april.stats", "--json", "--quiet").out)
    assert less["score"] == april["score"]
    ran = run("statistics", *both, "-o", months / "spring.stats", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    assert (
        json.loads(run("learn", months / "spring.stats", "--json", "--quiet").out)["score"] == theirs["score"]
    )


def test_a_network_is_updated(run: Callable, months: Path) -> None:
    for name in ("march", "april"):
        run("statistics", months / f"{name}.csv", "-o", months / f"{name}.stats", "--quiet")
    run("learn", months / "march.stats", "-o", months / "first.json", "--quiet")
    line = ("learn", months / "march.stats", months / "april.stats", "--start", months / "first.json")
    ran = run(*line, "-m", "hill-climb", "--option", "max_steps=0", "-o", months / "next.bif", "--json")
    assert ran.code == 0
    content = json.loads(ran.out)
    first = dagora.read_graph(months / "first.json")
    assert [tuple(edge) for edge in content["edges"]] == list(first.edges)
    assert "it started from the given graph" in content["message"]
    network = dagora.read_network(months / "next.bif")
    fitted = dagora.fit(first, months / "all.csv", pseudocount="one-row")
    assert network.tables["a"].ravel() == pytest.approx(fitted.tables["a"].ravel())


def test_drift_in_words_json_and_a_picture(run: Callable, months: Path) -> None:
    dagora.write_graph(dagora.DAG("abc", ["ca"]), months / "g.json")
    run(
        "statistics",
        months / "all.csv",
        "--families",
        months / "g.json",
        "-o",
        months / "all.stats",
        "--quiet",
    )
    line = ("check", months / "g.json", months / "changed.csv", "--against", months / "all.stats")
    ran = run(*line, "--discrete", "a", "--discrete", "b", "--discrete", "c", "--picture", months / "d.svg")
    assert ran.code == 0, ran.err
    assert "families changed (120 rows before, 60 now" in ran.out
    assert "(changed)" in (months / "d.svg").read_text("utf-8")
    content = json.loads(run(*line, "--discrete", "a", "--discrete", "b", "--discrete", "c", "--json").out)
    assert "c" in content["changed"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["statistics", "all.csv", "-o", "x.csv"], "a file of statistics ends in .stats"),
        (["statistics", "all.csv", "march.csv", "-o", "x.stats"], "one DATA is read"),
        (["statistics", "all.csv", "--minus", "m.stats", "-o", "x.stats"], "--minus goes with files"),
        (["statistics", "m.stats", "--max-parents", "1", "-o", "x.stats"], "options about rows do not go"),
        (["statistics", "m.stats", "-o", "m.stats"], "would be overwritten"),
        (["statistics", "all.csv", "--set", "a,z", "-o", "x.stats"], "there is no column named 'z'"),
        (["learn", "all.csv", "march.csv"], "one DATA is read"),
        (["learn", "m.stats", "march.csv"], "'march.csv' is no file of statistics"),
        (["learn", "all.csv", "--minus", "m.stats"], "goes with files of statistics"),
        (["learn", "m.stats", "--discrete", "a"], "have no cells to read"),
        (["learn", "m.stats", "--bootstrap", "10"], "--bootstrap does not go with files of statistics"),
        (["learn", "m.stats", "--impute", "5"], "--impute does not go with files of statistics"),
        (["learn", "m.stats", "-m", "lingam"], "rows|columns"),
        (["learn", "all.csv", "-m", "pc", "--start", "g.json"], "the method pc starts from no graph"),
        (["learn", "all.csv", "-m", "tabu", "--start", "g.json", "--option", "start=g.json"], "given twice"),
        (["check", "g.json", "m.stats"], "holds statistics and no rows"),
        (["check", "g.json", "all.csv", "--picture", "x.svg"], "--picture goes with --against"),
        (["inspect", "m.stats"], "holds statistics and no rows"),
    ],
)
def test_bad_input_is_one_line(
    run: Callable, months: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(months)
    dagora.statistics("march.csv").save("m.stats")
    dagora.write_graph(dagora.DAG("abc", ["ca"]), "g.json")
    ran = run(*words)
    assert ran.code == 2, ran.err
    assert re.search(said, ran.err), ran.err
    assert ran.err.count("\n") == 1


def test_a_posterior_from_statistics_is_that_of_the_rows(run: Callable, months: Path) -> None:
    run("statistics", months / "all.csv", "-o", months / "all.stats", "--quiet")
    line = ("--method", "exact", "--draws", "5", "--json", "--quiet")
    known = months / "experts.csv"
    known.write_text("from,to,probability\na,b,0.9\n")
    ours = json.loads(run("sample", months / "all.stats", *line, "--knowledge", known).out)
    theirs = json.loads(run("sample", months / "all.csv", *line, "--knowledge", known).out)
    assert ours["edge_probability"] == theirs["edge_probability"]
    assert ours["prior_effect"] == theirs["prior_effect"]
    with_prior, without = next(edge[2:] for edge in ours["prior_effect"]["edges"] if edge[:2] == ["a", "b"])
    assert with_prior > without
    said = run("sample", months / "all.stats", "--method", "exact", "--knowledge", known).out
    assert "edge probabilities with the prior, and without it:" in said
    assert run("sample", months / "all.stats", "--discrete", "a").code == 2
