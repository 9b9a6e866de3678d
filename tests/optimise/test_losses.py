"""Losses, against the sums they stand for, differences, and independent fits of each column."""

import numpy as np
import pytest

from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.errors import DataError
from dagora.graph.dag import DAG
from dagora.network.simulate import simulate
from dagora.optimise.losses import LeastSquares, Logistic, Poisson, count_rows, logistic_rows
from dagora.stats.table import TableStatistics
from tests.optimise.optimise_oracles import central_differences, plain_lasso, random_covariance, violation

CHAIN = DAG("abcd", [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")])


def binary_rows(rows=300, seed=0):
    return logistic_rows(TableStatistics(simulate(CHAIN, "logistic", rows, seed).table))


def rows_of_counts(rows=300, seed=0):
    return count_rows(TableStatistics(simulate(CHAIN, "poisson", rows, seed).table))


def losses():
    rng = np.random.default_rng(3)
    return {
        "least squares": LeastSquares(random_covariance(rng, 4)),
        "logistic": Logistic(binary_rows()),
        "poisson": Poisson(rows_of_counts()),
    }


def test_least_squares_is_the_sum_over_rows():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 4)) @ rng.normal(size=(4, 4))
    rows -= rows.mean(axis=0)
    weights = rng.normal(size=(4, 4))
    expected = ((rows - rows @ weights) ** 2).sum() / 100
    assert LeastSquares(rows.T @ rows / 50).value(weights) == pytest.approx(expected, rel=1e-12)


def test_logistic_and_poisson_are_log_likelihoods():
    from scipy.stats import bernoulli, poisson

    rng = np.random.default_rng(0)
    weights = rng.normal(size=(4, 4)) * 0.3
    rows = binary_rows()
    chance = 1 / (1 + np.exp(-rows @ weights))
    expected = -bernoulli.logpmf(rows, chance).sum() / len(rows)
    assert Logistic(rows).value(weights) == pytest.approx(expected, rel=1e-12)
    rows = rows_of_counts()
    difference = Poisson(rows).value(weights) - Poisson(rows).value(0 * weights)
    rates = np.exp(rows @ weights)
    expected = (poisson.logpmf(rows, 1.0) - poisson.logpmf(rows, rates)).sum() / len(rows)
    assert difference == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["least squares", "logistic", "poisson"])
def test_gradients(name):
    loss = losses()[name]
    assert loss.n_variables == 4
    weights = 0.2 * np.random.default_rng(1).normal(size=(4, 4))
    value, gradient = loss.value_and_gradient(weights)
    assert value == loss.value(weights)
    np.testing.assert_allclose(gradient, central_differences(loss.value, weights), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", ["least squares", "logistic", "poisson"])
@pytest.mark.parametrize("lambda1", [0.0, 0.01, 0.1, 100.0])
def test_refit_is_optimal_on_its_support(name, lambda1):
    loss = losses()[name]
    support = np.triu(np.ones((4, 4), dtype=bool), 1)
    support[0, 3] = False
    weights = loss.refit(support, lambda1)
    assert not weights[~support].any()
    gradient = loss.value_and_gradient(weights)[1]
    # The program is convex: the optimality conditions are sufficient.
    assert violation(weights, gradient, lambda1).reshape(4, 4)[support].max() < 1e-9
    assert weights[support].any() == (lambda1 < 100)


@pytest.mark.parametrize("seed", range(3))
def test_least_squares_refit_is_the_lasso(seed):
    covariance = random_covariance(np.random.default_rng(seed), 6)
    support = np.triu(np.ones((6, 6), dtype=bool), 1)
    weights = LeastSquares(covariance).refit(support, 0.2)
    for child in range(1, 6):
        expected = plain_lasso(covariance[:child, :child], covariance[:child, child], 0.2)
        np.testing.assert_allclose(weights[:child, child], expected, rtol=1e-7, atol=1e-9)


def test_refit_takes_duplicated_columns_and_few_rows():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(5, 8))
    rows[:, 1] = rows[:, 0]
    rows -= rows.mean(axis=0)
    support = np.triu(np.ones((8, 8), dtype=bool), 1)
    for lambda1 in (0.0, 0.05):
        loss = LeastSquares(rows.T @ rows / 5)
        weights = loss.refit(support, lambda1)
        gradient = loss.value_and_gradient(weights)[1]
        assert violation(weights, gradient, lambda1).reshape(8, 8)[support].max() < 1e-8
    assert np.isfinite(
        Logistic((rows > 0) * 1.0).refit(support, 0.0)
    ).all()  # separated: no optimum, no crash
    assert np.isfinite(Poisson(np.abs(rows).round()).refit(support, 0.0)).all()


@pytest.mark.parametrize("size", [50.0, 1e4, 1e300])
def test_overflow_is_infinite_and_silent(size):
    counts = Poisson(np.array([[5.0, 1.0], [2.0, 30.0]]))
    weights = np.full((2, 2), size)
    assert counts.value(weights) == np.inf
    value, gradient = counts.value_and_gradient(weights)
    assert value == np.inf
    assert not gradient.any()
    binary = Logistic(np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert binary.value(np.array([[0.0, 1e4], [0.0, 0.0]])) == pytest.approx(
        (1e4 + 3 * np.log(2)) / 2, rel=1e-12
    )


def table_of(values, kind, levels=()):
    column = np.asarray(values, dtype=np.uint16 if kind is Kind.DISCRETE else np.float64)
    return TableStatistics(Table(Schema([Variable("smoker", kind, levels)]), (column,)))


def test_binary_rows():
    words = table_of([1, 0, 1], Kind.DISCRETE, ("no", "yes"))
    assert logistic_rows(words).tolist() == [[1.0], [0.0], [1.0]]
    assert logistic_rows(table_of([0, 1, 1], Kind.CONTINUOUS)).tolist() == [[0.0], [1.0], [1.0]]


@pytest.mark.parametrize(
    ("statistics", "message"),
    [
        (table_of([0, 2], Kind.DISCRETE, ("a", "b", "c")), "column 'smoker' has 3 levels, .* merge levels"),
        (table_of([0, 0], Kind.DISCRETE, ("a",)), "column 'smoker' has 1 level, "),
        (table_of([0, 0.5], Kind.CONTINUOUS), "column 'smoker' has values other than 0 and 1, .* two levels"),
    ],
)
def test_rows_that_are_not_binary_are_refused(statistics, message):
    with pytest.raises(DataError, match=message):
        logistic_rows(statistics)


def test_rows_of_counts():
    levels = table_of([1, 0, 2], Kind.DISCRETE, ("0", "3", "10"))
    assert count_rows(levels).tolist() == [[3.0], [0.0], [10.0]]
    assert count_rows(table_of([0, 7], Kind.CONTINUOUS)).tolist() == [[0.0], [7.0]]


@pytest.mark.parametrize(
    ("statistics", "message"),
    [
        (table_of([0, 1], Kind.DISCRETE, ("few", "many")), "column 'smoker' has levels that are no numbers"),
        (table_of([0, 1], Kind.DISCRETE, ("-1", "1")), "column 'smoker' has values that are no counts"),
        (table_of([0, 1], Kind.DISCRETE, ("inf", "nan")), "column 'smoker' has values that are no counts"),
        (table_of([0, 0.5], Kind.CONTINUOUS), "column 'smoker' has values that are no counts"),
        (table_of([0, -2], Kind.CONTINUOUS), "column 'smoker' has values that are no counts"),
    ],
)
def test_rows_that_are_no_counts_are_refused(statistics, message):
    with pytest.raises(DataError, match=message):
        count_rows(statistics)
