"""Tests within cells: equal to permutations and to regressions on rows; their size where spreads differ."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import f

import dagora
from dagora.api.learn_federated import learn_federated
from dagora.base.errors import RowsUnavailableError
from dagora.data.partition import split_rows
from dagora.learners.independence.cells import CellTest, FeatureColumns, beta_tail, stratified_statistics
from dagora.learners.independence.mixed import MixedTest
from dagora.stats.table import TableStatistics
from tests.learners.independence.test_mixed import FIRST, SECOND, features, table_of


def p_value(*columns, test=CellTest):
    found = test(TableStatistics(table_of(columns)), "it")
    return found.p_values(FIRST, SECOND, np.arange(2, len(columns))[None])[0]


def statistic(x, y, cell, numbers=()):
    """The slots that the kernel writes, from unscaled continuous columns."""
    columns = (x, y, *numbers)
    continuous = np.array([column.dtype.kind == "f" for column in columns])
    order = np.argsort(cell, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(cell)))
    codes = np.array(
        [np.zeros(len(x)) if c else column for c, column in zip(continuous, columns, strict=True)]
    )
    values = np.array(
        [column if c else np.zeros(len(x)) for c, column in zip(continuous, columns, strict=True)]
    )
    widths = np.array([features(column).shape[1] for column in columns])
    found = np.empty((1, 2, 5))
    given = np.arange(2, len(columns))[None]
    table = FeatureColumns(codes.astype(np.uint8), values, widths, continuous)
    stratified_statistics(order, starts, table, FIRST, SECOND, given, found)
    return found[0]


@pytest.mark.parametrize("kinds", ["cc", "dc"])
def test_over_all_permutations_within_cells_the_mean_is_the_number_of_dimensions(kinds):
    rng = np.random.default_rng(1)
    cell = np.array([0, 0, 0, 1, 1, 1, 1])
    x = rng.normal(size=7) * (1 + 3 * cell) if kinds[0] == "c" else np.array([0, 1, 1, 0, 1, 2, 2])
    y = rng.normal(size=7) * (1 + 3 * cell)
    found = []
    for first, second in product(permutations(range(3)), permutations(range(3, 7))):
        found.append(statistic(x, y[[*first, *second]], cell)[0, :2])
    found = np.array(found)
    assert len(set(found[:, 1])) == 1
    assert found[:, 0].mean() == pytest.approx(found[0, 1], rel=1e-9)
    assert found[:, 0].std() > 0.1


def test_one_cell_is_a_regression():
    """Of z on z and z² of the other, given z and z² of a third; either way, and twice the smaller p-value."""
    rng = np.random.default_rng(2)
    x, y, t = rng.normal(size=(3, 60))
    y += 0.2 * x + t
    p = []
    for response, other in ((x, y), (y, x)):
        left = []
        for design in ([features(t)], [features(t), features(other)]):
            full = np.column_stack([np.ones(60), *design])
            rest = response - full @ np.linalg.lstsq(full, response, rcond=None)[0]
            left.append(rest @ rest)
        p.append(f.sf((left[0] - left[1]) / 2 / (left[1] / (60 - 5)), 2, 60 - 5))
    found = statistic(x, y, np.zeros(60, dtype=np.int64), [t])
    assert sorted(beta_tail(found)) == pytest.approx(sorted(p), rel=1e-6)
    # The same from moments, where no level is given.
    assert p_value(x, y, t) == pytest.approx(min(1, 2 * min(p)), rel=1e-6)


def test_two_continuous_columns_have_twice_the_smaller_p_value():
    rng = np.random.default_rng(3)
    cell = rng.integers(0, 3, 90)
    for seen in (0.0, 0.3):
        x, y = rng.normal(size=(2, 90)) * (1 + cell)
        y += seen * x
        assert p_value(x, y, cell) == pytest.approx(min(1, 2 * min(beta_tail(statistic(x, y, cell)))))
        level = np.digitize(x, [-1, 1])
        assert p_value(level, y, cell) == pytest.approx(beta_tail(statistic(level, y, cell)[:1])[0])


@pytest.mark.parametrize("rows", [(12, 9, 15), (40, 50, 45)])
def test_slopes_of_small_cells_are_shared_and_those_of_large_ones_are_not(rows):
    """From rows: regressions with an intercept for each cell, and slopes for all cells or for each.

    The spread of y in a cell counts for its rows, that in all cells for four more.
    """
    rng = np.random.default_rng(3)
    cell = np.repeat(np.arange(3), rows)
    n = len(cell)
    a, y, t = rng.integers(0, 3, n), rng.normal(size=n) * (1 + cell), rng.normal(size=n)
    spread = np.array([((y[cell == k] - y[cell == k].mean()) ** 2).sum() for k in range(3)])
    spread = np.sqrt((spread + 4 * spread.sum() / (n - 3)) / (np.array(rows) - 1 + 4))
    z = (y - np.array([y[cell == k].mean() for k in range(3)])[cell]) / spread[cell]
    intercepts = (cell[:, None] == np.arange(3)).astype(float)
    slopes = [features(t)] if max(rows) < 30 else [features(t) * one[:, None] for one in intercepts.T]
    design = np.column_stack([intercepts, *slopes])
    take = np.eye(n) - design @ np.linalg.pinv(design)
    x, y_left = take @ features(a), take @ features(z)
    leverage = 1 - np.diag(take)
    cross, spread = 0.0, 0.0
    for k in range(3):
        own = cell == k
        freedom = own.sum() - leverage[own].sum()
        cross = cross + (x[own].T @ y_left[own]).ravel()
        spread = spread + np.kron(x[own].T @ x[own], y_left[own].T @ y_left[own]) / freedom
    found = statistic(a, y, cell, [t])[0]
    assert found[0] == pytest.approx(cross @ np.linalg.solve(spread, cross), rel=1e-6)
    assert found[1:3].tolist() == [4.0, 2.0]


@pytest.mark.full
@pytest.mark.parametrize("kinds", ["ccd", "dcd", "ddcd"])
def test_size_where_levels_change_both_spreads(kinds):
    """x and y depend on what is given, in mean and in spread, and on nothing else."""
    rng = np.random.default_rng(7)
    draws, rows = 250, 150
    rejected = 0
    for _ in range(draws):
        given = [rng.integers(0, 3, rows) if kind == "d" else rng.normal(size=rows) for kind in kinds[2:]]
        spread = np.prod([np.array([0.5, 1, 2])[s] for s in given if s.dtype.kind == "i"], axis=0)
        columns = []
        for kind in kinds[:2]:
            value = sum(rng.uniform(-1, 1) * s for s in given) + spread * rng.normal(size=rows)
            columns.append(np.digitize(value, [-0.5, 0.7]) if kind == "d" else value)
        rejected += p_value(*columns, *given) < 0.05
    assert 0.02 <= rejected / draws <= 0.085


def test_what_depends_within_cells_is_found():
    rng = np.random.default_rng(8)
    s = rng.integers(0, 3, 300)
    x = rng.normal(size=300)
    assert p_value(x, 0.4 * x + rng.normal(size=300), s) < 1e-6
    assert p_value(x, x**2 + rng.normal(size=300), s) < 1e-6
    assert p_value(np.digitize(x, [-1, 1]), x**2 + rng.normal(size=300), s) < 1e-6


def test_nothing_to_be_tested():
    rng = np.random.default_rng(9)
    a, b = rng.integers(0, 2, size=(2, 40))
    x = rng.normal(size=40)
    assert np.isnan(p_value(a, x, a + 0))  # what is given tells a
    assert p_value(a, a + 0.0, b) < 1e-20  # the number tells the level, and the other way round
    assert np.isnan(p_value(x[:8], rng.normal(size=8), np.arange(8)))  # every cell has one row
    assert not np.isnan(beta_tail(np.array([[1.0, 1.0, 1.0, 3.0, 3.0]]))[0])


def test_many_levels_are_tested_with_equal_spreads():
    rng = np.random.default_rng(10)
    a, b, s = rng.integers(0, 40, 400), rng.integers(0, 40, 400), rng.integers(0, 2, 400)
    t = rng.normal(size=400)
    assert p_value(a, b, s, t) == p_value(a, b, s, t, test=MixedTest)


def test_rows_are_needed_and_sums_have_their_own():
    table = dagora.simulate(
        dagora.random_dag("er", 4, 1, seed=1), "mixed", 200, seed=2, relations="shift"
    ).table
    assert "by cells" in dagora.learn(table, "pc").message
    sites = {f"s{k}": part for k, part in enumerate(split_rows(table, 3))}
    assert "by mixed" in learn_federated(sites, "pc").message
    with pytest.raises(RowsUnavailableError, match="test=cells needs rows"):
        learn_federated(sites, "pc", test="cells")
