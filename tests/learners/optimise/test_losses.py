"""Losses, against the sums they stand for, differences, and independent fits of each column."""

import numpy as np
import pytest

import dagora
from dagora.base.errors import DataError
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.learners.optimise.losses import (
    LeastSquares,
    ProfileLikelihood,
    count_rows,
    logistic_loss,
    logistic_rows,
    poisson_loss,
)
from dagora.network.simulate import simulate
from dagora.stats.table import TableStatistics
from tests.learners.optimise.optimise_oracles import (
    central_differences,
    plain_lasso,
    random_covariance,
    split_minimum,
    violation,
)

CHAIN = DAG("abcd", [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")])


def binary_rows(rows=300, seed=0):
    return logistic_rows(TableStatistics(simulate(CHAIN, "logistic", rows, seed).table))


def rows_of_counts(rows=300, seed=0):
    return count_rows(TableStatistics(simulate(CHAIN, "poisson", rows, seed).table))


def losses():
    rng = np.random.default_rng(3)
    return {
        "least squares": LeastSquares(random_covariance(rng, 4)),
        "logistic": logistic_loss(binary_rows()),
        "poisson": poisson_loss(rows_of_counts()),
        "logistic as published": logistic_loss(binary_rows(), intercept=False),
        "poisson as published": poisson_loss(rows_of_counts(), intercept=False),
    }


each_loss = pytest.mark.parametrize("name", losses())


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
    assert logistic_loss(rows, intercept=False).value(weights) == pytest.approx(expected, rel=1e-12)
    rows = rows_of_counts()
    loss = poisson_loss(rows, intercept=False)
    difference = loss.value(weights) - loss.value(0 * weights)
    rates = np.exp(rows @ weights)
    expected = (poisson.logpmf(rows, 1.0) - poisson.logpmf(rows, rates)).sum() / len(rows)
    assert difference == pytest.approx(expected, rel=1e-9)


@each_loss
def test_gradients(name):
    loss = losses()[name]
    assert loss.n_variables == 4
    weights = 0.2 * np.random.default_rng(1).normal(size=(4, 4))
    value, gradient = loss.value_and_gradient(weights)
    assert value == loss.value(weights)
    np.testing.assert_allclose(gradient, central_differences(loss.value, weights), rtol=1e-6, atol=1e-7)


@each_loss
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


@pytest.mark.full
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
        logistic_loss((rows > 0) * 1.0).refit(support, 0.0)
    ).all()  # separated: no optimum, no crash
    assert np.isfinite(poisson_loss(np.abs(rows).round()).refit(support, 0.0)).all()


@pytest.mark.parametrize("size", [50.0, 1e4, 1e300])
def test_overflow_is_infinite_and_silent(size):
    counts = poisson_loss(np.array([[5.0, 1.0], [2.0, 30.0]]), intercept=False)
    weights = np.full((2, 2), size)
    assert counts.value(weights) == np.inf
    value, gradient = counts.value_and_gradient(weights)
    assert value == np.inf
    assert not gradient.any()
    binary = logistic_loss(np.array([[1.0, 0.0], [0.0, 1.0]]), intercept=False)
    assert binary.value(np.array([[0.0, 1e4], [0.0, 0.0]])) == pytest.approx(
        (1e4 + 3 * np.log(2)) / 2, rel=1e-12
    )


@pytest.mark.parametrize("kind", [logistic_loss, poisson_loss])
@pytest.mark.parametrize("size", [0.0, 0.3, 2.0])
def test_the_intercept_is_the_best_one(kind, size):
    """Each column's loss, at the best of a search over one number; the others' intercepts do not matter."""
    from scipy.optimize import minimize_scalar

    rows = binary_rows() if kind is logistic_loss else np.minimum(rows_of_counts(), 5.0)
    weights = size * np.random.default_rng(2).normal(size=(4, 4))
    eta = rows @ weights
    expected = 0.0
    for j in range(4):

        def column_loss(b, eta=eta[:, j], x=rows[:, j]):
            partition = np.logaddexp(0, eta + b) if kind is logistic_loss else np.exp(eta + b)
            return (partition - x * (eta + b)).mean()

        expected += minimize_scalar(column_loss, bracket=(-1.0, 1.0), tol=1e-12).fun
    assert kind(rows).value(weights) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("kind", [logistic_loss, poisson_loss])
def test_a_level_that_all_rows_share_is_no_reason_for_weights(kind):
    """A column that another one shifts as a whole has its level from the intercept, and costs no weight."""
    rows = binary_rows() if kind is logistic_loss else rows_of_counts()
    steady = np.column_stack([rows, np.ones(len(rows))])
    support = np.ones((5, 5), dtype=bool)
    np.fill_diagonal(support, val=False)
    weights = kind(steady).refit(support, 0.01)
    assert not weights[4].any(), "a constant explains nothing"
    assert not weights[:, 4].any(), "nor is there anything about it to explain"
    without = kind(rows).refit(support[:4, :4], 0.01)
    np.testing.assert_allclose(weights[:4, :4], without, atol=1e-8)
    assert kind(steady, intercept=False).refit(support, 0.01)[4].any(), "as published it stands in"


@pytest.mark.parametrize("kind", [logistic_loss, poisson_loss])
def test_what_is_certain_has_an_infinite_intercept_and_a_finite_loss(kind):
    rows = np.column_stack([np.zeros(6), [0.0, 1, 0, 1, 1, 0]])
    if kind is logistic_loss:
        rows = np.column_stack([rows, np.ones(6)])
    d = rows.shape[1]
    weights = np.random.default_rng(0).normal(size=(d, d))
    np.fill_diagonal(weights, 0.0)
    loss = kind(rows)
    value, gradient = loss.value_and_gradient(weights)
    varied = kind(rows[:, [1]]).value(np.zeros((1, 1)))
    assert loss.value(0 * weights) == pytest.approx(varied, rel=1e-12)
    assert np.isfinite(value)
    assert not gradient[:, 0].any(), "nothing changes a certain column"
    for lambda1 in (0.0, 0.1):
        assert not loss.refit(~np.eye(d, dtype=bool), lambda1).any()


@pytest.mark.parametrize("size", [1e2, 1e6])
def test_intercepts_keep_counts_from_overflowing(size):
    rng = np.random.default_rng(0)
    loss = poisson_loss(rng.poisson(size, (30, 3)).astype(float))
    weights = rng.normal(size=(3, 3))
    value, gradient = loss.value_and_gradient(weights)
    assert np.isfinite(value)
    slopes = central_differences(loss.value, weights)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-4, atol=1e-5 * np.abs(gradient).max())


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
        (table_of([0, 1e200], Kind.CONTINUOUS), "column 'smoker' has counts above 2⁵³"),
    ],
)
def test_rows_that_are_no_counts_are_refused(statistics, message):
    with pytest.raises(DataError, match=message):
        count_rows(statistics)


