"""Counts that were made in earlier passes, for any order of a set's columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.stats.blocks.cover import Set

# Numbers that are kept: levels of cells and counts, 64 MiB of the latter alone.
KEPT_NUMBERS = 1 << 23


class OccupiedCells(NamedTuple):
    """The occupied cells of a set of ascending columns in lexicographic order, and their counts."""

    cells: NDArray[np.uint16]
    counts: NDArray[Any]


def ascending(columns: Set) -> Set:
    """The distinct columns of a set in ascending order.

    >>> ascending((4, 1, 4))
    (1, 4)
    """
    return tuple(sorted(set(columns)))


def in_order(found: OccupiedCells, columns: Set) -> OccupiedCells:
    """The cells of a set with its columns in the order in which they were asked for.

    >>> found = OccupiedCells(np.array([[0, 1], [1, 0]], dtype=np.uint16), np.array([5, 7]))
    >>> in_order(found, (9, 2))
    OccupiedCells(cells=array([[0, 1], [1, 0]], dtype=uint16), counts=array([7, 5]))
    """
    own = ascending(columns)
    if columns == own:
        return found
    cells = found.cells[:, [own.index(column) for column in columns]]
    order = np.lexsort(cells.T[::-1])
    return OccupiedCells(cells[order], found.counts[order])


class KeptCounts:
    """Counts by set; where there is no room for more, older counts of many columns are forgotten.

    Those of single columns stay, so that rows that change while a connection is lost are noticed by them.
    """

    def __init__(self) -> None:
        self._found: dict[Set, OccupiedCells] = {}
        self._size = 0

    def get(self, columns: Set) -> OccupiedCells | None:
        """The counts of a set of ascending columns, if they are kept."""
        return self._found.get(columns)

    def __contains__(self, columns: Set) -> bool:
        return columns in self._found

    @property
    def sets(self) -> list[Set]:
        """The sets that are known."""
        return list(self._found)

    def keep(self, found: dict[Set, OccupiedCells]) -> None:
        """Keep counts for later rounds."""
        if self._size + numbers_in(found) > KEPT_NUMBERS:
            self._found = of_single_columns(self._found)
            self._size = numbers_in(self._found)
        if self._size + numbers_in(found) > KEPT_NUMBERS:
            found = of_single_columns(found)
        self._found.update(found)
        self._size += numbers_in(found)


def numbers_in(found: dict[Set, OccupiedCells]) -> int:
    """The number of integers that counts hold."""
    return sum(each.cells.size + each.counts.size for each in found.values())


def of_single_columns(found: dict[Set, OccupiedCells]) -> dict[Set, OccupiedCells]:
    """The counts of single columns, of which there are few."""
    return {columns: each for columns, each in found.items() if len(columns) <= 1}


def single_columns(found: dict[Set, OccupiedCells]) -> dict[Set, OccupiedCells]:
    """The counts of the single columns of sets, each from the smallest table that has it.

    >>> table = OccupiedCells(np.array([[0, 1], [0, 2], [2, 1]], dtype=np.uint16), np.array([3, 4, 5]))
    >>> {column: each.counts.tolist() for column, each in single_columns({(4, 7): table}).items()}
    {(4,): [7, 5], (7,): [8, 4]}
    """
    singles: dict[Set, OccupiedCells] = {}
    for columns, each in sorted(found.items(), key=lambda item: len(item[1].counts)):
        for place, column in enumerate(columns):
            if (column,) not in singles:
                totals = np.bincount(each.cells[:, place], each.counts).astype(each.counts.dtype)
                levels = np.flatnonzero(totals)
                singles[column,] = OccupiedCells(levels[:, None].astype(np.uint16), totals[levels])
    return singles
