"""The experiment on networks in time: cells, merged baselines against brute force, and its page."""

import numpy as np
import pytest

import dagora
from dagora.data.partition import split_series
from dagora.learners.run import Run
from dagora.papers.admm import dynamic
from dagora.papers.admm.dynamic import (
    LINES,
    SETTINGS,
    TIMING,
    learn_cell,
    measure,
    quiet,
    report,
    simulate_cell,
)
from dagora.papers.cell import MeasuredCell
from dagora.papers.experiment import Size

SMALL = {**SETTINGS, "d": 3, "n": 160, "series": 8, "seed": 1}


def test_cells_are_as_many_as_the_page_says():
    cells = dynamic.dynamic(Size()).cells
    assert len(cells) == 2 * 5 * (4 * 3 + 1)
    assert {cell["sites"] for cell in cells if cell["method"] == "vote"} == {2, 8, 32}


def test_every_line_is_measured_and_reported():
    cells = []
    for options in LINES.values():
        cell = {**SMALL, "sites": 2, **options}
        cells.append(MeasuredCell(cell, measure(cell, Run())))
    page = report(cells)
    assert [table.name for table in page.tables] == ["within", "lagged"]
    for table, part in zip(page.tables, ("within", "lagged"), strict=True):
        assert [row[3] for row in table.rows] == list(LINES)
        shd = [row[4].value for row in table.rows]
        assert shd == [cell.numbers[f"{part}_shd"] for cell in cells]
    sums, pooled = cells[-2].numbers, cells[-1].numbers
    assert [sums[f"{part}_shd"] for part in ("within", "lagged")] == [
        pooled[f"{part}_shd"] for part in ("within", "lagged")
    ]


@pytest.mark.parametrize("method", ["vote", "average"])
def test_votes_and_means_are_those_of_the_sites_alone(method):
    table = simulate_cell(SMALL).table
    own = {"threshold": 0.0, "threshold_lagged": 0.0} if method == "average" else {}
    with quiet():
        graph, _ = learn_cell({**SMALL, "method": method, "sites": 3}, table, Run())
        alone = [
            dagora.learn(part, "dynotears", time="t", series="series", seed=1, **own).weights
            for part in split_series(table, TIMING, 3)
        ]
    d = 3
    if method == "vote":
        expected = np.sum([weights != 0 for weights in alone], axis=0) >= 2
    else:
        mean = np.mean(alone, axis=0)
        expected = np.abs(mean) >= np.where(np.arange(2 * d) < d, 0.3, 0.1)[:, None]
    found = graph.to_numpy()
    np.testing.assert_array_equal(found[d:], expected[d:])
    assert not (found & ~expected).any()
