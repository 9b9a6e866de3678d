"""The codes and numbers that the cells of a source become: decided once, from the profiles of the first pass.

The rules are those of a table in memory (`data/columns/column_type.py`), applied to the distinct values. So a
level that appears only in the last row is known before anything is counted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dagora.base.errors import DataError
from dagora.base.wording import col, option
from dagora.data.columns.cells import is_text, parse_undeclared
from dagora.data.columns.column_profile import (
    CONSTANT,
    DATES,
    EMPTY,
    SHEET_DAYS,
    ColumnProfile,
    are_long,
    count_seconds,
    decide_kind,
    is_constant,
    names_or_text,
    reason_to_leave_out,
)
from dagora.data.columns.column_type import DECLARED, type_column
from dagora.data.columns.dates import DAYS, as_days, how_days_are_told, spells_dates
from dagora.data.columns.decimal_mark import choose_marks
from dagora.data.columns.find_missing import find_missing
from dagora.data.columns.first_and_last_rows import EndCell, cells_of
from dagora.data.columns.ingest import is_temporal
from dagora.data.columns.levels import level_name
from dagora.data.columns.missing import Na, often_means_missing
from dagora.data.columns.missing_codes import missing_codes
from dagora.data.columns.names import NEVER_NONE
from dagora.data.columns.ordinal import ORDERED, in_order
from dagora.data.columns.reading_warnings import codes_of_levels, name_codes, without_true_zeros
from dagora.data.columns.repeated_header import AROUND_A_NAME, MOST_HEADERS, no_names, repeated_header
from dagora.data.columns.spelled_numbers import DecimalMarks, rewrite_numbers
from dagora.data.columns.spoilt_numbers import data_row
from dagora.data.columns.trend import explain_order
from dagora.data.scan.changes import changed_value
from dagora.data.scan.examples import TextNumbers
from dagora.data.scan.profile import Profile, facts_of_tallies
from dagora.data.schema import MAX_LEVELS, Kind, Variable

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Coding:
    """The translation of a column's cells into codes (or numbers, where it is continuous).

    `values` are the cells that a discrete column may have, `codes` the codes of those. `words` are cells that
    mean missing. `numbers` are the numbers that those cells stand for, in a continuous column whose numbers
    are written in a way of their own (12 %, dates); `days` says that dates are read as days, `text` that the
    source has text, however it hands it out. `read_as` is the type of numbers that its text stands for,
    where that was decided with the rows that are dropped, `reader` reads such text where it has too many
    values to be listed. `ColumnReader` reads cells by it.
    """

    variable: Variable
    why: str
    words: tuple[str, ...] = ()
    doubtful: Mapping[str, int] | None = None
    values: pa.Array | None = None
    codes: NDArray[np.uint16] | None = None
    numbers: NDArray[np.float64] | None = None
    days: bool = False
    text: bool = False
    read_as: pa.DataType | None = None
    reader: TextNumbers | None = None


def code_column(
    profile: Profile, *, finds: bool, wanted: bool, expected: bool, again: bool = False, na: Na = "auto"
) -> Coding | str:
    """Decide how a column is coded, or why it is left out; `wanted` keeps what looks like an identifier.

    `finds` says to find words that mean missing, `expected` that there may be any. `again` says that rows
    were dropped since the column was kept: it stays, unless it is a constant number by now. `na` is what the
    user says is missing.
    """
    import pyarrow as pa

    cells = profile.rows - profile.missing
    if is_temporal(profile.type):
        return DATES
    if not cells:
        # One that was asked for stays, so that its missing values are refused, or leave no row.
        return Coding(Variable(profile.name, Kind.CONTINUOUS), DECLARED) if wanted else EMPTY
    refuse_infinite(profile)
    many = profile.firsts is None
    if many and not is_text(profile.type):
        return code_many(profile, wanted=wanted, again=again)
    column, rows = distinct_cells(profile)
    words_seen = plain_values(column.combine_chunks())
    column, spelling = plain_numbers(profile, column)
    found = find_missing(column, wanted=expected, declared=profile.declared) if finds else None
    holes = tuple(found.holes) if found else ()
    read_as = profile.read_as
    if found is not None and holes:
        column = found.cells
        cells -= profile.suspected
        if not wanted and column.null_count == len(column):
            return EMPTY
        read_as = column.type if is_text(profile.type) and not is_text(column.type) else None
    if is_text(column.type) and read_as is not None:
        column = as_before(profile.name, column, read_as)
    elif is_text(column.type) and profile.text_cells:
        column = parse_undeclared(column, profile.declared)
    if many:
        read_as = number_type(profile) if holes and not is_text(column.type) else profile.read_as
    elif is_text(profile.type) and not is_text(column.type):
        profile.integers = is_whole_type(column.type)
        profile.measure_distinct(column.drop_null().to_numpy())
        profile.infinite, profile.infinities = -1, 0  # refused below, by the right row
    if many and not is_text(column.type) and not (profile.numbers or wanted):
        return names_or_text(MAX_LEVELS + 1, cells)  # in a database, which knows nothing of such numbers
    known = many_texts(profile, column, cells) if many else ColumnProfile(profile.name, column, cells)
    reason = None if wanted or again else reason_to_leave_out(known)
    if reason is not None:
        return reason
    row_number = lambda place: rows[place] + 1 if profile.knows_rows else None  # noqa: E731
    typed = type_column(profile.name, column, profile.declared, row_number, known, na, join=profile.join)
    if many:
        if typed.variable.kind is Kind.DISCRETE:
            raise too_many_levels(profile)
        why = f"{typed.why}: {spelling}" if spelling else typed.why
        return Coding(typed.variable, why, holes, read_as=read_as, reader=profile.reader)
    typed = explain_order(typed, ordered=False, tested=False)
    kept = np.ones(len(typed.values), dtype=np.bool_) if typed.missing is None else ~typed.missing
    if typed.variable.kind is Kind.CONTINUOUS:
        if not wanted and is_constant(column):
            return CONSTANT
        if spelling:
            values, numbers = words_seen.filter(pa.array(kept)), typed.values[kept]
            why = f"{typed.why}: {spelling}"
            return Coding(typed.variable, why, holes, None, values, numbers=numbers, read_as=read_as)
        why = f"{typed.why}: {DAYS}" if profile.days else typed.why
        return Coding(typed.variable, why, holes, days=profile.days, read_as=read_as)
    values = words_seen.filter(pa.array(kept)) if holes else words_seen
    doubtful = found.doubtful if found else None
    why = f"{typed.why}: {spelling}" if spelling else typed.why
    return Coding(typed.variable, why, holes, doubtful, values, typed.values[kept], read_as=read_as)


def plain_numbers(profile: Profile, column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, str]:
    """Distinct texts as plain numbers, and how they were written; as they are where they are of no such kind.

    Dates count where the column was declared continuous.
    """
    import pyarrow as pa

    if not is_text(column.type):
        return column, ""
    # All rows decide how numbers are written, also those that were dropped.
    known = column.to_pylist()
    whole = pa.chunked_array([pa.array(dict.fromkeys([*known, *(profile.all_texts or ())]), column.type)])
    if profile.declared is Kind.CONTINUOUS and spells_dates(whole):
        return as_days(profile.name, column), how_days_are_told(column)
    declared = profile.declared
    if declared is Kind.CONTINUOUS or (profile.text_cells and declared is None):
        cells = profile.n_values if profile.all_cells is None else profile.all_cells
        fewest = 0 if profile.decimal or profile.firsts is None else profile.fewest
        rewritten = rewrite_numbers(whole, fewest, cells, profile.decimal)
        return rewritten.cells.slice(0, len(known)), rewritten.how
    return column, ""


def settle_marks(profiles: Mapping[str, Profile], decimal: str | None, separated_by: str = "") -> None:
    """Decide the mark before decimals for all columns of a file of text."""
    found = {name: marks for name, profile in profiles.items() if (marks := marks_in(profile)) is not None}
    for name, mark in choose_marks(found, decimal, separated_by).items():
        profiles[name].decimal = mark


def marks_in(profile: Profile) -> DecimalMarks | None:
    """The mark before decimals that the numbers of a column show."""
    numbers = profile.declared is Kind.CONTINUOUS or (profile.text_cells and profile.declared is None)
    if not (numbers and is_text(profile.type)):
        return None
    fewest = 0 if profile.firsts is None else profile.fewest
    return rewrite_numbers(distinct_cells(profile)[0], fewest, profile.n_values).marks


def text_numbers(profile: Profile) -> TextNumbers | None:
    """The reader of texts too many to be kept that are numbers, but not plain ones; None where they are not.

    They are looked at once more, as only all of them tell how they are to be read.
    """
    if profile.firsts is not None or not is_text(profile.type) or profile.reader is not None:
        return None
    texts = distinct_cells(profile)[0]
    try:
        _, spelling = plain_numbers(profile, texts)
    except DataError:  # a date that is none: told where the column is coded
        return None
    if not spelling:
        return None
    examples = (*texts.to_pylist(), *(profile.all_texts or ()))
    days = spelling.startswith(DAYS)
    if days:
        examples = tuple(text for text in examples if not often_means_missing(text))
    return TextNumbers(profile.name, examples, profile.decimal, days=days)


def as_before(name: str, texts: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Texts as numbers of the type that they had in the first pass."""
    import pyarrow as pa

    try:
        return texts.cast(kind)
    except pa.ArrowInvalid:
        raise changed_value(name) from None


