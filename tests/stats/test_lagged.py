"""Moments of windows against a list of all windows, written out."""

import numpy as np
import pytest

from dagora.base.errors import DataError, GraphError, RowsUnavailableError
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.series import Panel
from dagora.data.table import Table
from dagora.stats import lagged
from dagora.stats.lagged import SeriesStatistics


def panel_of(blocks: list[np.ndarray], names: tuple[str, ...]) -> Panel:
    rows = np.vstack(blocks)
    table = Table(
        Schema(Variable(name, Kind.CONTINUOUS) for name in names),
        tuple(np.ascontiguousarray(column) for column in rows.T),
    )
    starts = np.cumsum([0, *map(len, blocks)])
    return Panel(table, starts, tuple(f"s{k}" for k in range(len(blocks))), 1.0)


@pytest.mark.parametrize("lags", [1, 2, 3])
def test_moments_are_those_of_all_windows_written_out(lags: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lagged, "BLOCK_ROWS", 5)
    rng = np.random.default_rng(lags)
    blocks = [rng.normal(3.0, 2.0, (length, 2)) for length in (9, 2, 14, 4)]
    windows = [
        np.concatenate([block[t - k] for k in range(lags + 1)])
        for block in blocks
        for t in range(lags, len(block))
    ]
    found = SeriesStatistics(panel_of(blocks, ("x", "y"))).lagged(lags)
    assert found.n_rows == len(windows)
    assert found.schema.names[:3] == ("x", "y", "x[t-1]")
    np.testing.assert_allclose(found.moments().mean, np.mean(windows, axis=0), rtol=1e-12)
    np.testing.assert_allclose(
        found.moments().covariance, np.cov(np.transpose(windows), bias=True), rtol=1e-10
    )


def test_windows_hold_no_rows_and_no_counts() -> None:
    statistics = SeriesStatistics(panel_of([np.arange(8.0).reshape(4, 2) ** 2], ("x", "y"))).lagged(1)
    with pytest.raises(RowsUnavailableError):
        statistics.rows()
    with pytest.raises(DataError, match="nothing can be counted"):
        statistics.counts([(0,)])
    with pytest.raises(DataError, match="nothing can be counted"):
        statistics.contingency((0,))


def test_a_variable_named_like_a_lagged_one_is_refused() -> None:
    with pytest.raises(GraphError, match="named like a variable of an earlier step"):
        SeriesStatistics(panel_of([np.eye(3)[:, :2]], ("x", "x[t-1]"))).lagged(1)


def test_discrete_columns_are_refused_with_a_way_out() -> None:
    table = Table.from_numpy([["a", 1.5], ["b", 2.5], ["a", 0.5]], ["kind", "x"])
    panel = Panel(table, np.array([0, 3]), ("",), 1.0)
    with pytest.raises(
        DataError, match=r"'kind' is discrete, and windows of time need numbers: leave it out"
    ):
        SeriesStatistics(panel).lagged(1)


def test_steps_that_are_missing_are_told() -> None:
    rows = Table.from_numpy(
        [[1, 0.5], [2, 1.5], [4, 0.1], [5, 0.7], [7, 0.3]], ["t", "x"], continuous=["all"]
    )
    found = SeriesStatistics(Panel.of_table(rows, "t")).lagged(1)
    assert found.n_rows == 2
    assert ["missing" in line for line in found.warnings] == [True, False]
    assert "1 of 3 runs of rows without a gap is shorter than 2 steps" in found.warnings[1]
