"""Tests of independence: against direct computation, and their size under independence."""

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chi2, norm, pearsonr

from dagora.base.errors import DataError
from dagora.data.table import Table
from dagora.learners.independence.counted import CountTest
from dagora.learners.independence.fisher_z import FisherZ
from dagora.learners.independence.permutation_moments import upper_tail
from dagora.stats.table import TableStatistics

NOTHING = np.empty((1, 0), dtype=np.int64)
FIRST, SECOND, THIRD = (np.array([k]) for k in range(3))


class Sums:
    """Statistics without rows."""

    def __init__(self, statistics):
        self.schema, self.n_rows = statistics.schema, statistics.n_rows
        self.contingency = statistics.contingency


def counted(rows, reading="x2", *, sums=False):
    names = [f"v{k}" for k in range(np.shape(rows)[1])]
    statistics = TableStatistics(Table.from_numpy(rows, names=names, discrete=names))
    return CountTest(Sums(statistics) if sums else statistics, reading, "it")


def chi_squared(x, y, slices):
    """X² by its definition, added up over slices."""
    total = 0.0
    for value in np.unique(slices):
        inside = slices == value
        table = np.zeros((x.max() + 1, y.max() + 1))
        np.add.at(table, (x[inside], y[inside]), 1)
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / inside.sum()
        some = expected > 0
        total += ((table - expected)[some] ** 2 / expected[some]).sum()
    return total


@pytest.mark.parametrize("sums", [False, True])
def test_x2_has_the_moments_of_all_permutations_within_slices(sums):
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 3, 7), rng.integers(0, 2, 7)
    slices = np.array([0, 1, 0, 1, 0, 1, 1])
    inside = [np.flatnonzero(slices == value) for value in (0, 1)]
    values = []
    for one in permutations(inside[0]):
        for other in permutations(inside[1]):
            moved = y.copy()
            moved[inside[0]], moved[inside[1]] = y[list(one)], y[list(other)]
            values.append(chi_squared(x, moved, slices))
    values = np.array(values)
    spread = values - values.mean()
    expected = upper_tail(chi_squared(x, y, slices), values.mean(), (spread**2).mean(), (spread**3).mean())
    found = counted(np.stack([x, y, slices], axis=1), sums=sums).p_values(FIRST, SECOND, np.array([[2]]))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("sums", [False, True])
def test_g2_by_its_definition(sums):
    rng = np.random.default_rng(2)
    rows = np.stack([rng.integers(0, 3, 200), rng.integers(0, 3, 200), rng.integers(0, 2, 200)], axis=1)
    rows[rows[:, 2] == 1, 0] %= 2  # one level of x is not seen in one slice
    g = 0.0
    for value in (0, 1):
        inside = rows[rows[:, 2] == value]
        table = np.zeros((3, 3))
        np.add.at(table, (inside[:, 0], inside[:, 1]), 1)
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / len(inside)
        g += 2 * sum(o * np.log(o / e) for o, e in zip(table.ravel(), expected.ravel(), strict=True) if o)
    for reading, freedom in (("g2", 8), ("g2-seen", 6)):
        found = counted(rows, reading, sums=sums).p_values(FIRST, SECOND, np.array([[2]]))
        np.testing.assert_allclose(found, chi2.sf(g, freedom), rtol=1e-9)


def test_fisher_z_is_a_correlation_of_residuals():
    rng = np.random.default_rng(3)
    z = rng.normal(size=(60, 2))
    rows = np.column_stack([z @ [1, 2] + rng.normal(size=60), z @ [1, -1] + rng.normal(size=60), z])
    test = FisherZ(TableStatistics(Table.from_numpy(rows, names=["x", "y", "a", "b"])), "it")
    design = np.column_stack([np.ones(60), z])
    left = rows - design @ np.linalg.lstsq(design, rows, rcond=None)[0]
    r = pearsonr(left[:, 0], left[:, 1]).statistic
    squares = np.tanh(np.arctanh(r)) ** 2
    p = test.p_values(FIRST, SECOND, np.array([[2, 3]]))
    np.testing.assert_allclose(p, test.tail(np.array([squares]), 2), rtol=1e-9)
    np.testing.assert_allclose(p, 2 * norm.sf(abs(np.arctanh(r)) * np.sqrt(60 - 2 - 3)), rtol=1e-6)


@pytest.mark.full
def test_size_on_sparse_tables():
    """16 slices of about 12 rows: of 400 draws, five per cent are rejected at five per cent."""
    rng = np.random.default_rng(4)
    rejected = 0
    for _ in range(400):
        rows = np.stack([rng.integers(0, k, 200) for k in (3, 3, 16)], axis=1)
        rejected += counted(rows).p_values(FIRST, SECOND, np.array([[2]]))[0] < 0.05
    assert 0.02 <= rejected / 400 <= 0.08


@pytest.mark.parametrize("reading", ["x2", "g2", "g2-seen"])
def test_nothing_to_be_tested(reading):
    """A constant column is independent of all; so is everything given as many levels as rows."""
    rows = np.stack([np.zeros(8), [0, 1] * 4, range(8), [0, 1, 1, 0] * 2], axis=1).astype(np.int64)
    test = counted(rows, reading)
    assert test.p_values(FIRST, SECOND, NOTHING)[0] == 1
    assert test.p_values(SECOND, np.array([3]), np.array([[2]]))[0] == 1


def test_a_determined_column_cannot_be_tested():
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, 50))
    table = Table.from_numpy(np.stack([a, b, a + b], axis=1), names=["a", "b", "total"])
    test = FisherZ(TableStatistics(table), "it")
    assert test.p_values(FIRST, THIRD, SECOND[:, None])[0] == 0  # given b, either tells the other
    more = Table.from_numpy(np.stack([a, b, a + b, a - b], axis=1), names=["a", "b", "total", "rest"])
    test = FisherZ(TableStatistics(more), "it")
    assert np.isnan(test.p_values(FIRST, SECOND, np.array([[2, 3]]))[0])
    assert test.max_given == 46


def test_numbers_are_not_counted():
    table = Table.from_numpy(np.random.default_rng(0).normal(size=(20, 2)), names=["a", "b"])
    with pytest.raises(DataError, match="'a' is continuous"):
        CountTest(TableStatistics(table), "x2", "it")


@pytest.mark.parametrize("size", [2, 3, 4, 5, 20])
def test_rows_that_all_differ_say_nothing(size):
    """X² is the same in every permutation, whatever rounding makes of its variance."""
    rng = np.random.default_rng(size)
    for _ in range(40):
        slices = np.repeat(np.arange(4), size)
        x = np.concatenate([rng.permutation(size) for _ in range(4)])
        rows = np.stack([x, rng.integers(0, 3, 4 * size), slices], axis=1)
        assert counted(rows).p_values(FIRST, SECOND, np.array([[2]]))[0] == 1
