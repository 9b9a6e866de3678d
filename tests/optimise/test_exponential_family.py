"""Regressions of exponential families, against closed forms and the split L-BFGS-B."""

import numpy as np
import pytest

from dagora.optimise.exponential_family import (
    BERNOULLI,
    COUNT,
    family_gradient,
    fit_column,
    minimal_subgradient,
    solve_model,
)
from tests.optimise.optimise_oracles import plain_lasso, random_covariance, split_minimum, violation


@pytest.mark.parametrize("family", [BERNOULLI, COUNT], ids=["bernoulli", "count"])
def test_mean_and_variance_are_derivatives(family):
    eta = np.linspace(-6, 6, 25)
    step = 1e-5
    slope = (family.partition(eta + step) - family.partition(eta - step)) / (2 * step)
    np.testing.assert_allclose(family.mean(eta), slope, rtol=1e-7)
    bend = (family.mean(eta + step) - family.mean(eta - step)) / (2 * step)
    np.testing.assert_allclose(family.variance(eta), bend, rtol=1e-7)


def test_one_binary_regressor_has_a_closed_form():
    # Where x = 1 the chance of a 1 is 3/4: the weight is log 3; rows with x = 0 say nothing without intercept.
    rows, target = np.array([[1.0]] * 4 + [[0.0]] * 2), np.array([1.0, 1, 1, 0, 0, 1])
    assert fit_column(BERNOULLI, rows, target, 0.0)[0] == pytest.approx(np.log(3), rel=1e-10)
    # Mean count 5 where x = 1.
    assert fit_column(COUNT, rows, np.array([3.0, 7, 4, 6, 0, 9]), 0.0)[0] == pytest.approx(
        np.log(5), rel=1e-10
    )


@pytest.mark.parametrize("family", [BERNOULLI, COUNT], ids=["bernoulli", "count"])
@pytest.mark.parametrize("lambda1", [0.003, 0.05])
def test_against_the_split_program(family, lambda1):
    rng = np.random.default_rng(5)
    rows = rng.poisson(1.0, (200, 5)).astype(float)
    chance = family.mean(rows @ np.array([0.5, -0.4, 0.0, 0.0, 0.1]))
    target = (rng.random(200) < chance) * 1.0 if family is BERNOULLI else rng.poisson(chance).astype(float)
    weights = fit_column(family, rows, target, lambda1)
    assert violation(weights, family_gradient(family, rows, target, weights)[1], lambda1).max() < 1e-10
    expected, _ = split_minimum(
        lambda w: family_gradient(family, rows, target, w), np.zeros(5), [True] * 5, lambda1
    )
    np.testing.assert_allclose(weights, expected, atol=1e-5)


def test_a_large_start_to_poisson_is_found():
    # The first Newton step overshoots by far: exp of it overflows, and the line search has to bring it back.
    rows = np.array([[100.0], [0.01]])
    target = np.array([1.0, 1e6])
    weights = fit_column(COUNT, rows, target, 0.0)
    assert abs(family_gradient(COUNT, rows, target, weights)[1][0]) < 1e-6


def test_the_quadratic_model_is_a_lasso():
    rng = np.random.default_rng(2)
    hessian, target = random_covariance(rng, 5), rng.normal(size=5)
    np.testing.assert_allclose(
        solve_model(hessian, target, 0.3), plain_lasso(hessian, target, 0.3), rtol=1e-8, atol=1e-10
    )


def test_the_minimal_subgradient_is_the_smallest():
    rng = np.random.default_rng(0)
    point, gradient = rng.choice([-1.0, 0.0, 2.0], 40), rng.normal(size=40)
    smallest = minimal_subgradient(point, gradient, 0.5)
    np.testing.assert_allclose(np.abs(smallest), violation(point, gradient, 0.5))
    for share in np.linspace(-1, 1, 11):
        some = gradient + 0.5 * np.where(point == 0, share, np.sign(point))
        assert (np.abs(smallest) <= np.abs(some) + 1e-15).all()
