"""Discrete networks in time against all histories: filter, smoother, forecast, do, best history, surprise."""

import numpy as np
import pytest

from dagora.base.errors import QueryError
from dagora.graph.lagged_graph import LaggedGraph
from dagora.network.networks import DiscreteNetwork
from dagora.network.time import frontier
from dagora.network.time.discrete import (
    best_levels,
    discrete_history,
    drawn_levels,
    filtered_levels,
    smoothed_levels,
    surprises,
)
from dagora.network.time.step_model import StepModel
from tests.network.time.time_oracles import (
    agreeing,
    all_histories,
    discrete_network,
    draw_history,
    history_of,
    marginals,
)

ONE = LaggedGraph(("a", "b"), 1, [("a", "b", 0), ("a", "a", 1), ("b", "a", 1), ("b", "b", 1)])
TWO = LaggedGraph(("a", "b"), 2, [("b", "a", 0), ("a", "a", 2), ("b", "b", 1), ("a", "b", 2)])
APART = LaggedGraph(("a", "b", "c"), 1, [("a", "b", 0), ("b", "c", 0), ("c", "a", 1)])
LENGTH = 4


@pytest.fixture(params=[(ONE, 3), (TWO, 3), (APART, 2)], ids=["one-lag", "two-lags", "three-variables"])
def case(request: pytest.FixtureRequest):
    """A network, a history with gaps, what was seen of it, and all histories."""
    graph, size = request.param
    sizes = {name: size if name == "a" else 2 for name in graph.variables}
    steps = StepModel(discrete_network(graph, sizes, seed=5).model)
    codes = draw_history(steps, LENGTH, seed=2)
    seen = np.random.default_rng(4).random(codes.shape) < 0.5
    seen[2] = False  # a step without a row
    return steps, codes, seen, all_histories(steps, LENGTH)


def test_smoothed_levels_are_those_of_all_histories(case) -> None:
    steps, codes, seen, joint = case
    found = smoothed_levels(discrete_history(steps, history_of(codes, seen)))
    expected = marginals(agreeing(joint, codes, seen), steps, LENGTH)
    for name in steps.variables:
        assert found[name] == pytest.approx(expected[name], abs=1e-12)


def test_filtered_levels_know_nothing_of_later_steps(case) -> None:
    steps, codes, seen, joint = case
    found, logs = filtered_levels(discrete_history(steps, history_of(codes, seen)))
    before = 0.0
    for step in range(LENGTH):
        here = seen & (np.arange(LENGTH) <= step)[:, None]
        agree = agreeing(joint, codes, here)
        expected = marginals(agree, steps, LENGTH)
        for name in steps.variables:
            assert found[name][step] == pytest.approx(expected[name][step], abs=1e-12)
        total = np.log(sum(agree.values()))
        if step >= steps.lags:
            assert logs[step] == pytest.approx(total - before, abs=1e-12)
        before = total


def test_the_best_history_is_the_most_probable_of_all(case) -> None:
    steps, codes, seen, joint = case
    agree = agreeing(joint, codes, seen)
    found = best_levels(discrete_history(steps, history_of(codes, seen)))
    assert agree[tuple(found.ravel())] == pytest.approx(max(agree.values()), rel=1e-12)


def test_the_best_levels_one_by_one_can_be_another_history() -> None:
    """Else the search for the best history could be replaced by that of single levels, unnoticed."""
    differ = 0
    for seed in range(20):
        steps = StepModel(discrete_network(ONE, {"a": 3, "b": 2}, seed).model)
        rows = discrete_history(steps, history_of(np.zeros((LENGTH, 2)), np.zeros((LENGTH, 2), dtype=bool)))
        chances = smoothed_levels(rows)
        alone = np.column_stack([chances[name].argmax(axis=1) for name in steps.variables])
        differ += bool((alone != best_levels(rows)).any())
    assert differ


