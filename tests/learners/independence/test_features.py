"""The feature test: equal to F tests on rows, its size, and the same graph over sites."""

import numpy as np
import pytest
from scipy.stats import f

import dagora
from dagora.api.learn_federated import learn_federated
from dagora.base.errors import DataError, RowsUnavailableError
from dagora.data.partition import split_rows
from dagora.data.table import Table
from dagora.learners.independence.features import FUNCTIONS, TESTED, FeatureTest
from dagora.stats.name_order import in_name_order
from dagora.stats.table import TableStatistics

FIRST, SECOND = np.array([0]), np.array([1])


def on_rows(rows):
    names = [f"v{k}" for k in range(np.shape(rows)[1])]
    return FeatureTest(TableStatistics(Table.from_numpy(rows, names=names)), "it")


def legendre(values, functions):
    scaled = 2 * (values - values.min()) / np.ptp(values) - 1
    return np.polynomial.legendre.legvander(scaled, functions)[:, 1:]


@pytest.mark.parametrize("size", [0, 1, 2])
def test_two_regressions_on_rows(size):
    rng = np.random.default_rng(size)
    rows = rng.normal(size=(80, 2 + size))
    rows[:, 1] += np.cos(rows[:, 0])
    p = []
    for response, other in ((0, 1), (1, 0)):
        given = [np.ones((80, 1)), *(legendre(rows[:, 2 + k], FUNCTIONS) for k in range(size))]
        small = np.column_stack(given)
        large = np.column_stack([small, legendre(rows[:, other], TESTED)])
        left = [np.linalg.lstsq(design, rows[:, response], rcond=None)[1][0] for design in (small, large)]
        freedom = 80 - large.shape[1]
        p.append(f.sf((left[0] - left[1]) / TESTED / (left[1] / freedom), TESTED, freedom))
    found = on_rows(rows).p_values(FIRST, SECOND, np.arange(2, 2 + size)[None])[0]
    assert found == pytest.approx(min(1.0, 2 * min(p)), rel=1e-6)


@pytest.mark.full
def test_size_given_a_column_that_bends():
    rng = np.random.default_rng(3)
    rejected = 0
    for _ in range(300):
        s, one, other = rng.normal(size=(3, 200))
        rows = np.column_stack([np.sin(2.5 * s) + one, np.sin(2.5 * s) + other, s])
        rejected += on_rows(rows).p_values(FIRST, SECOND, np.array([[2]]))[0] < 0.05
    assert 0.02 <= rejected / 300 <= 0.08


def test_nothing_to_be_tested_or_nothing_in_doubt():
    a, b, c = np.random.default_rng(4).normal(size=(3, 50))
    test = on_rows(np.column_stack([a + b, c, a, b]))
    assert np.isnan(
        test.p_values(FIRST, SECOND, np.array([[2, 3]]))[0]
    )  # a + b is known, so there is no test
    assert np.isnan(
        on_rows(np.column_stack([a + b, a - b, a, b])).p_values(FIRST, SECOND, np.array([[2, 3]]))[0]
    )
    # Given b, either of the two tells the other.
    assert test.p_values(FIRST, np.array([2]), np.array([[3]]))[0] < 1e-12


def test_a_column_that_others_determine_is_not_tested_given_them():
    a, b, noise = np.random.default_rng(0).normal(size=(3, 300))
    cells = np.column_stack([a, b, a + b, a + b + noise])
    test = FeatureTest(TableStatistics(Table.from_numpy(cells)), "the method pc")
    c, d = np.array([2]), np.array([3])
    assert np.isnan(test.p_values(c, d, np.array([[0, 1]])))
    assert np.isnan(test.p_values(d, c, np.array([[0, 1]])))
    assert test.p_values(c, d, np.array([[0]])) < 1e-9


def test_pc_over_sites_as_on_pooled_rows():
    rng = np.random.default_rng(5)
    a, b, c = rng.normal(size=(3, 300))
    table = Table.from_numpy(np.column_stack([a**2 + np.cos(2 * b) + 0.3 * c, b, a]), names=["z", "b", "a"])
    pooled = dagora.learn(table, "pc", test="features")
    assert set(pooled.graph.edges) == {("a", "z"), ("b", "z")}
    sites = {f"s{k}": part for k, part in enumerate(split_rows(table, 3))}
    apart = learn_federated(sites, "pc", test="features")
    assert apart.graph == pooled.graph
    assert apart.stats["tests"] == pooled.stats["tests"]


def test_bad_input():
    with pytest.raises(DataError, match="'a' is discrete"):
        dagora.learn({"a": [0, 1] * 20, "b": [1, 0] * 20}, "pc", test="features")
    with pytest.raises(DataError, match="cannot make a single test"):
        dagora.learn({"a": [0.1, 0.5, 0.9, 0.2], "b": [0.7, 0.2, 0.4, 0.1]}, "pc", test="features")

    class Plain:
        def __init__(self, behind):
            self.schema, self.n_rows, self.moments = behind.schema, behind.n_rows, behind.moments

    rows = np.random.default_rng(0).normal(size=(30, 2))
    for names in ("ab", "ba"):
        statistics = Plain(TableStatistics(Table.from_numpy(rows, names=list(names))))
        with pytest.raises(RowsUnavailableError, match="sums of functions of the columns"):
            FeatureTest(in_name_order(statistics), "it")
