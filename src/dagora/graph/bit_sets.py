"""Sets of nodes as Python integers, whose bit i says that node i is in the set."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.bool_]


def bit_rows(matrix: Matrix) -> list[int]:
    """Each row as an integer whose bit j is entry j."""
    return [int.from_bytes(row.tobytes(), "little") for row in np.packbits(matrix, axis=1, bitorder="little")]


def to_matrix(rows: list[int]) -> Matrix:
    """Undo `bit_rows` for a square matrix."""
    size = len(rows)
    width = (size + 7) // 8
    packed = np.frombuffer(b"".join(row.to_bytes(width, "little") for row in rows), dtype=np.uint8)
    return np.unpackbits(packed.reshape(size, width), axis=1, count=size, bitorder="little").astype(np.bool_)


def members(bits: int) -> Iterator[int]:
    """Positions of the bits that are set, ascending.

    >>> list(members(0b1011))
    [0, 1, 3]
    """
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def reach(rows: list[int], nodes: int, without: int = 0) -> int:
    """The nodes that are reached from some, these included, along rows and never through `without`.

    >>> reach([0b010, 0b100, 0], 0b001), reach([0b010, 0b100, 0], 0b001, without=0b010)
    (7, 1)
    """
    found = fresh = nodes
    while fresh:
        reached = 0
        for node in members(fresh):
            reached |= rows[node]
        fresh = reached & ~found & ~without
        found |= fresh
    return found
