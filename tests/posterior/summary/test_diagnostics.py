"""Mixing and effective draws, against an independent package, closed forms and cases whose answer is known."""

import math
import warnings
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import lfilter

from dagora.posterior.summary.diagnostics import (
    bulk_ess,
    mean_error,
    mean_ess,
    pareto_shape,
    plain_rhat,
    rhat,
    tail_ess,
    weight_ess,
)


@pytest.fixture(scope="module")
def arviz() -> ModuleType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("arviz")


def autoregressive(seed: int, chains: int, draws: int, memory: float) -> np.ndarray:
    """x_t = memory · x_(t−1) + noise, from its stationary law."""
    generator = np.random.default_rng(seed)
    noise = generator.normal(size=(chains, draws)) * math.sqrt(1 - memory**2)
    noise[:, 0] = generator.normal(size=chains)
    return lfilter([1.0], [1.0, -memory], noise, axis=1)


CASES = {
    "independent": autoregressive(0, 4, 500, 0.0),
    "sticky": autoregressive(1, 4, 500, 0.95),
    "alternating": autoregressive(2, 3, 301, -0.6),
    "one chain": autoregressive(3, 1, 200, 0.5),
    "apart": autoregressive(4, 4, 100, 0.3) + np.arange(4)[:, None],
    "wider": autoregressive(5, 4, 100, 0.3) * np.array([1, 1, 1, 5])[:, None],
    "few": autoregressive(6, 2, 9, 0.0),
    "ties": np.round(autoregressive(7, 4, 250, 0.7)),
    "indicator": (autoregressive(8, 4, 250, 0.7) > 1.5).astype(float),
    "heavy tail": np.exp(3 * autoregressive(9, 4, 250, 0.7)),
}


@pytest.mark.parametrize("values", CASES.values(), ids=CASES)
def test_as_an_independent_package(arviz: ModuleType, values: np.ndarray) -> None:
    assert bulk_ess(values) == pytest.approx(arviz.ess(values, method="bulk"), rel=1e-9)
    assert tail_ess(values) == pytest.approx(arviz.ess(values, method="tail"), rel=1e-9)
    assert mean_ess(values) == pytest.approx(arviz.ess(values, method="mean"), rel=1e-9)
    assert mean_error(values) == pytest.approx(arviz.mcse(values, method="mean"), rel=1e-9)
    if len(values) > 1:  # the package does not judge one chain by its halves
        assert plain_rhat(values) == pytest.approx(arviz.rhat(values, method="split"), rel=1e-9)
        if len(np.unique(values)) > 2:
            assert rhat(values) == pytest.approx(arviz.rhat(values, method="rank"), rel=1e-9)


def test_many_variables_are_each_on_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    stack = np.stack([CASES[name] for name in ("ties", "indicator", "heavy tail")], axis=2)
    measures = (rhat, plain_rhat, bulk_ess, tail_ess, mean_ess, mean_error)
    whole = [measure(stack) for measure in measures]
    monkeypatch.setattr("dagora.posterior.summary.diagnostics.BLOCK", 1)
    for measure, found in zip(measures, whole, strict=True):
        assert found.shape == (3,)
        assert found == pytest.approx([float(measure(stack[:, :, k])) for k in range(3)], rel=1e-12)
        assert found == pytest.approx(measure(stack), rel=1e-12)


@pytest.mark.parametrize("memory", [-0.5, 0.0, 0.5, 0.9])
def test_effective_draws_of_an_autoregression(memory: float) -> None:
    """ESS of the mean is N (1 − φ) / (1 + φ)."""
    values = autoregressive(11, 4, 40_000, memory)
    expected = values.size * (1 - memory) / (1 + memory)
    assert mean_ess(values) == pytest.approx(expected, rel=0.1)
    assert bulk_ess(values) == pytest.approx(expected, rel=0.1)
    assert rhat(values) == pytest.approx(1.0, abs=0.003)
    assert mean_error(values) == pytest.approx(1 / math.sqrt(expected), rel=0.1)


