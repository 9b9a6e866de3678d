"""The codes and numbers that the cells of a source become: decided once, from the profiles of the first pass.

The rules are those of a table in memory (`data/columns/column_type.py`), applied to the distinct values. So a
level that appears only in the last row is known before anything is counted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dagora.base.errors import DataError
from dagora.base.wording import col, option
from dagora.data.columns.cells import is_text, parse_numbers
from dagora.data.columns.column_profile import (
    CONSTANT,
    DATES,
    EMPTY,
    ColumnProfile,
    decide_kind,
    is_constant,
    reason_to_leave_out,
)
from dagora.data.columns.column_type import DECLARED, data_row, type_column
from dagora.data.columns.dates import DAYS, as_days, spells_dates
from dagora.data.columns.decimal_mark import choose_marks
from dagora.data.columns.find_missing import find_missing
from dagora.data.columns.ingest import is_temporal, repeated_header
from dagora.data.columns.levels import level_name
from dagora.data.columns.missing import Na, extend_na
from dagora.data.columns.missing_codes import missing_codes
from dagora.data.columns.reading_warnings import codes_of_levels, name_codes
from dagora.data.columns.spelled_numbers import DecimalMarks, rewrite_numbers
from dagora.data.columns.trend import explain_order
from dagora.data.scan.changes import changed_value
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
    where that was decided with the rows that are dropped. `ColumnReader` reads cells by it.
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
    if profile.firsts is None:
        return code_many(profile, finds=finds, wanted=wanted, expected=expected, again=again, na=na)
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
        column = parse_numbers(column)
    if is_text(profile.type) and not is_text(column.type):
        profile.integers = is_whole_type(column.type)
        profile.measure_distinct(column.drop_null().to_numpy())
        profile.infinite, profile.infinities = -1, 0  # refused below, by the right row
    known = ColumnProfile(profile.name, column, cells)
    reason = None if wanted or again else reason_to_leave_out(known)
    if reason is not None:
        return reason
    row_number = lambda place: rows[place] + 1 if profile.knows_rows else None  # noqa: E731
    typed = type_column(profile.name, column, profile.declared, row_number, known, na, join=profile.join)
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
        return as_days(profile.name, column), DAYS
    if profile.text_cells and profile.declared is not Kind.DISCRETE:
        cells = profile.n_values if profile.all_cells is None else profile.all_cells
        fewest = 0 if profile.decimal else profile.fewest
        rewritten = rewrite_numbers(whole, fewest, cells, profile.decimal)
        return rewritten.cells.slice(0, len(known)), rewritten.how
    return column, ""


def settle_marks(profiles: Mapping[str, Profile], decimal: str | None) -> None:
    """Decide the mark before decimals for all columns of a file of text."""
    found = {name: marks for name, profile in profiles.items() if (marks := marks_in(profile)) is not None}
    for name, mark in choose_marks(found, decimal).items():
        profiles[name].decimal = mark
        if profiles[name].firsts is None and profiles[name].spelled is None:
            profiles[name].spelled = found[name].example


def marks_in(profile: Profile) -> DecimalMarks | None:
    """The mark before decimals that the numbers of a column show."""
    if not (profile.text_cells and is_text(profile.type)) or profile.declared is Kind.DISCRETE:
        return None
    if profile.firsts is None:
        return profile.marks
    return rewrite_numbers(distinct_cells(profile)[0], profile.fewest, profile.n_values).marks


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
    if profile.firsts is None:
        return missing_among_many(profile, expected=expected)
    return tuple(find_missing(distinct_cells(profile)[0], wanted=expected, declared=profile.declared).holes)


def distinct_cells(profile: Profile) -> tuple[pa.ChunkedArray, list[int]]:
    """The distinct values of a column as one, and the first row of each."""
    import pyarrow as pa

    firsts = profile.firsts or {}
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


def missing_among_many(profile: Profile, *, expected: bool) -> tuple[str, ...]:
    """Words that mean missing in a text column of too many values to be kept, as in `find_missing`."""
    numbers = profile.numbers and not profile.padded and profile.declared is None
    found = expected or profile.declared is Kind.CONTINUOUS or numbers
    return tuple(profile.suspects) if found else ()


def code_many(
    profile: Profile, *, finds: bool, wanted: bool, expected: bool, again: bool, na: Na
) -> Coding | str:
    """Code a column of too many values to be levels: numbers are continuous, other columns are left out."""
    import pyarrow as pa

    text = is_text(profile.type)
    holes = missing_among_many(profile, expected=expected) if finds else ()
    cells = profile.n_values if holes else profile.rows - profile.missing
    odd = spoiling(profile, holes)
    spelled = text and spells_numbers(profile, holes) and odd is None
    if profile.spelled is not None and profile.declared is not Kind.DISCRETE:
        raise DataError(
            f"{col(profile.name)} has more than {MAX_LEVELS} numbers such as '{profile.spelled}', which "
            "are not read where they are so many: write them plainly (1234.5), convert them in a query, or "
            f"leave the column out ({option('drop', profile.name)})"
        )
    if profile.declared is Kind.CONTINUOUS and text and not spelled and odd is None:
        raise DataError(
            f"{col(profile.name)} is declared continuous, but its texts are no plain numbers, and more "
            f"than {MAX_LEVELS} of them: write them as numbers, convert them in a query, or leave the column "
            f"out ({option('drop', profile.name)})"
        )
    if profile.declared is Kind.DISCRETE or (wanted and text and not spelled and odd is None):
        raise too_many_levels(profile)
    if text and odd is not None:
        word, row = odd
        raise DataError(
            f"{col(profile.name)} has numbers, but also '{word}' (first in data row {row + 1}): if that "
            f"means missing, use {option('na', extend_na(na, [(profile.name, word)]))}; otherwise leave the "
            f"column out ({option('drop', profile.name)})"
        )
    if (text and not spelled) or is_categorical(profile.type):
        if again:
            raise too_many_levels(profile)
        return f"more than {MAX_LEVELS} levels in {cells} rows: names or free text"
    read_as = profile.read_as
    if read_as is not None:
        profile.integers = is_whole_type(read_as)
    numbers = pa.int64() if profile.integers else pa.float64()
    known = ManyNumbers(profile, numbers if text else profile.type, cells)
    reason = None if wanted or again else reason_to_leave_out(known)
    if reason is not None:
        return reason
    why = DECLARED if profile.declared else decide_kind(known).why
    why = f"{why}: {DAYS}" if profile.days else why
    read_as = numbers if holes else read_as
    return Coding(Variable(profile.name, Kind.CONTINUOUS), why, holes, days=profile.days, read_as=read_as)


def codes_in_profile(profile: Profile, coding: Coding) -> dict[str, int]:
    """The numbers of a column that seem to stand for missing, and how often each occurs."""
    if is_categorical(profile.type):
        return {}
    if profile.firsts is None:
        return name_codes(missing_codes(profile.facts))
    seen = {value: count for value, count in profile.tallies.items() if value not in coding.words}
    if coding.variable.kind is Kind.CONTINUOUS:
        return name_codes(missing_codes(facts_of_tallies(seen)))
    levels: dict[str, int] = {}
    for value, count in seen.items():
        levels[level_name(value)] = levels.get(level_name(value), 0) + count
    return codes_of_levels(levels)


def refuse_repeated_names(profiles: Collection[Profile]) -> None:
    """Refuse rows that repeat the names of the columns, as where files were put together."""
    rows = set()
    for profile in profiles:
        odd = {} if profile.odd is None else dict([profile.odd])
        rows.add({**odd, **(profile.firsts or {})}.get(profile.name, -1) if is_text(profile.type) else -1)
    if len(profiles) > 1 and len(rows) == 1 and rows != {-1}:
        (row,) = rows
        raise repeated_header(row + 1 if next(iter(profiles)).knows_rows else None)


def spoiling(profile: Profile, holes: tuple[str, ...]) -> tuple[str, int] | None:
    """The first text, with its row, but for which most values are numbers; None where there is none."""
    found = [] if profile.odd is None else [profile.odd]
    if found or profile.numbers:
        found += [(word, row) for word, row in profile.suspects.items() if word not in holes]
    return min(found, key=lambda each: each[1], default=None)


def spells_numbers(profile: Profile, holes: tuple[str, ...]) -> bool:
    """Return True if the many texts of a column stand for numbers.

    In a file of text they do where they can; elsewhere only beside words that mean missing, as in memory.
    """
    if profile.declared is Kind.CONTINUOUS:
        return profile.numbers
    meant = profile.text_cells or bool(holes) or profile.read_as is not None
    return meant and profile.numbers and not profile.padded


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
        self.are_days = False  # cells are gone by now
