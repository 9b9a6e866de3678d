"""Kernels that count the rows of each cell: a cell is a label, split by the code of one more column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel

# So many cells are told apart by 16 bits.
SHORT_CELLS = 1 << 16


@kernel
def extend_short_labels(
    labels: NDArray[Any], codes: NDArray[Any], cardinality: int, rows: int, out: NDArray[np.uint16]
) -> None:
    """Label the cells over one more column, all of which 16 bits tell apart."""
    levels = np.uint16(cardinality)
    for i in range(rows):
        out[i] = np.uint16(labels[i] * levels) + np.uint16(codes[i])


@kernel
def add_short_histogram(
    cells: NDArray[np.uint16], packed: NDArray[np.uint64], rows: int, table: NDArray[Any], twin: NDArray[Any]
) -> None:
    """Add the counts of cells to a table and its twin; four cells are read at a time.

    Neighbours are counted in different tables, so that an increment need not wait for the one before it when
    both hit the same cell.
    """
    one, low, shift = np.uint32(1), np.uint64(0xFFFF), np.uint64(16)
    for word in packed[: rows >> 2]:
        rest = word
        table[rest & low] += one
        rest >>= shift
        twin[rest & low] += one
        rest >>= shift
        table[rest & low] += one
        twin[rest >> shift] += one
    for i in range(rows & ~3, rows):
        table[np.uint64(cells[i])] += one


@kernel
def split_by_histogram(
    labels: NDArray[np.int32],
    column: NDArray[Any],
    cardinality: int,
    cells: NDArray[np.uint16],
    packed: NDArray[np.uint64],
    histogram: NDArray[np.int32],
) -> None:
    """Count the cells (label, code), at most `SHORT_CELLS`, in the first half of `histogram`.

    The second half is working memory, and so is `cells`, to which the cells of all rows are written first;
    `packed` is the same memory.
    """
    half = len(histogram) // 2
    for cell in range(len(histogram)):
        histogram[cell] = 0
    extend_short_labels(labels, column, cardinality, len(labels), cells)
    add_short_histogram(cells, packed, len(labels), histogram[:half], histogram[half:])
    for cell in range(half):
        histogram[cell] += histogram[half + cell]