def test_setting_cuts_the_arrows_into_what_is_set(case) -> None:
    steps, codes, seen, _ = case
    seen = seen.copy()
    seen[3] = False
    set_at = {("b", 3): 1}
    found = smoothed_levels(discrete_history(steps, history_of(codes, seen), set_at))
    joint = all_histories(steps, LENGTH, set_at)
    expected = marginals(agreeing(joint, codes, seen), steps, LENGTH)
    for name in steps.variables:
        assert found[name] == pytest.approx(expected[name], abs=1e-12)
    assert found["b"][3].tolist() == [0.0, 1.0]


@pytest.mark.full
def test_draws_have_the_smoothed_distribution() -> None:
    steps = StepModel(discrete_network(ONE, {"a": 3, "b": 2}, seed=1).model)
    codes = draw_history(steps, LENGTH, seed=1)
    seen = np.zeros(codes.shape, dtype=bool)
    seen[1, 1] = seen[3, 0] = True
    rows = discrete_history(steps, history_of(codes, seen))
    rng = np.random.default_rng(3)
    drawn = np.array([drawn_levels(rows, rng) for _ in range(4000)])
    chances = smoothed_levels(rows)
    for k, name in enumerate(steps.variables):
        for step in range(LENGTH):
            shares = np.bincount(drawn[:, step, k], minlength=chances[name].shape[1]) / len(drawn)
            assert shares == pytest.approx(chances[name][step], abs=0.035)
    together = np.mean((drawn[:, 0, 0] == 0) & (drawn[:, 2, 1] == 0))  # jointly, not one by one
    agree = agreeing(all_histories(steps, LENGTH), codes, seen)
    expected = sum(p for h, p in agree.items() if h[0] == 0 and h[5] == 0) / sum(agree.values())
    assert together == pytest.approx(expected, abs=0.035)


def test_a_surprise_is_that_of_the_row_given_the_rows_before(case) -> None:
    steps, codes, seen, joint = case
    seen = seen.copy()
    seen[:2], seen[3] = True, True
    logs, tails = surprises(discrete_history(steps, history_of(codes, seen)))
    for step in range(steps.lags, LENGTH):
        here = seen & (np.arange(LENGTH) < step)[:, None]
        before = agreeing(joint, codes, here)
        row = seen & (np.arange(LENGTH) == step)[:, None]
        if not row.any():
            assert np.isnan(tails[step])
            continue
        d = len(steps.variables)
        chances: dict[tuple, float] = {}
        for history, chance in before.items():
            key = history[step * d : (step + 1) * d]
            chances[key] = chances.get(key, 0.0) + chance / sum(before.values())
        mine = chances[tuple(codes[step].astype(int))]
        assert logs[step] == pytest.approx(np.log(mine), abs=1e-10)
        assert tails[step] == pytest.approx(
            sum(p for p in chances.values() if p <= mine * (1 + 1e-9)), abs=1e-10
        )


def test_an_impossible_history_is_refused_by_its_step() -> None:
    graph = LaggedGraph(("a",), 1, [("a", "a", 1)])
    levels = {"a": ("n", "y"), "a[t-1]": ("n", "y")}
    tables = {"a": np.array([[1.0, 0.0], [0.5, 0.5]]), "a[t-1]": np.array([0.5, 0.5])}
    steps = StepModel(DiscreteNetwork(graph.unrolled(2), levels, tables).model)
    rows = discrete_history(steps, history_of([[0], [0], [1]], np.ones((3, 1), dtype=bool)))
    for ask in (smoothed_levels, filtered_levels, best_levels, surprises):
        with pytest.raises(QueryError, match=r"probability 0 under the network from step 3 .* pseudocount"):
            ask(rows)


def test_messages_that_are_too_large_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frontier, "MOST_CELLS", 5)
    steps = StepModel(discrete_network(ONE, {"a": 3, "b": 2}, seed=1).model)
    rows = discrete_history(steps, history_of(np.zeros((3, 2)), np.zeros((3, 2), dtype=bool)))
    with pytest.raises(QueryError, match="cells: at most 5 at once"):
        smoothed_levels(rows)
