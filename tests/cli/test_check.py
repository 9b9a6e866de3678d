"""`dagora check`: a graph against data, questions to the graph alone, a page, and bad input."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import dagora


@pytest.mark.full
def test_words_json_and_a_page(run: Callable, garden: Path, tmp_path: Path) -> None:
    ran = run("check", garden / "garden.bif", garden / "garden.csv", "--report", tmp_path / "check.html")
    assert (ran.code, ran.err) == (0, "")
    first, second, *_ = ran.out.splitlines()
    assert first.startswith("independences: ")
    assert "(p = 0.00498)" in second
    assert "than the tabu graph" in ran.out
    assert "Simulated tables" in (tmp_path / "check.html").read_text("utf-8")
    asked = ("check", garden / "garden.bif", garden / "garden.csv", "--permutations", "20", "--json")
    content = json.loads(run(*asked).out)
    assert len(content["falsification"]["permuted_shares"]) == 20
    assert content["rows"] == 3000


def test_rows_in_which_something_was_set(run: Callable, tmp_path: Path) -> None:
    dagora.write_graph(dagora.DAG("ab", ["ab"]), tmp_path / "g.json")
    lines = [f"{k % 7 + 0.5},{k % 7 + k % 3 + 0.25},{'b' if k < 20 else 'none'}" for k in range(60)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,set", *lines]))
    line = ("check", tmp_path / "g.json", tmp_path / "rows.csv", "--permutations", "5")
    ran = run(*line, "--interventions", "set")
    assert (ran.code, ran.err) == (0, "")
    assert "note: rows in which a variable was set do not count for it (b 20)" in ran.out
    ran = run(*line, "--interventions", "none")
    assert (ran.code, ran.err.count("\n")) == (2, 1)


def test_questions_to_the_graph_alone(run: Callable, tmp_path: Path) -> None:
    dagora.write_graph(dagora.DAG("abcd", ["ac", "bc", "cd"]), tmp_path / "g.json")
    assert run("check", tmp_path / "g.json", "--implied").out.splitlines() == [
        "a ⊥ b",
        "a ⊥ d | c",
        "b ⊥ d | c",
    ]
    assert run("check", tmp_path / "g.json", "--separated", "a,b").out == "a ⊥ b: implied\n"
    ran = run("check", tmp_path / "g.json", "--separated", "a,b", "--given", "d,c")
    assert ran.out == "a ⊥ b | d, c: not implied\n"
    content = json.loads(run("check", tmp_path / "g.json", "--separated", "a,b", "--implied", "--json").out)
    assert content["separated"] == {"a": "a", "b": "b", "given": [], "separated": True}
    assert content["implied"][1] == {"a": "a", "b": "d", "given": ["c"]}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["g.json"], "check needs data: dagora check GRAPH DATA"),
        (
            ["g.json", "rows.csv", "--implied"],
            "--implied and --separated ask the graph alone: leave DATA out",
        ),
        (["g.json", "--given", "a", "--implied"], "--given goes with --separated A,B"),
        (["g.json", "--implied", "--report", "p.html"], "--report goes with DATA"),
        (["g.json", "--separated", "a"], "--separated takes two names with a comma between them, not 'a'"),
        (["g.json", "--separated", "a,z"], "'z'"),
        (["g.json", "rows.csv", "--report", "page.txt"], "reports are written as .html"),
        (["g.json", "rows.csv", "--alpha", "2"], "--alpha"),
        (
            ["g.json", "rows.csv", "--permutations", "100000000000000000000"],
            "--permutations must be a whole number from 1 to 100,000",
        ),
        (["none.json", "rows.csv"], "none.json"),
        (["g.json", "none.csv"], "none.csv"),
        (["g.json", "rows.csv"], "rows.csv: there is no column named 'c': known are a, b"),
    ],
)
def test_bad_input_is_one_line(
    run: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    dagora.write_graph(dagora.DAG("abc", ["ab"]), "g.json")
    Path("rows.csv").write_text("a,b\n" + "1.5,2.25\n0.5,3.5\n2.75,1.25\n" * 10)
    ran = run("check", *words)
    assert (ran.code, ran.out) == (2, "")
    assert line in ran.err
    assert "Traceback" not in ran.err
