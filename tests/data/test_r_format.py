"""The format in which R saves objects, written by hand after "R Internals", section 1.8."""

import io
import struct

import numpy as np
import pytest

from dagora.base.errors import DataError
from dagora.data.r_format import (
    CHARACTERS,
    DEEPEST,
    INTEGER,
    LATIN1,
    LIST,
    MISSING_INTEGER,
    REAL,
    STRINGS,
    UTF8,
    RObject,
    parse_object,
    texts_of,
)


def integers(*numbers: int) -> bytes:
    return struct.pack(f">{len(numbers)}i", *numbers)


def parse(*parts: bytes, version: int = 2) -> RObject:
    return parse_object(io.BytesIO(b"X\n" + integers(version, 0x30000, 0x20300) + b"".join(parts)))


def text(raw: bytes, flag: int = 0) -> bytes:
    return integers(CHARACTERS | flag << 12, len(raw)) + raw


def test_texts_are_in_the_encoding_that_each_says() -> None:
    """The same bytes may be two texts."""
    two = "é".encode()
    cells = (text(two, UTF8), text(two, LATIN1), text(b"\xe9", LATIN1), integers(CHARACTERS, -1), text(b""))
    found = parse(integers(STRINGS, len(cells)), *cells)
    assert found.value == ["é", "Ã©", "é", None, ""]


def test_numbers_and_their_length() -> None:
    assert parse(integers(INTEGER, 2, 7, MISSING_INTEGER)).value.tolist() == [7, MISSING_INTEGER]
    assert parse(integers(INTEGER, -1, 0, 2, 7, 8)).value.tolist() == [7, 8]
    with pytest.raises(DataError, match="damaged, or cut short"):
        parse(integers(INTEGER, -1, 1, 2, 7, 8, 9))  # 2**32 + 2 numbers
    with pytest.raises(DataError, match="damaged, or cut short"):
        parse(integers(INTEGER, -2))


def test_lists_are_not_nested_too_deeply() -> None:
    def nested(depth: int) -> bytes:
        return integers(LIST, 1) * depth + integers(INTEGER, 0)

    assert parse(nested(DEEPEST)).kind == LIST
    with pytest.raises(DataError, match="nested too deeply"):
        parse(nested(DEEPEST + 1))


def test_other_versions_are_named() -> None:
    with pytest.raises(DataError, match="in version 9 of R's format"):
        parse(integers(INTEGER, 0), version=9)
    assert parse(integers(5), b"UTF-8", integers(INTEGER, 0), version=3).kind == INTEGER


def test_numbers_that_became_texts() -> None:
    """R writes fifteen digits."""
    assert texts_of(RObject(REAL, np.array([0.1 + 0.2, 2.0, np.nan]))) == ["0.3", "2", None]
    assert texts_of(RObject(INTEGER, np.array([3, MISSING_INTEGER]))) == ["3", None]
