"""Limits of a file from outside: what it may unpack to, and what parsing it may take."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dagora.base.errors import DataError
from dagora.base.memory import free_memory
from dagora.base.wording import by_door

if TYPE_CHECKING:
    from pathlib import Path

# A file may always unpack to so many cells, and to so many for each of its bytes; a cell to so many bytes.
CELLS_FREELY, CELLS_PER_BYTE, BYTES_PER_CELL = 1 << 26, 64, 8
# Memory to parse what a file says of itself: in any case, and for each of its first bytes.
MEMORY, MEMORY_PER_BYTE, FIRST_BYTES = 1 << 28, 16, 10**8
MEMORY_OF_A_BATCH = 1 << 28
# Memory for files of other programs: sheets are packed, and a cell is an object of Python.
PROGRAM_MEMORY, PROGRAM_MEMORY_PER_BYTE = 1 << 30, 100
# Seconds of processors to parse a file, to answer a query, and for each byte of the file.
SECONDS, QUERY_SECONDS, SECONDS_PER_BYTE = 60, 600, 4e-6
# Of the free memory, what a parser or a database may take.
SHARE, LEAST_MEMORY = 0.5, 1 << 28


@dataclass(frozen=True)
class Limits:
    """The limits of a file of `size` bytes.

    >>> Limits(10).cells == CELLS_FREELY, Limits(1 << 30).cells == CELLS_PER_BYTE << 30
    (True, True)
    """

    size: int

    @classmethod
    def of(cls, file: Path) -> Limits:
        """Those of a file."""
        return cls(file.stat().st_size)

    @property
    def cells(self) -> int:
        """Cells that it may unpack to."""
        return max(CELLS_FREELY, CELLS_PER_BYTE * self.size)

    @property
    def bytes(self) -> int:
        """Bytes that it may unpack to."""
        return BYTES_PER_CELL * self.cells

    @property
    def words_memory(self) -> int:
        """Memory for what it says about itself."""
        return MEMORY + MEMORY_PER_BYTE * min(FIRST_BYTES, self.size)

    def batch_memory(self, largest: int) -> int:
        """Memory to parse it batch by batch; how large the largest one is, is only its own statement."""
        return self.words_memory + 2 * min(largest, self.bytes) + MEMORY_OF_A_BATCH

    @property
    def program_memory(self) -> int:
        """Memory to parse it where it is of another program."""
        return PROGRAM_MEMORY + PROGRAM_MEMORY_PER_BYTE * self.size

    @property
    def seconds(self) -> int:
        """Seconds of processors to parse it."""
        return SECONDS + round(SECONDS_PER_BYTE * self.size)

    @property
    def query_seconds(self) -> int:
        """Seconds of processors to answer a query to it."""
        return QUERY_SECONDS + round(SECONDS_PER_BYTE * self.size)

    def check_cells(self, cells: int) -> None:
        """Refuse a file that says of itself that it becomes far larger than it is."""
        if cells > self.cells:
            raise too_large(f"{cells} cells")

    def check_bytes(self, size: int, free: int | None = None) -> None:
        """Refuse a file that becomes far more bytes than it is, or more than are free."""
        if size > self.bytes:
            raise too_large(f"{size >> 20} MiB")
        if free is not None and size > free:
            scan = by_door(python="open_rows(file) scans its rows", command="--scan does not keep its rows")
            raise DataError(
                f"it takes {size >> 20} MiB of memory or more, and {free >> 20} MiB are free: {scan}"
            )


def too_large(size: str) -> DataError:
    """The error about a file that is far larger than it looks."""
    return DataError(
        f"it unpacks to {size} or more, far more than its size: if you trust it, write it again as .csv "
        "and give that file"
    )


def most_memory() -> int:
    """The memory that a parser or a database may take on this machine."""
    free = free_memory()
    return sys.maxsize if free is None else max(LEAST_MEMORY, int(SHARE * free))
