"""Clean the cells of a file: missing values become nulls, and text that spells numbers becomes numbers.

Text is trimmed. Empty cells and NaN are missing, and what the user says. A column of text cells becomes
integers if every cell is one, floats if every cell is a number, and stays text otherwise. The whole column
decides, not its first thousand rows.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from dagora.data.columns.levels import CODE_WITH_E, IS_NUMBER
from dagora.data.columns.missing import MISSING_WORDS, is_missing_word
from dagora.data.schema import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import pyarrow as pa


# 00501 is a code: as a number it would lose its zeros.
ZERO_PADDED = "^0[0-9]"
IS_PADDED = re.compile(ZERO_PADDED)


def is_text(kind: pa.DataType) -> bool:
    """Return True if an Arrow type is one of the text types."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_plain(column: pa.ChunkedArray) -> bool:
    """Return True if all bytes of a text column are visible ASCII: nothing to trim, no line breaks."""
    buffers = [chunk.buffers()[2] for chunk in column.chunks]
    # Bytes below 33 wrap around when 33 is subtracted, so that one comparison checks both ends of 33..126.
    shifted = (np.frombuffer(buffer, np.uint8) - np.uint8(33) for buffer in buffers if buffer is not None)
    return not any((block > 126 - 33).any() for block in shifted)


def null_missing(
    column: pa.ChunkedArray, words: Collection[str] = (), *, words_nulled: bool = False
) -> pa.ChunkedArray:
    """Trim text and make every missing value a null: an empty one, NaN, and what else `words` say.

    `words_nulled` says that the parser has done so already for cells without surrounding blanks.

    >>> import pyarrow as pa
    >>> null_missing(pa.chunked_array([[" a", "NaN", " ", "NA"]])).to_pylist()
    ['a', None, None, 'NA']
    >>> null_missing(pa.chunked_array([[1.0, float("nan"), -9.0]]), ["-9"]).to_pylist()
    [1.0, None, None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if is_text(column.type):
        if pa.types.is_string_view(column.type):
            column = column.cast(pa.large_string())
        plain = is_plain(column)
        if plain and words_nulled:
            return column
        trimmed = column if plain else pc.utf8_trim_whitespace(column)
        return null_where(
            trimmed, pc.is_in(trimmed, value_set=pa.array([*MISSING_WORDS, *words], trimmed.type))
        )
    if pa.types.is_dictionary(column.type):
        return pa.chunked_array(
            [without_levels(column, lambda level: is_missing_word(level) or level.strip() in words)]
        )
    if pa.types.is_floating(column.type):
        column = column.cast(pa.float64())
        column = null_where(column, pc.is_nan(column))
    if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
        numbers = missing_numbers(words)
        if numbers:
            floats = pc.add(column.cast(pa.float64(), safe=False), 0.0)  # Arrow tells -0.0 from 0.0
            column = null_where(column, pc.is_in(floats, value_set=pa.array(numbers, pa.float64())))
    return column


def missing_numbers(words: Collection[str]) -> list[float]:
    """The numbers among words that mean missing; zero is the positive one.

    >>> missing_numbers(["NA", "-999", "-0"])
    [-999.0, 0.0]
    """
    return [float(word) + 0.0 for word in words if IS_NUMBER.fullmatch(word)]


def null_where(column: pa.ChunkedArray, lost: pa.ChunkedArray) -> pa.ChunkedArray:
    """Make cells null; a column without any such cell is returned as it is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(lost, pa.scalar(None, column.type), column) if pc.any(lost).as_py() else column


def without_levels(column: pa.ChunkedArray, lost: Callable[[str], bool]) -> pa.DictionaryArray:
    """Give a categorical column one dictionary, without levels that mean missing; their cells become null.

    >>> import pyarrow as pa
    >>> column = pa.chunked_array([pa.array(["a", "?", "a"]).dictionary_encode()])
    >>> without_levels(column, lambda level: level == "?").to_pylist()
    ['a', None, 'a']
    """
    import pyarrow as pa

    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # a column without chunks stays one in some versions
        whole = whole.chunk(0) if whole.num_chunks else pa.array([], column.type)
    values = whole.dictionary.to_pylist()
    kept = [i for i, value in enumerate(values) if value is not None and not lost(str(value))]
    if len(kept) == len(values):
        return whole
    place = {old: new for new, old in enumerate(kept)}
    moved = pa.array([place.get(i) for i in range(len(values))], pa.int32()).take(whole.indices)
    levels = whole.dictionary.take(pa.array(kept, pa.int64()))
    return pa.DictionaryArray.from_arrays(moved, levels, ordered=whole.type.ordered)


def parse_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a text column as int64 or float64 if all of its cells allow it, else as it is.

    >>> import pyarrow as pa
    >>> columns = (["1", None], ["1", "2.0"], ["1", "few"])
    >>> [str(parse_numbers(pa.chunked_array([column])).type) for column in columns]
    ['int64', 'double', 'string']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not may_be_numbers(column) or pc.any(pc.match_substring_regex(column, ZERO_PADDED)).as_py():
        return column
    try:
        integers = column.cast(pa.int64())
    except pa.ArrowInvalid:
        pass
    else:
        # Arrow also reads 0x1F as a number, which is not meant in data.
        if not any(pc.any(pc.match_substring(column, mark)).as_py() for mark in "xX"):
            return integers
    numbers = parse_floats(column)
    return column if numbers is None else numbers


def parse_undeclared(column: pa.ChunkedArray, declared: Kind | None) -> pa.ChunkedArray:
    """Do so, but leave codes such as 1E5 as they are written in a column that is declared discrete.

    >>> import pyarrow as pa
    >>> codes = pa.chunked_array([["1E5", "2E10", "7"]])
    >>> [parse_undeclared(codes, kind)[0].as_py() for kind in (None, Kind.DISCRETE)]
    [100000.0, '1E5']
    """
    kept = declared is Kind.DISCRETE and is_text(column.type) and code_with_e(column) is not None
    return column if kept else parse_numbers(column)


def code_with_e(texts: pa.ChunkedArray | pa.Array) -> str | None:
    """The first text such as 1E5, unless a text has a point or a sign, as numbers with exponents have."""
    import pyarrow.compute as pc

    like = pc.match_substring_regex(texts, f"^{CODE_WITH_E}$").fill_null(False)
    if not pc.any(like).as_py() or pc.any(pc.match_substring_regex(texts, "[.,+-]")).as_py():
        return None
    return str(texts.filter(like)[0])


def may_be_numbers(column: pa.ChunkedArray) -> bool:
    """Return True if the first cell is a number; if not, the slow conversion of all can be saved."""
    first = next((chunk.drop_null()[0] for chunk in column.chunks if chunk.null_count < len(chunk)), None)
    if first is None:
        return False
    try:
        float(first.as_py())
    except ValueError:
        return False
    return True


def parse_floats(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return a text column as float64; None where a cell is no number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        numbers = column.cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    # An unusual spelling of NaN; missing values are null already.
    return None if pc.any(pc.is_nan(numbers)).as_py() else numbers
