"""Moments against exact fractions and extended precision."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dagora.stats.moments as moments_module
from dagora.stats.moments import BLOCK_ROWS, merge_moments, table_moments
from dagora.stats.statistics import Moments
from dagora.stats.table import TableStatistics
from tests.random_tables import continuous_table, discrete_table


def exact_moments(rows):
    """Mean and scatter in exact arithmetic, rounded once at the end."""
    columns = [[Fraction(float(value)) for value in column] for column in np.asarray(rows).T]
    n = len(columns[0])
    means = [sum(column) / n for column in columns]
    centred = [[value - mean for value in column] for column, mean in zip(columns, means, strict=True)]
    scatter = [[float(sum(a * b for a, b in zip(x, y, strict=True))) for y in centred] for x in centred]
    return np.array([float(mean) for mean in means]), np.array(scatter)


def assert_close(found, mean, scatter, tolerance=1e-9):
    np.testing.assert_allclose(found.mean, mean, rtol=1e-13, atol=1e-12)
    # Relative to the spread of the two columns, the natural scale of a covariance.
    scale = np.sqrt(np.outer(np.diag(scatter), np.diag(scatter)))
    assert np.abs(found.scatter - scatter).max() <= tolerance * max(scale.max(), 1e-300)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 40), st.integers(1, 4), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1.0, 1e5, -1e8])
)
def test_moments_equal_exact_arithmetic(n, d, seed, offset):
    rng = np.random.default_rng(seed)
    rows = offset + rng.normal(size=(n, d)) * rng.uniform(0.5, 20, size=d)
    found = table_moments(continuous_table(rows))
    assert found.n == n
    assert_close(found, *exact_moments(rows))
    assert np.array_equal(found.scatter, found.scatter.T)


@pytest.mark.every_case
@pytest.mark.parametrize(
    "n", [BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 1, 2 * BLOCK_ROWS, 3 * BLOCK_ROWS + 5]
)
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_around_the_ends_of_blocks(n, offset):
    rng = np.random.default_rng(n)
    rows = rng.normal(size=(n, 3)) @ np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 3.0], [0.0, 0.0, 0.2]]) + offset
    wide = rows.astype(np.longdouble)
    mean = wide.mean(axis=0)
    scatter = (wide - mean).T @ (wide - mean)
    found = table_moments(continuous_table(rows))
    assert found.n == n
    assert_close(found, mean.astype(np.float64), scatter.astype(np.float64), tolerance=1e-10)
    np.testing.assert_allclose(found.covariance, (scatter / n).astype(np.float64), rtol=1e-7)


def test_many_small_blocks(monkeypatch):
    monkeypatch.setattr(moments_module, "BLOCK_ROWS", 3)
    rng = np.random.default_rng(0)
    rows = np.cumsum(rng.normal(size=(50, 2)), axis=0) + 1e6  # a trend: blocks have different means
    assert_close(table_moments(continuous_table(rows)), *exact_moments(rows))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=3, max_size=3), st.integers(0, 2**32 - 1))
def test_merging_is_associative_and_equals_the_whole(sizes, seed):
    rng = np.random.default_rng(seed)
    parts = [rng.normal(size=(size, 2)) * 3 + 100 for size in sizes]

    def moments(rows):
        if not len(rows):
            return Moments(0, np.zeros(2), np.zeros((2, 2)))
        mean, scatter = exact_moments(rows)
        return Moments(len(rows), mean, scatter)

    a, b, c = map(moments, parts)
    left, right = merge_moments(merge_moments(a, b), c), merge_moments(a, merge_moments(b, c))
    whole = np.concatenate(parts)
    assert left.n == right.n == len(whole)
    for merged in (left, right, merge_moments(c, merge_moments(b, a))):
        if len(whole):
            assert_close(merged, *exact_moments(whole))


def test_one_row_has_no_scatter():
    found = table_moments(continuous_table([[3.0, -2.0]]))
    assert (found.n, found.mean.tolist(), found.scatter.tolist()) == (
        1,
        [3.0, -2.0],
        [[0.0, 0.0], [0.0, 0.0]],
    )


def test_the_table_is_not_changed():
    table = continuous_table([[1.0, 5.0], [2.0, 7.0]])
    TableStatistics(table).moments()
    assert table.values(0).tolist() == [1.0, 2.0]


def test_a_table_without_continuous_columns_has_rows_but_no_moments():
    found = TableStatistics(discrete_table([[0, 1, 1]], [2])).moments()
    assert (found.n, found.mean.shape, found.scatter.shape) == (3, (0,), (0, 0))
