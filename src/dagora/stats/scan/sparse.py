"""Counts of sets with more cells than a table may have: only the cells that occur are kept, sorted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.stats.coded_columns import Codes

# Cells of a set are numbered in words below this.
WORD = 1 << 62


class SparseCounts:
    """The cells of one set that occur, and how often; rows are added in any number of pieces.

    Memory grows with the occupied cells. `positions` are the rows of the codes that the set's columns have.

    >>> counts = SparseCounts([1, 0], [3, 2])
    >>> counts.add(np.array([[0, 1, 1], [2, 0, 2]], dtype=np.uint8))
    >>> counts.add(np.array([[1], [0]], dtype=np.uint8))
    >>> counts.cells(), counts.counts
    (array([[0, 1], [2, 0], [2, 1]]), array([2, 1, 1]))
    """

    def __init__(self, positions: Sequence[int], levels: Sequence[int]) -> None:
        self._positions, self._levels = list(positions), list(levels)
        # Columns whose cells are numbered together, as many as fit into a word.
        self._groups: list[list[int]] = []
        room = 0
        for place, size in enumerate(self._levels):
            if room // max(1, size) < 1:
                self._groups.append([])
                room = WORD
            self._groups[-1].append(place)
            room //= max(1, size)
        self._keys = np.empty((0, len(self._groups)), dtype=np.int64)
        self.counts: NDArray[Any] = np.empty(0, dtype=np.int64)

    def add(self, codes: Codes, weights: NDArray[np.float64] | None = None) -> None:
        """Count some rows, or sum their weights."""
        keys = np.zeros((codes.shape[1], len(self._groups)), dtype=np.int64)
        for word, group in enumerate(self._groups):
            for place in group:
                keys[:, word] = keys[:, word] * self._levels[place] + codes[self._positions[place]]
        found, counts = sum_by_key(keys, np.ones(len(keys), dtype=np.int64) if weights is None else weights)
        self._keys, self.counts = sum_by_key(
            np.concatenate([self._keys, found]), np.concatenate([self.counts, counts])
        )

    def merge(self, other: SparseCounts) -> None:
        """Add what another has counted of the same set."""
        self._keys, self.counts = sum_by_key(
            np.concatenate([self._keys, other._keys]), np.concatenate([self.counts, other.counts])
        )

    def cells(self) -> NDArray[np.int64]:
        """The levels of each cell, a row for each."""
        cells = np.empty((len(self.counts), len(self._levels)), dtype=np.int64)
        for word, group in enumerate(self._groups):
            rest = self._keys[:, word].copy()
            for place in reversed(group):
                cells[:, place] = rest % self._levels[place]
                rest //= self._levels[place]
        return cells


def sum_by_key(keys: NDArray[np.int64], counts: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The distinct keys in order, and the sum of the counts of each."""
    order = np.lexsort(keys.T[::-1])
    ordered = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)]))
    return ordered[starts], np.add.reduceat(counts[order], starts)
