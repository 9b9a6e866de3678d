"""Kernel PC, DiBS+ and the empty graph beside figure 1: how graphs are judged, and a small run."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dagora.graph.dag import DAG
from dagora.papers.cell import Measured
from dagora.papers.experiment import Size
from dagora.papers.gpn import others
from dagora.papers.gpn.published import published_simulations

TRUTH = DAG("abcd", [("a", "b"), ("c", "b"), ("b", "d")])


@pytest.fixture(autouse=True)
def reference(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGORA_DATA", str(data_dir))


def marks(*edges: str) -> np.ndarray:
    found = np.zeros((4, 4), dtype=bool)
    for edge in edges:
        tail, head = ("abcd".index(letter) for letter in edge)
        found[tail, head] = True
    return found


@pytest.mark.parametrize(
    ("edges", "shd", "tp", "fp", "class_shd"),
    [
        ((), 3, 0, 0, 3),
        (("ab", "cb", "bd"), 0, 3, 0, 0),
        (("ab", "ba", "cb", "bd"), 1, 2.5, 0.5, 1),  # a — b counts as reversed
        (("ba", "cb", "bd"), 1, 2.5, 0.5, 3),  # the class of a chain has no direction
        (("ab", "cb", "ad"), 2, 2, 1, 2),  # b → d is missing, a → d too many
    ],
)
def test_graphs_are_judged_as_by_hand(
    edges: tuple[str, ...], shd: float, tp: float, fp: float, class_shd: float
) -> None:
    numbers = others.judged(marks(*edges)[None], np.ones(1), TRUTH)
    assert (numbers["shd"], numbers["tp"], numbers["fp"]) == (shd, tp, fp)
    assert numbers["class_shd"] == class_shd
    assert numbers["shd"] == len(TRUTH.edges) - numbers["tp"] + numbers["fp"]


def test_shares_weigh_graphs() -> None:
    both = np.array([marks(), marks("ab", "cb", "bd")])
    assert others.judged(both, np.array([0.25, 0.75]), TRUTH)["shd"] == pytest.approx(0.75)


def test_the_paper_counts_as_we_do() -> None:
    """The mean E-SHD of the published files is the edges of the truth − E-TP + E-FP, as here."""
    paper = published_simulations(10)
    edges = [line.true_edges for line in paper.values()]
    assert max(edges) - min(edges) < 0.5  # the same hundred graphs for every method, but for a few lost runs


def test_sizes() -> None:
    quick, full = (others.fig1_others(Size(full=full)).cells for full in (False, True))
    assert all(cell in full for cell in quick)
    assert sum(cell["method"] == "dibs" for cell in full) == 3 * others.FULL_DIBS
    assert sum(cell.get("resample") == "half-rows" for cell in full) == 2 * 3 * others.FULL_GRAPHS


def test_the_page_says_how_far_the_paper_is() -> None:
    numbers = {"shd": 8.2, "tp": 3.0, "fp": 2.0, "class_shd": 6.0, "edges": 5.0, "cpu_seconds": 1.0}
    cells = [
        Measured({**options, **others.table_parameters(decay, 0)}, {**numbers, "true_edges": 9})
        for options in others.METHODS.values()
        for decay in others.LAMBDAS
    ]
    page = others.report(cells)
    assert "at λ = 0 8.20 against 7.05, not within ±1" in page.notes[-1]
    assert "at λ = 1 8.20 against 7.52, within ±1" in page.notes[-1]
    (table,) = page.tables
    assert len(table.rows) == 3 * len(others.METHODS)
    assert {row[3] for row in table.rows if row[1] == "empty graph"} == {None}


def test_end_to_end(run: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = {
        label: {**options, **({"samples": 4} if "samples" in options else {})}
        for label, options in others.METHODS.items()
        if options["method"] != "dibs"
    }
    for name, value in (("QUICK_GRAPHS", 1), ("LAMBDAS", (0.0,)), ("METHODS", few)):
        monkeypatch.setattr(others, name, value)
    ran = run("reproduce", "gpn/fig1-others", "-o", tmp_path, "--json", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    (table,) = json.loads(ran.out)["tables"]
    found = {row[1]: dict(zip(table["columns"], row, strict=True)) for row in table["rows"]}
    assert set(found) == set(few)
    assert found["empty graph"]["E-SHD"] == 7  # the edges of the first graph
    assert found["kPC-DC, halves"]["edges"] > 0
