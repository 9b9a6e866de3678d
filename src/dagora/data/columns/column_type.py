"""Make the codes or values of a raw column, of the kind that was declared or that its profile decides.

A categorical column (pandas, polars Enum, Arrow dictionary) keeps the levels it declares, seen or not, and
their order where that is declared. Columns of neither numbers nor text are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dagora.base.errors import DataError
from dagora.base.wording import col, option
from dagora.data.columns.arrow_numbers import numbers_of, truths_of
from dagora.data.columns.cells import is_text, parse_floats
from dagora.data.columns.column_profile import ColumnProfile, decide_kind
from dagora.data.columns.levels import join_levels, level_name, sort_levels
from dagora.data.columns.missing import Na
from dagora.data.columns.spoilt_numbers import RowNumber, data_row, refuse_spoilt_numbers, refuse_words
from dagora.data.schema import MAX_LEVELS, Kind, Variable

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

DECLARED = "declared"  # why a column has the type that the user gave it


@dataclass(frozen=True, slots=True)
class Column:
    """A typed column, with a mask of the rows where it is missing (None where no row is)."""

    variable: Variable
    values: NDArray[Any]
    missing: NDArray[np.bool_] | None = None
    why: str = ""


def seen_cells(columns: Sequence[Column]) -> NDArray[np.bool_]:
    """A mask of the cells that are not missing, a row for each column."""
    return np.array(
        [
            np.ones(len(column.values), dtype=np.bool_) if column.missing is None else ~column.missing
            for column in columns
        ]
    )


def count_from_one(position: int) -> int:
    """Return the number of a row, counted from 1."""
    return position + 1


def type_column(
    name: str,
    column: pa.ChunkedArray,
    declared: Kind | None = None,
    row_number: RowNumber = count_from_one,
    profile: ColumnProfile | None = None,
    na: Na = "auto",
    *,
    join: bool = False,
) -> Column:
    """Type an Arrow column whose missing values are null; these get an arbitrary code, or NaN.

    `profile` is needed where the column holds only the distinct values of more cells. `na` is what the user
    says is missing, `join` whether levels that differ only in case are one.

    >>> import pyarrow as pa
    >>> typed = type_column("dose", pa.chunked_array([[10, 5, 10]]))
    >>> typed.variable.levels, typed.values
    (('5', '10'), array([1, 0, 1], dtype=uint16))
    >>> type_column("dose", pa.chunked_array([[10, 5, 10]]), Kind.CONTINUOUS).values
    array([10., 5., 10.])
    """
    import pyarrow as pa

    check_type(name, column.type)
    if declared is Kind.CONTINUOUS:
        crowded = profile is not None and profile.crowded
        return continuous_column(name, column, DECLARED, row_number, na, crowded=crowded)
    profile = profile or ColumnProfile(name, column)
    if profile.is_real:
        column = column.cast(pa.float64())
        refuse_infinite(name, numbers_of(column), row_number)
    kind, why = (Kind.DISCRETE, DECLARED) if declared else decide_kind(profile)
    if kind is Kind.CONTINUOUS:
        return continuous_column(name, column, why, row_number, na)
    encoded = encode(column)
    if declared is None and is_text(column.type):
        refuse_spoilt_numbers(name, encoded, row_number, na, profile.weights)
    ordered = pa.types.is_dictionary(column.type) and column.type.ordered
    return discrete_column(name, encoded, why, ordered=ordered, join=join)


def check_type(name: str, kind: pa.DataType) -> None:
    """Refuse a column that holds neither numbers nor text nor categories."""
    from pyarrow import types

    usable = (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal, types.is_dictionary)
    if not (is_text(kind) or types.is_null(kind) or any(test(kind) for test in usable)):
        what = (
            "dates or times"
            if types.is_temporal(kind)
            else f"several values in a cell ({kind})"
            if types.is_nested(kind)
            else f"values of type {kind}"
        )
        raise DataError(
            f"{col(name)} holds {what}, neither numbers nor text: "
            f"convert it, or leave it out ({option('drop', name)})"
        )


def encode(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return a column as one dictionary, in the order of appearance, and indices into it."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    return column.unify_dictionaries().combine_chunks()


def discrete_column(
    name: str, encoded: pa.DictionaryArray, why: str, *, ordered: bool = False, join: bool = False
) -> Column:
    """Sort the levels, unless their order is declared, and translate the indices into codes."""
    values = encoded.dictionary.to_pylist()
    named = [level_name(value) for value in values]
    if join:
        named = join_levels(named)
    levels = tuple(dict.fromkeys(named)) if ordered else sort_levels(named)
    if len(levels) > MAX_LEVELS:
        raise DataError(
            f"{col(name)} has {len(levels)} levels (at most {MAX_LEVELS}): leave it out if it "
            f"identifies rows ({option('drop', name)}), or declare it continuous if it holds numbers"
        )
    position = {level: code for code, level in enumerate(levels)}
    # One entry more than there are values: the code of nulls.
    code_of = np.array([*(position[level] for level in named), 0], dtype=np.uint16)
    missing = null_mask(encoded)
    indices = encoded.indices.cast("int64")
    if missing is not None:
        indices = indices.fill_null(len(values))
    codes = code_of[numbers_of(indices)]
    return Column(Variable(name, Kind.DISCRETE, levels, ordered), codes, missing, why)


def continuous_column(
    name: str, column: pa.ChunkedArray, why: str, row_number: RowNumber, na: Na, *, crowded: bool = False
) -> Column:
    """Return the values as float64; text that is no number, and an infinite number, are refused.

    `crowded` says that there are more texts than may be levels, and the column has only examples of them.
    """
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = pa.chunked_array([chunk.dictionary_decode() for chunk in column.chunks])
        check_type(name, column.type)
    if is_text(column.type):
        numbers = parse_floats(column)
        if numbers is None:
            refuse_words(name, encode(column), row_number, na, crowded=crowded)
    else:
        # safe=False: an integer beyond 2**53 may be rounded in a continuous column.
        numbers = column.cast(pa.float64(), safe=False)
    values = np.array(numbers_of(numbers), dtype=np.float64)
    refuse_infinite(name, values, row_number)
    return Column(Variable(name, Kind.CONTINUOUS), values, null_mask(numbers), why)


def null_mask(column: pa.ChunkedArray | pa.Array) -> NDArray[np.bool_] | None:
    """Return where a column is null; None if it has no null."""
    return truths_of(column.is_null()) if column.null_count else None


def refuse_infinite(name: str, values: NDArray[np.float64], row_number: RowNumber) -> None:
    """Refuse infinite numbers."""
    infinite = np.isinf(values)
    if infinite.any():
        row = row_number(int(infinite.argmax()))
        raise DataError(
            f"{col(name)} has infinite values ({int(infinite.sum())}){data_row(', the first in ', row)}: "
            f"correct them, or leave those cells empty and choose {option('missing', 'drop')}"
        )
