"""`dagora effect`: the answer in words, as JSON and as a file, and bad input."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dagora


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    rng = np.random.default_rng(0)
    z = rng.random(500) < 0.5
    x = rng.random(500) < np.where(z, 0.3, 0.7)
    y = rng.random(500) < 0.2 + 0.3 * x + 0.3 * z
    frame = pd.DataFrame({"z": z, "x": x, "y": y}).replace({True: "yes", False: "no"})
    frame["n"] = rng.standard_normal(500) + x
    frame.to_csv(tmp_path / "rows.csv", index=False)
    dagora.write_graph(dagora.DAG("zxyn", ["zx", "zy", "xy", "xn"]), tmp_path / "graph.json")
    return tmp_path / "rows.csv", tmp_path / "graph.json"


def test_words(run: Callable, files: tuple[Path, Path]) -> None:
    data, graph = files
    ran = run("effect", data, "--from", "x", "--to", "y", "--graph", graph, "--levels", "no,yes", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "effect of x=no instead of yes, on P(y=yes)"
    assert lines[1].startswith("difference: -0.")
    assert lines[4].startswith("adjusted for: z (standardisation, 500 rows)")


def test_json_and_file(run: Callable, files: tuple[Path, Path], tmp_path: Path) -> None:
    data, graph = files
    asked = ["--from", "x", "--to", "n", "--graph", graph, "--given", "z=yes"]
    ran = run("effect", data, *asked, "--json", "-o", tmp_path / "out.json")
    content = json.loads(ran.out)
    assert content == json.loads((tmp_path / "out.json").read_text())
    assert content["verdict"] == "adjustment"
    assert content["given"] == {"z": "yes"}
    assert content["estimates"]["difference"]["value"] == pytest.approx(1, abs=0.4)


def test_both_at_once(run: Callable, files: tuple[Path, Path]) -> None:
    data, graph = files
    asked = ["--from", "x", "--from", "z", "--levels", "yes,no", "--levels", "yes,no", "--to", "y=yes"]
    ran = run("effect", data, *asked, "--graph", graph, "--json")
    assert json.loads(ran.out)["estimates"]["difference"]["value"] == pytest.approx(0.6, abs=0.1)


def test_relations_that_bend(run: Callable, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(80)
    pd.DataFrame({"x": x, "y": x**2 + 0.3 * rng.standard_normal(80)}).to_csv(tmp_path / "r.csv", index=False)
    dagora.write_graph(dagora.DAG("xy", ["xy"]), tmp_path / "g.json")
    asked = ["effect", tmp_path / "r.csv", "--from", "x", "--to", "y", "--quiet"]
    by_graph = [*asked, "--graph", tmp_path / "g.json", "--model", "gp"]
    page = tmp_path / "page.html"
    ran = run(*by_graph, "--levels", "1.5,0", "--curve", "--report", page, "--json")
    content = json.loads(ran.out)
    assert content["verdict"] == "functions"
    assert content["estimates"]["difference"]["value"] == pytest.approx(2.25, abs=0.4)
    assert len(content["curve"]) == 21
    assert "Over the values" in page.read_text()
    for wrong, words in (
        ([*by_graph[:-1], "rbf"], "'rbf' is not one of 'gp', 'gp2'"),
        ([*by_graph, "--levels", "99,0"], "x=99 is far from what the rows have"),
    ):
        ran = run(*wrong)
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err


def test_averaged_and_all_pairs(run: Callable, files: tuple[Path, Path], tmp_path: Path) -> None:
    data, _ = files
    ran = run("effect", data, "--from", "x", "--to", "y", "--drop", "n", "--option", "draws=100", "--json")
    content = json.loads(ran.out)
    assert content["verdict"] == "averaged"
    assert 0 < content["over_graphs"]["cause_probability"] < 1
    assert content["over_graphs"]["graphs"] == 400
    rng = np.random.default_rng(0)
    a = rng.standard_normal(100)
    pd.DataFrame({"a": a, "b": a + rng.standard_normal(100)}).to_csv(tmp_path / "numbers.csv", index=False)
    ran = run("effect", tmp_path / "numbers.csv", "--all", "--option", "draws=100", "--quiet", "-m", "exact")
    assert (ran.code, ran.err) == (0, "")
    assert "\naveraged over 400 graphs, exact draws from their posterior" in ran.out
    assert ran.out.splitlines()[-1].startswith("assumed: ")
    dagora.write_graph(dagora.CPDAG("ab", [], ["ab"]), tmp_path / "class.json")
    ran = run("effect", tmp_path / "numbers.csv", "--all", "--graph", tmp_path / "class.json", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    assert "over 2 choices of the parents of a, zero in 1; mean over all graphs" in ran.out.splitlines()[1]


def test_a_page(run: Callable, files: tuple[Path, Path], tmp_path: Path) -> None:
    data, graph = files
    page = tmp_path / "effect.html"
    ran = run("effect", data, "--from", "x", "--to", "y", "--graph", graph, "--report", page, "--quiet")
    assert (ran.code, ran.err) == (0, "")
    assert "The effect of x on y, rows.csv" in page.read_text()
    for file, words in ((tmp_path / "a.txt", "reports are written as .html"), (tmp_path, "written as .html")):
        ran = run("effect", data, "--from", "x", "--to", "y", "--report", file)
        assert (ran.code, words in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--from", "x"], "--from NAME --to NAME, or --all"),
        (["--all", "--from", "x"], "leave --from, --to and others out"),
        (["--from", "x", "--to", "x"], "'x' cannot be both set and the outcome"),
        (["--from", "q", "--to", "y"], "there is no column named 'q'"),
        (
            ["--from", "x", "--to", "y", "--levels", "yes,no", "--levels", "a,b"],
            "--levels is given 2 times for 1",
        ),
        (["--from", "x", "--to", "y", "--levels", "yes"], "--levels takes two values of 'x'"),
        (["--from", "x", "--to", "y", "--given", "z"], "--given takes NAME=LEVEL, not 'z'"),
        (["--from", "x", "--to", "y", "--method", "tabu"], "leave --method out"),
        (["--from", "x", "--to", "y", "-o", "/nowhere/out.json"], "/nowhere"),
    ],
)
def test_bad_input_is_one_line(
    run: Callable, files: tuple[Path, Path], arguments: list[str], words: str
) -> None:
    data, graph = files
    ran = run("effect", data, "--graph", graph, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err.splitlines()[-1]
