"""Sortability against path enumeration and closed forms, sort-and-regress against coordinate descent."""

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.learners.optimise.sortability import r2_sortability, r_squared, sort_and_regress, varsortability
from dagora.stats.table import TableStatistics
from tests.random_tables import random_continuous, random_dag


def enumerated(support, values):
    """Every directed path is walked; a pair counts once for each length."""
    graph = nx.from_numpy_array(np.asarray(support, dtype=int), create_using=nx.DiGraph)
    seen = {
        (a, b, len(path) - 1)
        for a in graph
        for b in graph
        if a != b
        for path in nx.all_simple_paths(graph, a, b)
    }
    if not seen:
        return math.nan
    return sum(
        1.0 if values[a] < values[b] else 0.5 if values[a] == values[b] else 0.0 for a, b, _ in seen
    ) / len(seen)


@settings(max_examples=80)
@given(st.integers(0, 2**32 - 1), st.integers(1, 7), st.sampled_from([0.2, 0.5, 1.0]))
def test_paths_walked_one_by_one(seed, d, density):
    rng = np.random.default_rng(seed)
    support = random_dag(rng, d, density).to_numpy().astype(bool)
    values = rng.integers(1, 5, d).astype(float)
    expected = enumerated(support, values)
    assert varsortability(support, values) == pytest.approx(expected, nan_ok=True)
    weights = np.where(support, rng.choice([-2.0, 0.3], size=(d, d)), 0.0)
    assert varsortability(weights, values * 1e9) == pytest.approx(expected, nan_ok=True)


def test_a_chain_by_hand():
    chain = np.eye(4, k=1)
    assert varsortability(chain, np.array([1.0, 2.0, 3.0, 4.0])) == 1
    assert varsortability(chain, np.array([4.0, 3.0, 2.0, 1.0])) == 0
    assert varsortability(chain, np.ones(4)) == 0.5
    # Of the pairs 01 12 23 02 13 03 only 01 falls.
    assert varsortability(chain, np.array([2.0, 1.0, 3.0, 4.0])) == pytest.approx(5 / 6)
    # A short cut adds the pair 02 once more, at length 1; two routes of one length count once.
    chain[0, 2] = 1
    assert varsortability(chain, np.array([2.0, 1.0, 3.0, 4.0])) == pytest.approx(7 / 8)
    diamond = np.zeros((4, 4))
    diamond[0, [1, 2]] = diamond[[1, 2], 3] = 1
    assert varsortability(diamond, np.array([3.0, 1.0, 4.0, 2.0])) == pytest.approx(2 / 5)


def test_rounding_makes_no_order():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(100, 30)) @ np.triu(rng.normal(size=(30, 30)))
    variances = (rows / rows.std(axis=0)).var(axis=0)
    assert len(set(variances)) > 1
    assert varsortability(np.triu(np.ones((30, 30)), 1), variances) == 0.5


def chain_covariance(a, b, noise=(1.0, 1.0, 1.0)):
    weights = np.array([[0, a, 0], [0, 0, b], [0, 0, 0]])
    total = np.linalg.inv(np.eye(3) - weights)
    return weights, total.T @ np.diag(noise) @ total


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (2.0, -0.7), (0.3, 0.3)])
def test_r2_of_a_chain(a, b):
    """x → y → z with unit noise: x and z see no more than y, and y sees both."""
    weights, covariance = chain_covariance(a, b)
    variance_y = a * a + 1
    x = a * a / variance_y
    z = b * b * variance_y / (b * b * variance_y + 1)
    # The precision of y is 1 + b², that of its noise and of z's.
    y = 1 - 1 / ((1 + b * b) * variance_y)
    np.testing.assert_allclose(r_squared(covariance), [x, y, z])
    expected = ((x < y) + (y < z) + (x < z)) / 3
    assert r2_sortability(weights, covariance) == pytest.approx(expected)
    units = np.array([1e-3, 1.0, 1e4])
    assert r2_sortability(weights, covariance * np.outer(units, units)) == pytest.approx(expected)


@pytest.mark.parametrize("rows", [4, 6, 200])
def test_r2_is_that_of_least_squares_even_with_few_rows_and_collinear_columns(rows):
    for seed in range(5):
        rng = np.random.default_rng([rows, seed])
        x = rng.normal(size=(rows, 7)) * 10.0 ** rng.integers(-2, 3, 7)
        x[:, 2] = 2 * x[:, 0] - x[:, 1]
        x -= x.mean(axis=0)
        expected = []
        for j in range(7):
            others = np.delete(x, j, axis=1)
            others = others / others.std(axis=0)
            rest = x[:, j] - others @ np.linalg.lstsq(others, x[:, j], rcond=1e-10)[0]
            expected.append(1 - rest @ rest / (x[:, j] @ x[:, j]))
        np.testing.assert_allclose(r_squared(x.T @ x / rows), expected, atol=1e-8)


def test_a_constant_column_is_explained_by_nothing():
    np.testing.assert_allclose(r_squared(np.diag([0.0, 1.0, 2.0])), [0.0, 0.0, 0.0])


def lasso_column(covariance, child, before, lambda1):
    weights = np.zeros(len(covariance))
    for _ in range(20_000):
        old = weights.copy()
        for i in before:
            pull = covariance[i, child] - covariance[i] @ weights + covariance[i, i] * weights[i]
            weights[i] = np.sign(pull) * max(abs(pull) - lambda1, 0) / covariance[i, i]
        if np.abs(weights - old).max() < 1e-14:
            break
    return weights


@pytest.mark.parametrize("by", ["variance", "r2"])
@pytest.mark.parametrize("lambda1", [0.0, 0.1, 0.5])
def test_each_column_is_regressed_on_those_before_it(by, lambda1):
    moments = TableStatistics(random_continuous(np.random.default_rng(3), 80, 6)).moments()
    covariance = moments.covariance
    values = (
        np.diag(covariance)
        if by == "variance"
        else 1 - 1 / (np.diag(covariance) * np.diag(np.linalg.inv(covariance)))
    )
    order = sorted(range(6), key=lambda i: values[i])
    expected = np.column_stack(
        [lasso_column(covariance, child, order[: order.index(child)], lambda1) for child in range(6)]
    )
    np.testing.assert_allclose(sort_and_regress(covariance, lambda1, by), expected, atol=1e-8)
    np.testing.assert_array_equal(
        sort_and_regress(moments, lambda1, by), sort_and_regress(covariance, lambda1, by)
    )


def test_it_finds_the_chain_where_variance_gives_it_away_and_not_where_it_misleads():
    weights, covariance = chain_covariance(1.5, 1.2)
    np.testing.assert_allclose(sort_and_regress(covariance, 0.0), weights, atol=1e-12)
    assert varsortability(weights, np.diag(covariance)) == 1
    weights, covariance = chain_covariance(0.3, 0.3, noise=(9.0, 1.0, 0.1))
    assert varsortability(weights, np.diag(covariance)) == 0
    found = sort_and_regress(covariance, 0.0) != 0
    assert np.argwhere(found).tolist() == [[1, 0], [2, 1]]


def test_ties_go_to_the_earlier_column():
    covariance = np.array([[1.0 + 1e-14, 0.5], [0.5, 1.0]])
    assert sort_and_regress(covariance, 0.1)[0, 1] == pytest.approx(0.4)
