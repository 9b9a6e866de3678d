"""`dagora compare`: the metrics by name, the same from every format, and a picture of the difference."""

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

import dagora
from dagora.cli.compare import show_differences
from dagora.graph.compare import EdgeDifferences
from tests.report.reading import read, table_under

METRICS = {"shd", "tpr", "fdr", "fpr", "f1"}


@pytest.fixture
def graphs(tmp_path: Path) -> tuple[Path, Path]:
    """An estimate with one edge right, one reversed, one extra; the truth also has one that it lacks."""
    estimate = dagora.DAG("abcde", [("a", "b"), ("c", "b"), ("d", "e")])
    truth = dagora.DAG("edcba", [("a", "b"), ("b", "c"), ("c", "d")])
    dagora.write_graph(estimate, tmp_path / "estimate.json")
    dagora.write_graph(truth, tmp_path / "truth.dot")
    return tmp_path / "estimate.json", tmp_path / "truth.dot"


def test_json_keys_and_values(run: Callable, graphs: tuple[Path, Path]) -> None:
    ran = run("compare", *graphs, "--json")
    assert (ran.code, ran.err) == (0, "")
    content = json.loads(ran.out)
    assert content.keys() >= METRICS
    assert content["cpdag"].keys() >= METRICS
    # one correct of three true; two wrong of three estimated; two wrong among 10 − 3 pairs without an edge
    assert content["shd"] == 3
    assert [content[key] for key in ("tpr", "fdr", "fpr", "f1")] == pytest.approx(
        [1 / 3, 2 / 3, 2 / 7, 1 / 3]
    )
    # as classes: a→b←c, d—e against a—b—c—d, so that nothing is right
    assert (content["cpdag"]["shd"], content["cpdag"]["tpr"]) == (4, 0.0)


def test_people_get_a_table(run: Callable, graphs: tuple[Path, Path]) -> None:
    lines = run("compare", *graphs).out.splitlines()
    assert lines[0].split() == ["SHD", "TPR", "FDR", "FPR", "F1"]
    assert lines[1].split() == ["DAG", "3", "0.333", "0.667", "0.286", "0.333"]
    assert [line.split()[0] for line in lines[1:4]] == ["DAG", "CPDAG", "skeleton"]


def test_a_graph_equals_itself_in_any_format(run: Callable, garden: Path, tmp_path: Path) -> None:
    for ending in ("json", "dot", "graphml", "csv", "dagitty", "json.gz"):
        assert run("convert", garden / "garden.bif", tmp_path / f"g.{ending}").code == 0
        content = json.loads(run("compare", tmp_path / f"g.{ending}", garden / "garden.bif", "--json").out)
        assert (content["shd"], content["tpr"], content["fdr"], content["cpdag"]["shd"]) == (0, 1.0, 0.0, 0)


def test_picture(run: Callable, graphs: tuple[Path, Path], tmp_path: Path) -> None:
    assert run("compare", *graphs, "--picture", tmp_path / "d.svg", "--json").code == 0
    assert ET.parse(tmp_path / "d.svg").getroot().tag.endswith("svg")


def test_report(run: Callable, graphs: tuple[Path, Path], tmp_path: Path) -> None:
    """Both graphs with each node in the same place; each pair that is joined in either, with its verdict."""
    page = tmp_path / "d.html"
    assert run("compare", *graphs, "--report", page, "--json").code == 0
    content = page.read_text()
    assert "estimate.json against truth.dot" in content
    found = read(content)
    assert sorted(table_under(found, "estimate.json", "truth.dot")) == [
        ["", "c → d", "only in truth.dot"],
        ["a → b", "a → b", "in both"],
        ["c → b", "b → c", "other direction"],
        ["d → e", "", "only in estimate.json"],
    ]
    drawn = [(tags["data-tail"], tags["data-head"]) for _, tags in found.tags if "data-tail" in tags]
    assert sorted(map("".join, drawn)) == ["ab", "ab", "bc", "cb", "cd", "de"]
    left, right = (
        re.findall('data-node="(.)".*?<rect x="([^"]*)" y="([^"]*)"', part)
        for part in content.split("<figure>")[1:]
    )
    assert sorted(left) == sorted(right)
    assert len(set(left)) == 5


def test_a_report_is_a_page(run: Callable, graphs: tuple[Path, Path], tmp_path: Path) -> None:
    ran = run("compare", *graphs, "--report", tmp_path / "d.pdf")
    assert ran.code == 2
    assert "reports are written as .html" in ran.err


def test_edges_that_differ_are_listed(run: Callable, graphs: tuple[Path, Path]) -> None:
    said = run("compare", *graphs).out
    assert "missing (only in TRUTH): c → d" in said
    assert "extra (only in ESTIMATE): d → e" in said
    assert "reversed or directed otherwise: c → b" in said
    content = json.loads(run("compare", *graphs, "--json").out)
    assert content["edges"] == {"missing": ["c → d"], "extra": ["d → e"], "reversed": ["c → b"]}
    same = run("compare", graphs[0], graphs[0]).out
    assert same.count(": none") == 3


def test_effects_that_would_be_wrong_beside_random_graphs(run: Callable, graphs: tuple[Path, Path]) -> None:
    found = json.loads(run("compare", *graphs, "--json").out)["adjustment"]
    assert found["dag"]["pairs"] == 20
    assert found["sid"] == found["dag"]["parent"] > 0
    assert (found["controls"], found["seed"]) == (20, 0)
    out = run("compare", *graphs).out
    assert f"DAG{found['dag']['parent'] / 20:23.3f}" in out
    assert "the median of 20 random graphs with as many edges (seed 0)" in out


def test_it_says_where_no_effects_are_counted(run: Callable, tmp_path: Path) -> None:
    """A graph that knowledge has directed in part is neither a DAG nor a CPDAG."""
    dagora.write_graph(dagora.DAG("abc", [("a", "b"), ("b", "c")]), tmp_path / "truth.json")
    dagora.write_graph(dagora.CPDAG("abc", [("a", "b"), ("b", "c")], [("a", "c")]), tmp_path / "partly.json")
    ran = run("compare", tmp_path / "partly.json", tmp_path / "truth.json")
    assert (ran.code, ran.err) == (0, "")
    assert "effects that would be wrong are counted only where both graphs" in ran.out


@pytest.mark.parametrize(("number", "told"), [(100, False), (101, True)])
def test_a_hundred_edges_of_a_kind_are_printed(
    capsys: pytest.CaptureFixture[str], number: int, told: bool
) -> None:
    edges = tuple(f"a{k} → b" for k in range(number))
    show_differences(EdgeDifferences(edges, (), ()))
    assert (" more" in capsys.readouterr().out) is told
