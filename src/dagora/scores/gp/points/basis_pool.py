"""All numbers about bases that points have needed so far, in one array that kernels read.

Bases, their cuts and their tables are made when a point first needs them, and stay. Several threads may ask:
what a place says is in the pool before the place says so, and what is in the pool never moves within it.
"""

from __future__ import annotations

from threading import Lock

import numpy as np
from numpy.typing import NDArray

from dagora.scores.gp.points.compression import Level
from dagora.scores.gp.points.placing import LEVELS, Places, PointOrder, place
from dagora.scores.gp.points.view import Views

Array = NDArray[np.float64]
Positions = NDArray[np.int64]

# Numbers that a new pool has room for; it doubles when it is full.
FIRST_ROOM = 1 << 16


class BasisPool:
    """Bases of the columns of a table; `jitters` are what is added to diagonals, by level."""

    def __init__(self, columns: Array) -> None:
        self.numbers = np.empty(FIRST_ROOM)
        self.places = Places.nowhere(columns.shape[1])
        self.jitters = np.zeros(LEVELS)
        self._columns = columns
        self._views: dict[int, Views] = {}
        self._used = 0
        # Several levels can be made at a time; only one piece at a time is put into the pool.
        self._making = [Lock() for _ in range(LEVELS)]
        self._keeping = Lock()

    def views(self, number: int) -> Views:
        """The bases of one level with their cuts."""
        with self._making[number]:
            return self._make_bases(number)

    def place(self, parameters: Array, parents: Positions) -> tuple[PointOrder, int]:
        """The positions of the bases of points, made if need be, and the most dimensions of a point."""
        placed = PointOrder.nothing(*parents.shape)
        largest = place(parameters, parents, self.places, placed)
        if placed.lacking.any():
            self._make(placed, parents)
            largest = place(parameters, parents, self.places, placed)
        return placed, largest

    def _make(self, placed: PointOrder, parents: Positions) -> None:
        """Make what points lack; what others made meanwhile is there already."""
        some = np.flatnonzero(placed.lacking)
        ordered = np.take_along_axis(parents[some], placed.order[some], axis=1)
        needs = np.unique(np.hstack([placed.levels[some], ordered, placed.cells[some]]), axis=0)
        size = parents.shape[1]
        for row in needs.tolist():
            with self._making[row[0]]:
                self._include(row[:size], row[size : 2 * size], row[2 * size :])

    def _include(self, levels: list[int], parents: list[int], cells: list[int]) -> None:
        first = levels[0]
        views, places = self._make_bases(first), self.places
        for i, (level, parent, cell) in enumerate(zip(levels, parents, cells, strict=True)):
            bases = views.bases(level)
            if places.ranks[first, level] < 0:
                places.sums[first, level] = self._keep(bases.sums)
                places.projections[first, level] = self._keep(bases.projections)
                places.ranks[first, level] = bases.rank
            if places.series[first, level, parent, cell] < 0:
                places.series[first, level, parent, cell] = self._keep(bases.series(parent, cell))
            for other in levels[:i]:
                if places.grams[first, other, level] < 0:
                    places.grams[first, other, level] = self._keep(views.gram(other, level))

    def _make_bases(self, number: int) -> Views:
        if number not in self._views:
            self._views[number] = Views(Level(self._columns, number), number)
            self.jitters[number] = self._views[number].level.jitter
        return self._views[number]

    def _keep(self, some: Array) -> int:
        """Copy numbers into the pool; return where they begin."""
        with self._keeping:
            start, stop = self._used, self._used + some.size
            if stop > len(self.numbers):
                # Kernels that run keep the array that they were given.
                larger = np.empty(max(2 * len(self.numbers), stop))
                larger[:start] = self.numbers[:start]
                self.numbers = larger
            self.numbers[start:stop] = some.ravel()
            self._used = stop
            return start