def refuse_infinite(profile: Profile) -> None:
    """Refuse infinite numbers."""
    if profile.infinite >= 0:
        row = profile.infinite + 1 if profile.knows_rows else None
        where = data_row(f" ({profile.infinities}), the first in ", row)
        raise DataError(
            f"{col(profile.name)} has infinite values{where}: correct them, or leave those cells empty "
            f"and choose {option('missing', 'drop')}"
        )


def is_whole_type(kind: pa.DataType) -> bool:
    """Return True if a type is one of whole numbers."""
    import pyarrow as pa

    return bool(pa.types.is_integer(kind))


def missing_words_of(profile: Profile, *, expected: bool) -> tuple[str, ...]:
    """Words of a column that mean missing."""
    return tuple(find_missing(distinct_cells(profile)[0], wanted=expected, declared=profile.declared).holes)


def distinct_cells(profile: Profile) -> tuple[pa.ChunkedArray, list[int]]:
    """The distinct values of a column as one, and the first row of each; of too many texts the examples."""
    import pyarrow as pa

    firsts = text_rows(profile) if profile.firsts is None else profile.firsts
    if pa.types.is_dictionary(profile.type):
        dictionary = pa.array(list(firsts), profile.type.value_type)
        indices = pa.array(range(len(firsts)), pa.int32())
        cells = pa.DictionaryArray.from_arrays(indices, dictionary, ordered=profile.type.ordered)
    else:
        cells = pa.array(list(firsts), profile.type)
    return pa.chunked_array([cells]), list(firsts.values())


