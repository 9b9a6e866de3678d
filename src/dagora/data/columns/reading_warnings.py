"""What a user must not miss about how a table was read, as sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from dagora.data.columns.column_type import MAX_INTEGER_LEVELS, Column
from dagora.data.columns.levels import IS_NUMBER
from dagora.data.columns.missing import MISSING_NUMBERS
from dagora.data.columns.overview import LEFT_OUT, WORTH_A_WARNING, Overview
from dagora.data.schema import Kind
from dagora.wording import comma_list, option

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_NAMED = 5
GAP = 3.0  # a number that stands for missing is this many times as large as the largest other one


class Suspicious(Protocol):
    """A column whose cells include words that often mean missing."""

    name: str
    holes: Mapping[str, int]
    doubtful: Mapping[str, int]


def reading_warnings(overview: Overview, raw: Sequence[Suspicious], typed: Sequence[Column]) -> Iterator[str]:
    """Sentences about rows and columns left out, doubtful words and numbers, and columns of many levels."""
    if overview.dropped > WORTH_A_WARNING * overview.rows:
        yield overview.dropped_rows
    gone = [column for column in overview.columns if column.type == LEFT_OUT]
    if gone:
        told = some(f"'{column.name}' ({column.why})" for column in gone)
        verb = "column is" if len(gone) == 1 else "columns are"
        yield f"{len(gone)} {verb} left out: {told}; {option('discrete', gone[0].name)} would keep one"
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
    for column in typed:
        yield from column_warnings(column, overview.rows - overview.dropped)


def column_warnings(column: Column, rows: int) -> Iterator[str]:
    """Sentences about one column."""
    name, levels = column.variable.name, column.variable.levels
    if column.variable.kind is Kind.CONTINUOUS:
        known = column.values
    else:
        known = np.array([float(level) for level in levels if IS_NUMBER.fullmatch(level)])
    code = missing_number(known)
    if code is not None:
        yield (
            f"column '{name}' holds {code:g}, far from all its other numbers: if it means missing, "
            f"{option('na', f'{code:g}')}"
        )
    if len(levels) > max(MAX_INTEGER_LEVELS, rows / 10):
        yield f"column '{name}' has {len(levels)} levels in {rows} rows: expect few edges at it"


def missing_number(values: NDArray[np.float64]) -> float | None:
    """The number of a column that seems to stand for missing; None if none does.

    >>> missing_number(np.array([3.0, 5.0, -999.0, 4.0])), missing_number(np.array([-9.0, -8.0, 5.0]))
    (-999.0, None)
    """
    if values.size < 2:
        return None
    for code in (float(values.min()), float(values.max())):
        if code in MISSING_NUMBERS:
            others = values[values != code]
            far = others.size > 0 and np.abs(others).max() < abs(code) / GAP
            if others.size and (others.min() >= 0 if code < 0 else far and others.size >= 2):
                return code
    return None


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
