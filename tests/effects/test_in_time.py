"""Effects in time against sums over paths, simulation with the variable set, finite differences and coverage."""

import numpy as np
import pytest

import dagora
from dagora.base.errors import DataError, OptionError
from dagora.effects.in_time import StepRegressions, effects_of
from dagora.graph.lagged_graph import LaggedGraph

GRAPH = LaggedGraph(
    "xzy", 2, [("x", "z", 0), ("z", "y", 0), ("x", "x", 1), ("x", "y", 2), ("y", "y", 1), ("y", "x", 1)]
)
EDGES = tuple(("xzy".index(a), "xzy".index(b), k) for a, b, k in GRAPH.edges)


def regressions(values: np.ndarray) -> StepRegressions:
    weights = np.zeros((3, 3, 3))
    for (tail, head, lag), value in zip(EDGES, values, strict=True):
        weights[lag, head, tail] = value
    return StepRegressions(weights, EDGES, np.eye(len(EDGES)))


def by_paths(values: np.ndarray, start: tuple[int, int], end: tuple[int, int], cut: bool) -> float:
    """The sum over all directed paths between two variables at two steps."""
    if start == end:
        return 1.0
    total = 0.0
    for (tail, head, lag), value in zip(EDGES, values, strict=True):
        into = (head, start[1] + lag)
        if tail == start[0] and into[1] <= end[1] and not (cut and head == 0):
            total += value * by_paths(values, into, end, cut)
    return total


@pytest.fixture
def values() -> np.ndarray:
    return np.random.default_rng(1).uniform(-0.6, 0.6, len(EDGES))


def test_effects_are_sums_over_paths(values: np.ndarray) -> None:
    found = effects_of(regressions(values), 0, 2, 5, kept=False)
    assert [value for value, _ in found] == pytest.approx(
        [by_paths(values, (0, 0), (2, h), False) for h in range(6)]
    )
    kept = effects_of(regressions(values), 0, 2, 5, kept=True)
    expected = [sum(by_paths(values, (0, s), (2, h), True) for s in range(h + 1)) for h in range(6)]
    assert [value for value, _ in kept] == pytest.approx(expected)
    assert kept[3][0] != pytest.approx(found[3][0])


@pytest.mark.parametrize("kept", [False, True])
def test_standard_errors_are_those_of_finite_differences(values: np.ndarray, kept: bool) -> None:
    """With one window for each coefficient, the variance is the sum of squared derivatives."""
    found = effects_of(regressions(values), 0, 2, 5, kept=kept)
    for h in range(6):
        slopes = []
        for k in range(len(values)):
            step = 1e-6 * np.eye(len(values))[k]
            up, down = (effects_of(regressions(values + s), 0, 2, h, kept=kept)[h][0] for s in (step, -step))
            slopes.append((up - down) / 2e-6)
        assert found[h][1] == pytest.approx(np.linalg.norm(slopes), abs=1e-7)


def series(values: np.ndarray, steps: int, rng: np.random.Generator, force: dict | None = None) -> np.ndarray:
    """Rows of the model; `force` sets x at some steps."""
    rows = np.zeros((steps, 3))
    noise = rng.normal(size=(steps, 3))
    for t in range(steps):
        for j in (0, 1, 2):
            rows[t, j] = noise[t, j] + sum(
                value * rows[t - lag, tail]
                for (tail, head, lag), value in zip(EDGES, values, strict=True)
                if head == j and t >= lag
            )
            if j == 0 and force and t in force:
                rows[t, 0] = force[t]
    return rows


@pytest.mark.parametrize("kept", [False, True])
def test_an_effect_is_what_setting_x_changes(values: np.ndarray, kept: bool) -> None:
    """The same noise with x set to two values, whose difference is 1."""
    runs = []
    for level in (1.0, 2.0):
        force = dict.fromkeys(range(50, 60), level) if kept else {50: level}
        runs.append(series(values, 60, np.random.default_rng(3), force))
    found = effects_of(regressions(values), 0, 2, 8, kept=kept)
    assert [value for value, _ in found] == pytest.approx((runs[1] - runs[0])[50:59, 2])


def as_data(rows: np.ndarray) -> dict[str, list]:
    return {"t": list(range(len(rows))), **{name: rows[:, k].tolist() for k, name in enumerate("xzy")}}


def test_the_answer_from_rows(values: np.ndarray) -> None:
    data = as_data(series(values, 20_000, np.random.default_rng(2)))
    found = dagora.effect_in_time(data, "x", "y", graph=GRAPH, horizon=4, time="t")
    for h, one in enumerate(found.curve):
        assert one.value == pytest.approx(by_paths(values, (0, 0), (2, h), False), abs=0.04)
        assert one.high - one.low < 0.1
    twice = dagora.effect_in_time(data, "x", "y", graph=GRAPH, horizon=4, time="t", levels=[1, 3])
    assert twice.change == -2
    assert twice.curve[0].value == pytest.approx(-2 * found.curve[0].value)
    assert twice.curve[0].low < twice.curve[0].high
    assert "effect of x − 2 at one step on y" in twice.to_text()
    assert "z[t-1]" not in found.adjustment[1]
    for h, names in enumerate(found.adjustment):
        lagged = GRAPH.unrolled(h + 8)  # more steps do not change what is valid
        asked = lagged.adjustment(f"x[t-{h}]" if h else "x", "y")
        assert asked.is_valid(names)


@pytest.mark.full
@pytest.mark.parametrize("kept", [False, True])
def test_intervals_hold_the_effect_as_often_as_they_say(values: np.ndarray, kept: bool) -> None:
    truth = [value for value, _ in effects_of(regressions(values), 0, 2, 4, kept=kept)]
    held = np.zeros(5)
    for seed in range(300):
        data = as_data(series(values, 150, np.random.default_rng(seed)))
        found = dagora.effect_in_time(data, "x", "y", graph=GRAPH, horizon=4, time="t")
        held += [
            one.low <= value <= one.high
            for one, value in zip(found.kept if kept else found.curve, truth, strict=True)
        ]
    assert (held / 300 >= 0.91).all()
    assert (held / 300 <= 0.985).all()


def test_bad_questions_get_one_line(values: np.ndarray) -> None:
    data = as_data(series(values, 50, np.random.default_rng(2)))
    with pytest.raises(OptionError, match="no variable 'w'"):
        dagora.effect_in_time(data, "w", "y", graph=GRAPH, time="t")
    with pytest.raises(OptionError, match="horizon must be a whole number from 0"):
        dagora.effect_in_time(data, "x", "y", graph=GRAPH, time="t", horizon=-1)
    with pytest.raises(OptionError, match="levels takes two numbers"):
        dagora.effect_in_time(data, "x", "y", graph=GRAPH, time="t", levels=["low", "high"])
    with pytest.raises(DataError, match="'z' is discrete"):
        dagora.effect_in_time({**data, "z": ["a", "b"] * 25}, "x", "y", graph=GRAPH, time="t")
    doubled = {**data, "z": data["x"]}
    graph = LaggedGraph("xzy", 1, [("x", "y", 1), ("z", "y", 1)])
    with pytest.raises(DataError, match="determine each other"):
        dagora.effect_in_time(doubled, "x", "y", graph=graph, time="t")
