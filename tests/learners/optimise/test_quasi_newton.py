"""The proximal quasi-Newton method, against plain coordinate descent and the published split program."""

import numpy as np
import pytest

from dagora.learners.optimise.acyclicity import log_determinant, trace_exponential
from dagora.learners.optimise.losses import LeastSquares
from dagora.learners.optimise.quasi_newton import minimise
from tests.learners.optimise.optimise_oracles import plain_lasso, random_covariance, split_minimum, violation


def quadratic(gram, target):
    return lambda w: (0.5 * float(w @ gram @ w) - float(target @ w), gram @ w - target)


def everything(size):
    return np.ones(size, dtype=bool)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("lambda1", [0.01, 0.3, 2.0])
def test_lasso(seed, lambda1):
    rng = np.random.default_rng(seed)
    gram, target = random_covariance(rng, 12) + np.eye(12), 3 * rng.normal(size=12)
    found = minimise(quadratic(gram, target), np.zeros(12), everything(12), lambda1, tolerance=1e-9)
    expected = plain_lasso(gram, target, lambda1)
    objective = quadratic(gram, target)(expected)[0] + lambda1 * np.abs(expected).sum()
    assert found.value <= objective + 1e-7 * abs(objective)
    assert violation(found.point, gram @ found.point - target, lambda1).max() < 1e-3
    assert ((found.point == 0) == (expected == 0)).all()


def test_the_whole_penalty_at_once():
    rng = np.random.default_rng(0)
    gram, target = random_covariance(rng, 6), rng.normal(size=6)
    found = minimise(quadratic(gram, target), rng.normal(size=6), everything(6), np.abs(target).max() + 1e-9)
    assert not found.point.any()


def test_fixed_entries_stay():
    rng = np.random.default_rng(1)
    gram, target = random_covariance(rng, 8), rng.normal(size=8)
    free = np.arange(8) % 2 == 0
    start = np.where(free, 0.0, 0.7)
    for lambda1 in (0.0, 0.05):
        found = minimise(quadratic(gram, target), start, free, lambda1, tolerance=1e-10)
        assert (found.point[~free] == 0.7).all()
        rest = target[free] - gram[np.ix_(free, ~free)] @ start[~free]
        expected = plain_lasso(gram[np.ix_(free, free)], rest, lambda1)
        np.testing.assert_allclose(found.point[free], expected, atol=2e-3)


def subproblem(size, seed, rho, alpha, measure):
    loss = LeastSquares(random_covariance(np.random.default_rng(seed), size, rows=100))

    def lagrangian(entries):
        weights = entries.reshape(size, size)
        h, h_gradient = measure(weights)
        if not np.isfinite(h):
            return np.inf, np.zeros_like(entries)
        value, gradient = loss.value_and_gradient(weights)
        return value + (0.5 * rho * h + alpha) * h, (gradient + (rho * h + alpha) * h_gradient).ravel()

    return lagrangian


@pytest.mark.parametrize("measure", [trace_exponential, log_determinant])
@pytest.mark.parametrize(("rho", "alpha"), [(1.0, 0.0), (100.0, 5.0)])
@pytest.mark.parametrize("seed", range(2))
def test_subproblems_of_notears(seed, rho, alpha, measure):
    """Not convex: both stop at a local minimum near the same start, and ours is stationary to its tolerance."""
    size, lambda1 = 5, 0.1
    lagrangian = subproblem(size, seed, rho, alpha, measure)
    free = ~np.eye(size, dtype=bool).ravel()
    found = minimise(lagrangian, np.zeros(size * size), free, lambda1, tolerance=1e-7)
    value, gradient = lagrangian(found.point)
    assert found.value == pytest.approx(value + lambda1 * np.abs(found.point).sum(), rel=1e-12)
    assert violation(found.point, gradient, lambda1)[free].max() < 2e-3
    # The reference starts where ours ended, so that it is the same minimum: it finds next to nothing to gain.
    if measure is trace_exponential:
        _, better = split_minimum(lagrangian, found.point, free, lambda1)
        assert found.value <= better + 1e-6 * abs(better)


def test_without_penalty():
    size = 5
    for measure in (trace_exponential, log_determinant):
        lagrangian = subproblem(size, 0, 10.0, 1.0, measure)
        free = ~np.eye(size, dtype=bool).ravel()
        found = minimise(lagrangian, np.zeros(size * size), free, 0.0, tolerance=1e-6)
        value, gradient = lagrangian(found.point)
        assert found.value == pytest.approx(value, rel=1e-12)
        assert np.isfinite(value)
        assert np.abs(gradient[free]).max() < 2e-3


@pytest.mark.parametrize("lambda1", [0.0, 0.5])
def test_a_domain_with_an_edge(lambda1):
    """−log(1 − w) − 3w + λ|w| is least at w = 1 − 1/(3 − λ), and first steps land beyond w = 1."""

    def barrier(w):
        if w[0] >= 1:
            return np.inf, np.zeros(1)
        return float(-np.log(1 - w[0]) - 3 * w[0]), 1 / (1 - w) - 3

    found = minimise(barrier, np.array([-40.0]), everything(1), lambda1, tolerance=1e-9)
    assert found.point[0] == pytest.approx(1 - 1 / (3 - lambda1), rel=1e-4)


@pytest.mark.parametrize("lambda1", [0.0, 0.1])
def test_stops_when_told_and_never_climbs(lambda1):
    rng = np.random.default_rng(4)
    gram, target = random_covariance(rng, 10), rng.normal(size=10)
    seen = []

    def stop(point):
        seen.append(quadratic(gram, target)(point)[0] + lambda1 * np.abs(point).sum())
        return len(seen) == 4

    found = minimise(quadratic(gram, target), np.zeros(10), everything(10), lambda1, tolerance=0, stop=stop)
    assert len(seen) == 4
    assert found.steps <= 4
    assert seen == sorted(seen, reverse=True)
    assert found.value == pytest.approx(seen[-1], rel=1e-12)
    assert minimise(quadratic(gram, target), np.zeros(10), everything(10), lambda1, max_steps=2).steps <= 2
    stopped = minimise(quadratic(gram, target), np.zeros(10), everything(10), lambda1, stop=lambda _: True)
    assert stopped.steps == 0
    assert not stopped.point.any()
