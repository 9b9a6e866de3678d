"""Times as whole numbers of equal steps: what a step is, how long it is, and where steps are missing.

Numbers and moments have steps of one length, that which most of them have. Dates may have steps of the
calendar instead, which are not equally long in days: months, and so quarters and years, where every date is
the same day of its month (or its last one), and working days, where no date is on a weekend and weekends lie
between them. A time that is there twice, and a step that is no whole number of steps, are refused by name.
"""

from __future__ import annotations

import math
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.base.phrases import amount
from dagora.base.wording import option

Times = NDArray[np.float64]

# Lengths of steps that differ by less than this share are equal: times are read from decimal numbers.
SAME_STEP = 1e-6
# Times are rounded to the numbers they are written in: so many units in the last place may steps differ.
ROUNDED = 4
# The largest share of a step by which rounding may change it.
TOO_COARSE = 0.1
# Digits that decide which length most steps have.
DIGITS = 5
# The least share of steps that must have the usual length: else there is none, and nothing is a gap.
USUAL = 0.5
# Days, on average, of a month of the Gregorian calendar and of a working day.
MONTH, WORKING_DAY = 365.2425 / 12, 7 / 5
# Months in steps that have a name.
NAMED = {1.0: "month", 3.0: "quarter", 12.0: "year"}


@dataclass(frozen=True)
class Axis:
    """Times as numbers in which steps are equally long.

    positions: the numbers
    written:   writes one of them, given the length of a step
    days:      the mean number of days of a unit, where it is one of the calendar
    unit:      its name: "month", "working day", or "" where it is none of the calendar
    """

    positions: Times
    written: Callable[[float, float | None], str]
    days: float = 1.0
    unit: str = ""


@dataclass(frozen=True, eq=False)
class TimeSteps:
    """The times of series as whole numbers of steps.

    steps:    of each row, counted from the earliest time
    length:   of a step, in the unit of the column (of dates: in days, on average); None without a step
    unit:     "month", "quarter", "year", "working day" …; "" where a step is no unit of the calendar
    gap_rows: rows before which steps of their series are missing
    missing:  the number of steps that are missing in all
    first:    the first of them, in words; "" where none is
    written:  writes the time of any step, also of one that no row has
    dated:    times are dates, so that the length of a step is one of days
    """

    steps: NDArray[np.int64]
    length: float | None
    unit: str
    gap_rows: NDArray[np.int64]
    missing: int
    first: str
    written: Callable[[int], str]
    dated: bool

    @property
    def in_words(self) -> str:
        """The length of a step: "1", "7 days", "1 month"; "" without a step."""
        if self.unit.endswith(" step"):
            return self.unit.removesuffix(" step").replace("-", " ", 1) + "s"
        if self.unit or self.length is None:
            return self.unit and f"1 {self.unit}"
        length = f"{self.length:.6g}"
        return f"{length} day{'s' * (length != '1')}" if self.dated else length

    @property
    def warnings(self) -> list[str]:
        """One line about steps that are missing, if any are."""
        if not self.missing:
            return []
        lost = f"{amount(self.missing, self.unit or 'step')} {'is' if self.missing == 1 else 'are'} missing"
        first = self.first if self.missing == 1 else f"the first: {self.first}"
        return [f"{lost} ({first}): nothing is filled in, and no window reaches over a gap"]