def plain_values(values: pa.Array) -> pa.Array:
    """Values that a cell is looked up among."""
    import pyarrow as pa

    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def text_rows(profile: Profile) -> dict[str, int]:
    """The distinct texts of a column, or examples of too many, each with its first row."""
    if profile.firsts is not None:
        return profile.firsts
    rows = {text: example.row for text, example in profile.examples.texts().items()} | profile.suspects
    return dict(sorted(rows.items(), key=lambda item: item[1]))


def code_many(profile: Profile, *, wanted: bool, again: bool) -> Coding | str:
    """Code numbers, or declared levels, of which there are too many to be kept."""
    if profile.declared is Kind.DISCRETE or (is_categorical(profile.type) and (wanted or again)):
        raise too_many_levels(profile)
    cells = profile.rows - profile.missing
    if is_categorical(profile.type):
        return names_or_text(MAX_LEVELS + 1, cells)
    known = ManyNumbers(profile, profile.type, cells)
    reason = None if wanted or again else reason_to_leave_out(known)
    if reason is not None:
        return reason
    why = DECLARED if profile.declared else decide_kind(known).why
    why = f"{why}: {DAYS}" if profile.days else why
    return Coding(Variable(profile.name, Kind.CONTINUOUS), why, days=profile.days)


def many_texts(profile: Profile, column: pa.ChunkedArray, cells: int) -> ColumnProfile:
    """The profile of texts too many to be kept, or of the numbers that they stand for."""
    if not is_text(column.type):
        if profile.read_as is not None:
            profile.integers = is_whole_type(profile.read_as)
        return ManyNumbers(profile, number_type(profile), cells)
    known = ColumnProfile(profile.name, column, cells)
    examples = profile.examples.texts()
    counts: dict[str, int] = {}
    for text, written in zip(column.to_pylist(), text_rows(profile), strict=True):
        if text is not None:
            one = examples[written].count if written in examples else 1
            counts[text] = counts.get(text, 0) + one
    known.crowded, known.weights = True, np.array(list(counts.values()), dtype=np.int64)
    return known


def number_type(profile: Profile) -> pa.DataType:
    """The type of numbers in text."""
    import pyarrow as pa

    return pa.int64() if profile.integers else pa.float64()


