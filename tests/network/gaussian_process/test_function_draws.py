"""Drawn functions against the posterior in closed form, written out anew with dense solves."""

import numpy as np
import pytest

from dagora.network.gaussian_process.function_draws import FunctionDraws, FunctionMixture
from dagora.network.gaussian_process.regression import Process

NUMBER = 8_000


def dense(process: Process, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The covariance of μ + f."""
    terms = [
        np.exp(-((one[:, None, i] - other[None, :, i]) ** 2) / (2 * scale**2))
        for i, scale in enumerate(process.scales)
    ]
    pairs = [terms[i] * terms[j] for i in range(len(terms)) for j in range(i)]
    return 1 + process.main * sum(terms) + process.product * sum(pairs, np.zeros_like(terms[0]))


@pytest.mark.parametrize(
    ("product", "rows"), [(0.0, 12), (0.0, 200), (1.5, 12), pytest.param(1.5, 1000, marks=pytest.mark.full)]
)
def test_draws_have_the_posterior_of_the_dense_solve(product: float, rows: int) -> None:
    """At rows, between them and beyond them; where the rows are fewer than the features, and more."""
    rng = np.random.default_rng(rows)
    process = Process(np.array([0.8, 2.0]), noise=0.4, main=0.7, product=product)
    x = rng.uniform(-2, 2, (rows, 2))
    y = np.sin(2 * x[:, 0]) + x[:, 1] + 0.4 * rng.standard_normal(rows)
    new = np.vstack([x[:2], [[0.0, 0.5], [0.1, 0.5], [2.5, -2.5], [-1.0, 1.0]]])
    solved = np.linalg.solve(dense(process, x, x) + process.noise**2 * np.eye(rows), dense(process, x, new))
    mean, covariance = y @ solved, dense(process, new, new) - dense(process, new, x) @ solved
    draws = FunctionDraws(process, x, y, NUMBER, rng)
    found = draws.at(slice(None), [new[None, :, 0], new[None, :, 1]])
    sd = np.sqrt(np.diag(covariance))
    assert np.abs(found.mean(axis=0) - mean).max() < 5 * (sd / np.sqrt(NUMBER)).max()
    assert np.abs(np.cov(found.T) - covariance).max() < 0.05 * covariance.max()
    # Of neighbours, the difference is what a function leaves, far less than two separate draws would.
    apart = covariance[2, 2] + covariance[3, 3] - 2 * covariance[2, 3]
    assert (found[:, 2] - found[:, 3]).var() == pytest.approx(apart, rel=0.1, abs=1e-6)


@pytest.mark.parametrize("product", [0.0, 1.0])
def test_a_draw_is_one_function_however_it_is_asked(product: float) -> None:
    """Values of its own for each draw, or of all, in blocks of draws, in any shape."""
    rng = np.random.default_rng(0)
    process = Process(np.array([1.0, 1.0]), noise=0.3, product=product)
    x = rng.standard_normal((50, 2))
    draws = FunctionDraws(process, x, x.sum(axis=1), 6, rng)
    one, other = rng.standard_normal((2, 6, 3, 5))
    whole = draws.at(slice(None), [one, other])
    assert np.concatenate(
        [draws.at(slice(k, k + 2), [one[k : k + 2], other[k : k + 2]]) for k in (0, 2, 4)]
    ) == pytest.approx(whole)
    for k in range(6):
        assert draws.at(slice(k, k + 1), [one[k : k + 1], other[k : k + 1]])[0] == pytest.approx(whole[k])
    same = draws.at(slice(None), [one[:1, :, :1], other[:1, :1]])
    assert same.shape == (6, 3, 5)
    spread = np.broadcast_arrays(one[:1, :, :1], other[:1, :1])
    assert draws.at(slice(None), list(spread)) == pytest.approx(same)


def test_beyond_its_interval_a_function_stays_as_at_the_end() -> None:
    rng = np.random.default_rng(0)
    x = np.linspace(-1, 1, 30)[:, None]
    draws = FunctionDraws(Process(np.array([1.0]), noise=0.2), x, x[:, 0], 5, rng)
    low, half, end, beyond = draws.at(slice(None), [np.array([[-9.0, -2.0, 2.0, 30.0]])]).T
    assert low == pytest.approx(half)
    assert end == pytest.approx(beyond)


def test_a_mixture_is_drawn_from_all_its_hyperparameters():
    """Each draw is that of one of them, with its noise, however the draws are cut into blocks."""
    x = np.linspace(-2, 2, 20)[:, None]
    others = tuple(Process(np.array([1.0]), noise=noise) for noise in (0.1, 0.5, 2.0))
    process = Process(np.array([1.0]), noise=0.1, draws=others)
    draws = FunctionMixture(process, x, np.sin(x[:, 0]), 10, np.random.default_rng(0))
    assert sorted(np.unique(draws.noise)) == [0.1, 0.5, 2.0]
    values = np.random.default_rng(1).uniform(-2, 2, (10, 1, 4))
    whole = draws.at(slice(0, 10), [values])
    blocks = [draws.at(slice(a, b), [values[a:b]]) for a, b in [(0, 4), (4, 5), (5, 10)]]
    np.testing.assert_allclose(np.concatenate(blocks), whole)
    one_place = draws.at(slice(2, 7), [np.zeros((1, 1, 1))])
    np.testing.assert_allclose(one_place, draws.at(slice(0, 10), [np.zeros((1, 1, 1))])[2:7])