def count_steps(
    moments: Times,
    starts: NDArray[np.int64],
    time: str,
    labels: tuple[str, ...] | None = None,
    *,
    dates: bool = False,
) -> TimeSteps:
    """Count the steps of times that stand series by series, in the order of time.

    Series s is rows `starts[s]` to `starts[s + 1]`, and has the name `labels[s]` if there are several.
    `dates` says that times are days since 1970; `time` names the column.

    >>> found = count_steps(np.array([1.0, 2.0, 3.0, 5.0]), np.array([0, 4]), "t")
    >>> found.steps.tolist(), found.gap_rows.tolist(), found.first
    ([0, 1, 2, 4], [3], '4, between 3 and 5')
    >>> months = np.array(["2024-01-31", "2024-02-29", "2024-03-31"], "datetime64[D]").astype(float)
    >>> monthly = count_steps(months, np.array([0, 3]), "t", dates=True)
    >>> monthly.unit, monthly.written(3)
    ('month', '2024-04-30')
    """
    inside = np.ones(max(0, len(moments) - 1), dtype=np.bool_)
    inside[starts[1:-1] - 1] = False
    axis = choose_axis(moments, inside, dates=dates)
    lengths = np.diff(axis.positions)
    step = usual_length(lengths[inside])
    rounded = ROUNDED * float(np.spacing(np.abs(axis.positions).max()))
    coarse = step is not None and rounded > TOO_COARSE * step
    same = SAME_STEP * (step or 0.0) + (0.0 if coarse else rounded)
    unit_step = step or 1.0
    times = np.rint(lengths / unit_step)
    off = np.abs(lengths - times * unit_step) > same * np.maximum(times, 1.0)
    wrong = inside & (off | (times == 0) | (step is None) | (coarse & (times != 1)))
    if step is not None and not wrong.any() and (times[inside] == 1).mean() < USUAL:
        wrong = inside & (times != 1)
    if wrong.any():
        k = int(np.flatnonzero(wrong)[0])
        refuse_step(
            axis, k, step, time, None if labels is None else labels[series_of(k, starts)], coarse=coarse
        )
    gap_rows = np.flatnonzero(inside & (times > 1)) + 1
    first = ""
    if len(gap_rows) and step is not None:
        k = int(gap_rows[0]) - 1
        before, after = axis.positions[k], axis.positions[k + 1]
        lost = axis.written(float(before + (after - before) / times[k]), step)
        first = f"{lost}, between {axis.written(float(before), step)} and {axis.written(float(after), step)}"
        if labels is not None:
            first += f" in the series '{labels[series_of(k, starts)]}'"
    begin = float(axis.positions.min())
    steps = np.rint((axis.positions - begin) / unit_step).astype(np.int64)
    # Times of later steps: the rounding of one step would add up, that of the longest series does not.
    spans = steps[starts[1:] - 1] - steps[starts[:-1]]
    longest = int(spans.argmax())
    last, first_row = axis.positions[starts[longest + 1] - 1], axis.positions[starts[longest]]
    exact = float(last - first_row) / int(spans[longest]) if spans[longest] else unit_step
    return TimeSteps(
        steps,
        None if step is None else step * axis.days,
        name_unit(axis.unit, step),
        gap_rows,
        int(times[gap_rows - 1].sum()) - len(gap_rows),
        first,
        lambda k: axis.written(begin + k * exact, step),
        axis.written is not as_number,
    )


def series_of(row: int, starts: NDArray[np.int64]) -> int:
    """The series that a row belongs to."""
    return int(np.searchsorted(starts, row, side="right")) - 1


def refuse_step(
    axis: Axis, k: int, step: float | None, time: str, label: str | None, *, coarse: bool
) -> NoReturn:
    """Refuse the step after row `k`, by the times before and after it."""
    where = f"in the series '{label}' " if label is not None else ""
    column = f"(column '{time}')"
    before, after = (axis.written(float(value), step) for value in axis.positions[k : k + 2])
    length = float(axis.positions[k + 1] - axis.positions[k])
    if coarse:
        raise DataError(
            f"{where}the times near {before} {column} are too fine for the numbers they are read as, which "
            "have about 16 digits: count them from the first one"
        )
    if length == 0 or step is None:
        told = "" if label is not None else f"; if there are several series, {option('series')} names them"
        raise DataError(f"{where}the time {before} is there twice {column}: every step needs one row{told}")
    unit = f" {axis.unit}s" if axis.unit else ""
    of_a_zone = ""
    if axis.written is as_date and (axis.positions != np.rint(axis.positions)).any():
        of_a_zone = "; those with a zone count in UTC: write days and months of a place without their hours"
    raise DataError(
        f"{where}the step from {before} to {after} {column} has the length {length:.7g}{unit}, and "
        f"others have {step:.7g}: steps must be equal; if yours are, number them 1, 2, 3, …{of_a_zone}"
    )


def choose_axis(moments: Times, inside: NDArray[np.bool_], *, dates: bool) -> Axis:
    """The numbers in which steps are equally long: months, working days, or the times as they are."""
    days = moments if dates else spelled_days(moments)
    if days is None:
        return Axis(moments, as_number)
    if (days != np.rint(days)).any():
        return Axis(days, as_date)
    when = days.astype("datetime64[D]")
    months = when.astype("datetime64[M]")
    day = (when - months).astype(np.int64) + 1
    last = ((months + np.timedelta64(1, "M")).astype("datetime64[D]") - months).astype(np.int64)
    if len(np.unique(months)) > 1 and (day == np.minimum(day.max(), last)).all():
        own = int(day.max())
        written = as_month if own == 1 else partial(as_day_of_month, own)
        return Axis(months.astype(np.float64), written, MONTH, "month")
    weekday = (days.astype(np.int64) + 3) % 7  # the first of January 1970 was a Thursday; Monday is 0
    over_weekend = inside & (weekday[:-1] == 4) & (np.diff(days) == 3)
    if (weekday < 5).all() and over_weekend.any() and usual_length(np.diff(days)[inside]) == 1:
        count = np.busday_count("1970-01-01", when).astype(np.float64)
        return Axis(count, as_working_day, WORKING_DAY, "working day")
    return Axis(days, as_date)


