"""Lags by score: the true number in simulated series of any kind, one set of windows, what is said and refused."""

import numpy as np
import pytest

import dagora
from dagora.base.errors import DataError, OptionError
from dagora.data.table import Table
from dagora.learners.result import Result
from dagora.learners.time import lag_choice


def series_with_lag(lag: int, seed: int, steps: int = 400, levels: bool = False) -> Table:
    """x depends on itself one step before, y on x `lag` steps before."""
    rng = np.random.default_rng(seed)
    x, y = np.zeros(steps), np.zeros(steps)
    for t in range(steps):
        x[t] = 0.5 * x[t - 1] * (t > 0) + rng.normal()
        y[t] = (0.8 * x[t - lag] if t >= lag else 0.0) + rng.normal()
    if levels:
        cells = [
            [t, "hi" if a > 0 else "lo", "hi" if b > 0 else "lo"]
            for t, (a, b) in enumerate(zip(x, y, strict=True))
        ]
        return Table.from_numpy(np.array(cells, dtype=object), ["t", "x", "y"], continuous=["t"])
    return Table.from_numpy(np.column_stack([np.arange(steps), x, y]), ["t", "x", "y"], continuous=["all"])


@pytest.mark.parametrize("levels", [False, True])
@pytest.mark.parametrize("lag", [1, 2, 5])
def test_the_true_number_of_lags(lag: int, levels: bool) -> None:
    right = 0
    for seed in range(6):
        result = dagora.learn(series_with_lag(lag, seed, 800, levels), "hill-climb", time="t", lags="auto")
        right += result.settings["lags"] == lag
        assert (f"x[t-{lag}]", "y") in result.graph.edges
    assert right >= 5


def test_the_curve_is_in_the_result_and_never_falls() -> None:
    result = dagora.learn(series_with_lag(3, 1), "tabu", time="t", lags="auto:6")
    curve = result.curves["steps back"]
    assert len(curve) == 6
    assert (np.diff(curve) >= -1e-9).all()
    assert curve[2] - curve[1] > 20
    assert "3 lags of 1 to 6 chosen by bic-gaussian of regressions on the past" in result.message
    assert Result.from_json(result.to_json()).curves["steps back"] == curve


@pytest.mark.parametrize("method", ["pc", "notears", "dynotears", "var-lingam", "ges", "order-search"])
def test_every_method_can_have_its_lags_chosen(method: str) -> None:
    result = dagora.learn(series_with_lag(2, 3), method, time="t", lags="auto:4")
    assert result.settings["lags"] == 2
    assert result.lagged_graph is not None
    assert result.lagged_graph.lags == 2


def test_a_score_that_was_asked_for_chooses() -> None:
    result = dagora.learn(series_with_lag(2, 3), "tabu", score="bge", time="t", lags="auto:4")
    assert "2 lags of 1 to 4 chosen by bge" in result.message


def test_knowledge_about_the_past_counts() -> None:
    known = {"forbidden": [["x[t-*]", "y"]]}
    result = dagora.learn(series_with_lag(3, 1), "tabu", time="t", lags="auto:6", knowledge=known)
    assert result.settings["lags"] == 1


def test_short_series_look_back_less() -> None:
    short = series_with_lag(1, 1, 14)
    result = dagora.learn(short, "tabu", time="t", lags="auto")
    assert len(result.curves["steps back"]) == 7  # half of the windows of one lag are left
    with pytest.raises(DataError, match="no series has 21 steps"):
        dagora.learn(short, "tabu", time="t", lags="auto:20")


@pytest.mark.parametrize("lags", ["", "automatic", "auto:", "auto:0", "auto:101", "3"])
def test_other_words_are_refused(lags: str) -> None:
    with pytest.raises(OptionError, match="lags must be a whole number from 1 to 100, auto, or auto:N"):
        dagora.learn(series_with_lag(1, 1), "tabu", time="t", lags=lags)
    with pytest.raises(OptionError, match="goes with time"):
        dagora.learn(series_with_lag(1, 1), "tabu", lags="auto")


def test_the_bootstrap_chooses_once() -> None:
    found = dagora.bootstrap(series_with_lag(2, 3), "tabu", samples=4, time="t", lags="auto:4")
    assert found.nodes == ("x", "y", "x[t-1]", "y[t-1]", "x[t-2]", "y[t-2]")
    assert "2 lags of 1 to 4 chosen" in found.message


def test_a_longer_past_that_adds_next_to_nothing_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lag_choice, "explained", lambda *_: np.array([-100.0, -52.0, -51.0, -49.5]))
    result = dagora.learn(series_with_lag(1, 1), "tabu", time="t", lags="auto:4")
    assert result.settings["lags"] == 2
    monkeypatch.setattr(lag_choice, "explained", lambda *_: np.array([-100.0, -53.0, -51.0, -49.5]))
    assert dagora.learn(series_with_lag(1, 1), "tabu", time="t", lags="auto:4").settings["lags"] == 3
