"""The two ways to the likelihood with interactions, and to its derivatives, against each other."""

import numpy as np
import pytest

from dagora.scores.gp import interaction_derivatives
from dagora.scores.gp.interaction_density import (
    Kernel,
    Variances,
    dense_covariance,
    dense_log_likelihood,
    factor,
    log_likelihood,
    pick_products,
)
from dagora.scores.gp.interaction_derivatives import likelihood_derivatives


def graded_kernels(rng, rows, number):
    """Kernels whose columns become short, with derivatives that are as short."""
    kernels = []
    for _ in range(number):
        slope, bend = (0.3 * rng.normal(size=(8, 8)) for _ in range(2))
        columns = rng.normal(size=(8, rows)) * 0.3 ** np.arange(8)[:, None]
        kernels.append(Kernel(columns, slope + slope.T, bend + bend.T))
    return kernels


def test_few_columns_and_the_full_matrix_agree():
    rng = np.random.default_rng(0)
    kernels, y = graded_kernels(rng, 300, 3), rng.normal(size=300)
    variances = Variances(0.8, 1.3, 0.3, 3e-5)
    assert log_likelihood(y, kernels, variances) == pytest.approx(
        dense_log_likelihood(y, kernels, variances), abs=3e-4
    )


@pytest.mark.parametrize("number", [1, 2, 3])
def test_derivatives_agree_too(monkeypatch, number):
    rng = np.random.default_rng(number)
    kernels, y = graded_kernels(rng, 250, number), rng.normal(size=250)
    variances = Variances(0.8, 1.3 if number > 1 else 0.0, 0.3, 1e-12)
    few = likelihood_derivatives(y, kernels, variances)
    monkeypatch.setattr(interaction_derivatives, "DENSE", 0.0)
    full = likelihood_derivatives(y, kernels, variances)
    assert len(few[1]) == number + (3 if number > 1 else 2)
    for one, other in zip(few, full, strict=True):
        assert one == pytest.approx(other, rel=1e-6, abs=1e-6)


def test_the_factor_gives_back_the_matrix():
    rng = np.random.default_rng(3)
    kernels, y = graded_kernels(rng, 40, 3), rng.normal(size=40)
    variances = Variances(0.8, 1.3, 0.3, 3e-5)
    products = pick_products(kernels, variances)
    columns = factor(kernels, products, variances, y)
    assert np.array_equal(columns[-1], y)
    rest = dense_covariance(kernels, variances) - columns[:-1].T @ columns[:-1] - variances.s * np.eye(40)
    # What is missing is positive and has no more than the trace that may be lost.
    assert -1e-12 < np.trace(rest) <= variances.lost
    assert np.linalg.eigvalsh(rest)[0] > -1e-10
    assert sum(len(some.k) for some in products) < 3 * 64


def test_an_amplitude_near_zero_leaves_no_products():
    rng = np.random.default_rng(4)
    kernels, y = graded_kernels(rng, 40, 2), rng.normal(size=40)
    variances = Variances(0.8, 1e-12, 0.3, 3e-5)
    assert [len(some.k) for some in pick_products(kernels, variances)] == [0]
    value, gradient, hessian = likelihood_derivatives(y, kernels, variances)
    assert value == pytest.approx(dense_log_likelihood(y, kernels, variances), abs=1e-6)
    assert gradient[3] == 0
    assert np.isfinite(hessian).all()
