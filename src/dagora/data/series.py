"""Rows as series: a column says when, another one which series; steps of time are checked.

Rows may stand in any order in a table; within a series they are put in the order of time. All steps must be
equal (`dagora.data.time_steps`): a window of successive rows is a window of time only then. Where steps are
missing, a run of rows ends, and a warning tells of the first. Nothing is filled in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError
from dagora.base.phrases import among, some_of
from dagora.base.wording import col, option
from dagora.data.columns.dates import DAYS
from dagora.data.columns.overview import Overview
from dagora.data.incomplete import AnyTable, IncompleteTable
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.data.time_steps import as_number, count_steps


@dataclass(frozen=True)
class Timing:
    """The columns that say when a row was, and which series it belongs to.

    >>> Timing.read("day", None), Timing.read(None, None)
    (Timing(time='day', series=None), None)
    """

    time: str
    series: str | None = None

    @classmethod
    def read(cls, time: str | None, series: str | None) -> Timing | None:
        """Read the user's options; None if there are none."""
        for role, name in (("time", time), ("series", series)):
            if name is not None and not isinstance(name, str):
                raise OptionError(f"{option(role)} takes the name of a column, not {name!r}")
        if time is None and series is not None:
            raise OptionError(f"{option('series')} goes with {option('time')}, which says when a row was")
        return None if time is None else cls(time, series)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns' names."""
        return (self.time,) if self.series is None else (self.time, self.series)


