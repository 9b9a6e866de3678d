"""Sets of nodes as rows of 64-bit words: bit `i` of a row says whether node `i` is in the set."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.uint64]


def words_for(size: int) -> int:
    """The number of 64-bit words that hold a set of `size` nodes (at least one).

    >>> [words_for(n) for n in (1, 64, 65)]
    [1, 1, 2]
    """
    return max(1, (size + 63) // 64)


def pack(matrix: NDArray[np.bool_]) -> Rows:
    """Pack each row of a boolean matrix into words.

    >>> pack(np.array([[True, False, True]]))
    array([[5]], dtype=uint64)
    """
    rows, size = matrix.shape
    padded = np.zeros((rows, words_for(size) * 64), dtype=np.bool_)
    padded[:, :size] = matrix
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)


def unpack(rows: Rows, size: int) -> NDArray[np.bool_]:
    """Undo `pack` for sets of `size` nodes.

    >>> unpack(np.array([[5]], dtype=np.uint64), 3)
    array([[ True, False,  True]])
    """
    little = np.ascontiguousarray(rows.astype("<u8", copy=False)).view(np.uint8)
    return np.unpackbits(little, axis=1, count=size, bitorder="little").astype(np.bool_)
