"""Rows labelled by their cell over some columns: labels number the occupied cells in lexicographic order.

Tables too large for a histogram are counted by sorting, so memory grows with the rows and not with the
product of the cardinalities.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel, patient

# Rows are labelled by a table of SMALL_TABLE cells (256 KiB of 32-bit counts) or CELLS_PER_ROW times the
# rows, whichever is more; beyond that by sorting, so that memory stays proportional to the rows.
CELLS_PER_ROW = 4
SMALL_TABLE = 1 << 16


@kernel
def sorted_rows(
    labels: NDArray[np.int32], size: int, column: NDArray[Any], cardinality: int
) -> NDArray[np.int64]:
    """The rows in lexicographic order of (label, code): sorted by code, then by label, both by counting."""
    n = len(labels)
    places = np.empty(max(size, cardinality) + 1, dtype=np.int64)
    by_code = np.empty(n, dtype=np.int64)
    for place in range(len(places)):
        places[place] = 0
    for i in range(n):
        places[column[i] + 1] += 1
    for code in range(cardinality):
        places[code + 1] += places[code]
    for i in range(n):
        by_code[places[column[i]]] = i
        places[column[i]] += 1
    for place in range(len(places)):
        places[place] = 0
    order = np.empty(n, dtype=np.int64)
    for i in range(n):
        places[labels[i] + 1] += 1
    for label in range(size):
        places[label + 1] += places[label]
    for row in by_code:
        order[places[labels[row]]] = row
        places[labels[row]] += 1
    return order


def extend_labels_plainly(
    labels: NDArray[np.int32], _size: int, column: NDArray[Any], cardinality: int, out: NDArray[np.int32]
) -> NDArray[np.int64]:
    """The same as `extend_labels`, without a kernel."""
    cells = labels.astype(np.int64) * cardinality + column
    _, out[:], counts = np.unique(cells, return_inverse=True, return_counts=True)
    return counts


@patient(extend_labels_plainly, lambda labels, *_: 4e-5 + 1e-7 * len(labels), 1.0)
@kernel
def extend_labels(
    labels: NDArray[np.int32], size: int, column: NDArray[Any], cardinality: int, out: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Split labels by one more column: write the new labels to `out` and return the counts of the cells.

    The occupied cells (label, code) are numbered in lexicographic order.
    """
    n = len(labels)
    cells = size * cardinality
    if cells <= max(SMALL_TABLE, CELLS_PER_ROW * n):
        rank = np.empty(cells, dtype=np.int32)
        for cell in range(cells):
            rank[cell] = 0
        for i in range(n):
            out[i] = labels[i] * cardinality + column[i]
            rank[out[i]] += 1
        counts = np.empty(min(cells, n), dtype=np.int64)
        occupied = 0
        for cell in range(cells):
            if rank[cell]:
                counts[occupied] = rank[cell]
                rank[cell] = occupied
                occupied += 1
        if occupied < cells:
            for i in range(n):
                out[i] = rank[out[i]]
        return counts[:occupied]
    counts = np.empty(n, dtype=np.int64)
    occupied = -1
    label, code = np.int64(-1), np.int64(-1)
    for i in sorted_rows(labels, size, column, cardinality):
        if labels[i] != label or column[i] != code:
            label, code = np.int64(labels[i]), np.int64(column[i])
            occupied += 1
            counts[occupied] = 0
        out[i] = occupied
        counts[occupied] += 1
    return counts[: occupied + 1]


@kernel
def rows_by_label(labels: NDArray[np.int32], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows label by label, in their own order within each; label k has `counts[k]` of them.

    >>> rows_by_label(np.array([1, 0, 1], dtype=np.int32), np.array([1, 2]))
    array([1, 0, 2])
    """
    places = np.empty(len(counts), dtype=np.int64)
    place = 0
    for label in range(len(counts)):
        places[label] = place
        place += counts[label]
    order = np.empty(len(labels), dtype=np.int64)
    for i in range(len(labels)):
        order[places[labels[i]]] = i
        places[labels[i]] += 1
    return order


@kernel
def parents_of_labels(labels: NDArray[np.int32], earlier: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    """For each of `size` labels, the label one column earlier that it was split from."""
    found = np.empty(size, dtype=np.int32)
    for i in range(len(labels)):
        found[labels[i]] = earlier[i]
    return found
