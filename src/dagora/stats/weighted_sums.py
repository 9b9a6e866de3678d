"""Sums over rows with weights: joint counts as sums of weights, and moments.

A set of columns is counted as without weights, in two steps: rows are labelled by their cell over all columns
but the last, and each label is split by that. Consecutive sets that begin alike share labels. The sums run
over the rows in their order, so they do not depend on threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.stats.row_labels import CELLS_PER_ROW, SMALL_TABLE, extend_labels
from dagora.stats.statistics import Moments

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def weighted_moments(blocks: Callable[[], Iterable[Floats]], weights: Floats, n: int) -> Moments:
    """Moments of columns that come in blocks of rows, twice: for their means, and for their scatter.

    The weights sum to `n`.

    >>> rows = np.array([[1.0, 3.0, 5.0]])
    >>> weighted_moments(lambda: [rows.copy()], np.array([1.0, 1.0, 2.0]), 4)
    Moments(n=4, mean=array([3.5]), scatter=array([[11.]]))
    """
    whole = float(weights.sum())
    with np.errstate(over="ignore", invalid="ignore"):
        start, mean = 0, np.zeros(0)
        for block in blocks():
            own = weights[start : start + block.shape[1]]
            mean = block @ own + (mean if start else 0.0)
            start += block.shape[1]
        mean = mean / whole
        start, scatter, left = 0, np.zeros((len(mean), len(mean))), np.zeros(len(mean))
        for block in blocks():
            own = weights[start : start + block.shape[1]]
            apart = block - mean[:, None]
            left += apart @ own
            apart *= np.sqrt(own)
            scatter += apart @ apart.T
            start += block.shape[1]
        # What rounding left of the mean of numbers far from zero.
        shift = left / whole
        return Moments(n, mean + shift, scatter - whole * np.outer(shift, shift))


class RunningMoments:
    """Moments with weights of columns that come in blocks of rows, once.

    >>> total = RunningMoments(1)
    >>> total.add(np.array([[1.0, 3.0]]), np.array([1.0, 1.0]))
    >>> total.add(np.array([[5.0]]), np.array([2.0]))
    >>> total.moments(4)
    Moments(n=4, mean=array([3.5]), scatter=array([[11.]]))
    """

    def __init__(self, columns: int) -> None:
        self.whole, self.mean, self.scatter = 0.0, np.zeros(columns), np.zeros((columns, columns))

    def add(self, block: Floats, weights: Floats) -> None:
        """Add a block of rows, one column per row of a matrix."""
        own = float(weights.sum())
        with np.errstate(over="ignore", invalid="ignore"):
            mean = block @ weights / own
            apart = (block - mean[:, None]) * np.sqrt(weights)
            shift, both = mean - self.mean, self.whole + own
            self.scatter = self.scatter + apart @ apart.T + (self.whole * own / both) * np.outer(shift, shift)
            self.mean, self.whole = self.mean + shift * (own / both), both

    def moments(self, n: int) -> Moments:
        """The moments, of weights that are scaled to sum to `n`."""
        return Moments(n, self.mean, self.scatter * (n / self.whole))


@kernel
def count_with_weights(
    codes: NDArray[Any],
    cardinalities: Integers,
    weights: Floats,
    columns: Integers,
    offsets: Integers,
    labels: NDArray[np.int32],
    out: Floats,
    sizes: Integers,
) -> int:
    """Sum the weights in the occupied cells of each set `columns[offsets[k]:offsets[k + 1]]`.

    `sizes[k]` gets the number of occupied cells of set k, whose sums go to `out` in lexicographic order;
    returns how many there are in all. `labels[t]` is working memory for the first t columns of a set.
    """
    n = codes.shape[1]
    depths = labels.shape[0]
    path = np.empty(depths, dtype=np.int64)
    occupied = np.empty(depths, dtype=np.int64)
    occupied[0] = 1
    for i in range(n):
        labels[0, i] = 0
    valid, written = 0, 0
    table = np.empty(0, dtype=np.float64)
    for k in range(len(sizes)):
        first, stop = offsets[k], offsets[k + 1]
        if first == stop:
            total = 0.0
            for i in range(n):
                total += weights[i]
            out[written] = total
            written += 1
            sizes[k] = 1
            continue
        depth = stop - first - 1
        shared = 0
        while shared < min(depth, valid) and path[shared] == columns[first + shared]:
            shared += 1
        for t in range(shared, depth):
            column = columns[first + t]
            path[t] = column
            counts = extend_labels(
                labels[t], occupied[t], codes[column], cardinalities[column], labels[t + 1]
            )
            occupied[t + 1] = len(counts)
        valid = depth
        column = columns[stop - 1]
        cardinality = cardinalities[column]
        cells = occupied[depth] * cardinality
        own, code = labels[depth], codes[column]
        begun = written
        if cells <= max(SMALL_TABLE, CELLS_PER_ROW * n):
            if len(table) < cells:
                table = np.empty(cells, dtype=np.float64)
            for cell in range(cells):
                table[cell] = 0.0
            for i in range(n):
                table[own[i] * cardinality + code[i]] += weights[i]
            for cell in range(cells):
                if table[cell] > 0.0:
                    out[written] = table[cell]
                    written += 1
        else:
            counts = extend_labels(own, occupied[depth], code, cardinality, labels[depth + 1])
            for cell in range(len(counts)):
                out[begun + cell] = 0.0
            for i in range(n):
                out[begun + labels[depth + 1, i]] += weights[i]
            written += len(counts)
        sizes[k] = written - begun
    return written
