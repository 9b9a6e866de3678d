"""The profile likelihood, against differences, a Gaussian log-likelihood of rows, and a generic optimiser."""

import numpy as np
import pytest

import dagora
from dagora.data.table import Table
from dagora.learners.optimise.profile_likelihood import ProfileLikelihood
from tests.learners.optimise.optimise_oracles import central_differences, random_covariance, split_minimum


def acyclic_weights(rng, d):
    return np.triu(rng.normal(size=(d, d)) * (rng.random((d, d)) < 0.7), 1)


@pytest.mark.parametrize("seed", range(4))
def test_gradient_by_differences(seed):
    rng = np.random.default_rng(seed)
    loss = ProfileLikelihood(random_covariance(rng, 5))
    weights = 0.5 * rng.normal(size=(5, 5))
    value, gradient = loss.value_and_gradient(weights)
    assert value == loss.value(weights)
    np.testing.assert_allclose(gradient, central_differences(loss.value, weights), rtol=1e-5, atol=1e-7)


def test_is_the_log_likelihood_at_the_best_variances():
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


def test_units_move_it_by_a_constant():
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
def test_refit_against_a_generic_optimiser(seed, lambda1):
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


def test_without_penalty_refit_is_regression():
    rng = np.random.default_rng(3)
    covariance = random_covariance(rng, 4)
    support = np.triu(np.ones((4, 4), dtype=bool), 1)
    weights = ProfileLikelihood(covariance).refit(support, 0.0)
    for child in range(1, 4):
        expected = np.linalg.solve(covariance[:child, :child], covariance[:child, child])
        np.testing.assert_allclose(weights[:child, child], expected, rtol=1e-8)


def test_a_perfect_fit_is_finite():
    covariance = np.array([[1.0, 2.0], [2.0, 4.0]])
    loss = ProfileLikelihood(covariance)
    support = np.array([[False, True], [False, False]])
    weights = loss.refit(support, 0.1)
    value, gradient = loss.value_and_gradient(np.array([[0.0, 2.0], [0.0, 0.0]]))
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
    assert np.isfinite(weights).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_graph_does_not_depend_on_units(seed):
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
