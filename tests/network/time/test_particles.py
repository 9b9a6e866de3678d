"""Forecasts and filters by weighted draws against exact ones, and against sums over all switches."""

from itertools import product

import numpy as np
import pytest

from dagora.base.errors import QueryError
from dagora.network.time.kalman import run_filter
from dagora.network.time.particles import follow
from dagora.network.time.step_model import StepModel
from tests.network.time.test_kalman import ONE
from tests.network.time.time_oracles import draw_history, gaussian_network, history_of, mixed_network

pytestmark = pytest.mark.full


def test_draws_of_a_gaussian_network_agree_with_its_filter() -> None:
    steps = StepModel(gaussian_network(ONE, seed=3).model)
    values = draw_history(steps, 6, seed=6)
    seen = np.random.default_rng(8).random(values.shape) < 0.6
    seen[4:] = False
    exact = run_filter(steps, history_of(values, seen))
    found = list(follow(steps, history_of(values, seen), {}, 40_000, np.random.default_rng(1)))
    for step in range(6):
        sds = np.sqrt(np.diagonal(exact.covariances[step]))
        assert found[step].means() == pytest.approx(exact.means[step], abs=0.05)
        assert found[step].sds() == pytest.approx(sds, abs=0.05)


def switching_filter(steps: StepModel, values: np.ndarray) -> np.ndarray:
    """P(the switch is on at each step | the numbers so far), summed over all courses of the switch."""
    model, length = steps.model, len(values)
    found = []
    for last in range(length):
        on = total = 0.0
        for course in product((0, 1), repeat=last + 1):
            chance = 1.0
            for step, state in enumerate(course):
                node = "x" if step else "x[t-1]"
                chance *= (
                    model.tables["s"][course[step - 1], state] if step else model.tables["s[t-1]"][state]
                )
                line = model.lines[node]
                mean = line.intercepts[state] + (line.slopes[state, 0] * values[step - 1] if step else 0.0)
                z = (values[step] - mean) / line.sds[state]
                chance *= np.exp(-0.5 * z**2) / line.sds[state]
            total += chance
            on += chance * course[-1]
        found.append(on / total)
    return np.array(found)


def test_a_hidden_switch_is_inferred_from_a_number() -> None:
    steps = StepModel(mixed_network(2).model)
    values = np.array([[0, 0.3], [0, -0.5], [0, 1.5], [0, 0.2], [0, -1.0]])
    seen = np.zeros(values.shape, dtype=bool)
    seen[:, 1] = True
    draws = follow(steps, history_of(values, seen), {}, 40_000, np.random.default_rng(5))
    found = [one.chances(0, 2)[1] for one in draws]
    assert found == pytest.approx(switching_filter(steps, values[:, 1]), abs=0.02)


def test_settings_hold_and_what_cannot_be_is_refused() -> None:
    steps = StepModel(mixed_network(2).model)
    seen = np.array([[True, True], [False, False]])
    rows = history_of(np.zeros((2, 2)), seen)
    *_, last = follow(steps, rows, {("s", 1): 1}, 500, np.random.default_rng(1))
    assert last.chances(0, 2).tolist() == [0.0, pytest.approx(1.0)]
    line = steps.model.lines["x"]
    assert last.means()[1] == pytest.approx(line.intercepts[1], abs=0.2)
    steps.model.tables["s"][:] = [[1.0, 0.0], [1.0, 0.0]]
    steps.model.__dict__.pop("distributions", None)
    with pytest.raises(QueryError, match="no draw agrees with what was seen at step 2"):
        list(
            follow(
                steps,
                history_of([[0, 0.0], [1, 0.0]], np.ones((2, 2), dtype=bool)),
                {},
                50,
                np.random.default_rng(1),
            )
        )