@dataclass(frozen=True, eq=False)
class Panel:
    """One or more series: run s is rows `starts[s]` to `starts[s + 1]` of the table, in the order of time.

    table:    the variables alone, perhaps with missing values
    labels:   the series of each run, of which one with gaps has several; one without a name is ""
    step:     the length of a step (`TimeSteps.length`); None where no series has two rows
    unit:     "month", "working day" …, where a step is one of the calendar, else ""
    warnings: tell of steps that are missing
    steps:    the number of the step of each row, the same at the same time in every series
    dated:    times are dates, so that `step` is one of days

    >>> rows = Table.from_numpy([[2, 0.5], [1, 1.5], [3, 0.1]], ["day", "x"], continuous=["all"])
    >>> panel = Panel.of_table(rows, "day")
    >>> panel.table.values(0).tolist(), panel.starts.tolist(), panel.step
    ([1.5, 0.5, 0.1], [0, 3], 1.0)
    >>> Panel.of_table(rows.take([0, 0, 1]), "day")
    Traceback (most recent call last):
    dagora.DataError: the time 2 is there twice (column 'day'): every step needs one row; ...
    """

    table: AnyTable
    starts: NDArray[np.int64]
    labels: tuple[str, ...]
    step: float | None
    unit: str = ""
    warnings: tuple[str, ...] = ()
    steps: NDArray[np.int64] | None = None
    dated: bool = False

    @classmethod
    def of_table(cls, table: AnyTable, time: str, series: str | None = None) -> Panel:
        """Take the columns of time and series out of a table, and check the steps."""
        refuse_holes(table, {"time": time, "series": series})
        moments = time_column(table, time)
        codes, labels = series_column(table, series, time)
        order = np.lexsort((moments, codes))
        starts = np.searchsorted(codes[order], np.arange(len(labels) + 1))
        names = None if series is None else labels
        found = count_steps(moments[order], starts, time, names, dates=is_date(table, time))
        others = [name for name in table.names if name not in (time, series)]
        if not others:
            raise DataError("there is no column besides those of time and series")
        rows = in_row_order(table.select(others), order, table.overview)
        runs = np.union1d(starts, found.gap_rows).astype(np.int64)
        of_run = np.searchsorted(starts, runs[:-1], side="right") - 1
        named = tuple(labels[s] for s in of_run.tolist())
        return cls(
            rows, runs, named, found.length, found.unit, tuple(found.warnings), found.steps, found.dated
        )

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of rows of each run."""
        return np.diff(self.starts)

    def longer_than(self, lags: int) -> tuple[NDArray[np.int64], list[str]]:
        """The runs that have a window of `lags` steps back, and a warning where others are left out.

        A run shorter than lags + 1 rows has no such window. Where none has one, that is an error.

        >>> rows = Table.from_numpy([[0, 1, 0.5], [0, 2, 1.5], [1, 1, 0.1]], ["id", "t", "x"])
        >>> long, warnings = Panel.of_table(rows, "t", "id").longer_than(1)
        >>> long.tolist(), len(warnings)
        ([0], 1)
        """
        long = np.flatnonzero(self.lengths > lags)
        needed = f"{lags + 1} steps ({option('lags', lags)})"
        gaps = len(set(self.labels)) < len(self.labels)
        if not len(long):
            longest = int(self.lengths.max())
            whose = "no series is long enough: the longest has"
            if gaps:
                whose = "between its gaps no series is long enough: at most there are"
            elif len(self.labels) == 1:
                whose = "the series has"
            raise DataError(f"{whose} {longest} steps, and {needed} are needed: choose fewer lags")
        short = np.flatnonzero(self.lengths <= lags)
        if not len(short):
            return long, []
        verb, was = ("is", "was") if len(short) == 1 else ("are", "were")
        kind = "runs of rows without a gap" if gaps else "series"
        said = f"{len(short)} of {len(self.labels)} {kind} {verb} shorter than {needed} and {was} left out"
        if self.labels == ("",) * len(self.labels):
            return long, [said]
        found: dict[str, list[str]] = {}
        for s in short.tolist():
            found.setdefault(self.labels[s], []).append(str(self.lengths[s]))
        listed = some_of([f"'{label}' ({some_of(counts, 3)})" for label, counts in found.items()], 5)
        return long, [f"{said}: {listed}"]


def in_row_order(table: AnyTable, order: NDArray[np.int64], overview: Overview | None) -> AnyTable:
    """A table with its rows in another order."""
    columns = tuple(column[order] for column in table.columns)
    if isinstance(table, IncompleteTable):
        return IncompleteTable(table.schema, columns, table.seen[:, order], overview)
    return Table(table.schema, columns, overview)


def refuse_holes(table: AnyTable, roles: Mapping[str, str | None]) -> None:
    """Refuse missing values in the columns that say when a row was and which series it belongs to."""
    if not isinstance(table, IncompleteTable):
        return
    for role, name in roles.items():
        if name is not None and not table.seen[find_column(table, name, role)].all():
            row = int(np.flatnonzero(~table.seen[table.schema.index(name)])[0]) + 1
            raise DataError(
                f"{col(name)} has a missing value in data row {row}, and {option(role)} needs it in every "
                "row: fill it in, or leave the row out"
            )


def time_column(table: AnyTable, time: str) -> NDArray[np.float64]:
    """The column that says when: numbers, or dates that were read as numbers."""
    position = find_column(table, time, "time")
    variable = table.schema[position]
    if variable.kind is Kind.CONTINUOUS:
        return table.columns[position]
    try:
        levels = np.array([float(level) for level in variable.levels])
    except ValueError:
        levels = np.array([np.nan])
    if not np.isfinite(levels).all():
        raise DataError(
            f"the column of time, '{time}', must hold numbers, dates (2024-01-31) or periods (2024-01, "
            "2024-Q1): number the steps 1, 2, 3, …"
        )
    moments: NDArray[np.float64] = levels[table.columns[position]]
    return moments


def series_column(
    table: AnyTable, series: str | None, time: str
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """The series of each row, by number, and their labels; without such a column there is one."""
    if series is None:
        return np.zeros(table.n_rows, dtype=np.int64), ("",)
    if series == time:
        raise OptionError(f"{option('time')} and {option('series')} name one column, '{time}': they need two")
    position = find_column(table, series, "series")
    variable, column = table.schema[position], table.columns[position]
    found, codes = np.unique(column, return_inverse=True)
    discrete = variable.kind is Kind.DISCRETE
    labels = [variable.levels[int(k)] if discrete else as_number(float(k)) for k in found]
    return codes.reshape(-1).astype(np.int64), tuple(labels)


def find_column(table: AnyTable, name: str, role: str) -> int:
    """The position of a column that the user named."""
    if name not in table.names:
        raise OptionError(f"there is no {col(name)}, which {option(role)} names: {among(table.names)}")
    return table.schema.index(name)


def is_date(table: AnyTable, time: str) -> bool:
    """Return True if the numbers of a column are days since 1970."""
    if table.overview is None:
        return False
    return any(column.name == time and DAYS in column.why for column in table.overview.columns)
