"""The unpacked size of an Arrow or Feather file, from its descriptions of batches alone.

A batch is described by a Flatbuffers table, which Arrow's Python package does not show; the little of that
encoding that is needed is read here. A compressed buffer begins with the size that it unpacks to, and Arrow
unpacks it to no other size. A file (unlike a stream) lists its batches at its end, where one may be listed
many times; each counts as often as Arrow would read it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dagora.base.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

MAGIC = b"ARROW1"
# Kinds of messages that hold cells.
DICTIONARY, RECORDS = 2, 3


@dataclass(frozen=True)
class Sizes:
    """Cells and bytes of a file or of a part of it, unpacked."""

    cells: int = 0
    bytes: int = 0

    def __add__(self, other: Sizes) -> Sizes:
        return Sizes(self.cells + other.cells, self.bytes + other.bytes)


def running_sizes(handle: pa.NativeFile) -> Iterator[Sizes]:
    """The sizes of an open Arrow file or stream after each batch, from its descriptions alone."""
    total = Sizes()
    try:
        for message in _messages(handle):
            total += _sizes(message)
            yield total
    except (struct.error, IndexError, OverflowError):
        raise DataError("its description of batches is damaged: write the file again") from None


def _messages(handle: pa.NativeFile) -> Iterator[pa.ipc.Message]:
    import pyarrow as pa

    handle.seek(0)
    if handle.read(len(MAGIC)) == MAGIC:
        for offset in _block_offsets(handle):
            handle.seek(offset)
            yield pa.ipc.read_message(handle)
        return
    handle.seek(0)
    reader = pa.ipc.MessageReader.open_stream(handle)
    while True:
        try:
            yield reader.read_next_message()
        except StopIteration:
            return


def _block_offsets(handle: pa.NativeFile) -> Iterator[int]:
    """The offsets of the dictionaries and batches of a file, as its footer lists them."""
    tail = 4 + len(MAGIC)
    handle.seek(handle.size() - tail)
    length = struct.unpack("<i", handle.read(4))[0]
    if not 0 < length <= handle.size() - tail:
        raise IndexError
    handle.seek(handle.size() - tail - length)
    footer = _Tables(handle.read(length))
    for field in (2, 3):  # dictionaries, record batches
        for place in footer.structs(footer.root, field, 24):
            yield footer.number("<q", place)


def _sizes(message: pa.ipc.Message) -> Sizes:
    tables = _Tables(message.metadata.to_pybytes())
    kind = tables.field(tables.root, 1)
    batch = tables.table(tables.root, 2)
    held = tables.number("<B", kind) if kind else 0
    if batch is None or held not in {DICTIONARY, RECORDS}:
        return Sizes()
    if held == DICTIONARY:
        batch = tables.table(batch, 1)
        if batch is None:
            return Sizes()
    cells = sum(max(0, tables.number("<q", place)) for place in tables.structs(batch, 1, 16))
    packed = tables.field(batch, 3)
    size = 0
    for place in tables.structs(batch, 2, 16):
        offset, length = tables.number("<q", place), tables.number("<q", place + 8)
        stated = struct.unpack_from("<q", message.body, offset)[0] if packed and length >= 8 else -1
        size += max(length, stated, 0)
    return Sizes(cells, size)


class _Tables:
    """A Flatbuffers text: tables whose fields are found by their number."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.root = self.number("<I", 0)

    def number(self, code: str, place: int) -> int:
        if place < 0:
            raise IndexError
        return int(struct.unpack_from(code, self._content, place)[0])

    def field(self, table: int, which: int) -> int | None:
        """The place of a field; None if the table has no such field."""
        index = table - self.number("<i", table)
        if 4 + 2 * which >= self.number("<H", index):
            return None
        offset = self.number("<H", index + 4 + 2 * which)
        return table + offset if offset else None

    def table(self, table: int, which: int) -> int | None:
        """The place of a table within a table."""
        place = self.field(table, which)
        return None if place is None else place + self.number("<I", place)

    def structs(self, table: int, which: int, size: int) -> Iterator[int]:
        """The places of the entries of a list, each of `size` bytes."""
        listed = self.table(table, which)
        if listed is not None:
            for number in range(self.number("<I", listed)):
                yield listed + 4 + number * size