def acyclic_weights(rng, d):
    return np.triu(rng.normal(size=(d, d)) * (rng.random((d, d)) < 0.7), 1)


@pytest.mark.parametrize("seed", range(4))
def test_profile_gradient_by_differences(seed):
    rng = np.random.default_rng(seed)
    loss = ProfileLikelihood(random_covariance(rng, 5))
    weights = 0.5 * rng.normal(size=(5, 5))
    value, gradient = loss.value_and_gradient(weights)
    assert value == loss.value(weights)
    np.testing.assert_allclose(gradient, central_differences(loss.value, weights), rtol=1e-5, atol=1e-7)


def test_profile_is_the_log_likelihood_at_the_best_variances():
    from scipy.stats import norm

    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 4)) @ rng.normal(size=(4, 4))
    rows -= rows.mean(axis=0)
    weights = acyclic_weights(rng, 4)
    residuals = rows - rows @ weights
    per_row = norm.logpdf(residuals, scale=residuals.std(axis=0)).sum() / 60
    constant = 2 * (np.log(2 * np.pi) + 1)  # d/2 · (ln 2π + 1)
    value = ProfileLikelihood(rows.T @ rows / 60).value(weights)
    assert -per_row == pytest.approx(value + constant, rel=1e-12)


def test_units_move_the_profile_by_a_constant():
    rng = np.random.default_rng(1)
    covariance = random_covariance(rng, 5)
    scale = 10.0 ** rng.uniform(-3, 3, 5)
    here, there = ProfileLikelihood(covariance), ProfileLikelihood(covariance * np.outer(scale, scale))
    shifts = []
    for _ in range(4):
        weights = acyclic_weights(rng, 5)
        shifts.append(there.value(weights * scale / scale[:, None]) - here.value(weights))
    np.testing.assert_allclose(shifts, np.log(scale).sum(), rtol=1e-10)


