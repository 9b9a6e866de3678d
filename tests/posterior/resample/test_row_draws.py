"""Rows drawn anew, with what belongs to them."""

import numpy as np
import pytest

from dagora.base.errors import OptionError
from dagora.data.incomplete import IncompleteTable
from dagora.data.interventions import Interventions
from dagora.data.table import Table
from dagora.learners.registry import METHODS, method_named
from dagora.posterior.resample.row_draws import drawn_rows, seeds_of, statistics_of_rows, way_for
from dagora.stats.interventional import InterventionalStatistics
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.table import TableStatistics


@pytest.mark.parametrize(
    ("way", "size", "repeats"), [("rows", 100, True), ("halves", 50, False), ("half-rows", 50, True)]
)
def test_each_way_draws_what_it_says(way: str, size: int, repeats: bool) -> None:
    drawn = [drawn_rows(way, 100, seeds_of(0, k)[0]) for k in range(200)]
    assert all(len(rows) == size and rows.min() >= 0 and rows.max() < 100 for rows in drawn)
    assert any(len(set(rows.tolist())) < size for rows in drawn) == repeats
    often = np.bincount(np.concatenate(drawn), minlength=100)
    assert abs(often / 200 - size / 100).max() < 0.35, "some row is drawn more often than others"


def test_a_sample_does_not_depend_on_the_others() -> None:
    (one, own), (again, same), (other, another) = seeds_of(3, 5), seeds_of(3, 5), seeds_of(3, 6)
    assert own == same != another
    first = one.integers(0, 1000, 5).tolist()
    assert first == again.integers(0, 1000, 5).tolist() != other.integers(0, 1000, 5).tolist()


def test_learners_by_tests_get_halves() -> None:
    counted = [method for method in METHODS if method.returns != "pag"]  # marks are not counted
    halves = {method.name for method in counted if way_for("auto", method) == "halves"}
    assert {"pc", "dual-pc"} <= halves
    assert not halves & {"auto", "hill-climb", "ges", "notears"}
    assert way_for("rows", method_named("pc")) == "rows"
    with pytest.raises(OptionError, match="no way to draw rows named 'thirds'"):
        way_for("thirds", method_named("pc"))


TABLE = Table.from_numpy([[0, 1.5], [1, 2.5], [1, 0.5], [0, 4.5]], names=["a", "x"], discrete=["a"])
ROWS = np.array([0, 0, 3])


def test_sums_are_those_of_the_drawn_rows() -> None:
    drawn = statistics_of_rows(TableStatistics(TABLE), ROWS)
    assert drawn.n_rows == 3
    assert drawn.schema == TABLE.schema, "a level that is not drawn stays declared"
    assert drawn.contingency((0,)).counts.tolist() == [3]
    assert drawn.moments().mean.tolist() == [2.5]


def test_holes_and_targets_go_with_their_rows() -> None:
    seen = np.array([[True, True, False, False], [True, True, True, False]])
    drawn = statistics_of_rows(IncompleteStatistics(IncompleteTable.of(TABLE, seen)), ROWS)
    assert drawn.table.seen.tolist() == [[True, True, False], [True, True, False]]
    marked = Interventions.of_rows([None, "x", "x", "x"], TABLE.names)
    drawn = statistics_of_rows(InterventionalStatistics(TABLE, marked), ROWS)
    assert drawn.without_set(1).n_rows == 2
    assert drawn.without_set(0).n_rows == 3


@pytest.mark.parametrize(("way", "stated"), [("rows", 0.16), ("halves", 0.05), ("half-rows", 0.11)])
def test_rows_with_replacement_mislead_tests_and_halves_do_not(way: str, stated: float) -> None:
    """Why learners by tests get halves: the share of true independences that are rejected at 5 %.

    The shares are those that docs/strengths.md states.
    """
    draws = 10_000
    random = np.random.default_rng(0)
    rows = np.array([drawn_rows(way, 100, random) for _ in range(draws)])
    x, y = (np.take_along_axis(random.normal(size=(draws, 100)), rows, axis=1) for _ in range(2))
    x, y = (column - column.mean(axis=1, keepdims=True) for column in (x, y))
    correlation = (x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    rejected = np.abs(np.arctanh(correlation)) * np.sqrt(rows.shape[1] - 3) > 1.96
    assert rejected.mean() == pytest.approx(stated, abs=0.008)


def test_sums_of_samples_by_known_seeds_give_the_rows_away() -> None:
    """Why the bootstrap is refused over sites."""
    values = np.random.default_rng(1).normal(size=(30, 2))
    table = Table.from_numpy(values, names=["a", "b"])
    drawn = [drawn_rows("rows", 30, seeds_of(7, k)[0]) for k in range(40)]
    sums = [30 * statistics_of_rows(TableStatistics(table), rows).moments().mean for rows in drawn]
    weights = np.array([np.bincount(rows, minlength=30) for rows in drawn])
    assert np.allclose(np.linalg.lstsq(weights, np.array(sums))[0], values)