def test_rhat_sees_what_has_not_mixed() -> None:
    good = autoregressive(12, 4, 400, 0.2)
    assert rhat(good) < 1.01
    assert rhat(good + np.array([0, 0, 0, 1])[:, None]) > 1.05, "a chain elsewhere"
    assert rhat(good * np.array([1, 1, 1, 4])[:, None]) > 1.05, "a chain that is wider"
    assert rhat(good + np.linspace(0, 2, 400)) > 1.05, "a trend that all chains share"


def test_rhat_of_indicators_needs_no_ranks() -> None:
    for name in ("indicator", "independent"):
        indicator = (CASES[name] > 0.4).astype(float)
        assert rhat(indicator) == pytest.approx(float(plain_rhat(indicator)), rel=1e-12)


def test_values_that_never_change() -> None:
    same = np.full((4, 50), 0.1)
    assert float(rhat(same)) == float(plain_rhat(same)) == 1.0
    assert float(bulk_ess(same)) == float(tail_ess(same)) == 200
    assert float(mean_error(same)) == 0.0
    stuck = np.repeat([[0.1], [0.1], [0.1], [0.7]], 50, axis=1)
    assert float(rhat(stuck)) == float(plain_rhat(stuck)) == math.inf
    assert mean_ess(stuck) < 8, "no more than there are halves"
    moved_once = np.repeat([[0.0, 1.0]], 25, axis=1).reshape(1, 50)
    assert float(rhat(moved_once)) == math.inf
    almost = stuck.copy()
    almost[0, 3] = 0.2
    assert 2 < float(rhat(almost)) < math.inf


def test_too_few_draws_tell_nothing() -> None:
    for measure in (rhat, plain_rhat, bulk_ess, tail_ess, mean_ess, mean_error):
        assert math.isnan(measure(np.ones((4, 3))))
        assert math.isnan(measure(np.zeros((0, 0))))
        assert math.isfinite(measure(np.arange(16.0).reshape(4, 4)))
        broken = np.stack([CASES["few"], CASES["few"]], axis=2)
        broken[0, 0, 1] = -math.inf
        assert np.isfinite(measure(broken)).tolist() == [True, False]
    with pytest.raises(ValueError, match="chains, draws"):
        rhat(np.ones(5))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-30, 30), min_size=1, max_size=30), st.floats(-1000, 1000))
def test_weight_ess(log_weights: list[float], shift: float) -> None:
    worth = weight_ess(log_weights)
    assert 1 - 1e-9 <= worth <= len(log_weights) + 1e-9
    assert weight_ess(np.array(log_weights) + shift) == pytest.approx(worth, rel=1e-9)
    weights = np.exp(log_weights)
    assert worth == pytest.approx(weights.sum() ** 2 / (weights**2).sum(), rel=1e-9)


@pytest.mark.parametrize("shape", [0.2, 0.5, 1.0])
def test_pareto_shape(arviz: ModuleType, shape: float) -> None:
    log_weights = shape * np.random.default_rng(5).exponential(size=20_000)  # weights are Pareto(1 / shape)
    found = pareto_shape(log_weights)
    assert found == pytest.approx(shape, abs=0.2)
    assert found == pytest.approx(float(arviz.psislw(log_weights.copy())[1]), abs=1e-6)


def test_pareto_shape_of_no_tail() -> None:
    assert pareto_shape(np.zeros(1000)) == -math.inf
    assert math.isnan(pareto_shape(np.zeros(10)))
    assert math.isnan(pareto_shape([0.0] * 3 + [-1.0] * 500)), "three weights make no tail"


@pytest.mark.parametrize("levels", [2, 3, 5])
def test_pareto_shape_of_few_different_weights(levels: int) -> None:
    generator = np.random.default_rng(levels)
    for size in (50, 400, 4000):
        shape = pareto_shape(generator.normal(size=levels)[generator.integers(0, levels, size)])
        assert math.isnan(shape) or shape < 0.7, "bounded weights with many of the largest"


def test_pareto_shape_of_tied_weights(arviz: ModuleType) -> None:
    log_weights = np.round(np.random.default_rng(6).exponential(size=4000), 1)
    assert pareto_shape(log_weights) == pytest.approx(float(arviz.psislw(log_weights.copy())[1]), abs=1e-6)
