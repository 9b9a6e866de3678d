"""Rows in time as a network sees them: a history for each series, step by step, with what was not seen.

A step between the first and the last one of a series that no row has is a step at which nothing was seen. So
is a cell that is missing. A variable without a column was never seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError
from dagora.base.options import alike
from dagora.base.phrases import among, amount, some_of
from dagora.base.wording import col, option
from dagora.data.accepting import as_any_table
from dagora.data.columns.reading_options import READING, always, split_reading
from dagora.data.incomplete import AnyTable, IncompleteTable
from dagora.data.made_tables import without_design
from dagora.data.series import Timing, is_date, series_column, time_column
from dagora.data.table import Table
from dagora.data.time_steps import count_steps
from dagora.network.incomplete.matching import as_incomplete, column_values, level_codes

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SeriesHistory:
    """The steps of a series: `values[s, k]` is variable k at its step s, a code where it has levels.

    label: the name of the series; "" where there is one without a name
    begin: its first step, counted from the first one of all series
    rows:  the row of the table for every step, -1 where there is none
    """

    label: str
    begin: int
    values: Array
    seen: NDArray[np.bool_]
    rows: NDArray[np.int64]

    @property
    def steps(self) -> int:
        """The number of steps."""
        return len(self.values)

    def extended(self, steps: int) -> SeriesHistory:
        """The same with so many steps more at which nothing is seen yet."""
        more = ((0, steps), (0, 0))
        return SeriesHistory(
            self.label,
            self.begin,
            np.pad(self.values, more),
            np.pad(self.seen, more),
            np.pad(self.rows, more[0], constant_values=-1),
        )

    def since(self, step: int) -> SeriesHistory:
        """The same without the steps before one."""
        return SeriesHistory(
            self.label, self.begin + step, self.values[step:], self.seen[step:], self.rows[step:]
        )

    def until(self, step: int) -> SeriesHistory:
        """The steps before one."""
        return SeriesHistory(self.label, self.begin, self.values[:step], self.seen[:step], self.rows[:step])


@dataclass(frozen=True, eq=False)
class Histories:
    """The histories of all series of a table.

    `written(step)` is the time of a step, also of a later one; `step` is the length of a step in words.
    """

    variables: tuple[str, ...]
    series: tuple[SeriesHistory, ...]
    written: Callable[[int], str]
    table: IncompleteTable
    timing: Timing
    unit: str = ""
    notes: tuple[str, ...] = ()
    step: str = ""

    def each(self, change: Callable[[SeriesHistory], SeriesHistory]) -> Histories:
        """The same with every history changed."""
        return replace(self, series=tuple(map(change, self.series)))


def read_in_time(
    data: object,
    timing: Timing,
    reading: Mapping[str, Any],
    *,
    variables: Sequence[str],
    levels: Mapping[str, tuple[str, ...]] | None = None,
    others: bool = False,
) -> AnyTable:
    """Read rows in time with the columns of some variables, and all `others` where these are asked for.

    `levels` are known where these are; where they are None, columns have the types that the table shows.
    """
    numbers = () if levels is None else [name for name in variables if name not in levels]
    wanted = (*variables, *timing.columns)
    options, unknown = split_reading(
        {"missing": "model", **reading} if not isinstance(data, Table | IncompleteTable) else reading,
        wanted,
        only=None if others or levels is not None else frozenset(wanted),  # a hidden variable has no column
        why_not_model=always,
        levels={name: levels[name] for name in variables if name in levels} if levels else {},
        numbers=(*numbers, timing.time),
    )
    if unknown:
        name = next(iter(unknown))
        raise OptionError(f"there is no option '{name}' about rows in time{alike(name, READING)}")
    table = without_design(as_any_table(data, replace(options, in_time=timing.columns)))
    if others or levels is None or not set(variables) & set(table.names):
        return table
    return table.select([name for name in table.names if name in wanted])


def histories_of(
    table: AnyTable,
    timing: Timing,
    variables: Sequence[str],
    levels: Mapping[str, tuple[str, ...]],
    *,
    whole: bool = False,
) -> Histories:
    """The histories of a table, of variables with these levels; others are numbers.

    `whole` says that every variable needs a column.

    >>> table = Table.from_numpy([[1, 0.5], [2, 1.5], [4, 0.5]], ["t", "x"], continuous=["all"])
    >>> found = histories_of(table, Timing("t"), ["x"], {})
    >>> found.series[0].seen.ravel().tolist(), found.series[0].rows.tolist(), found.written(4)
    ([True, True, False, True], [0, 1, -1, 2], '5')
    """
    given = as_incomplete(table)
    moments, codes, labels = times_of(given, timing)
    order = np.lexsort((moments, codes))
    starts = np.searchsorted(codes[order], np.arange(len(labels) + 1))
    names = None if timing.series is None else labels
    found = count_steps(moments[order], starts, timing.time, names, dates=is_date_column(given, timing))
    absent = [name for name in variables if name not in given.names]
    if absent and (whole or len(absent) == len(variables)):
        raise DataError(f"there is no {col(absent[0])}: {among(given.names)}")
    values, seen = node_columns(given, variables, levels)
    series = []
    for s, label in enumerate(labels):
        rows = order[starts[s] : starts[s + 1]]
        steps = found.steps[starts[s] : starts[s + 1]]
        place = steps - steps[0]
        size = (int(place[-1]) + 1, len(variables))
        history = SeriesHistory(
            label,
            int(steps[0]),
            np.zeros(size),
            np.zeros(size, dtype=np.bool_),
            np.full(size[0], -1, dtype=np.int64),
        )
        history.values[place], history.seen[place], history.rows[place] = values[rows], seen[rows], rows
        series.append(history)
    notes = [f"no column is named {some_of(absent)}: never seen, and inferred"] if absent else []
    if found.missing:
        noun = found.unit or "step"
        notes.append(f"{amount(found.missing, noun)} without a row: nothing was seen then ({found.first})")
    return Histories(
        tuple(variables),
        tuple(series),
        found.written,
        given,
        timing,
        found.unit,
        tuple(notes),
        found.in_words,
    )


def times_of(given: IncompleteTable, timing: Timing) -> tuple[Array, NDArray[np.int64], tuple[str, ...]]:
    """The time and the series of every row, and the labels of the series."""
    for name in timing.columns:
        if name in given.names and not given.seen[given.schema.index(name)].all():
            row = int(np.argmin(given.seen[given.schema.index(name)])) + 1
            raise DataError(f"{col(name)} is missing in data row {row}: every row needs its time and series")
    known = Table(given.schema, given.columns, given.overview)
    moments = time_column(known, timing.time)
    codes, labels = series_column(known, timing.series, timing.time)
    if not len(moments):
        raise DataError(f"there are no rows: {option('time')} needs two or more")
    return moments, codes, labels


def is_date_column(given: IncompleteTable, timing: Timing) -> bool:
    """Return True if times are days since 1970."""
    return is_date(Table(given.schema, given.columns, given.overview), timing.time)


def node_columns(
    given: IncompleteTable, variables: Sequence[str], levels: Mapping[str, tuple[str, ...]]
) -> tuple[Array, NDArray[np.bool_]]:
    """Values and codes of variables, a row for each row, and which of them were seen."""
    values = np.zeros((given.n_rows, len(variables)))
    seen = np.zeros(values.shape, dtype=np.bool_)
    for k, name in enumerate(variables):
        if name in levels:
            codes = level_codes(name, levels[name], given)
            seen[:, k] = codes < len(levels[name])
            values[:, k] = np.where(seen[:, k], codes, 0)
        else:
            values[:, k], seen[:, k] = column_values(name, given)
    return values, seen