@pytest.mark.parametrize("lambda1", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("seed", range(3))
def test_profile_refit_against_a_generic_optimiser(seed, lambda1):
    rng = np.random.default_rng(seed)
    covariance = random_covariance(rng, 5)
    spread = np.sqrt(np.diag(covariance))
    loss = ProfileLikelihood(covariance / np.outer(spread, spread))
    support = np.triu(rng.random((5, 5)) < 0.8, 1)
    weights = loss.refit(support, lambda1)
    assert not weights[~support].any()

    def function(entries):
        value, gradient = loss.value_and_gradient(entries.reshape(5, 5))
        return value, gradient.ravel()

    point, objective = split_minimum(function, np.zeros(25), support.ravel(), lambda1)
    found = loss.value(weights) + lambda1 * np.abs(weights).sum()
    assert found <= objective + 1e-8
    assert found == pytest.approx(objective, abs=1e-6)
    np.testing.assert_allclose(weights.ravel(), point, atol=1e-3)


def test_without_penalty_a_profile_refit_is_regression():
    rng = np.random.default_rng(3)
    covariance = random_covariance(rng, 4)
    support = np.triu(np.ones((4, 4), dtype=bool), 1)
    weights = ProfileLikelihood(covariance).refit(support, 0.0)
    for child in range(1, 4):
        expected = np.linalg.solve(covariance[:child, :child], covariance[:child, child])
        np.testing.assert_allclose(weights[:child, child], expected, rtol=1e-8)


def test_a_perfect_profile_fit_is_finite():
    covariance = np.array([[1.0, 2.0], [2.0, 4.0]])
    loss = ProfileLikelihood(covariance)
    support = np.array([[False, True], [False, False]])
    weights = loss.refit(support, 0.1)
    value, gradient = loss.value_and_gradient(np.array([[0.0, 2.0], [0.0, 0.0]]))
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
    assert np.isfinite(weights).all()


@pytest.mark.parametrize("seed", range(3))
def test_with_profile_the_graph_does_not_depend_on_units(seed):
    graph = dagora.random_dag("er", 8, 1.5, seed=seed)
    rows = np.column_stack(dagora.simulate(graph, "gaussian", 500, seed=seed).table.columns)
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-3, 3, 8) * rng.choice([-1, 1], 8)
    given = {"loss": "profile", "threshold": 0.05, "lambda1": 0.02}
    here = dagora.learn(Table.from_numpy(rows, names=graph.nodes), "notears", **given)
    there = dagora.learn(Table.from_numpy(rows * scale + 5.0, names=graph.nodes), "notears", **given)
    assert len(here.graph.edges) >= 6
    assert here.graph == there.graph
    assert here.score == pytest.approx(there.score, rel=1e-8)
    np.testing.assert_allclose(
        here.weights * np.sign(scale) * np.sign(scale)[:, None], there.weights, atol=1e-6
    )
    assert not any("units" in warning for warning in here.warnings), "units were not used"
