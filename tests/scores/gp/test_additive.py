"""The additive density against scipy's, its derivatives against differences."""

import numpy as np
import pytest
from scipy.stats import invgamma

from dagora.scores.gp.additive import Additive
from dagora.scores.gp.prior import log_prior
from tests.scores.gp.problems import dense_log_likelihood, standardised, wavy_columns

CHILD = np.array([4])


@pytest.fixture(scope="module")
def columns():
    return wavy_columns(250)


@pytest.fixture(scope="module")
def model(columns):
    return Additive(columns)


@pytest.mark.parametrize(
    "scales", [(0.3,), (2.0,), (0.5, 9.0), (20.0, 3.0), (1.1, 0.4, 2.0), (0.9, 4.0, 1.5, 30.0)]
)
@pytest.mark.parametrize("sigma", [0.15, 0.8])
def test_log_density_is_that_of_the_full_matrix(model, columns, scales, sigma):
    p = len(scales)
    parameters = np.log([[*scales, sigma]])
    found = model.log_density(CHILD, np.arange(p)[None], parameters)[0]
    expected = dense_log_likelihood(columns[:, 4], columns[:, :p], scales, sigma)
    # The prior in its own units, times the Jacobian.
    prior = sum(invgamma(2, scale=2).logpdf(scale) + np.log(scale) for scale in scales)
    prior += invgamma(1).logpdf(sigma) + np.log(sigma)
    # Far below the mode, where nothing fits, a millionth will do.
    assert found == pytest.approx(expected + prior, abs=1e-3, rel=1e-6)


def test_heavy_tails_and_ties_keep_the_accuracy():
    rng = np.random.default_rng(3)
    x = np.column_stack([rng.standard_t(2, 200), rng.integers(0, 4, 200), rng.normal(size=200)])
    x[:, 2] += np.tanh(x[:, 0]) + x[:, 1]
    x = standardised(x)
    model = Additive(x)
    for scales in [(0.3, 0.3), (0.1, 2.0), (5.0, 0.06)]:
        parameters = np.log([[*scales, 0.5]])
        found = model.log_density(np.array([2]), np.array([[0, 1]]), parameters) - log_prior(parameters, 2)
        assert found[0] == pytest.approx(dense_log_likelihood(x[:, 2], x[:, :2], scales, 0.5), abs=1e-3)


@pytest.mark.parametrize("scales", [(0.4,), (9.0,), (0.8, 3.0), (2.0, 0.6, 5.0)])
def test_gradient_and_hessian_are_those_of_the_density(model, scales):
    point = np.log([*scales, 0.5])
    size, h = len(point), 1e-4
    around = np.vstack([point, point + h * np.eye(size), point - h * np.eye(size)])
    parents = np.repeat(np.arange(len(scales))[None], len(around), axis=0)
    found = model.derivatives(np.repeat(CHILD, len(around)), parents, around)
    values = model.log_density(CHILD, parents[:1], around)
    assert np.allclose(found.values, values, atol=1e-9)
    gradient = (values[1 : size + 1] - values[size + 1 :]) / (2 * h)
    assert np.allclose(found.gradients[0], gradient, atol=2e-4 * max(1, np.abs(gradient).max()))
    hessian = (found.gradients[1 : size + 1] - found.gradients[size + 1 :]) / (2 * h)
    assert np.allclose(found.hessians[0], hessian, atol=1e-4 * np.abs(hessian).max())
    assert np.allclose(found.hessians[0], found.hessians[0].T)


def test_many_families_at_once_are_as_one_by_one(model):
    rng = np.random.default_rng(0)
    children = np.array([4, 4, 0, 3])
    parents = np.array([[0, 1], [2, 3], [1, 4], [0, 4]])
    points = np.log([[1.0, 2.0, 0.6]]) + rng.normal(size=(4, 3))
    together = model.derivatives(children, parents, points)
    for k in range(4):
        alone = model.derivatives(children[k : k + 1], parents[k : k + 1], points[k : k + 1])
        # To the last bit: who computes a point, and with which others, must not show.
        assert alone.values[0] == together.values[k]
        assert np.array_equal(alone.gradients[0], together.gradients[k])
        assert np.array_equal(alone.hessians[0], together.hessians[k])


def test_out_of_bounds_has_no_density(model):
    points = np.log([[1e-3, 0.5], [1.0, 1e-7], [1.0, 0.5]])
    values = model.log_density(CHILD, np.array([[0]]), points)
    assert np.isneginf(values[:2]).all()
    assert np.isfinite(values[2])


def test_a_matrix_that_is_not_positive_is_an_error_and_no_density():
    model = Additive(wavy_columns(60))
    point = np.log([[1.0, 0.5]])
    model.log_density(CHILD, np.array([[0]]), point)
    model._squares = -model._squares  # a child whose sum of squares is negative
    with pytest.raises(np.linalg.LinAlgError, match="not positive"):
        model.log_density(CHILD, np.array([[0]]), point)