def codes_in_profile(profile: Profile, coding: Coding) -> dict[str, int]:
    """The numbers of a column that seem to stand for missing, and how often each occurs."""
    if is_categorical(profile.type):
        return {}
    seen = {value: count for value, count in profile.tallies.items() if value not in coding.words}
    never_none = bool(NEVER_NONE.search(profile.name))
    if profile.firsts is None:
        found = name_codes(missing_codes(profile.facts, never_none=never_none))
    elif coding.variable.kind is Kind.CONTINUOUS:
        found = name_codes(missing_codes(facts_of_tallies(seen), never_none=never_none))
    else:
        levels: dict[str, int] = {}
        for value, count in seen.items():
            levels[level_name(value)] = levels.get(level_name(value), 0) + count
        found = codes_of_levels(levels)
    return without_true_zeros(profile.name, found)


def order_coding(coding: Coding, said: Sequence[str] | None) -> Coding:
    """A coding with the levels in their order, where the column is declared ordinal (`said` is no None)."""
    if said is None or coding.codes is None or coding.variable.kind is not Kind.DISCRETE:
        return coding
    variable, codes = in_order(coding.variable, said)
    return replace(coding, variable=variable, codes=codes[coding.codes], why=ORDERED)


def ends_in_profile(profile: Profile, coding: Coding) -> list[EndCell]:
    """The levels of a text column that only the first or only the last row has."""
    if coding.why != "text" or not profile.knows_rows or profile.firsts is None:
        return []
    edges = {
        row > 0: level_name(value)
        for value, row in profile.firsts.items()
        if row in (0, profile.rows - 1) and profile.tallies.get(value) == 1
    }
    return list(cells_of(profile.name, coding.variable.levels, edges))


def refuse_repeated_names(profiles: Collection[Profile]) -> None:
    """Refuse rows that repeat the names of the columns, as where files were put together.

    Where they have other small or capital letters, each name must come as often as the others, and not often.
    """
    first = next(iter(profiles))
    for exact in (True, False) if first.knows_rows else (True,):
        found = {place_of_name(profile, exact=exact) for profile in profiles}
        row, number = next(iter(found))
        few = number <= max(1, first.rows * MOST_HEADERS)
        if len(profiles) > 1 and len(found) == 1 and row >= 0 and few:
            seen = {profile.tallies.get(profile.name, 1) for profile in profiles}
            if exact and len(seen) > 1 and min(seen) > max(1, first.rows * MOST_HEADERS):
                raise no_names([profile.name for profile in profiles])
            raise repeated_header(row + 1 if first.knows_rows else None)


def place_of_name(profile: Profile, *, exact: bool) -> tuple[int, int]:
    """The first row that has the name of a column, or -1; where letters may differ, also how many have it."""
    seen = text_rows(profile) if is_text(profile.type) else {}
    if exact:
        return seen.get(profile.name, seen.get(f"\ufeff{profile.name}", -1)), 0  # a file may begin with that
    name = profile.name.lower()
    same = [text for text in seen if text.strip(AROUND_A_NAME).lower() == name]
    return min(map(seen.__getitem__, same), default=-1), sum(profile.tallies.get(text, 1) for text in same)


def too_many_levels(profile: Profile) -> DataError:
    """The error about a column that cannot be left out, and whose levels are too many."""
    return DataError(
        f"{col(profile.name)} has more than {MAX_LEVELS} levels: leave it out if it identifies rows "
        f"({option('drop', profile.name)}), or declare it continuous if it holds numbers"
    )


def is_categorical(kind: pa.DataType) -> bool:
    """Return True if a type declares levels."""
    import pyarrow as pa

    return bool(pa.types.is_dictionary(kind))


class ManyNumbers(ColumnProfile):
    """The profile of numbers too many to be kept, as one pass over blocks of rows measured them."""

    differing = "whole numbers that hardly repeat"  # repeats in other blocks are not seen

    def __init__(self, profile: Profile, kind: pa.DataType, cells: int) -> None:
        import pyarrow as pa

        super().__init__(profile.name, pa.chunked_array([], kind), cells)
        self.values = None
        self.is_whole, self.all_differ = profile.whole, not profile.repeats
        self.runs_on = profile.numbers_the_rows
        self.are_days = profile.spells_days
        self.are_seconds = count_seconds(profile.low, profile.high)
        self.are_long_codes = are_long(profile.low, profile.high)
        self.are_sheet_days = SHEET_DAYS[0] <= profile.low and profile.high <= SHEET_DAYS[1]
