"""A kernel that sorts points by the bases of their parents, and marks bases that are not made yet.

A family's bases come from the level of its shortest length-scale; its other parents have cuts of them (see
`view`). Which ones depends on the point alone: a density must not depend on what else is computed with it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import borrowing
from dagora.scores.gp.points.compression import FINEST, LONG, SHORTEST

Array = NDArray[np.float64]
Positions = NDArray[np.int64]

# Parents other than the first are cut only at multiples of this level, so that there are few cuts to make.
APART = 3
# Below this noise the prior density is exp(−10⁵).
LEAST_LOG_NOISE = math.log(1e-5)
# Points with the logarithm of a parameter from here on are out of bounds, too.
LARGEST = 50.0
LOG_LONG, LOG_SHORTEST, LOG_2 = math.log(LONG), math.log(SHORTEST), math.log(2.0)
# Levels, and tables of a length-scale: the long one and one for each octave.
LEVELS = FINEST + 1
CELLS = FINEST // 2 + 1
OUTSIDE = -1


class Places(NamedTuple):
    """The positions of the numbers about bases in a pool, by level and cut; −1 if not made yet."""

    ranks: Positions
    sums: Positions
    projections: Positions
    grams: Positions
    series: Positions

    @classmethod
    def nowhere(cls, columns: int) -> Places:
        """Places of a table with so many columns, of which nothing is made."""
        both = (LEVELS, LEVELS)
        shapes = (both, both, both, (*both, LEVELS), (*both, columns, CELLS))
        return cls(*(np.full(shape, -1, dtype=np.int64) for shape in shapes))


class PointOrder(NamedTuple):
    """Per point its parents from the shortest length-scale to the longest: which, their levels and tables."""

    order: Positions
    levels: Positions
    cells: Positions
    lacking: NDArray[np.bool_]

    @classmethod
    def nothing(cls, points: int, parents: int) -> PointOrder:
        """Room for the answer of `place`."""
        order, levels, cells = (np.empty((points, parents), dtype=np.int64) for _ in range(3))
        return cls(order, levels, cells, np.empty(points, dtype=np.bool_))


@borrowing
def place(parameters: Array, parents: Positions, places: Places, placed: PointOrder) -> int:
    """Place points; return the largest number of dimensions, of those that lack nothing.

    The level of a point out of bounds is `OUTSIDE`.
    """
    number, size = parents.shape
    largest = 0
    for k in range(number):
        inside = parameters[k, size] >= LEAST_LOG_NOISE and parameters[k, size] < LARGEST
        for i in range(size):
            inside = inside and parameters[k, i] >= LOG_SHORTEST and parameters[k, i] < LARGEST
        placed.lacking[k] = False
        if not inside:
            placed.levels[k, 0] = OUTSIDE
            continue
        for i in range(size):
            at = i
            while at > 0 and parameters[k, i] < parameters[k, placed.order[k, at - 1]]:
                placed.order[k, at] = placed.order[k, at - 1]
                at -= 1
            placed.order[k, at] = i
        dimensions = 1
        first = 0
        for i in range(size):
            octaves = (LOG_LONG - parameters[k, placed.order[k, i]]) / LOG_2
            level = min(max(math.ceil(2 * octaves - 1e-9), 0), FINEST)
            if i == 0:
                first = level
            else:
                level = min(APART * max(1, -(-level // APART)), first)
            cell = min(max(math.ceil(octaves), 0), CELLS - 1)
            placed.levels[k, i], placed.cells[k, i] = level, cell
            parent = parents[k, placed.order[k, i]]
            there = places.ranks[first, level] >= 0 and places.series[first, level, parent, cell] >= 0
            for j in range(i):
                there = there and places.grams[first, placed.levels[k, j], level] >= 0
            if there:
                dimensions += places.ranks[first, level]
            else:
                placed.lacking[k] = True
        if not placed.lacking[k]:
            largest = max(largest, dimensions)
    return largest
