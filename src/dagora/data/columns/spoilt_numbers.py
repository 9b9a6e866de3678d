"""Text that would be numbers but for a few words: refused, all such columns at once.

A measurement would otherwise become a discrete column of a thousand levels. Where one row has the words of
several columns, it is most often no row of data, but units below the header, or a total at the end.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from dagora.base.errors import DataError
from dagora.base.phrases import some_of
from dagora.base.wording import col, option
from dagora.data.columns.arrow_numbers import numbers_of, truths_of
from dagora.data.columns.column_profile import MAX_INTEGER_LEVELS, NEARLY_ALL, number_among, share_of
from dagora.data.columns.levels import (
    DECIMAL_COMMA,
    FEW_DECIMALS,
    MINUS_BEHIND,
    NEARLY_NUMBER,
    NUMBER,
    THOUSANDS,
)
from dagora.data.columns.missing import Na, extend_na, often_means_missing
from dagora.data.columns.spelled_numbers import plainly
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
# About 50; 2.4 thousand.
ABOUT = re.compile(rf"(~|≈|±|ca\.? ?|circa |about |approx\.? |etwa ) ?(?P<number>{NUMBER})", re.IGNORECASE)
SHORT = re.compile(rf"(?P<number>{NUMBER}) ?(?P<unit>[kKM])")
LIMIT = re.compile("[<>≤≥] ?[+-]?[0-9]")
SHORTENED = {"k": 1e3, "m": 1e6}
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


class NotNumbersError(SpoiltNumbersError):
    """Columns that are declared continuous have words."""

    def __init__(self, columns: Sequence[SpoiltColumn], na: Na) -> None:
        DataError.__init__(self, describe_declared(columns, na))
        self.columns, self.na = columns, na


def refuse_together(problems: Iterable[DataError]) -> None:
    """Raise the first of some errors; if it is about words among numbers, all of its kind as one."""
    listed = list(problems)
    first = listed[0] if listed else None
    if isinstance(first, SpoiltNumbersError):
        alike = [problem for problem in listed if type(problem) is type(first)]
        columns = [column for one in alike if isinstance(one, SpoiltNumbersError) for column in one.columns]
        raise type(first)(columns, first.na)
    if first is not None:
        raise first


def describe_one(column: SpoiltColumn, na: Na) -> str:
    """The message about one column."""
    (word, row), *others = column.words.items()
    if plain := [f"'{word}' as {number}" for word in column.words if (number := nearly_number(word))]:
        return (
            f"{col(column.name)} has numbers, but also {list_words(column)}{first_row(column)}: write plain "
            f"numbers, {plain[0]}, or leave it out ({option('drop', column.name)})"
        )
    if all(LIMIT.match(word) for word in column.words):
        return (
            f"{col(column.name)} has numbers, but also {list_words(column)}{first_row(column)}, which lie "
            f"beyond a limit: write a number for each, such as the limit, or leave the column out "
            f"({option('drop', column.name)}); {words_meant([column], na)} takes them as missing, though "
            "something is known of them"
        )
    other = f"otherwise leave it out ({option('drop', column.name)})"
    if not column.crowded:
        other = f"if the column holds categories, use {option('discrete', column.name)}"
    if not others and row is not None and (row == 1 or TOTALS.fullmatch(word)):
        other += f"; if data row {row} is no row of data, remove it"
    return (
        f"{col(column.name)} has numbers, but also {list_words(column)}{first_row(column)}: "
        f"if that means missing, use {words_meant([column], na)}; {other}"
    )


def nearly_number(word: str) -> str:
    """The number that one written in another way stands for; empty for other words.

    >>> [nearly_number(word) for word in ("~50.8", "ca. 7", "2.4k", "1.5M", "<0.5", "5 kg", "21,0", "0.8-")]
    ['50.8', '7', '2400', '1500000', '', '', '21.0', '-0.8']
    """
    about, short = ABOUT.fullmatch(word), SHORT.fullmatch(word)
    if re.fullmatch(FEW_DECIMALS, word):
        return word.replace(",", ".")
    if re.fullmatch(MINUS_BEHIND, word):
        return f"-{word[:-1]}"
    if about:
        return about["number"]
    return f"{float(short['number']) * SHORTENED[short['unit'].lower()]:.15g}" if short else ""


def describe_declared(columns: Sequence[SpoiltColumn], na: Na) -> str:
    """The message about columns that are declared continuous."""
    meant = words_meant(columns, na)
    if len(columns) > 1:
        return (
            f"{len(columns)} columns are declared continuous, but have words: {name_words(columns)}: correct "
            f"them, say that they mean missing ({meant}), or declare those columns discrete"
        )
    (column,) = columns
    other = instead(column.name, crowded=column.crowded)
    if len(column.words) > 1:
        return (
            f"{col(column.name)} is declared continuous, but {list_words(column)}{first_row(column)} are no "
            f"numbers: correct them, say that they mean missing ({meant}), or {other}"
        )
    ((word, row),) = column.words.items()
    return (
        f"{col(column.name)} is declared continuous, but '{word}'{data_row(' in ', row)} is no number: "
        f"correct it, say that it means missing ({meant}), or {other}"
    )


def name_words(columns: Sequence[SpoiltColumn]) -> str:
    """The words of some columns, with the columns and the rows that have them first."""
    told = [f"{list_words(column)} in '{column.name}'{first_row(column)}" for column in columns]
    return some_of(told, MOST_NAMED, between="; ", noun="columns")


def describe_all(columns: Sequence[SpoiltColumn], na: Na) -> str:
    """The message about several columns."""
    rows = Counter(row for column in columns for row in odd_rows(column))
    remove = ""
    if rows and rows.most_common(1)[0][1] > 1:
        ((row, number),) = rows.most_common(1)
        where = "all of them" if number == len(columns) else f"{number} of them"
        remove = f" if data row {row}, which has words in {where}, is no row of data, remove it;"
    return (
        f"{len(columns)} columns have numbers, but also words: {name_words(columns)}:{remove} if the words "
        f"mean missing, use {words_meant(columns, na)}; if a column holds categories, "
        f"{option('discrete')} keeps it"
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
    number = f"^{number_among(words)}$"
    if share_of(words, f"^{DECIMAL_COMMA}$", weights) > 0.5:
        whole_or_comma = f"^({DECIMAL_COMMA}|[+-]?[0-9]+)$"
        readable = plainly([word for word in words.to_pylist() if not often_means_missing(word)]) is not None
        if readable or share_of(words, whole_or_comma, weights) == 1:
            how = f"{option('continuous', name)} reads them" if readable else "write them with a point"
            raise DataError(
                f"{col(name)} has numbers with a decimal comma such as '{words[0]}': {how}, or "
                f"{instead(name, crowded=crowded)}"
            )
        odd = find_words(encoded, whole_or_comma, row_number)
        if not all(re.fullmatch(NUMBER, word) for word in odd):
            raise SpoiltNumbersError([SpoiltColumn(name, odd, crowded)], na)
    numbers = share_of(words, number, weights)
    in_two_ways = (
        0 < numbers < 1 and share_of(words, f"^({number[1:-1]}|{NEARLY_NUMBER})$", weights) >= NEARLY_ALL
    )
    if 0.5 < numbers < 1 or in_two_ways:
        raise SpoiltNumbersError([SpoiltColumn(name, find_words(encoded, number, row_number), crowded)], na)


def refuse_words(
    name: str, encoded: pa.DictionaryArray, row_number: RowNumber, na: Na, *, crowded: bool
) -> NoReturn:
    """Refuse the words of a column that is declared continuous."""
    spoilt = find_words(encoded, f"^{NUMBER}$", row_number)
    raise NotNumbersError([SpoiltColumn(name, spoilt, crowded or len(encoded.dictionary) > MAX_LEVELS)], na)


def find_words(encoded: pa.DictionaryArray, number: str, row_number: RowNumber) -> dict[str, int | None]:
    """The texts of a column that are no numbers, each with its first row."""
    import pyarrow.compute as pc

    words = encoded.dictionary
    odd = np.flatnonzero(~truths_of(pc.match_substring_regex(words, number)))
    codes, places = np.unique(numbers_of(encoded.indices.cast("int64").fill_null(-1)), return_index=True)
    firsts = dict(zip(codes.tolist(), places.tolist(), strict=True))
    return {str(words[code]): row_number(firsts[code]) for code in odd.tolist() if code in firsts}


def instead(name: str, *, crowded: bool) -> str:
    """Another way to take a column of text: as levels, unless there are too many for that."""
    if crowded:
        return f"leave the column out ({option('drop', name)})"
    return f"declare the column discrete ({option('discrete', name)})"
