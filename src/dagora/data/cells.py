"""Clean the cells of a file: missing cells become nulls, and text that spells numbers becomes numbers.

Text is trimmed. Empty cells and NaN are missing, and nothing else is. A column of text cells becomes integers
if every cell is one, floats if every cell is a number, and stays text otherwise. The whole column decides,
not its first thousand rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dagora.data.missing import MISSING_WORDS, is_missing_word

if TYPE_CHECKING:
    import pyarrow as pa


def is_text(kind: pa.DataType) -> bool:
    """Whether an Arrow type is one of the text types."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_plain(column: pa.ChunkedArray) -> bool:
    """Whether all of a text column is visible ASCII: nothing to trim, no line breaks (judged by bytes)."""
    buffers = [chunk.buffers()[2] for chunk in column.chunks]
    # Bytes below 33 wrap around when 33 is subtracted, so that one comparison checks both ends of 33..126.
    shifted = (np.frombuffer(buffer, np.uint8) - np.uint8(33) for buffer in buffers if buffer is not None)
    return not any((block > 126 - 33).any() for block in shifted)


def null_missing(column: pa.ChunkedArray, *, words_nulled: bool = False) -> pa.ChunkedArray:
    """Trim text and make every missing cell a null, whatever stood for it.

    `words_nulled` says that the parser has done so already for cells without surrounding blanks.

    >>> import pyarrow as pa
    >>> null_missing(pa.chunked_array([[" a", "NaN", " ", "NA"]])).to_pylist()
    ['a', None, None, 'NA']
    >>> null_missing(pa.chunked_array([[1.0, float("nan")]])).to_pylist()
    [1.0, None]
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
        blank = pc.is_in(trimmed, value_set=pa.array(MISSING_WORDS, trimmed.type))
        return pc.if_else(blank, pa.scalar(None, trimmed.type), trimmed) if pc.any(blank).as_py() else trimmed
    if pa.types.is_floating(column.type):
        values = column.cast(pa.float64())
        lost = pc.is_nan(values)
        return pc.if_else(lost, pa.scalar(None, pa.float64()), values) if pc.any(lost).as_py() else values
    if pa.types.is_dictionary(column.type):
        return pa.chunked_array([null_missing_levels(column)])
    return column


def null_missing_levels(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Give a categorical column one dictionary, and null the cells whose level is a missing word."""
    import pyarrow as pa

    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # a column without chunks stays one in some versions
        whole = whole.chunk(0) if whole.num_chunks else pa.array([], column.type)
    indices = whole.indices
    lost = [
        i
        for i, value in enumerate(whole.dictionary.to_pylist())
        if value is None or is_missing_word(str(value))
    ]
    if lost:
        import pyarrow.compute as pc

        blank = pc.is_in(indices, value_set=pa.array(lost, indices.type))
        indices = pc.if_else(blank, pa.scalar(None, indices.type), indices)
    return pa.DictionaryArray.from_arrays(indices, whole.dictionary)


def parse_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a text column as int64 or float64 if all of its cells allow it, else as it is.

    >>> import pyarrow as pa
    >>> columns = (["1", None], ["1", "2.0"], ["1", "few"])
    >>> [str(parse_numbers(pa.chunked_array([column])).type) for column in columns]
    ['int64', 'double', 'string']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not may_be_numbers(column):
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


def may_be_numbers(column: pa.ChunkedArray) -> bool:
    """Whether the first cell is a number; where it is not, the slow attempt to convert all can be saved."""
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
    # An unusual spelling of NaN; missing cells are null already.
    return None if pc.any(pc.is_nan(numbers)).as_py() else numbers
