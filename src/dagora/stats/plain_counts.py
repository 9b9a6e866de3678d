"""Counts of sets of columns by NumPy: the same as by the kernels of `counting`, without compiling any."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from dagora.stats.coded_columns import Codes

# Up to this many cells, or times the rows, are counted in a table; more are sorted.
TABLE_CELLS, CELLS_PER_ROW = 1 << 16, 4
# The cell of a row over some columns is a number below this; beyond it, occupied cells are numbered anew.
MOST_CELLS = 1 << 40


def seconds_to_count(rows: int, sets: int) -> float:
    """About how long `count_plainly` takes."""
    return sets * (1.5e-5 + 4e-9 * rows)


def count_plainly(
    codes: Codes,
    cardinalities: NDArray[np.int64],
    sets: Iterable[list[int]],
    out: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> int:
    """Write the occupied counts of each set to `out`, in lexicographic order; return how many there are.

    `sizes[k]` gets the number of occupied cells of set k. Leading columns that a set shares with the set
    before it are not looked at again.

    >>> out, sizes = np.empty(5, dtype=np.int64), np.empty(2, dtype=np.int64)
    >>> codes = np.array([[0, 0, 1, 1], [0, 1, 1, 1]], dtype=np.uint8)
    >>> count_plainly(codes, np.array([2, 2]), [[0], [0, 1]], out, sizes), out, sizes
    (5, array([2, 2, 1, 1, 2]), array([2, 3]))
    """
    rows = codes.shape[1]
    levels = cardinalities.tolist()
    wide = codes.astype(np.intp)
    path: list[int] = []
    # The cell of each row over the first columns of the path, and how many such cells there can be.
    cells, most = [np.zeros(rows, dtype=np.intp)], [1]
    written = 0
    for k, columns in enumerate(sets):
        shared = 0
        while shared < min(len(path), len(columns)) and path[shared] == columns[shared]:
            shared += 1
        del path[shared:], cells[shared + 1 :], most[shared + 1 :]
        for column in columns[shared:]:
            if most[-1] * levels[column] > MOST_CELLS:
                cells[-1] = np.unique(cells[-1], return_inverse=True)[1]
                most[-1] = rows
            path.append(column)
            cells.append(cells[-1] * levels[column] + wide[column])
            most.append(most[-1] * levels[column])
        if most[-1] <= max(TABLE_CELLS, CELLS_PER_ROW * rows):
            counts = np.bincount(cells[-1], minlength=1)
            counts = counts[counts > 0] if columns else counts
        else:
            counts = np.unique(cells[-1], return_counts=True)[1]
        sizes[k] = len(counts)
        out[written : written + len(counts)] = counts
        written += len(counts)
    return written
