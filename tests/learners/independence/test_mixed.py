"""The mixed test: equal to regressions on rows, to X² on levels; its size; the same graph over sites."""

import numpy as np
import pytest
from scipy.stats import f, f_oneway

import dagora
from dagora.api.learn_federated import learn_federated
from dagora.base.errors import DataError
from dagora.data.partition import split_rows
from dagora.data.table import Table
from dagora.learners.independence.counted import CountTest
from dagora.learners.independence.mixed import MixedTest, rao_tail
from dagora.stats.table import TableStatistics

FIRST, SECOND = np.array([0]), np.array([1])
NOTHING = np.empty((1, 0), dtype=np.int64)


def table_of(columns):
    """Columns of whole numbers are levels."""
    names = [f"v{k}" for k in range(len(columns))]
    levels = [name for name, column in zip(names, columns, strict=True) if column.dtype.kind == "i"]
    others = [name for name in names if name not in levels]
    return Table.from_numpy(np.column_stack(columns), names=names, discrete=levels, continuous=others)


def p_value(*columns):
    test = MixedTest(TableStatistics(table_of(columns)), "it")
    return test.p_values(FIRST, SECOND, np.arange(2, len(columns))[None])[0]


def features(column):
    if column.dtype.kind == "i":
        return (column[:, None] == np.unique(column)[1:]).astype(float)
    return np.column_stack([column, column**2])


def remainder(design, response):
    """The matrix of what a regression with an intercept leaves."""
    design = np.column_stack([np.ones(len(response)), *design])
    left = response - design @ np.linalg.lstsq(design, response, rcond=None)[0]
    return np.atleast_2d(left.T @ left)


@pytest.mark.parametrize("seed", range(3))
def test_levels_by_a_number_given_both_kinds(seed):
    """Wilks' Λ of the indicators on z and z², from rows; the tail by Rao's formula, written out."""
    rng = np.random.default_rng(seed)
    a, s = rng.integers(0, 3, 90), rng.integers(0, 2, 90)
    x, t = rng.normal(size=(2, 90))
    small, large = [features(s), features(t)], [features(s), features(t), features(x)]
    ratio = np.divide(*(np.linalg.det(remainder(design, features(a))) for design in (large, small)))
    error, p, q = 90 - 1 - 3 - 2, 2, 2
    root = np.sqrt((p**2 * q**2 - 4) / (p**2 + q**2 - 5))
    freedom = (error - (q - p + 1) / 2) * root - p * q / 2 + 1
    each = ratio ** (1 / root)
    expected = f.sf((1 - each) / each * freedom / (p * q), p * q, freedom)
    assert p_value(a, x, s, t) == pytest.approx(expected, rel=1e-6)
    assert p_value(x, a, t, s) == pytest.approx(expected, rel=1e-6)


def test_two_numbers_given_a_level():
    rng = np.random.default_rng(4)
    s = rng.integers(0, 3, 70)
    x, y = rng.normal(size=(2, 70))
    p = []
    for response, other in ((x, y), (y, x)):
        small, large = (
            remainder(design, response)[0, 0] for design in ([features(s)], [features(s), features(other)])
        )
        p.append(f.sf((small - large) / 2 / (large / (70 - 5)), 2, 70 - 5))
    assert p_value(x, y, s) == pytest.approx(min(1, 2 * min(p)), rel=1e-6)


def test_rao_with_one_response_is_an_analysis_of_variance():
    rng = np.random.default_rng(5)
    a, x = rng.integers(0, 4, 60), rng.normal(size=60)
    ratio = remainder([features(a)], x)[0, 0] / remainder([], x)[0, 0]
    expected = f_oneway(*(x[a == level] for level in range(4))).pvalue
    assert rao_tail(np.array([[np.log(ratio), 1.0, 3.0, 0.0]]), 60)[0] == pytest.approx(expected, rel=1e-9)


def test_levels_alone_are_counted():
    rng = np.random.default_rng(6)
    a, b, s = rng.integers(0, 3, size=(3, 100))
    plain = CountTest(TableStatistics(table_of([a, b, s])), "x2", "it").p_values(
        FIRST, SECOND, np.array([[2]])
    )
    assert MixedTest(TableStatistics(table_of([a, b, s, rng.normal(size=100)])), "it").p_values(
        FIRST, SECOND, np.array([[2]])
    ) == pytest.approx(plain)


@pytest.mark.full
@pytest.mark.parametrize("kinds", ["dcd", "dcc", "ccd", "ddc"])
def test_size(kinds):
    """x and y depend on what is given, and on nothing else."""
    rng = np.random.default_rng(7)
    rejected = 0
    for _ in range(300):
        s = rng.integers(0, 3, 150) if kinds[2] == "d" else rng.normal(size=150)
        columns = []
        for kind in kinds[:2]:
            value = rng.uniform(-1, 1) * s + rng.normal(size=150)
            columns.append(np.digitize(value, [-0.5, 0.7]) if kind == "d" else value)
        rejected += p_value(*columns, s) < 0.05
    assert 0.02 <= rejected / 300 <= 0.085


def test_nothing_to_be_tested():
    rng = np.random.default_rng(8)
    a, b = rng.integers(0, 2, size=(2, 40))
    x = rng.normal(size=40)
    assert np.isnan(p_value(a, x, a + 0))  # what is given tells a
    assert p_value(a, a + 0.0, b) == 0  # the number tells the level, and the other way round
    assert np.isnan(p_value(np.zeros(40, dtype=np.int64), x))
    with pytest.raises(DataError, match="'v1' is constant"):
        p_value(a, np.ones(40))


def test_pc_over_sites_as_on_pooled_rows():
    truth = dagora.random_dag("er", 6, 1.5, seed=1)
    table = dagora.simulate(truth, "mixed", 600, seed=2, relations="shift").table
    pooled = dagora.learn(table, "pc", test="mixed")
    assert "by mixed" in pooled.message
    sites = {f"s{k}": part for k, part in enumerate(split_rows(table, 3))}
    assert learn_federated(sites, "pc").graph == pooled.graph


def test_one_kind_has_its_own_test():
    rows = np.random.default_rng(9).normal(size=(60, 3))
    assert "by fisher-z" in dagora.learn(rows, "pc", test="mixed").message