def spelled_days(numbers: Times) -> Times | None:
    """Days since 1970 of whole numbers that spell months or days, as 202403 and 20240317 do; else None.

    >>> spelled_days(np.array([197001.0, 197003.0])), spelled_days(np.array([1.0, 2.0])) is None
    (array([ 0., 59.]), True)
    """
    if len(numbers) < 2 or (numbers != np.rint(numbers)).any():
        return None
    whole = numbers.astype(np.int64)
    if whole.min() >= 190_001 and whole.max() <= 209_912:
        whole = whole * 100 + 1
    if whole.min() < 19_000_101 or whole.max() > 20_991_231:
        return None
    month, day = whole // 100 % 100, whole % 100
    if (month < 1).any() or (month > 12).any() or (day < 1).any():
        return None
    first = (whole // 10_000 * 12 + month - 1 - 1970 * 12).astype("datetime64[M]")
    days = first.astype("datetime64[D]") + (day - 1)
    return days.astype(np.float64) if (days.astype("datetime64[M]") == first).all() else None


def name_unit(unit: str, step: float | None) -> str:
    """The name of a step of so many units.

    >>> name_unit("month", 3.0), name_unit("month", 2.0), name_unit("", 7.0)
    ('quarter', '2-month step', '')
    """
    if not unit or step is None:
        return ""
    if unit == "month" and step in NAMED:
        return NAMED[step]
    return unit if step == 1 else f"{step:g}-{unit} step"


def usual_length(gaps: Times) -> float | None:
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


def as_date(days: float, step: float | None = None) -> str:  # noqa: ARG001 (written as `as_number` is)
    """Days since 1970 as a date, with the time of day where there is one, and parts of its seconds.

    >>> as_date(1.0), as_date(1.5), as_date(19723 + 0.25 / 86400)
    ('1970-01-02', '1970-01-02 12:00:00', '2024-01-01 00:00:00.25')
    """
    moment = datetime(1970, 1, 1) + timedelta(microseconds=round(days * 86_400_000_000))  # noqa: DTZ001
    if days == int(days):
        return f"{moment:%Y-%m-%d}"
    return f"{moment:%Y-%m-%d %H:%M:%S}" + f".{moment:%f}".rstrip("0").rstrip(".")


def as_month(months: float, step: float | None = None) -> str:
    """Months since 1970 as a month, a quarter or a year.

    >>> as_month(3.0), as_month(3.0, 3.0), as_month(12.0, 12.0)
    ('1970-04', '1970-Q2', '1971')
    """
    year, month = 1970 + int(months) // 12, int(months) % 12
    if step == 12:
        return f"{year}"
    return f"{year}-Q{month // 3 + 1}" if step == 3 else f"{year}-{month + 1:02}"


def as_day_of_month(day: int, months: float, step: float | None = None) -> str:  # noqa: ARG001
    """A day of a month since 1970, or its last one if it has fewer days.

    >>> as_day_of_month(31, 1.0), as_day_of_month(15, 12.0)
    ('1970-02-28', '1971-01-15')
    """
    year, month = 1970 + int(months) // 12, int(months) % 12 + 1
    return f"{year}-{month:02}-{min(day, monthrange(year, month)[1]):02}"


def as_working_day(count: float, step: float | None = None) -> str:  # noqa: ARG001
    """Working days since 1970 as a date.

    >>> as_working_day(0.0), as_working_day(2.0)
    ('1970-01-01', '1970-01-05')
    """
    return str(np.busday_offset(np.datetime64("1970-01-01"), int(count)))


def as_number(value: float, step: float | None = None) -> str:
    """A number as people write it, with digits enough to tell it from one that is a step further.

    >>> as_number(3.0), as_number(0.25), as_number(1700000000.1), as_number(1700000000.1, 0.1)
    ('3', '0.25', '1700000000', '1700000000.1')
    """
    digits = 10
    if step and value:
        digits = min(17, max(digits, math.ceil(math.log10(abs(value) / step)) + 3))
    return f"{value:.{digits}g}"
