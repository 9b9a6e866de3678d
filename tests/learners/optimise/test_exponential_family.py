"""Regressions of exponential families, against closed forms and the split L-BFGS-B."""

import numpy as np
import pytest

from dagora.learners.optimise.exponential_family import (
    BERNOULLI,
    POISSON,
    family_curvature,
    family_gradient,
    fit_column,
    minimal_subgradient,
    solve_model,
)
from tests.learners.optimise.optimise_oracles import plain_lasso, random_covariance, split_minimum, violation


@pytest.mark.parametrize("family", [BERNOULLI, POISSON], ids=["bernoulli", "count"])
def test_mean_and_variance_are_derivatives(family):
    eta = np.linspace(-6, 6, 25)
    step = 1e-5
    for x in (np.zeros(25), np.ones(25)):
        slope = (family.loss(eta + step, x) - family.loss(eta - step, x)) / (2 * step)
        np.testing.assert_allclose(family.mean(eta) - x, slope, rtol=1e-6, atol=1e-9)
    bend = (family.mean(eta + step) - family.mean(eta - step)) / (2 * step)
    np.testing.assert_allclose(family.variance(eta), bend, rtol=1e-7)


def test_one_binary_regressor_has_a_closed_form():
    # Where x = 1 the chance of a 1 is 3/4: the weight is log 3; rows with x = 0 say nothing without intercept.
    rows, target = np.array([[1.0]] * 4 + [[0.0]] * 2), np.array([1.0, 1, 1, 0, 0, 1])
    odds, rates = BERNOULLI.through_the_origin(), POISSON.through_the_origin()
    assert fit_column(odds, rows, target, 0.0)[0] == pytest.approx(np.log(3), rel=1e-10)
    # Mean count 5 where x = 1.
    counts = np.array([3.0, 7, 4, 6, 0, 2])
    assert fit_column(rates, rows, counts, 0.0)[0] == pytest.approx(np.log(5), rel=1e-10)
    # With an intercept the weight is a logarithm of a ratio: of odds 3 : 1, of means 5 : 1.
    assert fit_column(BERNOULLI, rows, target, 0.0)[0] == pytest.approx(np.log(3), rel=1e-10)
    target[-1] = 0
    target = np.append(target, [0, 1])
    rows, counts = np.append(rows, [[0.0], [0.0]], axis=0), np.append(counts, [1.0, 5.0])
    assert fit_column(BERNOULLI, rows, target, 0.0)[0] == pytest.approx(np.log(9), rel=1e-10)
    assert fit_column(POISSON, rows, counts, 0.0)[0] == pytest.approx(np.log(5 / 2), rel=1e-10)


@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0, 1000.0])
def test_intercepts_bring_the_means_to_where_they_should_be(spread):
    rng = np.random.default_rng(4)
    eta = spread * rng.normal(size=(40, 6))
    shares = np.array([1e-9, 0.01, 0.25, 0.5, 0.9, 1 - 1e-9])
    found = BERNOULLI.intercept(eta, shares)
    np.testing.assert_allclose(BERNOULLI.mean(eta + found).mean(axis=0), shares, rtol=1e-7)
    for j in range(6):
        alone = BERNOULLI.mean(eta[:, j] + BERNOULLI.intercept(eta[:, j], shares[j])).mean()
        assert alone == pytest.approx(shares[j], rel=1e-7)
    rates = np.array([1e-9, 0.01, 0.25, 1.0, 1e3, 1e9])
    np.testing.assert_allclose(
        POISSON.mean(eta + POISSON.intercept(eta, rates)).mean(axis=0), rates, rtol=1e-7
    )


@pytest.mark.parametrize("family", [BERNOULLI, POISSON], ids=["bernoulli", "count"])
def test_curvature_is_the_derivative_of_the_slope(family):
    rng = np.random.default_rng(6)
    rows = rng.normal(size=(60, 4))
    target = (rng.random(60) < 0.3) * 1.0
    point = rng.normal(size=4)
    for some in (family, family.through_the_origin()):
        curvature = family_curvature(some, rows, target, point)
        for i, step in enumerate(1e-5 * np.eye(4)):
            ends = [family_gradient(some, rows, target, point + sign * step)[1] for sign in (1, -1)]
            np.testing.assert_allclose(curvature[i], (ends[0] - ends[1]) / 2e-5, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("family", [BERNOULLI, POISSON], ids=["bernoulli", "count"])
@pytest.mark.parametrize("lambda1", [0.003, 0.05])
def test_with_an_intercept_it_is_the_regression_with_a_column_of_ones_that_costs_nothing(family, lambda1):
    rng = np.random.default_rng(5)
    rows = rng.poisson(1.0, (200, 3)).astype(float)
    expected_means = family.mean(rows @ np.array([0.5, -0.4, 0.0]) + 1.0)
    if family is BERNOULLI:
        target = (rng.random(200) < expected_means) * 1.0
    else:
        target = rng.poisson(expected_means).astype(float)
    weights = fit_column(family, rows, target, lambda1)

    def with_ones(entries):
        extended = np.column_stack([rows, np.ones(200)])
        value, slopes = family_gradient(family.through_the_origin(), extended, target, entries)
        # A penalty that is paid back, which leaves none on the positive level.
        return value - lambda1 * entries[3], slopes - lambda1 * np.array([0, 0, 0, 1.0])

    expected, _ = split_minimum(with_ones, np.zeros(4), [True] * 4, lambda1)
    assert expected[3] > 0
    np.testing.assert_allclose(weights, expected[:3], atol=1e-5)


@pytest.mark.parametrize("family", [BERNOULLI, POISSON], ids=["bernoulli", "count"])
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
    weights = fit_column(POISSON, rows, target, 0.0)
    assert abs(family_gradient(POISSON, rows, target, weights)[1][0]) < 1e-6


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
