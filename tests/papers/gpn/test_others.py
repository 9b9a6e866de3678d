"""Kernel PC, DiBS+ and the empty graph beside figures 1 and 2: what the page says, and a small run."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dagora.learners.run import Run
from dagora.papers.cell import MeasuredCell
from dagora.papers.experiment import Size
from dagora.papers.gpn import other_methods, others
from dagora.papers.gpn.published import published_simulations
from dagora.papers.gpn.simulation import simulate_cell


@pytest.fixture(autouse=True)
def reference(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGORA_DATA", str(data_dir))


def test_the_paper_counts_as_we_do() -> None:
    """The mean E-SHD of the published files is the edges of the truth − E-TP + E-FP, as here."""
    paper = published_simulations(10)
    edges = [line.true_edges for line in paper.values()]
    assert max(edges) - min(edges) < 0.5  # the same hundred graphs for every method, but for a few lost runs


def test_sizes() -> None:
    quick, full = (others.fig1_others(Size(full=full)).cells for full in (False, True))
    assert all(cell in full for cell in quick)
    for method, lines, few in (("dibs", 1, 1), ("dibs-neural", 5, 2)):
        assert sum(cell["method"] == method for cell in full) == lines * 3 * others.FULL_DIBS
        assert sum(cell["method"] == method for cell in quick) == few * 3 * others.QUICK_DIBS
    par = [cell for cell in full if cell["method"] == "dibs-neural" and cell["weight_sd"] == 1.75]
    assert {(cell["noise"], cell["prior"], cell["particle_weights"]) for cell in par} == {
        (0.175, "scale-free", "equal")
    }
    assert sum(cell.get("resample") == "half-rows" for cell in full) == 2 * 3 * others.FULL_GRAPHS


def test_the_page_says_how_far_the_paper_is(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    monkeypatch.setattr(others, "draw_boxes", lambda panels, **_: drawn.append(panels) or "")
    numbers = {"shd": 8.2, "tp": 3.0, "fp": 2.0, "class_shd": 6.0, "edges": 5.0, "cpu_seconds": 1.0}
    cells = [
        MeasuredCell({**options, **others.table_parameters(decay, 0)}, {**numbers, "true_edges": 9})
        for options in others.METHODS.values()
        for decay in others.LAMBDAS
    ]
    page = others.report(cells)
    *_, near, stable, longest = page.notes
    assert "at λ = 0 8.20 against 7.05, not within ±1" in near
    assert "at λ = 1 8.20 against 7.52, within ±1" in near
    assert "kPC-DC, halves 1.00" in stable
    assert "in 0 of 3 lines" in longest  # all take the same second
    distances, times = page.tables
    assert len(distances.rows) == 3 * len(others.METHODS)
    assert {row[3] for row in distances.rows if row[1] == "empty graph"} == {None}
    assert len(times.rows) == 3 * (len(others.METHODS) - 2), "the empty graph takes no time, BGe is ours"
    printed = {row[1]: row[3] for row in distances.rows if row[0] == 1.0 and "par" in row[1]}
    assert list(printed.values()) == [15, 13, 12, 10.5, 10]  # the authors' file
    assert "DiBS+, par = 2: at λ = 0 8.20 against 10.00, not within ±1" in near
    first = dict(zip(times.columns, times.rows[0], strict=True))
    assert first["paper / ours"] == pytest.approx(first["paper, s"])
    assert set(page.pictures) == {"shd", "seconds"}
    distance, seconds = ({box.label for panel in panels for box in panel.boxes} for panels in drawn)
    assert distance - seconds == {"empty graph"}
    assert "kPC-DC (paper)" in seconds


def test_particles_are_moved_with_the_options_of_their_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    sampler = other_methods.sample
    monkeypatch.setattr(
        other_methods,
        "sample",
        lambda table, method, **options: (asked.append(options), sampler(table, method, **options))[1],
    )
    cell = {**other_methods.published_dibs(2.0, 2), "steps": 3, **others.table_parameters(1.0, 0)}
    graphs, shares = other_methods.graphs_of(cell, simulate_cell(cell)[1], Run())
    assert asked[0]["noise"] == 0.2
    assert asked[0]["weight_sd"] == 2
    assert asked[0]["prior"] == "scale-free"
    assert asked[0]["particle_weights"] == "equal"
    assert len(graphs) == len(shares)


def test_end_to_end(run: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = {
        label: {**options, **({"samples": 4} if "samples" in options else {})}
        for label, options in others.METHODS.items()
        if not options["method"].startswith("dibs")
    }
    for name, value in (("QUICK_GRAPHS", 1), ("LAMBDAS", (0.0,)), ("METHODS", few)):
        monkeypatch.setattr(others, name, value)
    ran = run("reproduce", "gpn/fig1-others", "-o", tmp_path, "--json", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    table, times = json.loads(ran.out)["tables"]
    assert all(row[2] > 0 for row in times["rows"])
    found = {row[1]: dict(zip(table["columns"], row, strict=True)) for row in table["rows"]}
    assert set(found) == set(few)
    assert found["empty graph"]["E-SHD"] == 7  # the edges of the first graph
    assert found["kPC-DC, halves"]["edges"] > 0


def test_a_page_of_the_empty_graph_alone_has_no_run_times() -> None:
    numbers = {"shd": 8.0, "tp": 0.0, "fp": 0.0, "class_shd": 8.0, "edges": 0.0, "cpu_seconds": 0.0}
    cell = MeasuredCell(
        {**others.METHODS["empty graph"], **others.table_parameters(1.0, 0)}, {**numbers, "true_edges": 8}
    )
    assert list(others.report([cell]).pictures) == ["shd"]
