"""Moments of windows of time: each row is a step with the steps before it, (x_t, x_{t−1}, …, x_{t−p}).

Windows never cross from one series to another: a series of T steps has T − p windows. The sums run over all
windows of all series, so they are additive over series. Columns stand slice by slice, the present first; the
variable x has the names x, x[t-1], …, x[t-p] (`dagora.graph.lagged_graph`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from dagora.base.budget import Budget
from dagora.base.errors import DataError, RowsUnavailableError
from dagora.base.wording import col, option
from dagora.data.incomplete import IncompleteTable
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.series import Panel
from dagora.data.table import Table, require_table
from dagora.graph.lagged_graph import window_names
from dagora.stats.capabilities import StatisticsCapabilities
from dagora.stats.moments import BLOCK_ROWS, merge_moments
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.statistics import CellCounts, ColumnSets, Contingency, Moments
from dagora.stats.table import TableStatistics


@dataclass(frozen=True, eq=False)
class LaggedStatistics:
    """Moments of windows, as `Statistics` of (lags + 1) · d columns.

    `warnings` tell of steps that are missing and of series left out.
    """

    variables: tuple[str, ...]
    lags: int
    window_moments: Moments
    warnings: tuple[str, ...] = ()
    unit: str = ""  # what a step is, where it is one of the calendar

    @cached_property
    def schema(self) -> Schema:
        """A continuous column for each variable in each slice."""
        return Schema(Variable(name, Kind.CONTINUOUS) for name in window_names(self.variables, self.lags))

    @property
    def n_rows(self) -> int:
        """Number of windows."""
        return self.window_moments.n

    def moments(self) -> Moments:
        """First and second moments of the windows."""
        return self.window_moments

    def counts(self, column_sets: ColumnSets) -> CellCounts:  # noqa: ARG002
        """Refuse: there is nothing to count."""
        self._refuse()

    def contingency(self, columns: Sequence[int]) -> Contingency:  # noqa: ARG002
        """Refuse: there is nothing to count."""
        self._refuse()

    def rows(self) -> Table:
        """Refuse: only sums over windows are kept."""
        raise RowsUnavailableError(
            "windows of a series are summed as they are made; there are no rows of them"
        )

    def _refuse(self) -> NoReturn:
        raise DataError("windows of a series have continuous columns only, so nothing can be counted")


class SeriesStatistics(TableStatistics):
    """Statistics of the steps of one or more series; `lagged` has those of windows.

    >>> rows = Table.from_numpy([[1, 0.5], [2, 1.5], [3, 0.5]], ["day", "x"], continuous=["all"])
    >>> windows = SeriesStatistics(Panel.of_table(rows, "day")).lagged(1)
    >>> windows.schema.names, windows.n_rows, windows.moments().mean.tolist()
    (('x', 'x[t-1]'), 2, [1.0, 1.0])
    """

    def __init__(self, panel: Panel, jobs: int = 1) -> None:
        super().__init__(require_table(panel.table), jobs)
        self.panel = panel

    @property
    def capabilities(self) -> StatisticsCapabilities:
        """Those of a table, and windows."""
        return replace(super().capabilities, lagged=self.lagged)

    def lagged(self, lags: int) -> LaggedStatistics:
        """Statistics of windows that reach that many steps back; series too short for one are left out."""
        long, warnings = self.panel.longer_than(lags)
        names = self.schema.names
        window_names(names, lags)  # refuses a variable that is named like a lagged one
        moments = window_moments(self.panel, long, lags)
        told = (*self.panel.warnings, *warnings)
        return LaggedStatistics(names, lags, moments, told, self.panel.unit)


class IncompleteSeries(IncompleteStatistics):
    """Statistics of the steps of series with missing values, for windows as rows alone."""

    def __init__(self, panel: Panel, table: IncompleteTable, clock: Budget | None = None) -> None:
        super().__init__(table, clock)
        self.panel = panel
        self.clock = clock

    def with_clock(self, clock: Budget) -> IncompleteSeries:
        """The same statistics, for which EM of moments takes no more than its share of a time limit."""
        return self if clock.limit is None else IncompleteSeries(self.panel, self.table, clock)

    @property
    def capabilities(self) -> StatisticsCapabilities:
        """Those of a table with missing values, and windows, whose moments need complete rows."""
        return replace(super().capabilities, lagged=lambda _: self.refuse("a method of series"))


def series_statistics(panel: Panel, jobs: int = 1) -> SeriesStatistics | IncompleteSeries:
    """Statistics of the steps of series, with missing values or without."""
    if isinstance(panel.table, IncompleteTable):
        return IncompleteSeries(panel, panel.table)
    return SeriesStatistics(panel, jobs)


def window_moments(panel: Panel, series: NDArray[np.int64], lags: int) -> Moments:
    """Moments of all windows of some series."""
    for variable in panel.table.schema:
        if variable.kind is not Kind.CONTINUOUS:
            raise DataError(
                f"{col(variable.name)} is discrete, and windows of time need numbers: leave it out "
                f"({option('drop', variable.name)}), or name it ({option('series', variable.name)}) if it "
                "tells series apart"
            )
    columns = np.stack(panel.table.columns)
    d = len(columns) * (lags + 1)
    total = Moments(0, np.zeros(d), np.zeros((d, d)))
    for s in series.tolist():
        first, last = int(panel.starts[s]) + lags, int(panel.starts[s + 1])
        for start in range(first, last, BLOCK_ROWS):
            stop = min(start + BLOCK_ROWS, last)
            block = np.concatenate([columns[:, start - k : stop - k] for k in range(lags + 1)])
            with np.errstate(over="ignore", invalid="ignore"):
                mean = block.mean(axis=1)
                block -= mean[:, None]
                total = merge_moments(total, Moments(block.shape[1], mean, block @ block.T))
    return total
