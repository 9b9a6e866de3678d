"""Statistics of windows of time as rows of a table: each is a step with the steps before it.

Columns stand slice by slice, the present first: the variable x of any kind has the columns x, x[t-1], …,
x[t-p]. All lags use the same rows. Windows never cross from one series to another, nor a gap. A missing
value is missing in each window that it is part of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.budget import Budget
from dagora.data.incomplete import IncompleteTable
from dagora.data.schema import Schema
from dagora.data.series import Panel
from dagora.data.table import Table
from dagora.graph.lagged_graph import lagged_name, window_names
from dagora.stats.capabilities import StatisticsCapabilities
from dagora.stats.lagged import IncompleteSeries, SeriesStatistics
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.table import TableStatistics

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Windows:
    """The windows of a panel that reach `lags` steps back: `ends` are the rows of their present steps.

    >>> rows = Table.from_numpy([[1, 0.5], [2, 1.5], [3, 0.1]], ["day", "x"], continuous=["all"])
    >>> windows = Windows.of(Panel.of_table(rows, "day"), 1)
    >>> windows.table.names, [column.tolist() for column in windows.table.columns]
    (('x', 'x[t-1]'), [[1.5, 0.1], [0.5, 1.5]])
    >>> windows.warnings
    ()
    """

    panel: Panel
    lags: int
    ends: Rows
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, panel: Panel, lags: int) -> Windows:
        """All windows; runs of rows too short for one are left out, with a warning."""
        long, warnings = panel.longer_than(lags)
        spans = [np.arange(panel.starts[s] + lags, panel.starts[s + 1], dtype=np.int64) for s in long]
        return cls(panel, lags, np.concatenate(spans), (*panel.warnings, *warnings))

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables."""
        return self.panel.table.names

    @property
    def unit(self) -> str:
        """The name of a step, where it is one of the calendar."""
        return self.panel.unit

    @property
    def table(self) -> Table | IncompleteTable:
        """The windows as rows."""
        rows = self.panel.table
        names = window_names(self.variables, self.lags)
        steps = [self.ends - lag for lag in range(self.lags + 1)]
        schema = Schema(
            replace(variable, name=lagged_name(variable.name, lag))
            for lag in range(self.lags + 1)
            for variable in rows.schema
        )
        assert schema.names == names
        columns = tuple(at_steps(column, step) for step in steps for column in rows.columns)
        if isinstance(rows, Table):
            return Table(schema, columns)
        return IncompleteTable(schema, columns, np.concatenate([rows.seen[:, step] for step in steps]))

    def statistics(self, jobs: int = 1, clock: Budget | None = None) -> WindowStatistics | IncompleteWindows:
        """Statistics of the windows; `clock` limits EM where values are missing."""
        table = self.table
        if isinstance(table, Table):
            return WindowStatistics(self, table, jobs)
        return IncompleteWindows(self, table, clock)


def at_steps(column: NDArray[Any], rows: Rows) -> NDArray[Any]:
    """A column at some rows: a view of it where these follow each other.

    >>> at_steps(np.arange(4), np.array([1, 2])).base is None, at_steps(np.arange(4), np.array([0, 2]))
    (False, array([0, 2]))
    """
    if len(rows) and rows[-1] - rows[0] == len(rows) - 1:
        return column[rows[0] : rows[-1] + 1]
    return column[rows]


class WindowStatistics(TableStatistics):
    """Statistics of the rows of a table of windows; `windows` says which series they come from."""

    def __init__(self, windows: Windows, table: Table, jobs: int = 1) -> None:
        super().__init__(table, jobs)
        self.windows = windows

    @property
    def capabilities(self) -> StatisticsCapabilities:
        """Those of a table, whose overview is that of the steps."""
        return replace(super().capabilities, overview=self.windows.panel.table.overview)

    def in_order(self, names: Sequence[str]) -> WindowStatistics:
        """The same statistics with the columns in another order."""
        return WindowStatistics(self.windows, self.rows().select(names), self._jobs)


class IncompleteWindows(IncompleteStatistics):
    """Statistics of the observed cells of windows."""

    def __init__(self, windows: Windows, table: IncompleteTable, clock: Budget | None = None) -> None:
        super().__init__(table, clock)
        self.windows = windows


def windows_behind(statistics: object) -> Windows | None:
    """The windows behind statistics; None where their rows are no windows.

    >>> windows_behind(None)
    """
    return statistics.windows if isinstance(statistics, WindowStatistics | IncompleteWindows) else None


def panel_behind(statistics: object) -> Panel | None:
    """The series that statistics are of, step by step or as windows; None where their rows are no series.

    >>> panel_behind(None)
    """
    if isinstance(statistics, SeriesStatistics | IncompleteSeries):
        return statistics.panel
    windows = windows_behind(statistics)
    return None if windows is None else windows.panel
