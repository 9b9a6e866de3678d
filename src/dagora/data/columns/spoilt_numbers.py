"""Text that would be numbers but for a few words: refused, all such columns at once.

A measurement would otherwise become a discrete column of a thousand levels. Where one row has the words of
several columns, it is most often no row of data, but units below the header, or a total at the end.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dagora.base.errors import DataError
from dagora.base.phrases import some_of
from dagora.base.wording import col, option
from dagora.data.columns.arrow_numbers import numbers_of, truths_of
from dagora.data.columns.column_profile import MAX_INTEGER_LEVELS, number_among, share_of
from dagora.data.columns.levels import DECIMAL_COMMA, THOUSANDS
from dagora.data.columns.missing import Na, extend_na, often_means_missing
from dagora.data.schema import MAX_LEVELS

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

MOST_WORDS = 5  # that an error lists for a column
MOST_NAMED = 5  # columns that an error names
# What the last row of a sheet is called.
TOTALS = re.compile(
    "(grand |sub[ -]?)?totals?|sums?|averages?|means?|summe|gesamt|insgesamt|mittelwert|somme|moyenne",
    re.IGNORECASE,
)
RowNumber = Callable[[int], int | None]


@dataclass(frozen=True, slots=True)
class SpoiltColumn:
    """A column of numbers and some words, each with its first row (None where rows have no numbers).

    `crowded` says that its values are too many to be levels.
    """

    name: str
    words: dict[str, int | None]
    crowded: bool = False


class SpoiltNumbersError(DataError):
    """Columns have numbers, but also words."""

    def __init__(self, columns: Sequence[SpoiltColumn], na: Na) -> None:
        super().__init__(describe_one(columns[0], na) if len(columns) == 1 else describe_all(columns, na))
        self.columns, self.na = columns, na


def refuse_together(problems: Iterable[DataError]) -> None:
    """Raise the first of some errors; if it is about words among numbers, all of those as one."""
    listed = list(problems)
    spoilt = [problem for problem in listed if isinstance(problem, SpoiltNumbersError)]
    if listed and listed[0] in spoilt:
        raise SpoiltNumbersError([column for one in spoilt for column in one.columns], spoilt[0].na)
    if listed:
        raise listed[0]


def describe_one(column: SpoiltColumn, na: Na) -> str:
    """The message about one column."""
    (word, row), *others = column.words.items()
    other = f"otherwise leave it out ({option('drop', column.name)})"
    if not column.crowded:
        other = f"if the column holds categories, use {option('discrete', column.name)}"
    if not others and row is not None and (row == 1 or TOTALS.fullmatch(word)):
        other += f"; if data row {row} is no row of data, remove it"
    return (
        f"{col(column.name)} has numbers, but also {list_words(column)}{first_row(column)}: "
        f"if that means missing, use {words_meant([column], na)}; {other}"
    )


def describe_all(columns: Sequence[SpoiltColumn], na: Na) -> str:
    """The message about several columns."""
    told = some_of(
        [f"{list_words(column)} in '{column.name}'{first_row(column)}" for column in columns],
        MOST_NAMED,
        between="; ",
        noun="columns",
    )
    rows = Counter(row for column in columns for row in odd_rows(column))
    remove = ""
    if rows and rows.most_common(1)[0][1] > 1:
        ((row, number),) = rows.most_common(1)
        where = "all of them" if number == len(columns) else f"{number} of them"
        remove = f" if data row {row}, which has words in {where}, is no row of data, remove it;"
    return (
        f"{len(columns)} columns have numbers, but also words: {told}:{remove} if the words mean missing, "
        f"use {words_meant(columns, na)}; if a column holds categories, {option('discrete')} keeps it"
    )


def odd_rows(column: SpoiltColumn) -> set[int]:
    """The rows in which a column first has a word that does not often mean missing."""
    return {row for word, row in column.words.items() if row is not None and not often_means_missing(word)}


def first_row(column: SpoiltColumn) -> str:
    """The first row with a word."""
    return data_row(" (first in ", next(iter(column.words.values())), ")")


def list_words(column: SpoiltColumn) -> str:
    """The words of a column in quotes, not too many of them."""
    listed = [f"'{word}'" for word in column.words]
    return ", ".join(listed[:MOST_WORDS]) + (" and others" if listed[MOST_WORDS:] else "")


def words_meant(columns: Sequence[SpoiltColumn], na: Na) -> str:
    """The option that makes the words missing, with all of them unless they are many."""
    found = [(column.name, word) for column in columns for word in column.words]
    return option("na", extend_na(na, found) if len(found) <= max(MOST_WORDS, len(columns)) else None)


def data_row(before: str, row: int | None, after: str = "") -> str:
    """Name the row of a cell; empty where rows have no numbers, as in a database that counts by itself.

    >>> data_row(" in ", 3), data_row(" in ", None)
    (' in data row 3', '')
    """
    return "" if row is None else f"{before}data row {row}{after}"


def refuse_spoilt_numbers(
    name: str,
    encoded: pa.DictionaryArray,
    row_number: RowNumber,
    na: Na = "auto",
    weights: NDArray[np.int64] | None = None,
) -> None:
    """Refuse text of which most, but not all, distinct values are numbers.

    `weights` say how many values each stands for, where these are examples of more.
    """
    import pyarrow.compute as pc

    words = encoded.dictionary
    if len(words) <= MAX_INTEGER_LEVELS and weights is None:
        return
    crowded = weights is not None or len(words) > MAX_LEVELS
    thousands = rf"^([+-]? ?{THOUSANDS}|\({THOUSANDS}\))$"
    if share_of(words, thousands, weights) > 0.5:
        example = words.filter(pc.match_substring_regex(words, thousands))[0]
        raise DataError(
            f"{col(name)} has numbers such as '{example}', whose comma may stand "
            "between thousands or before decimals: write them with a point or with no comma, or "
            f"{instead(name, crowded=crowded)}"
        )
    if share_of(words, f"^{DECIMAL_COMMA}$", weights) > 0.5:
        raise DataError(
            f"{col(name)} has numbers with a decimal comma such as '{words[0]}': write them with a "
            f"point, or {instead(name, crowded=crowded)}"
        )
    number = f"^{number_among(words)}$"
    if not 0.5 < share_of(words, number, weights) < 1:
        return
    odd = np.flatnonzero(~truths_of(pc.match_substring_regex(words, number)))
    codes, places = np.unique(numbers_of(encoded.indices.cast("int64").fill_null(-1)), return_index=True)
    firsts = dict(zip(codes.tolist(), places.tolist(), strict=True))
    spoilt = {str(words[code]): row_number(firsts[code]) for code in odd.tolist()}
    raise SpoiltNumbersError([SpoiltColumn(name, spoilt, crowded)], na)


def instead(name: str, *, crowded: bool) -> str:
    """Another way to take a column of text: as levels, unless there are too many for that."""
    if crowded:
        return f"leave the column out ({option('drop', name)})"
    return f"declare the column discrete ({option('discrete', name)})"
