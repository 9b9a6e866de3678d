"""Functions of structural equations against their formulas in plain loops, and the laws of their weights."""

from math import cos, exp, fsum, sin

import numpy as np
import pytest
from scipy import stats

from dagora.network.mechanisms import (
    BLOCK_ROWS,
    HIDDEN_UNITS,
    Fourier,
    Linear,
    Perceptron,
    concentrations,
    draw_fourier,
    draw_linear,
    draw_perceptron,
    sigmoid,
)

RANGE = (0.5, 2.0)


def rng():
    return np.random.default_rng(42)


def test_perceptron_is_its_formula():
    mechanism = draw_perceptron(3, RANGE, rng())
    parents = rng().normal(size=(20, 3)) * 3
    for row, value in zip(parents, mechanism(parents), strict=True):
        total = 0.0
        for h in range(HIDDEN_UNITS):
            activation = sum(row[j] * mechanism.inward[j, h] for j in range(3))
            total += mechanism.outward[h] / (1 + exp(-activation))
        assert value == pytest.approx(total, abs=1e-9)


def test_perceptron_in_blocks_is_perceptron_in_one_go():
    mechanism = Perceptron(rng().normal(size=(2, 5)), rng().normal(size=5))
    parents = rng().normal(size=(BLOCK_ROWS + 3, 2))
    np.testing.assert_allclose(
        mechanism(parents), sigmoid(parents @ mechanism.inward) @ mechanism.outward, atol=1e-12
    )


@pytest.mark.parametrize("published", [False, True])
def test_fourier_is_equation_15(published):
    mechanism = draw_fourier(3, RANGE, rng(), nonlinearity=1.5, published=published)
    assert isinstance(mechanism, Fourier)
    parents = rng().normal(size=(20, 3)) * 4
    for row, value in zip(parents, mechanism(parents), strict=True):
        terms = []
        for j, x in enumerate(row):
            inner = [mechanism.linear[j] * x]
            for k in range(1, 7):
                inner.append(mechanism.sines[j, k - 1] * sin(k * x))
                inner.append(mechanism.cosines[j, k - 1] * cos(k * x))
            terms.append(mechanism.betas[j] * fsum(inner))
        assert value == pytest.approx(fsum(terms), abs=1e-12)


def test_sigmoid_does_not_overflow():
    x = np.array([-1e6, -2.0, 0.0, 3.0, 1e6])
    np.testing.assert_allclose(sigmoid(x), [0, 1 / (1 + exp(2)), 0.5, 1 / (1 + exp(-3)), 1], atol=1e-15)


@pytest.mark.parametrize(
    "weights",
    [
        draw_linear(4000, RANGE, rng()).weights,
        draw_perceptron(40, RANGE, rng()).inward.ravel(),
        draw_perceptron(1, RANGE, rng()).outward,
        draw_fourier(4000, RANGE, rng(), nonlinearity=1.0, published=False).betas,
    ],
)
def test_weights_have_a_uniform_size_and_a_fair_sign(weights):
    assert stats.kstest(np.abs(weights), stats.uniform(0.5, 1.5).cdf).pvalue > 1e-3
    assert stats.binomtest(int((weights > 0).sum()), len(weights)).pvalue > 1e-3
    # The sign is drawn apart from the size.
    assert stats.ks_2samp(weights[weights > 0], -weights[weights < 0]).pvalue > 1e-3


def gammas(nonlinearity):
    raw = [exp(-k / nonlinearity) for k in range(7)]
    return raw, [value / sum(raw) for value in raw]


def test_concentrations_as_printed_and_as_published():
    raw, printed = gammas(0.7)
    np.testing.assert_allclose(concentrations(0.7, over_all=False), [*printed, *printed[1:]])
    published = np.array([*raw, *raw[1:]]) / (sum(raw) + sum(raw[1:]))
    np.testing.assert_allclose(concentrations(0.7, over_all=True), published)


def test_weights_of_an_edge_have_the_moments_of_the_dirichlet_distribution():
    edges = 20_000
    mechanism = draw_fourier(edges, RANGE, rng(), nonlinearity=2.0, published=False)
    weights = np.column_stack([mechanism.linear, mechanism.sines, mechanism.cosines])
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    _, gamma = gammas(2.0)
    law = stats.dirichlet([*gamma, *gamma[1:]])
    error = 5 * np.sqrt(law.var() / edges)
    assert (np.abs(weights.mean(axis=0) - law.mean()) < error).all()
    np.testing.assert_allclose(weights.var(axis=0), law.var(), rtol=0.15)


def test_shared_weights_are_one_vector_and_one_beta_per_child_with_signs_of_their_own():
    signs = np.zeros(13)
    for seed in range(200):
        mechanism = draw_fourier(3, RANGE, np.random.default_rng(seed), nonlinearity=5.0, published=True)
        weights = np.column_stack([mechanism.linear, mechanism.sines, mechanism.cosines])
        assert (weights == weights[0]).all()
        assert len(set(mechanism.betas)) == 1
        assert np.abs(weights[0]).sum() == pytest.approx(1)
        signs += weights[0] > 0
    assert (np.abs(signs - 100) < 4 * np.sqrt(50)).all()


@pytest.mark.parametrize("published", [False, True])
def test_without_nonlinearity_the_mechanism_is_linear_in_beta(published):
    mechanism = draw_fourier(4, RANGE, rng(), nonlinearity=0.0, published=published)
    assert isinstance(mechanism, Linear)
    assert len(set(mechanism.weights)) == (1 if published else 4)


def test_a_vanishing_nonlinearity_tends_to_linear():
    mechanism = draw_fourier(5, RANGE, rng(), nonlinearity=1e-3, published=False)
    np.testing.assert_allclose(mechanism.linear, 1)
    assert np.abs(mechanism.sines).max() + np.abs(mechanism.cosines).max() < 1e-12


@pytest.mark.parametrize("published", [False, True])
def test_a_root_draws_nothing(published):
    mechanism = draw_fourier(0, RANGE, rng(), nonlinearity=1.0, published=published)
    assert mechanism.betas.shape == (0,)
    assert mechanism.sines.shape == (0, 6)
