"""Linear Gaussian networks in time against one normal distribution of all steps, conditioned on what was seen."""

import numpy as np
import pytest

from dagora.base.errors import QueryError
from dagora.graph.lagged_graph import LaggedGraph
from dagora.network.networks import GaussianNetwork
from dagora.network.time import kalman
from dagora.network.time.kalman import run_filter, run_smoother
from dagora.network.time.step_model import StepModel
from tests.network.time.time_oracles import (
    conditioned,
    draw_history,
    gaussian_network,
    history_of,
    stacked_normal,
)

ONE = LaggedGraph("xyz", 1, [("x", "y", 0), ("x", "x", 1), ("y", "x", 1), ("y", "z", 0), ("z", "z", 1)])
THREE = LaggedGraph("xyz", 3, [("z", "x", 0), ("x", "x", 3), ("y", "y", 1), ("x", "y", 2), ("y", "z", 1)])
LENGTH = 9


@pytest.fixture(params=[(ONE, 1.0), (THREE, 1.0), (THREE, 1e4)], ids=["one-lag", "three-lags", "units"])
def case(request: pytest.FixtureRequest):
    graph, scale = request.param
    steps = StepModel(gaussian_network(graph, seed=3, scale=scale).model)
    values = draw_history(steps, LENGTH, seed=6)
    seen = np.random.default_rng(7).random(values.shape) < 0.6
    seen[4] = False
    return steps, values, seen, np.array([1.0, scale, scale**2])


def test_the_smoother_is_the_normal_given_all_that_was_seen(case) -> None:
    steps, values, seen, units = case
    means, covariances = run_smoother(steps, history_of(values, seen))
    expected, spread, _ = conditioned(*stacked_normal(steps, LENGTH), values, seen)
    assert means / units == pytest.approx(expected.reshape(LENGTH, 3) / units, abs=1e-8)
    for step in range(LENGTH):
        own = slice(3 * step, 3 * step + 3)
        assert covariances[step] / np.outer(units, units) == pytest.approx(
            spread[own, own] / np.outer(units, units), abs=1e-8
        )


def test_the_filter_knows_nothing_of_later_steps(case) -> None:
    steps, values, seen, units = case
    found = run_filter(steps, history_of(values, seen))
    before = 0.0
    for step in range(LENGTH):
        here = seen & (np.arange(LENGTH) <= step)[:, None]
        expected, spread, log = conditioned(*stacked_normal(steps, LENGTH), values, here)
        own = slice(3 * step, 3 * step + 3)
        assert found.means[step] / units == pytest.approx(expected[own] / units, abs=1e-8)
        assert found.covariances[step] / np.outer(units, units) == pytest.approx(
            spread[own, own] / np.outer(units, units), abs=1e-8
        )
        assert found.log_densities[step] == pytest.approx(log - before, abs=1e-7)
        before = log


def test_distances_are_those_of_mahalanobis(case) -> None:
    steps, values, seen, _ = case
    found = run_filter(steps, history_of(values, seen))
    step = 6
    here = seen & (np.arange(LENGTH) < step)[:, None]
    expected, spread, _ = conditioned(*stacked_normal(steps, LENGTH), values, here)
    own = 3 * step + np.flatnonzero(seen[step])
    off = values.ravel()[own] - expected[own]
    assert found.distances[step] == pytest.approx(
        off @ np.linalg.solve(spread[np.ix_(own, own)], off), rel=1e-7
    )
    assert found.measured[step] == len(own)


def test_setting_cuts_the_arrows_into_what_is_set(case) -> None:
    steps, values, seen, units = case
    seen = seen.copy()
    seen[6:] = False
    set_at = {("y", 7): 2.5 * units[1]}
    found = run_filter(steps, history_of(values, seen), set_at)
    expected, spread, _ = conditioned(*stacked_normal(steps, LENGTH, set_at), values, seen)
    assert found.means[-1] / units == pytest.approx(expected[-3:] / units, abs=1e-8)
    assert np.diag(found.covariances[-1]) / units**2 == pytest.approx(
        np.diag(spread)[-3:] / units**2, abs=1e-8
    )
    assert found.means[7, 1] == set_at["y", 7]
    assert found.covariances[7, 1, 1] == 0
    plain = run_filter(steps, history_of(values, seen)).means[7]
    assert abs(plain[1] - found.means[7, 1]) > 0.1 * units[1]


def test_a_variable_without_noise_is_followed_and_may_not_be_contradicted() -> None:
    graph = LaggedGraph("xy", 1, [("x", "x", 1), ("x", "y", 0)])
    dag = graph.unrolled(2)
    network = GaussianNetwork(
        dag,
        dict.fromkeys(dag, 0.0),
        {"x": np.array([0.5]), "y": np.array([2.0]), "x[t-1]": np.zeros(0), "y[t-1]": np.array([2.0])},
        {"x": 1.0, "y": 0.0, "x[t-1]": 1.0, "y[t-1]": 0.0},
    )
    steps = StepModel(network.model)
    values = np.array([[1.0, 2.0], [0.5, 1.0], [0.3, 0.6]])
    seen = np.array([[True, False], [False, True], [True, True]])
    means, covariances = run_smoother(steps, history_of(values, seen))
    assert means == pytest.approx(values, abs=1e-9)
    assert covariances == pytest.approx(np.zeros((3, 2, 2)), abs=1e-9)
    values[2, 1] = 0.7
    with pytest.raises(QueryError, match="step 3 of a series cannot be"):
        run_filter(steps, history_of(values, seen))


def test_a_smoother_that_would_keep_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kalman, "MOST_NUMBERS", 100)
    steps = StepModel(gaussian_network(ONE, seed=3).model)
    with pytest.raises(QueryError, match="choose fewer steps, or filter"):
        run_smoother(steps, history_of(np.zeros((20, 3)), np.ones((20, 3), dtype=bool)))


def test_far_steps_of_a_settled_series_are_not_computed_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = StepModel(
        GaussianNetwork(
            LaggedGraph("x", 2, [("x", "x", 1), ("x", "x", 2)]).unrolled(3),
            {"x": 0.3, "x[t-1]": 0.0, "x[t-2]": 0.0},
            {"x": np.array([0.5, 0.3]), "x[t-1]": np.array([0.5]), "x[t-2]": np.array([])},
            {"x": 1.0, "x[t-1]": 1.0, "x[t-2]": 1.0},
        ).model
    )
    history = history_of(np.array([[1.0], [2.0], [9.0]]), np.ones((3, 1), dtype=bool)).extended(3000)
    set_at = {("x", 1500): 40.0} | {("x", step): -7.0 for step in range(2900, 3003)}
    whole = run_filter(steps, history, set_at, keep=True)  # the way back needs every step
    taken = []
    usual = kalman.predict
    monkeypatch.setattr(kalman, "predict", lambda *given: taken.append(1) or usual(*given))
    for settings, most in (({}, 400), ({("x", 1500): 40.0}, 1900), (set_at, 2910)):
        taken.clear()
        found = run_filter(steps, history, settings)
        assert len(taken) < most
    assert found.means == pytest.approx(whole.means, abs=1e-10)
    assert found.covariances == pytest.approx(whole.covariances, abs=1e-10)
    assert found.means[-1, 0] == -7.0
    near = run_filter(steps, history, {("x", 1500): 40.0}).means
    assert near[:2900] == pytest.approx(whole.means[:2900], abs=1e-10)
    assert near[-1, 0] == pytest.approx(0.3 / 0.2)
