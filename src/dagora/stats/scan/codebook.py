"""How the cells of a source become codes and numbers: decided once, from the profiles of the first pass.

The rules are those of a table in memory (`data/columns/column_type.py`), applied to the distinct values. So a
level that appears only in the last row is known before anything is counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dagora.data.columns.cells import is_text, parse_numbers
from dagora.data.columns.column_type import DECLARED, Column, are_codes, data_row, type_column
from dagora.data.columns.dates import IS_DATE, as_days, spells_dates
from dagora.data.columns.holes import find_holes
from dagora.data.columns.identifiers import (
    CONSTANT,
    DATES,
    EMPTY,
    FEWEST_VALUES,
    IS_CAMEL_ID,
    IS_ID,
    UNNAMED,
)
from dagora.data.columns.ingest import is_temporal
from dagora.data.columns.spelled_numbers import rewrite_numbers
from dagora.data.schema import MAX_LEVELS, Kind, Variable
from dagora.errors import DataError
from dagora.stats.scan.profile import Profile
from dagora.wording import option

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

DAYS = "dates as days since 1970"


@dataclass(frozen=True)
class Coding:
    """How a column's cells become codes (or numbers, where it is continuous).

    `values` are the cells that a discrete column may have, `codes` the codes of those. `words` are cells that
    mean missing. `numbers` are the numbers that those cells stand for, in a continuous column whose numbers
    are written in a way of their own (12 %, dates); `days` says that dates are read as days, `text` that the
    source has text, however it hands it out. `ColumnReader` reads cells by it.
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


def code_column(
    profile: Profile, words: tuple[str, ...] | None, *, wanted: bool, expected: bool
) -> Coding | str:
    """Decide how a column is coded, or why it is left out; `wanted` keeps what looks like an identifier.

    `words` mean missing; None says to find such words, `expected` that there may be any.
    """
    import pyarrow as pa

    cells = profile.rows - profile.missing
    if is_temporal(profile.type):
        return DATES
    if not cells:
        # One that was asked for stays, so that its missing cells are refused, or leave no row.
        return Coding(Variable(profile.name, Kind.CONTINUOUS), DECLARED) if wanted else EMPTY
    refuse_infinite(profile)
    if profile.firsts is None:
        return code_many(profile, cells, wanted=wanted)
    column, rows = distinct_cells(profile)
    words_seen = plain_values(column.combine_chunks())
    column, spelling = plain_numbers(profile, column)
    found = find_holes(column, wanted=expected, declared=profile.declared) if words is None else None
    holes = tuple(found.holes) if found else ()
    if found is not None:
        column = found.cells
    if profile.text_cells and is_text(column.type):
        column = parse_numbers(column)
    if is_text(profile.type) and not is_text(column.type):
        profile.integers = is_whole_type(column.type)
        profile.measure_distinct(column.drop_null().to_numpy())
        profile.infinite, profile.infinities = -1, 0  # refused below, by the right row
    typed = type_distinct(profile, column, cells, rows)
    kept = np.ones(len(typed.values), dtype=np.bool_) if typed.missing is None else ~typed.missing
    if typed.variable.kind is Kind.CONTINUOUS:
        if not wanted and constant(column):
            return CONSTANT
        reason = None if wanted else why_identifies(profile, cells)
        if reason is None and spelling:
            values, numbers = words_seen.filter(pa.array(kept)), typed.values[kept]
            why = f"{typed.why}: {spelling}"
            return Coding(typed.variable, why, holes, None, values, numbers=numbers)
        why = f"{typed.why}: {DAYS}" if profile.days else typed.why
        return reason or Coding(typed.variable, why, holes, days=profile.days)
    if not wanted and is_text(column.type) and all_dates(column):
        return DATES
    if not wanted and is_text(column.type) and len(column) > max(FEWEST_VALUES, cells / 2):
        return f"{len(column)} levels in {cells} rows: names or free text"
    values = words_seen.filter(pa.array(kept)) if holes else words_seen
    doubtful = found.doubtful if found else None
    why = f"{typed.why}: {spelling}" if spelling else typed.why
    return Coding(typed.variable, why, holes, doubtful, values, typed.values[kept])


def plain_numbers(profile: Profile, column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, str]:
    """Distinct texts as plain numbers, and how they were written; as they are where they are of no such kind.

    Dates count where the column was declared continuous.
    """
    if not is_text(column.type):
        return column, ""
    if profile.declared is Kind.CONTINUOUS and spells_dates(column):
        return as_days(profile.name, column), DAYS
    rewritten = None
    if profile.text_cells and profile.declared is not Kind.DISCRETE:
        rewritten = rewrite_numbers(column, profile.fewest)
    return (column, "") if rewritten is None else rewritten


