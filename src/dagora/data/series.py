"""Rows as series: a column says when, another one which series; steps of time are checked.

Rows may stand in any order in a table; within a series they are put in the order of time. All steps must have
one length, that which most of them have: a window of successive rows is a window of time only then. So a step
that is missing, twice there or of another length is refused, and the first of them is named. Nothing is
filled in.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError
from dagora.base.phrases import among
from dagora.base.wording import col, option
from dagora.data.schema import Kind
from dagora.data.table import Table

# Lengths of steps that differ by less than this share are equal: times are read from decimal numbers.
SAME_STEP = 1e-6
# Times are rounded to the numbers they are written in: so many units in the last place may steps differ.
ROUNDED = 4
# The largest share of a step by which rounding may change it.
TOO_COARSE = 0.1
# Digits that decide which length most steps have.
DIGITS = 5
# What the overview says of a column of dates, which are read as numbers of days.
DAYS = "dates as days since 1970"


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
    """One or more series: series s is rows `starts[s]` to `starts[s + 1]` of the table, in the order of time.

    The table has the variables alone. `labels` name the series; a single one without a name has the label "".
    `step` is the length of a step, None where no series has two rows.

    >>> rows = Table.from_numpy([[2, 0.5], [1, 1.5], [3, 0.1]], ["day", "x"], continuous=["all"])
    >>> panel = Panel.of_table(rows, "day")
    >>> panel.table.values(0).tolist(), panel.starts.tolist(), panel.step
    ([1.5, 0.5, 0.1], [0, 3], 1.0)
    >>> Panel.of_table(rows.take([0, 0, 1]), "day")
    Traceback (most recent call last):
    dagora.DataError: the time 2 is there twice (column 'day'): every step needs one row; ...
    """

    table: Table
    starts: NDArray[np.int64]
    labels: tuple[str, ...]
    step: float | None

    @classmethod
    def of_table(cls, table: Table, time: str, series: str | None = None) -> Panel:
        """Take the columns of time and series out of a table, and check the steps."""
        moments = time_column(table, time)
        codes, labels = series_column(table, series, time)
        order = np.lexsort((moments, codes))
        starts = np.searchsorted(codes[order], np.arange(len(labels) + 1))
        written = as_date if is_date(table, time) else as_number
        step = check_steps(moments[order], starts, labels, time, series, written)
        others = [name for name in table.names if name not in (time, series)]
        if not others:
            raise DataError(
                "there is no column besides those of time and series: a network needs 2 variables"
            )
        kept = table.select(others)
        rows = Table(kept.schema, tuple(column[order] for column in kept.columns), table.overview)
        return cls(rows, starts.astype(np.int64), labels, step)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of rows of each series."""
        return np.diff(self.starts)

    def longer_than(self, lags: int) -> tuple[NDArray[np.int64], list[str]]:
        """The series that have a window of `lags` steps back, and a warning where others are left out.

        A series shorter than lags + 1 rows has no such window. Where no series has one, that is an error.

        >>> rows = Table.from_numpy([[0, 1, 0.5], [0, 2, 1.5], [1, 1, 0.1]], ["id", "t", "x"])
        >>> long, warnings = Panel.of_table(rows, "t", "id").longer_than(1)
        >>> long.tolist(), len(warnings)
        ([0], 1)
        """
        long = np.flatnonzero(self.lengths > lags)
        needed = f"{lags + 1} steps ({option('lags', lags)})"
        if not len(long):
            longest = int(self.lengths.max())
            whose = "the series has" if len(self.labels) == 1 else "no series is long enough: the longest has"
            raise DataError(f"{whose} {longest} steps, and {needed} are needed: choose fewer lags")
        short = np.flatnonzero(self.lengths <= lags)
        if not len(short):
            return long, []
        some = [f"'{self.labels[s]}' ({self.lengths[s]})" for s in short[:5].tolist()]
        more = f" and {len(short) - 5} more" if len(short) > 5 else ""
        verb = "is" if len(short) == 1 else "are"
        was = "was" if len(short) == 1 else "were"
        said = f"{len(short)} of {len(self.labels)} series {verb} shorter than {needed} and {was} left out: "
        return long, [f"{said}{', '.join(some)}{more}"]


def time_column(table: Table, time: str) -> NDArray[np.float64]:
    """The column that says when: numbers, or dates that were read as numbers."""
    position = find_column(table, time, "time")
    variable = table.schema[position]
    if variable.kind is Kind.CONTINUOUS:
        return table.values(position)
    try:
        levels = np.array([float(level) for level in variable.levels])
    except ValueError:
        levels = np.array([np.nan])
    if not np.isfinite(levels).all():
        raise DataError(
            f"the column of time, '{time}', must hold numbers or dates: number the steps 1, 2, 3, …"
        )
    moments: NDArray[np.float64] = levels[table.codes(position)]
    return moments


def series_column(table: Table, series: str | None, time: str) -> tuple[NDArray[np.int64], tuple[str, ...]]:
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


