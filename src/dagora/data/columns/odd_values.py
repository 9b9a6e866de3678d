"""Warnings about values that a column cannot have, and about what devices and typists leave in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dagora.base.phrases import some_of
from dagora.base.wording import option
from dagora.data.columns.column_type import Column
from dagora.data.columns.levels import level_name
from dagora.data.columns.missing import extend_na
from dagora.data.columns.missing_codes import CODES
from dagora.data.columns.names import IS_AGE, IS_YEAR, MAY_BE_NONE, NEVER_NONE, OTHER_THAN_YEARS
from dagora.data.columns.rows_alike import numbers_of
from dagora.data.columns.spoilt_numbers import RowNumber
from dagora.data.schema import Kind

Floats = NDArray[np.float64]

MOST_NAMED = 5  # columns that one warning names, to stay readable
FEWEST_VALUES = 20  # different numbers of a measurement
FEWEST_TIMES = 3  # that a code comes
MOST_CODES = 3  # beside the other numbers
LONG_RUN = 20  # equal values, one after the other, of a column in which neighbours differ
MOST_EQUAL = 0.1  # share of neighbours that are equal there, and of the run's value outside of the run
OLDEST = 120  # years that a person may reach
LONE = 8.0  # times as far from the median as the next: 1 in 10^3 columns of Student's t with 3 degrees
FAR = 5.0  # standard deviations from the middle that a swapped value lies away
NEAR = 3.0  # and that it lies away from the middle of the other column
FEWEST_SWAPPED = 3  # rows
LEAST_SWAPPED = 0.25  # share of the outlying values of either column
MOST_TIMES = 1e6  # that are written out
MOST_ROWS = 1000  # with outlying values, that are looked at
NORMAL_QUARTILES = 1.349  # their distance in standard deviations
FEWEST_LETTERS = 5  # of a level that may be misspelt by one letter
COMMONER = 20  # times as often as its misspelling a level comes
MOST_LEVELS = 200  # that are compared


def value_warnings(typed: Sequence[Column], row_number: RowNumber | None = None) -> Iterator[str]:
    """Sentences about values that do not belong to the others of their column."""
    yield from impossible_warning(typed)
    yield from far_value_warning(typed)
    yield from lone_value_warning(typed, row_number)
    yield from stuck_warning(typed)
    yield from two_digit_warning(typed)
    yield from swapped_warning(typed)
    yield from misspelling_warning(typed)


def impossible_warning(typed: Sequence[Column]) -> Iterator[str]:
    """Sentences about numbers that nobody has: whole negative ones of an age, and ages above 120."""
    for column in typed:
        name, numbers = column.variable.name, numbers_of(column)
        below = numbers[numbers < 0]
        if len(below) and NEVER_NONE.fullmatch(name) and (numbers == np.floor(numbers)).all():
            yield (
                f"column '{name}' has {len(below)} negative numbers (down to {below.min():g}), which it "
                "cannot have: look where they come from, or leave those cells empty"
            )
        if not IS_AGE.search(name) or OTHER_THAN_YEARS.search(name) or not len(numbers):
            continue
        above = numbers[(numbers > OLDEST) & ~np.isin(numbers, CODES)]
        if len(above) and np.median(numbers) <= OLDEST:
            verb = "ages" if len(above) > 1 else "age"
            yield (
                f"column '{name}' has {len(above)} {verb} above {OLDEST} (up to {above.max():g}): look where "
                "they come from, or leave those cells empty"
            )


def far_value_warning(typed: Sequence[Column]) -> Iterator[str]:
    """A sentence about numbers that come again and again, and lie far from all others."""
    found = [
        (column.variable.name, far) for column in typed if (far := far_values(numbers_of_continuous(column)))
    ]
    if found:
        told = [
            f"{' and '.join(f'{level_name(value)} ({count} ×)' for value, count in far.items())} in '{name}'"
            for name, far in found
        ]
        na = extend_na("auto", [(name, level_name(value)) for name, far in found for value in far])
        yield (
            "numbers that stand far from all others, again and again, as where a device had no value: "
            f"{some_of(told, MOST_NAMED, between='; ', noun='columns')}; if they mean missing, "
            f"{option('na', na)}"
        )


def lone_value_warning(typed: Sequence[Column], row_number: RowNumber | None) -> Iterator[str]:
    """A sentence about single numbers far from all others of their column: an edge may rest on or hide in it.

    Nothing names their rows where `row_number` is None.
    """
    found, names, most = [], [], 1
    for column in typed:
        values, times = lone_values(numbers_of_continuous(column))
        if values and not {*values} & {*CODES}:
            name = column.variable.name
            told = f"{times:,.0f}" if times < MOST_TIMES else f"{times:.0e}"
            shown = " and ".join(f"{value:.10g}" for value in values)
            found.append(f"{rows_of(column, values, row_number)}'{name}' {shown} ({told} times as far)")
            names.append(name)
            most = max(most, len(values))
    if found:
        its = "its cell" if len(found) == most == 1 else "those cells"
        number = "one number lies" if most == 1 else "one or two numbers lie"
        yield (
            f"{number} much further from the median than any other of its column: "
            f"{some_of(found, MOST_NAMED, between='; ', noun='columns')}; it alone may bring edges at "
            f"'{names[0]}' or hide them: correct it, or leave {its} empty and see whether edges change"
        )


def rows_of(column: Column, values: Sequence[float], row_number: RowNumber | None) -> str:
    """The rows of a column that have some values, before its name; empty where nothing numbers them."""
    places = np.flatnonzero(np.isin(column.values, values)).tolist()
    if row_number is None or None in (rows := [row_number(place) for place in places]):
        return ""
    return f"data row{'s' * (len(rows) > 1)} {' and '.join(map(str, rows))}, "


def lone_values(numbers: Floats) -> tuple[tuple[float, ...], float]:
    """The one or two numbers furthest from the median, and how many times as far they are as the next.

    None where they are usual. The next one may be far too: where distances fall off as a power, the first is
    as many times as far as the second as the second is as the middle one about once in as many tables as
    there are rows; two such numbers are less common.

    >>> lone_values(np.r_[np.linspace(50, 90, 41), 7000.0])
    ((7000.0,), 338.0...)
    >>> lone_values(np.r_[np.linspace(50, 90, 41), 7000.0, 6900.0])[0]
    (7000.0, 6900.0)
    >>> lone_values(np.linspace(0, 5, 40) ** 5)
    ((), 1.0)
    """
    if len(numbers) < FEWEST_VALUES:
        return (), 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        away = np.abs(numbers - np.median(numbers))
    places = np.argpartition(away, -3)[-3:]
    places = places[np.argsort(away[places])][::-1]
    far = away[places]
    different = away[away > 0]
    if len(different) < FEWEST_VALUES or not np.isfinite(far).all():
        return (), 1.0
    for count in (1, 2):
        with np.errstate(over="ignore"):
            times = far[count - 1] / far[count]
            unusual = times >= max(LONE, far[count] / np.median(different))
        if unusual:
            return tuple(map(float, numbers[places[:count]])), float(times)
    return (), 1.0


def far_values(numbers: Floats) -> dict[float, int]:
    """Numbers that come several times, further away than the range of all others, and how often each comes.

    Known codes for missing values have rules of their own.

    >>> far_values(np.r_[np.linspace(15, 27, 100), [85.0] * 4, [-127.0] * 3])
    {-127.0: 3, 85.0: 4}
    """
    values, counts = np.unique(numbers, return_counts=True)
    sides = [(low, total - low) for total in range(MOST_CODES, 0, -1) for low in range(total + 1)]
    for low, high in sides:
        inner = slice(low, len(values) - high)
        if inner.stop - low < FEWEST_VALUES or not stand_apart(values, low, high):
            continue
        codes, times = np.delete(values, inner), np.delete(counts, inner)
        if times.min() >= max(FEWEST_TIMES, counts[inner].max() / 2):
            return {float(v): int(n) for v, n in zip(codes, times, strict=True) if v not in CODES}
    return {}


def stand_apart(values: Floats, low: int, high: int) -> bool:
    """Return True if the first and last of some sorted numbers are further away than the range of the others.

    >>> stand_apart(np.array([0.0, 10, 12, 40]), 1, 1), stand_apart(np.array([0.0, 10, 21, 40]), 1, 1)
    (True, False)
    """
    first, last = float(values[low]), float(values[len(values) - high - 1])
    wide = last - first
    return (not low or first - float(values[low - 1]) > wide) and (
        not high or float(values[len(values) - high]) - last > wide
    )


def numbers_of_continuous(column: Column) -> Floats:
    """The known numbers of a continuous column; none of a discrete one."""
    return numbers_of(column) if column.variable.kind is Kind.CONTINUOUS else np.zeros(0)


def stuck_warning(typed: Sequence[Column]) -> Iterator[str]:
    """A sentence about columns that stay at one value for many rows, where neighbours differ otherwise."""
    found = []
    for column in typed:
        name = column.variable.name
        value, rows = long_run(numbers_of_continuous(column))
        if rows and (value or not MAY_BE_NONE.search(name)):
            found.append(f"'{name}' at {value:g} ({rows} rows)")
    if found:
        yield (
            "columns that stay at one value for many rows, one after the other: "
            f"{some_of(found, MOST_NAMED)}; if a device was stuck or a value copied down, leave those cells "
            "empty: they blur edges, and bring some where two columns are stuck together"
        )


def long_run(numbers: Floats) -> tuple[float, int]:
    """The value of the longest run of equal numbers, and its length; (0, 0) where it is nothing special.

    >>> long_run(np.r_[np.arange(50.0), [7.25] * 30, np.arange(50.0)])
    (7.25, 30)
    >>> long_run(np.repeat(np.arange(50.0), 30))  # sorted
    (0.0, 0)
    """
    if len(numbers) < 2 * LONG_RUN:
        return 0.0, 0
    starts = np.r_[0, np.flatnonzero(numbers[1:] != numbers[:-1]) + 1]
    lengths = np.diff(np.r_[starts, len(numbers)])
    longest = int(lengths.argmax())
    value, rows = float(numbers[starts[longest]]), int(lengths[longest])
    others = np.delete(lengths, longest)
    outside = int((numbers == value).sum()) - rows
    special = (
        rows >= LONG_RUN
        and (others > LONG_RUN / 2).sum() <= max(1, len(others) / 100)
        and (others[others < LONG_RUN] - 1).sum() <= MOST_EQUAL * (len(numbers) - rows)
        and outside <= MOST_EQUAL * rows
        and len(np.unique(numbers)) >= FEWEST_VALUES
    )
    return (value, rows) if special else (0.0, 0)


def two_digit_warning(typed: Sequence[Column]) -> Iterator[str]:
    """A sentence about years of two digits that run over the turn of a century."""
    for column in typed:
        name, numbers = column.variable.name, numbers_of(column)
        if not len(numbers) or not IS_YEAR.search(name) or (numbers != np.floor(numbers)).any():
            continue
        present = np.unique(numbers)
        if present[0] < 0 or present[-1] > 99 or len(present) < FEWEST_VALUES:
            continue
        if present[-1] >= 60 and present[0] <= 29:
            yield (
                f"column '{name}' has years of two digits, of which those of this century are the smallest: "
                "write them with four"
            )


def swapped_warning(typed: Sequence[Column]) -> Iterator[str]:
    """A sentence about pairs of columns whose values seem to have changed places in some rows."""
    columns = [c for c in typed if c.variable.kind is Kind.CONTINUOUS and c.missing is None]
    if len(columns) < 2:
        return
    with np.errstate(over="ignore", invalid="ignore"):  # nothing lies far from what spreads over all floats
        quartiles = np.array([np.quantile(column.values, [0.25, 0.5, 0.75]) for column in columns])
        middles, spreads = quartiles[:, 1], (quartiles[:, 2] - quartiles[:, 0]) / NORMAL_QUARTILES
        far = np.array(
            [np.abs(c.values - m) > FAR * s for c, m, s in zip(columns, middles, spreads, strict=True)]
        )
    far &= (spreads > 0)[:, None]
    rows = np.flatnonzero(far.sum(axis=0) >= 2)[:MOST_ROWS]
    values = np.array([column.values[rows] for column in columns])
    outlying = np.flatnonzero(far[:, rows].sum(axis=1) >= FEWEST_SWAPPED)
    found = []
    for i, j in combinations(outlying.tolist(), 2):
        both = far[i, rows] & far[j, rows]
        swapped = both & (np.abs(values[i] - middles[j]) < NEAR * spreads[j])
        swapped &= np.abs(values[j] - middles[i]) < NEAR * spreads[i]
        others = max(far[i].sum(), far[j].sum())  # many, where columns have outlying values of their own
        if swapped.sum() >= max(FEWEST_SWAPPED, both.sum() / 2, LEAST_SWAPPED * others):
            names = f"'{columns[i].variable.name}' and '{columns[j].variable.name}'"
            found.append(f"{names} ({swapped.sum()} rows)")
    if found:
        yield (
            f"some rows have in one column what would be usual in another, and the reverse: "
            f"{some_of(found, MOST_NAMED)}: did values change places there?"
        )


def misspelling_warning(typed: Sequence[Column]) -> Iterator[str]:
    """A sentence about rare levels that differ from a common one by a letter."""
    found = []
    for column in typed:
        levels = column.variable.levels
        if column.variable.kind is not Kind.DISCRETE or not 2 < len(levels) <= MOST_LEVELS:
            continue
        values = column.values if column.missing is None else column.values[~column.missing]
        counts = np.bincount(values, minlength=len(levels))
        found += [
            f"'{rare}' ({counts[i]} ×) of '{common}' in '{column.variable.name}'"
            for i, rare in enumerate(levels)
            for j, common in enumerate(levels)
            if 0 < COMMONER * counts[i] <= counts[j] and is_slip(rare, common)
        ]
    if found:
        yield f"levels that look like misspellings: {some_of(found, MOST_NAMED)}: correct them"


def is_slip(one: str, other: str) -> bool:
    """Return True if two words differ by one letter, or by two neighbours that changed places.

    >>> is_slip("femlae", "female"), is_slip("femal", "female"), is_slip("mild", "mind"), is_slip("a1", "a2")
    (True, True, False, False)
    """
    one, other = one.casefold(), other.casefold()
    if not (one.isalpha() and other.isalpha()) or one[0] != other[0] or one == other:
        return False
    before = next(
        (k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    rest, right = one[before:], other[before:]
    if len(one) == len(other):
        if rest[:2] == right[1::-1] and rest[2:] == right[2:]:
            return len(one) >= FEWEST_LETTERS - 1
        return len(one) >= FEWEST_LETTERS and rest[1:] == right[1:]
    longest = max(len(one), len(other))
    return longest > FEWEST_LETTERS and (rest[1:] == right or rest == right[1:])