def refuse_infinite(profile: Profile) -> None:
    """Refuse infinite numbers."""
    if profile.infinite >= 0:
        row = profile.infinite + 1 if profile.knows_rows else None
        where = data_row(f" ({profile.infinities}), the first in ", row)
        raise DataError(
            f"column '{profile.name}' has infinite values{where}: correct them, or leave those cells empty "
            f"and choose {option('missing', 'drop')}"
        )


def is_whole_type(kind: pa.DataType) -> bool:
    """Whether a type is one of whole numbers."""
    import pyarrow as pa

    return bool(pa.types.is_integer(kind))


def hole_words(profile: Profile, *, expected: bool) -> tuple[str, ...]:
    """Words of a column that mean missing."""
    if not profile.firsts:
        return ()
    return tuple(find_holes(distinct_cells(profile)[0], wanted=expected, declared=profile.declared).holes)


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


def type_distinct(profile: Profile, column: pa.ChunkedArray, cells: int, rows: list[int]) -> Column:
    """Type a column by its distinct values, by the rules for whole columns."""
    import pyarrow as pa

    def row_number(position: int) -> int | None:
        return rows[position] + 1 if profile.knows_rows else None

    declared = profile.declared
    kind = column.type
    real = pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if declared is None and real and are_codes(column.cast(pa.float64()).unique().drop_null(), cells):
        typed = type_column(profile.name, column, Kind.DISCRETE, row_number)
        return replace(typed, why=f"{typed.variable.cardinality} distinct numbers")
    if declared is None and real:
        return replace(type_column(profile.name, column, Kind.CONTINUOUS, row_number), why="numbers")
    return type_column(profile.name, column, declared, row_number)


def code_many(profile: Profile, cells: int, *, wanted: bool) -> Coding | str:
    """Code a column of too many values to be levels: numbers are continuous, other columns are left out."""
    text = is_text(profile.type)
    spelled = text and profile.text_cells and profile.numbers
    if profile.spelled is not None and profile.declared is not Kind.DISCRETE:
        raise DataError(
            f"column '{profile.name}' has more than {MAX_LEVELS} numbers such as '{profile.spelled}', which "
            "are not read where they are so many: write them plainly (1234.5), convert them in a query, or "
            f"leave the column out ({option('drop', profile.name)})"
        )
    if profile.declared is Kind.CONTINUOUS and text and not spelled and profile.odd is None:
        raise DataError(
            f"column '{profile.name}' is declared continuous, but its texts are no plain numbers, and more "
            f"than {MAX_LEVELS} of them: write them as numbers, convert them in a query, or leave the column "
            f"out ({option('drop', profile.name)})"
        )
    if profile.declared is Kind.DISCRETE or (wanted and text and not spelled):
        raise DataError(
            f"column '{profile.name}' has more than {MAX_LEVELS} levels: leave it out if it identifies rows "
            f"({option('drop', profile.name)}), or declare it continuous if it holds numbers"
        )
    if text and profile.odd is not None:
        word, row = profile.odd
        raise DataError(
            f"column '{profile.name}' would be numbers but for '{word}' (first in data row {row + 1}): say "
            f"so if that means missing ({option('na', word)}), or leave the column out "
            f"({option('drop', profile.name)})"
        )
    if (text and not spelled) or is_categorical(profile.type):
        return f"more than {MAX_LEVELS} levels in {cells} rows: names or free text"
    reason = None if wanted else why_identifies(profile, cells)
    why = DECLARED if profile.declared else "whole numbers" if profile.whole else "numbers"
    why = f"{why}: {DAYS}" if profile.days else why
    return reason or Coding(Variable(profile.name, Kind.CONTINUOUS), why, days=profile.days)


def is_categorical(kind: pa.DataType) -> bool:
    """Whether a type declares levels."""
    import pyarrow as pa

    return bool(pa.types.is_dictionary(kind))


def why_identifies(profile: Profile, cells: int) -> str | None:
    """Why whole numbers only tell rows apart; None where they do not, as far as one pass can tell."""
    if cells <= FEWEST_VALUES or not profile.whole:
        return None
    if is_decimal(profile.type):
        return None
    called_so = IS_ID.search(profile.name) or IS_CAMEL_ID.search(profile.name)
    if (profile.integers or called_so) and profile.numbers_the_rows:
        return "numbers the rows"
    if (called_so or profile.name.startswith(UNNAMED)) and not profile.repeats:
        return "whole numbers that hardly repeat, and called an identifier"
    return None


def is_decimal(kind: pa.DataType) -> bool:
    """Whether a type is one of decimals."""
    import pyarrow as pa

    return bool(pa.types.is_decimal(kind))


def constant(column: pa.ChunkedArray) -> bool:
    """Whether there is one number only."""
    return len(column.unique().drop_null()) == 1


def all_dates(column: pa.ChunkedArray) -> bool:
    """Whether all texts are dates."""
    import pyarrow.compute as pc

    return bool(pc.all(pc.match_substring_regex(column, IS_DATE)).as_py())
