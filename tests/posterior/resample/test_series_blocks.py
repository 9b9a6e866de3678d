"""Blocks of steps: every window equally often, no window over a joint, half of them without repeats."""

import numpy as np
import pytest

import dagora
from dagora.base.errors import DataError, OptionError
from dagora.data.series import Panel
from dagora.data.table import Table
from dagora.posterior.resample.series_blocks import SeriesBlocks, usual_length
from dagora.stats.windows import Windows


def panel_of(lengths: list[int]) -> Panel:
    """Series whose only variable is a number of its own for each step: hundreds say which series."""
    rows = [[s, t, 100 * s + t] for s, length in enumerate(lengths) for t in range(length)]
    return Panel.of_table(
        Table.from_numpy(rows, ["id", "t", "x"], continuous=["t", "x"], discrete=["id"]), "t", "id"
    )


def drawn(way: str, length: int, lags: int, lengths: list[int], seed: int) -> Windows:
    panel = SeriesBlocks(way, length, lags).draw_panel(panel_of(lengths), np.random.default_rng(seed))
    return Windows.of(panel, lags)


@pytest.mark.parametrize("way", ["rows", "halves", "half-rows"])
@pytest.mark.parametrize("lags", [1, 3])
def test_windows_of_a_sample_are_windows_of_the_series(way: str, lags: int) -> None:
    lengths = [30, 3, 17]
    every = {tuple(row) for row in np.stack(Windows.of(panel_of(lengths), lags).table.columns).T}
    repeated = 0
    for seed in range(20):
        rows = [tuple(row) for row in np.stack(drawn(way, 5, lags, lengths, seed).table.columns).T]
        assert set(rows) <= every
        assert len(rows) == (len(every) if way == "rows" else len(every) // 2)
        repeated += len(rows) - len(set(rows))
    assert repeated == 0 if way == "halves" else repeated > 20


@pytest.mark.full
def test_every_window_is_drawn_equally_often_also_at_the_ends() -> None:
    lengths, lags = [12, 8], 1
    times: dict[float, int] = {}
    for seed in range(3000):
        for now in drawn("rows", 4, lags, lengths, seed).table.columns[0].tolist():
            times[now] = times.get(now, 0) + 1
    counts = np.array(list(times.values()))
    assert len(counts) == 18
    # 3000 samples of 18 windows: 3000 of each; blocks of 4 have a standard error of about √(3000 · 4).
    assert np.abs(counts - 3000).max() < 5 * np.sqrt(3000 * 4)


def test_windows_follow_each_other_in_blocks() -> None:
    now = drawn("rows", 10, 1, [400], 1).table.columns[0]
    together = (np.diff(now) == 1).mean()
    assert 0.85 < together < 0.95  # 9 of 10 neighbours are in one block


def test_frequencies_of_a_series_are_less_sure_than_of_rows_drawn_one_by_one() -> None:
    """The mean of an autocorrelated column varies as that of the series does, and not as that of rows."""
    rng = np.random.default_rng(0)
    x = np.zeros(4000)
    for t in range(1, 4000):
        x[t] = 0.9 * x[t - 1] + rng.normal()
    panel = Panel.of_table(
        Table.from_numpy(np.stack([np.arange(4000), x], axis=1), ["t", "x"], continuous=["all"]), "t"
    )
    blocks = SeriesBlocks("rows", 60, 1)
    means = [
        Windows.of(blocks.draw_panel(panel, np.random.default_rng(k)), 1).table.columns[0].mean()
        for k in range(200)
    ]
    true = np.sqrt(1 / (1 - 0.9) ** 2 / 4000)
    assert 0.7 * true < np.std(means) < 1.2 * true


@pytest.mark.full
@pytest.mark.parametrize("method", ["hill-climb", "ges", "pc", "dynotears", "var-lingam"])
def test_every_method_on_series_has_strengths(method: str) -> None:
    table = dagora.simulate_series(dagora.random_dag("er", 3, 1, 1), 150, 1, lags=1, series=2).table
    found = dagora.bootstrap(table, method, samples=6, time="t", series="series", lags=1, seed=1)
    assert found.samples == 6
    assert found.nodes == ("x0", "x1", "x2", "x0[t-1]", "x1[t-1]", "x2[t-1]")
    assert not found.adjacency_frequency[3:, 3:].any()
    assert (found.edge_frequency[:, 3:] == 0).all()
    half = method == "pc"
    kind = "half of the windows" if half else "as many windows"
    assert f"{kind}, drawn in blocks of {usual_length(298, 1)} steps" in found.message
    again = dagora.bootstrap(table, method, samples=6, time="t", series="series", lags=1, seed=1, jobs=2)
    assert (again.marks == found.marks).all()
    assert found.settings["block"] == usual_length(298, 1)
    lagged = found.compelled_frequency[3:, :3]
    assert np.allclose(lagged, found.edge_frequency[3:, :3])


def test_blocks_go_with_time() -> None:
    rows = {"a": [0, 1] * 20, "b": [0, 1] * 13 + [1, 0] * 7}
    with pytest.raises(OptionError, match="block goes with time"):
        dagora.bootstrap(rows, "tabu", samples=2, block=3)
    table = dagora.simulate_series(dagora.random_dag("er", 3, 1, 1), 50, 1, lags=1).table
    with pytest.raises(OptionError, match="block must be a whole number"):
        dagora.bootstrap(table, "tabu", samples=2, block=0, time="t")


@pytest.mark.parametrize("resample", ["halves", "half-rows"])
def test_half_of_one_window_is_refused(resample: str) -> None:
    rows = {"t": [0, 1], "x": ["a", "b"], "y": ["u", "u"]}
    with pytest.raises(DataError, match="half of 1 window is none"):
        dagora.bootstrap(rows, "hill-climb", score="k2", samples=2, time="t", lags=1, resample=resample)
