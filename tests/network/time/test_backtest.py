"""Forecasts from rolling origins against the same by hand; rivals by least squares."""

import numpy as np
import pytest

import dagora
from dagora.base.errors import DataError, OptionError
from dagora.graph.lagged_graph import LaggedGraph
from dagora.network.time.backtest import RIVALS, Backtest, SkillRow
from tests.network.time.test_time_network import VAR, as_data, simulated


@pytest.mark.full
def test_errors_are_those_of_forecasts_fitted_to_the_rows_before() -> None:
    values = simulated(np.random.default_rng(5), 80)
    found = dagora.backtest(VAR, as_data(values), 2, 10, time="t")
    assert found.origins == 10
    errors: dict[tuple[str, int, str], list[float]] = {}
    for origin in range(69, 79):
        before = values[:origin]
        forecast = dagora.fit(VAR, as_data(before), time="t").forecast(as_data(before), 2)
        design = np.column_stack([np.ones(origin - 1), before[:-1]])
        coefficients = np.linalg.lstsq(design, before[1:], rcond=None)[0]
        path = [before[-1]]
        for _ in range(2):
            path.append(np.array([1.0, *path[-1]]) @ coefficients)
        for k, name in enumerate("xy"):
            for ahead in (1, 2):
                came = values[origin + ahead - 1, k]
                for rival, value in {
                    "network": forecast.mean(name)[ahead - 1],
                    "last": before[-1, k],
                    "mean": before[:, k].mean(),
                    "var": path[ahead][k],
                }.items():
                    errors.setdefault((name, ahead, rival), []).append(value - came)
    for (name, ahead, rival), off in errors.items():
        assert found.error(name, ahead, rival) == pytest.approx(np.sqrt(np.mean(np.square(off)))), (
            name,
            ahead,
            rival,
        )
    assert found.skill("x", 1, "mean") == pytest.approx(1 - found.error("x", 1) / found.error("x", 1, "mean"))
    assert {row.forecasts for row in found.rows} == {10}
    assert all(0.7 <= row.coverage <= 1 for row in found.rows)


def test_levels_are_judged_by_the_brier_score() -> None:
    rng = np.random.default_rng(2)
    state = [0]
    for _ in range(149):
        state.append(state[-1] if rng.random() < 0.85 else 1 - state[-1])
    data = {"t": list(range(150)), "state": ["ab"[k] for k in state]}
    graph = LaggedGraph(("state",), 1, [("state", "state", 1)])
    found = dagora.backtest(graph, data, 1, 50, time="t")
    expected = []
    for origin in range(100, 150):
        known = {name: column[:origin] for name, column in data.items()}
        network = dagora.fit(graph, known, time="t", pseudocount="one-row")
        chances = network.window.tables["state"][state[origin - 1]]
        expected.append(((chances - np.eye(2)[state[origin]]) ** 2).sum())
    assert found.error("state", 1) == pytest.approx(np.mean(expected))
    assert found.error("state", 1, "last") == pytest.approx(2 * np.mean(np.diff(state[99:]) != 0))
    assert found.error("state", 1) < found.error("state", 1, "mean")
    assert np.isnan(found.error("state", 1, "var"))


def test_series_that_are_too_short_are_refused() -> None:
    with pytest.raises(DataError, match="too short for a forecast"):
        dagora.backtest(
            VAR, as_data(simulated(np.random.default_rng(5), 8)), 8, 3, time="t", continuous=["x", "y"]
        )


@pytest.mark.parametrize("origins", [0, 100_001, 10**20, 1e20, True])
def test_a_number_of_origins_beyond_any_series_is_refused(origins: object) -> None:
    data = as_data(simulated(np.random.default_rng(5), 40))
    with pytest.raises(OptionError, match="origins must be a whole number from 1 to 10,000"):
        dagora.backtest(VAR, data, 1, origins, time="t")  # type: ignore[arg-type]


def test_origins_with_too_few_rows_before_them_are_left_out_and_told() -> None:
    data = as_data(simulated(np.random.default_rng(5), 12))
    found = dagora.backtest(VAR, data, 1, 100, time="t", continuous=["x", "y"])
    assert found.origins == 7  # y has two parents: four windows, so five rows, are the least
    assert any("100 origins were asked for" in note for note in found.notes)
    assert not any("asked for" in note for note in dagora.backtest(VAR, data, 1, 3, time="t").notes)


def test_columns_of_large_errors_stand_apart() -> None:
    row = SkillRow("x", 1, "rmse", dict.fromkeys(RIVALS, 123456.0), 0.95, 30)
    assert Backtest((row,), 30).to_text().count(" 1.23e+05 ") == 4