def find_column(table: Table, name: str, role: str) -> int:
    """The position of a column that the user named."""
    if name not in table.names:
        raise OptionError(f"there is no {col(name)}, which {option(role)} names: {among(table.names)}")
    return table.schema.index(name)


def check_steps(
    moments: NDArray[np.float64],
    starts: NDArray[np.int64],
    labels: tuple[str, ...],
    time: str,
    series: str | None,
    written: Callable[[float, float | None], str],
) -> float | None:
    """The length of all steps; the first step of another length is refused by name."""
    gaps = np.diff(moments)
    inside = np.ones(len(gaps), dtype=np.bool_)
    inside[starts[1:-1] - 1] = False
    step = usual_length(gaps[inside])
    rounded = ROUNDED * float(np.spacing(np.abs(moments).max()))
    coarse = step is not None and rounded > TOO_COARSE * step
    same = SAME_STEP * (step or 0.0) + (0.0 if coarse else rounded)
    wrong = np.flatnonzero(inside & (np.abs(gaps - (step or 0.0)) > same))
    if step is None:
        wrong = np.flatnonzero(inside)
    if not len(wrong):
        return step
    k = int(wrong[0])
    which = int(np.searchsorted(starts, k, side="right")) - 1
    where = f"in the series '{labels[which]}' " if series is not None else ""
    before, after = written(float(moments[k]), step), written(float(moments[k + 1]), step)
    column = f"(column '{time}')"
    if coarse:
        raise DataError(
            f"{where}the times near {before} {column} are too fine for the numbers they are read as, which "
            f"have about 16 digits: count them from the first one"
        )
    if gaps[k] == 0 or step is None:
        told = "" if series is not None else f"; if there are several series, {option('series')} names them"
        raise DataError(f"{where}the time {before} is there twice {column}: every step needs one row{told}")
    times = gaps[k] / step
    if times > 1.5 and abs(times - round(times)) <= same / step * times:
        lost = written(float(moments[k]) + float(gaps[k]) / round(times), step)
        raise DataError(
            f"{where}the step {lost} is missing, between {before} and {after} {column}: add its row, or make "
            "two series of what is before and after it"
        )
    raise DataError(
        f"{where}the step from {before} to {after} {column} has the length {float(gaps[k]):.7g} and "
        f"not {step:.7g} like most: steps must be equal; number months or working days 1, 2, 3, …"
    )


def usual_length(gaps: NDArray[np.float64]) -> float | None:
    """The length that most steps have, of equally many the shortest; None where no time passes.

    >>> usual_length(np.array([1.0, 1.0, 2.0])), usual_length(np.array([0.0]))
    (1.0, None)
    """
    passing = gaps[gaps > 0]
    if not len(passing):
        return None
    scale = 10.0 ** (DIGITS - 1 - np.floor(np.log10(passing)))
    lengths, of_gap, times = np.unique(
        np.rint(passing * scale) / scale, return_inverse=True, return_counts=True
    )
    most = int(np.flatnonzero(times == times.max())[0])
    return float(np.median(passing[of_gap.reshape(-1) == most])) if len(lengths) else None


def same_step(one: float, other: float) -> bool:
    """Return True if two lengths of steps are equal but for how decimal numbers are written.

    >>> same_step(0.1, 0.3 - 0.2), same_step(1.0, 2.0)
    (True, False)
    """
    return abs(one - other) <= SAME_STEP * max(abs(one), abs(other))


def is_date(table: Table, time: str) -> bool:
    """Return True if the numbers of a column are days since 1970."""
    if table.overview is None:
        return False
    return any(column.name == time and DAYS in column.why for column in table.overview.columns)


def as_date(days: float, step: float | None = None) -> str:  # noqa: ARG001 (written as `as_number` is)
    """Days since 1970 as a date, with the time of day where there is one, and parts of its seconds.

    >>> as_date(1.0), as_date(1.5), as_date(19723 + 0.25 / 86400)
    ('1970-01-02', '1970-01-02 12:00:00', '2024-01-01 00:00:00.25')
    """
    moment = datetime(1970, 1, 1) + timedelta(microseconds=round(days * 86_400_000_000))  # noqa: DTZ001
    if days == int(days):
        return f"{moment:%Y-%m-%d}"
    return f"{moment:%Y-%m-%d %H:%M:%S}" + f".{moment:%f}".rstrip("0").rstrip(".")


def as_number(value: float, step: float | None = None) -> str:
    """A number as people write it, with digits enough to tell it from one that is a step further.

    >>> as_number(3.0), as_number(0.25), as_number(1700000000.1), as_number(1700000000.1, 0.1)
    ('3', '0.25', '1700000000', '1700000000.1')
    """
    digits = 10
    if step and value:
        digits = min(17, max(digits, math.ceil(math.log10(abs(value) / step)) + 3))
    return f"{value:.{digits}g}"
