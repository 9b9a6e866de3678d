"""`dagora convert`: every format to every other; parameters survive where both formats hold them."""

import xml.etree.ElementTree as ET
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.formats.registry import FORMATS

ENDINGS = [extension for known in FORMATS for extension in known.extensions]
PARAMETERS = {".bif", ".json"} | {one for known in FORMATS if known.needs_tables for one in known.extensions}
NAMELESS = {".uai"}


@pytest.mark.parametrize(
    ("source", "target"), [*product(ENDINGS, repeat=2), (".bif", ".json.gz"), (".json", ".bif.gz")]
)
def test_between_all_formats(run: Callable, garden: Path, tmp_path: Path, source: str, target: str) -> None:
    original, first, second = garden / "garden.bif", tmp_path / f"first{source}", tmp_path / f"second{target}"
    assert run("convert", original, first).code == 0
    ran = run("convert", first, second)
    if target.removesuffix(".gz") in PARAMETERS - {".json"} and source not in PARAMETERS:
        assert ran.code == 2
        assert "parameters" in ran.err
        assert not second.exists()
        return
    assert (ran.code, ran.out) == (0, "")
    truth, graph = dagora.read_graph(original), dagora.read_graph(second)
    if NAMELESS & {source, target}:
        assert len(graph.edges) == len(truth.edges)
        assert (target not in NAMELESS or source not in PARAMETERS) or "names were left out" in ran.err
        return
    assert sorted(graph.nodes) == sorted(truth.nodes)
    assert sorted(graph.edges) == sorted(truth.edges)
    kept = source in PARAMETERS and target.removesuffix(".gz") in PARAMETERS
    if source in PARAMETERS:
        assert ("left out" in ran.err) == (not kept), "what is lost is said"
    if kept:
        before, after = dagora.read_network(original), dagora.read_network(second)
        assert before.levels == after.levels
        assert all(np.allclose(before.tables[name], after.tables[name], rtol=1e-12) for name in truth.nodes)


def test_undirected_edges_survive(run: Callable, tmp_path: Path) -> None:
    graph = dagora.CPDAG("abcd", [("a", "c"), ("b", "c")], [("c", "d")])
    dagora.write_graph(graph, tmp_path / "g.json")
    for ending in (".dot", ".graphml", ".dagitty", ".csv"):
        assert run("convert", tmp_path / "g.json", tmp_path / f"g{ending}").code == 0
        assert run("convert", tmp_path / f"g{ending}", tmp_path / "back.json").code == 0
        back = dagora.read_graph(tmp_path / "back.json")
        assert (set(back.edges), {frozenset(edge) for edge in back.undirected}) == (
            {("a", "c"), ("b", "c")}, {frozenset("cd")},
        )  # fmt: skip


def test_a_picture_is_a_format_to_write(run: Callable, garden: Path, tmp_path: Path) -> None:
    assert run("convert", garden / "garden.bif", tmp_path / "g.svg").code == 0
    assert ET.parse(tmp_path / "g.svg").getroot().tag.endswith("svg")


def test_open_directions_are_told_where_a_format_has_only_arrows(run: Callable, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 600)
    b = np.where(rng.random(600) < 0.1, 1 - a, a)
    table, network = tmp_path / "t.csv", tmp_path / "n.json"
    table.write_text("a,b\n" + "".join(f"l{x},l{y}\n" for x, y in zip(a, b, strict=True)))
    assert run("learn", table, "-o", network).code == 0
    told = "the data do not determine the direction of a — b"
    assert told in run("learn", table, "-o", tmp_path / "n.dot").err
    assert told in run("convert", network, tmp_path / "n.dagitty").err
    assert run("convert", network, tmp_path / "n.svg").code == 0
    picture = (tmp_path / "n.svg").read_text()
    assert "a — b" in picture
    assert "→" not in picture
