"""Warnings about how a table was read, as sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from dagora.base.phrases import comma_list
from dagora.base.wording import option
from dagora.data.columns.column_profile import CONSTANT, DATES, EMPTY, MAX_INTEGER_LEVELS
from dagora.data.columns.column_type import DECLARED, Column
from dagora.data.columns.levels import IS_NUMBER
from dagora.data.columns.missing import MISSING_NUMBERS
from dagora.data.columns.overview import LEFT_OUT, WORTH_A_WARNING, Overview
from dagora.data.schema import Kind, Variable

MOST_NAMED = 5  # columns that one warning names, to stay readable
UNUSABLE = frozenset({EMPTY, DATES, CONSTANT})  # why columns are left out that need not be kept
GAP = 3.0  # a number that stands for missing is this many times as large as the largest other one


class Suspicious(Protocol):
    """A column whose cells include words that often mean missing."""

    name: str
    holes: Mapping[str, int]
    doubtful: Mapping[str, int]
    codes: tuple[float, ...]


def reading_warnings(overview: Overview, raw: Sequence[Suspicious], typed: Sequence[Column]) -> Iterator[str]:
    """Sentences about rows and columns left out, doubtful words and numbers, and columns of many levels."""
    if overview.dropped > WORTH_A_WARNING * overview.rows:
        yield overview.dropped_rows
    gone = [column for column in overview.columns if column.type == LEFT_OUT]
    if gone:
        told = some(f"'{column.name}' ({column.why})" for column in gone)
        verb = "column is" if len(gone) == 1 else "columns are"
        kept = next((column.name for column in gone if column.why not in UNUSABLE), None)
        how = "" if kept is None else f"; {option('discrete', kept)} would keep one"
        if any(column.why == DATES for column in gone):
            how += (
                f"; {option('time')} takes dates where rows are series, and months or weekdays can be levels"
            )
        yield f"{len(gone)} {verb} left out: {told}{how}"
    holes = [column for column in raw if column.holes]
    if holes:
        told = some(f"{tally(column.holes)} in '{column.name}'" for column in holes)
        yield f"read as missing: {told}; to keep such words as levels, {option('na', 'none')}"
    doubtful = [column for column in raw if column.doubtful]
    if doubtful:
        words = comma_list(dict.fromkeys(word for column in doubtful for word in column.doubtful))
        told = some(f"{tally(column.doubtful)} in '{column.name}'" for column in doubtful)
        yield (
            f"taken as levels, though they often mean missing: {told}; choose {option('na', words)} if they "
            f"are missing, or {option('na', 'none')} if they are levels"
        )
    for column in raw:
        if column.codes:
            codes = ", ".join(f"{code:g}" for code in column.codes)
            words = comma_list(f"{code:g}" for code in column.codes)
            yield (
                f"column '{column.name}' holds {codes}, far from all its other numbers: if that means "
                f"missing, {option('na', words)}"
            )
    if no_header([made.variable for made in typed]):
        names = ", ".join(f"'{made.variable.name}'" for made in typed[:3])
        yield (
            f"the names of the columns ({names}{', …' if len(typed) > 3 else ''}) look like a row of the "
            "table: if it has no header, put a line with names first"
        )
    rows = overview.rows - overview.dropped
    for made in typed:
        levels = len(made.variable.levels)
        if levels > max(MAX_INTEGER_LEVELS, rows / 10) and made.why != DECLARED:
            yield f"column '{made.variable.name}' has {levels} levels in {rows} rows: expect few edges at it"


def no_header(variables: Sequence[Variable]) -> bool:
    """Return True if all names could be values of their columns, and do not only count the columns.

    >>> no_header([Variable("no", Kind.DISCRETE, ("no", "yes")), Variable("1.5", Kind.CONTINUOUS)])
    True
    """
    names = [variable.name for variable in variables]
    counting = all(name.isdecimal() for name in names) and sorted(names, key=int) == names
    return (
        len(names) > 1
        and not counting
        and all(
            variable.name in variable.levels
            if variable.kind is Kind.DISCRETE
            else IS_NUMBER.fullmatch(variable.name)
            for variable in variables
        )
    )


def missing_numbers(column: Column) -> tuple[float, ...]:
    """The numbers of a column that seem to stand for missing: far from all others, or below zero alone.

    >>> ages = np.array([30.0, 45.0, -99.0, -999.0, 71.0])
    >>> missing_numbers(Column(Variable("age", Kind.CONTINUOUS), ages))
    (-999.0, -99.0)
    """
    if column.variable.kind is Kind.CONTINUOUS:
        values = column.values if column.missing is None else column.values[~column.missing]
    else:
        values = np.array([float(level) for level in column.variable.levels if IS_NUMBER.fullmatch(level)])
    suspect = np.isin(values, MISSING_NUMBERS)
    others = values[~suspect]
    if not suspect.any() or others.size < 2:
        return ()
    largest, smallest = float(np.abs(others).max()), float(others.min())
    found = {float(code) for code in values[suspect] if abs(code) / GAP > largest or (code < 0 <= smallest)}
    return tuple(sorted(found))


def tally(words: Mapping[str, int]) -> str:
    """Words and how often each occurs.

    >>> tally({"?": 3, "NA": 1})
    "'?' (3 ×), 'NA' (1 ×)"
    """
    return ", ".join(f"'{word}' ({count} ×)" for word, count in words.items())


def some(parts: Iterable[str]) -> str:
    """A few parts, and how many more there are."""
    listed = list(parts)
    more = f" and {len(listed) - MOST_NAMED} more columns" if len(listed) > MOST_NAMED else ""
    return "; ".join(listed[:MOST_NAMED]) + more
