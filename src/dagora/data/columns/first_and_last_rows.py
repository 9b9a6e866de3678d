"""The first and the last row of a table, where they are no rows of data: units below the header, a total."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dagora.base.errors import DataError
from dagora.base.phrases import some_of
from dagora.base.wording import option
from dagora.data.columns.column_type import Column
from dagora.data.columns.levels import IS_NUMBER
from dagora.data.columns.missing import often_means_missing
from dagora.data.columns.spoilt_numbers import MOST_NAMED, TOTALS, RowNumber

if TYPE_CHECKING:
    import pyarrow as pa

FEWEST_NUMBERS = 2  # levels of a column that holds numbers
FEWEST_ROWS = 10  # of fewer, one row with words is no exception
LAST_ROWS = 12  # that may sum up the others
# What rows below the data are called beside `TOTALS`.
SUMMARIES = re.compile(
    r"min(imum|\.)?|max(imum|\.)?|avg\.?|median|n|count|anzahl|sd|s\.d\.|std\.?|std\.? ?dev\.?|"
    "standard deviation|standardabweichung|stdabw|q[13]|quartile|range",
    re.IGNORECASE,
)


class EndCell(NamedTuple):
    """A level that no other row has, in the first row or in the last one.

    `among_numbers` says that all other levels of the column are numbers.
    """

    column: str
    level: str
    is_last: bool
    among_numbers: bool


def end_cells(columns: Sequence[Column]) -> list[EndCell]:
    """The levels of text columns that only the first or only the last row has."""
    return [
        cell
        for column in columns
        if column.why == "text" and len(column.values) > 1
        for cell in cells_of(column.variable.name, column.variable.levels, ends_of(column))
    ]


def ends_of(column: Column) -> dict[bool, str]:
    """The levels that only the first (False) or only the last row (True) has."""
    seen = column.values if column.missing is None else column.values[~column.missing]
    return {
        place < 0: column.variable.levels[column.values[place]]
        for place in (0, -1)
        if (column.missing is None or not column.missing[place])
        and np.count_nonzero(seen == column.values[place]) == 1
    }


def cells_of(name: str, levels: Sequence[str], edges: Mapping[bool, str]) -> Iterator[EndCell]:
    """The cells at the edges of a column of these levels."""
    for is_last, level in edges.items():
        others = [other for other in levels if other != level]
        numbers = len(others) >= FEWEST_NUMBERS and all(map(IS_NUMBER.fullmatch, others))
        word = not IS_NUMBER.fullmatch(level) and not often_means_missing(level)
        yield EndCell(name, level, is_last, numbers and word)


def refuse_end_rows(cells: Sequence[EndCell], rows: int) -> None:
    """Refuse a first or last row with words in several columns that are numbers otherwise."""
    for row in (1, rows):
        words = [cell for cell in cells if cell.among_numbers and cell.is_last == (row > 1)]
        if len(words) > 1 and rows >= FEWEST_ROWS:
            told = some_of([f"'{cell.level}' in '{cell.column}'" for cell in words], MOST_NAMED)
            raise DataError(
                f"data row {row} has words in columns that are numbers otherwise: {told}: if it is no row of "
                f"data, remove it; if these are categories, {option('discrete')} keeps them"
            )


def total_warning(cells: Sequence[EndCell], rows: int) -> Iterator[str]:
    """A sentence about a last row that seems to add up the others."""
    totals = [cell for cell in cells if cell.is_last and TOTALS.fullmatch(cell.level)]
    if totals:
        told = some_of([f"'{cell.level}' in '{cell.column}'" for cell in totals])
        yield f"data row {rows}, the last one, has {told}: if it adds up the others, remove it"


def summary_warning(texts: Mapping[str, pa.ChunkedArray], row_number: RowNumber) -> Iterator[str]:
    """Sentences about rows at the end that are called minimum, maximum and the like, and nowhere else."""
    for name, cells in texts.items():
        first = max(0, len(cells) - LAST_ROWS)
        places = [first + k for k, cell in enumerate(cells[first:].to_pylist()) if is_summary(cell)]
        words = {cells[place].as_py().strip().casefold() for place in places}
        if (
            len(words) < 2
            or len(words) < len(places)
            or any(map(is_summary, cells[:first].unique().to_pylist()))
        ):
            continue
        told = some_of([f"'{cells[place].as_py()}'" for place in places], MOST_NAMED)
        row = row_number(places[0])
        where = "the last rows" if row is None else f"rows from data row {row} on"
        yield f"{where} are called {told} in '{name}': if they sum up the others, remove them"


def is_summary(cell: str | None) -> bool:
    """Return True if a text is what a row of a summary is called.

    >>> is_summary("Max."), is_summary(" Mean "), is_summary("Maxine"), is_summary(None)
    (True, True, False, False)
    """
    word = (cell or "").strip()
    return bool(SUMMARIES.fullmatch(word) or TOTALS.fullmatch(word))
