"""Files that would fill the memory: an estimate of what a table takes, against what is free.

The factors were measured with tables of ten columns of a million cells each, while they are read and typed.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dagora.base.errors import DataError
from dagora.base.memory import free_memory
from dagora.data.binary_files import FORMS, describe
from dagora.data.unpacking import is_packed, open_bytes

if TYPE_CHECKING:
    import pyarrow as pa

SHARE = 0.5  # of the free memory that a file may take without a word
TEXT_ENDINGS = (".csv", ".tsv", ".tab", ".txt", ".dat", ".data", ".asc", "")
# Memory of a text file: for each byte of it, and for each cell.
PER_BYTE, PER_CELL = 4.4, 15
LOOK = 1 << 16  # bytes that tell how long cells are
PACKED_RATIO = 5  # of compressed text, where its own statement cannot be true
TYPED = 8  # bytes of a number, once its column has a type
WORD = 14  # bytes of a short text, and of its code


@dataclass(frozen=True)
class LargeFile:
    """A file that takes more than its share of the free memory; both in bytes."""

    file: Path
    needed: int
    free: int

    def tell(self, what: str) -> str:
        """A sentence on the file, and on what is done about it."""
        return (
            f"{self.file.name} takes about {in_words(self.needed)} of memory as a table, and "
            f"{in_words(self.free)} are free: {what}"
        )


def in_words(size: int) -> str:
    """A number of bytes.

    >>> in_words(3_400_000_000), in_words(25_000_000)
    ('3.4 GB', '25 MB')
    """
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{max(1, round(size / 1e6))} MB"


def large_file(file: Path) -> LargeFile | None:
    """The file, if it takes more than its share of the free memory; None where that is not known."""
    free = free_memory()
    try:
        needed = memory_for(file) if file.is_file() else None
    except OSError:  # no name of a file, which its reader tells
        return None
    if free is None:
        return None
    return LargeFile(file, needed, free) if needed is not None and needed > SHARE * free else None


def memory_for(file: Path) -> int | None:
    """The memory that a file would take as a table; None where it cannot be estimated."""
    ending = Path(file.name.lower().removesuffix(".gz")).suffix
    try:
        if ending in TEXT_ENDINGS:
            return memory_for_text(file)
        if ending in FORMS:
            return memory_for_binary(file, FORMS[ending])
    except (DataError, OSError, EOFError, zlib.error):
        return None  # its reader says what is wrong
    return None


def memory_for_text(file: Path) -> int:
    """Of a text file: by its size, and by how long its first cells are."""
    size = file.stat().st_size
    if is_packed(file):
        size = unpacked_size(file)
    with open_bytes(file) as handle:
        first = handle.read(LOOK)
    cells = sum(map(first.count, (b",", b";", b"\t", b"|", b"\n"))) + 1
    return round(PER_BYTE * size + PER_CELL * size * cells / max(1, len(first)))


def unpacked_size(file: Path) -> int:
    """The size of compressed text: what its last four bytes state, or more where that is too little."""
    with file.open("rb") as handle:
        handle.seek(-4, 2)
        stated = int.from_bytes(handle.read(4), "little")
    packed = file.stat().st_size
    return stated if stated > packed else PACKED_RATIO * packed


def memory_for_binary(file: Path, form: str) -> int:
    """Of a Parquet, Feather or Arrow file: by the types of its rows, or the sizes of its batches."""
    about = describe(file, form)
    if about.rows is not None:
        return about.rows * sum(map(bytes_of, about.schema.types))
    return about.bytes + TYPED * about.cells


def bytes_of(kind: pa.DataType) -> int:
    """Bytes of a cell in a file's type and as part of a table."""
    import pyarrow as pa

    try:
        bits = int(kind.bit_width)
    except ValueError:  # text, and what no table can hold
        return WORD
    return max(1, bits // 8) + (2 if bits <= 16 or pa.types.is_dictionary(kind) else TYPED)
