"""Decide whether a raw column is discrete or continuous, and make its codes or values.

Text, booleans and integers with at most 20 distinct values are discrete, other numbers continuous; a column
declared by name is what it was declared to be. A categorical column (pandas, polars Enum, Arrow dictionary)
keeps the levels it declares, seen or not. Columns of neither numbers nor text are refused. So is text that
would be numbers but for a word such as `NA`, because a measurement would otherwise become a discrete column
of a thousand levels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dagora.data.cells import is_text, parse_floats
from dagora.data.levels import NUMBER, level_name, sort_levels
from dagora.data.missing import is_missing_word
from dagora.data.schema import MAX_LEVELS, Kind, Variable
from dagora.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

MAX_INTEGER_LEVELS = 20
DECIMAL_COMMA = "[+-]?[0-9]+,[0-9]+"
RowNumber = Callable[[int], int]


@dataclass(frozen=True, slots=True)
class Column:
    """A typed column, with a mask of the rows where it is missing (None where no row is)."""

    variable: Variable
    values: NDArray[Any]
    missing: NDArray[np.bool_] | None = None


def count_from_one(position: int) -> int:
    """Return the number of a row, counted from 1."""
    return position + 1


def type_column(
    name: str, column: pa.ChunkedArray, declared: Kind | None = None, row_number: RowNumber = count_from_one
) -> Column:
    """Type an Arrow column whose missing cells are null; these get an arbitrary code, or NaN.

    >>> import pyarrow as pa
    >>> typed = type_column("dose", pa.chunked_array([[10, 5, 10]]))
    >>> typed.variable.levels, typed.values
    (('5', '10'), array([1, 0, 1], dtype=uint16))
    >>> type_column("dose", pa.chunked_array([[10, 5, 10]]), Kind.CONTINUOUS).values
    array([10., 5., 10.])
    """
    import pyarrow as pa

    check_type(name, column.type)
    real = pa.types.is_floating(column.type) or pa.types.is_decimal(column.type)
    if declared is Kind.CONTINUOUS or (declared is None and real):
        return continuous_column(name, column, row_number)
    if real:
        column = column.cast(pa.float64())
        refuse_infinite(name, column.to_numpy(), row_number)
    encoded = encode(column)
    if declared is None:
        if pa.types.is_integer(column.type) and len(encoded.dictionary) > MAX_INTEGER_LEVELS:
            return continuous_column(name, column, row_number)
        if is_text(column.type):
            refuse_spoilt_numbers(name, encoded, row_number)
    return discrete_column(name, encoded)


def check_type(name: str, kind: pa.DataType) -> None:
    """Refuse a column that holds neither numbers nor text nor categories."""
    from pyarrow import types

    usable = (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal, types.is_dictionary)
    if not (is_text(kind) or types.is_null(kind) or any(test(kind) for test in usable)):
        what = "dates or times" if types.is_temporal(kind) else f"values of type {kind}"
        raise DataError(
            f"column '{name}' holds {what}, neither numbers nor text: "
            f"convert it, or leave it out (--drop {name})"
        )


def encode(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return a column as one dictionary, in the order of appearance, and indices into it."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    return column.unify_dictionaries().combine_chunks()


def discrete_column(name: str, encoded: pa.DictionaryArray) -> Column:
    """Sort the levels and translate the indices into codes."""
    values = encoded.dictionary.to_pylist()
    named = [None if value is None or is_missing_word(str(value)) else level_name(value) for value in values]
    levels = sort_levels(level for level in named if level is not None)
    if len(levels) > MAX_LEVELS:
        raise DataError(
            f"column '{name}' has {len(levels)} levels (at most {MAX_LEVELS}): leave it out if it "
            f"identifies rows (--drop {name}), or declare it continuous if it holds numbers"
        )
    position = {level: code for code, level in enumerate(levels)}
    # One entry more than there are values: the code of nulls.
    code_of = np.array(
        [*(position[level] if level is not None else 0 for level in named), 0], dtype=np.uint16
    )
    missing = null_mask(encoded)
    indices = encoded.indices.cast("int64").fill_null(len(values)).to_numpy(zero_copy_only=False)
    return Column(Variable(name, Kind.DISCRETE, levels), code_of[indices], missing)


def continuous_column(name: str, column: pa.ChunkedArray, row_number: RowNumber) -> Column:
    """Return the values as float64; text that is no number, and an infinite number, are refused."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = pa.chunked_array([chunk.dictionary_decode() for chunk in column.chunks])
        check_type(name, column.type)
    if is_text(column.type):
        numbers = parse_floats(column)
        if numbers is None:
            position, value = first_without_number(column)
            raise DataError(
                f"column '{name}' is declared continuous, but '{value}' in data row {row_number(position)} "
                f"is no number: correct it, or declare the column discrete (--discrete {name})"
            )
    else:
        # safe=False: an integer beyond 2**53 may be rounded in a continuous column.
        numbers = column.cast(pa.float64(), safe=False)
    values = np.array(numbers.to_numpy(), dtype=np.float64)
    refuse_infinite(name, values, row_number)
    return Column(Variable(name, Kind.CONTINUOUS), values, null_mask(numbers))


def null_mask(column: pa.ChunkedArray | pa.Array) -> NDArray[np.bool_] | None:
    """Return where a column is null; None if it has no null."""
    return np.asarray(column.is_null(), dtype=np.bool_) if column.null_count else None


def refuse_infinite(name: str, values: NDArray[np.float64], row_number: RowNumber) -> None:
    """Refuse infinite numbers."""
    infinite = np.isinf(values)
    if infinite.any():
        row = row_number(int(infinite.argmax()))
        raise DataError(
            f"column '{name}' has infinite values ({int(infinite.sum())}), the first in data row {row}: "
            "correct them, or leave those cells empty and choose --missing drop"
        )


def first_without_number(column: pa.ChunkedArray) -> tuple[int, str]:
    """Position and text of the first cell that is no number."""
    import pyarrow.compute as pc

    wrong = np.asarray(pc.invert(pc.match_substring_regex(column, f"^{NUMBER}$")).fill_null(False))
    position = int(wrong.argmax())
    return position, str(column[position])


def refuse_spoilt_numbers(name: str, encoded: pa.DictionaryArray, row_number: RowNumber) -> None:
    """Refuse text of which most, but not all, distinct values are numbers."""
    import pyarrow.compute as pc

    words = encoded.dictionary
    if len(words) <= MAX_INTEGER_LEVELS:
        return
    if 2 * pc.sum(pc.match_substring_regex(words, f"^{DECIMAL_COMMA}$")).as_py() > len(words):
        raise DataError(
            f"column '{name}' has numbers with a decimal comma such as '{words[0]}': write them with a "
            f"point, or declare the column discrete (--discrete {name})"
        )
    numeric = np.asarray(pc.match_substring_regex(words, f"^{NUMBER}$"), dtype=np.bool_)
    if not len(words) // 2 < numeric.sum() < len(words):
        return
    wrong = int((~numeric).argmax())
    row = row_number(encoded.indices.index(wrong).as_py())
    raise DataError(
        f"column '{name}' would be numbers but for '{words[wrong]}' (data row {row}): leave the cell "
        f"empty if the value is missing, or declare the column discrete (--discrete {name})"
    )
