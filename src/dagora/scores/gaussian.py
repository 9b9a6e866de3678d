"""The common part of scores of Gaussian families: determinants of blocks of a covariance-like matrix.

For child x and parents P and a positive matrix S, one Cholesky factor of S over (P, x) gives both
ln det S_PP (its first pivots) and the residual S_xx − S_xP S_PP⁻¹ S_Px (its last pivot, squared).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Watch
from dagora.kernels.decorators import kernel
from dagora.kernels.threads import Threads
from dagora.scores.local_score import Family
from dagora.stats.statistics import flatten

# A squared pivot below this share of its diagonal entry is rounding: the column depends on those before it.
COLLINEAR = 1e-12
# An inverse is computed where no eigenvalue of the correlations is below this; then it is this exact.
ILL_CONDITIONED, ROUNDING = 1e-6, 1e-8
# Families that are scored between two reports of progress.
BLOCK = 200_000
# Fewer are scored before a thread would have started.
WORTH_A_THREAD = 5_000


@dataclass(frozen=True)
class FlatFamilies:
    """Many families in arrays: the parents of `children[k]` are `parents[offsets[k]:offsets[k + 1]]`."""

    children: NDArray[np.int64]
    parents: NDArray[np.int64]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, families: Sequence[Family]) -> FlatFamilies:
        """Families of any sizes."""
        parents, offsets = flatten([parents for _, parents in families])
        return cls(np.array([child for child, _ in families], dtype=np.int64), parents, offsets)

    @classmethod
    def block(cls, children: NDArray[np.int64], parents: NDArray[np.int64]) -> FlatFamilies:
        """Families of one size, whose parents are rows of an array."""
        return cls(children, *flatten(parents))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Numbers of parents."""
        return np.diff(self.offsets)


def in_blocks(
    score: Callable[[FlatFamilies], NDArray[np.float64]],
    children: NDArray[np.int64],
    parents: NDArray[np.int64],
    watch: Watch,
    jobs: int = 1,
) -> NDArray[np.float64]:
    """Score families of one size block by block, by threads, and report the progress to `watch`."""
    values = np.empty(len(children))

    def fill(some: slice) -> None:
        values[some] = score(FlatFamilies.block(children[some], parents[some]))

    with Threads(min(jobs, max(1, len(children) // WORTH_A_THREAD))) as threads:
        for start in range(0, len(children), BLOCK):
            stop = min(start + BLOCK, len(children))
            pieces = threads.pieces(stop - start, WORTH_A_THREAD)
            threads.map(fill, [slice(start + piece.start, start + piece.stop) for piece in pieces])
            watch(stop, len(children))
    return values


def least_residuals(scatter: NDArray[np.float64]) -> NDArray[np.float64]:
    """At most the residual of each column with any of the others as parents, from one inverse of the matrix.

    >>> least_residuals(np.array([[4.0, 2.0], [2.0, 2.0]])).round(3), least_residuals(np.ones((2, 2)))
    (array([2., 1.]), array([1.e-12, 1.e-12]))
    """
    scale = np.sqrt(np.diagonal(scatter))
    least: NDArray[np.float64] = COLLINEAR * scale**2
    if not (scale > 0).all():
        return least
    correlations = scatter / np.outer(scale, scale)
    if np.linalg.eigvalsh(correlations)[0] < ILL_CONDITIONED:
        return least
    alone = (1 - ROUNDING) / np.diagonal(np.linalg.inv(correlations))
    bounded: NDArray[np.float64] = np.maximum(least, alone * scale**2)
    return bounded


def family_pivots(
    matrix: NDArray[np.float64], families: FlatFamilies
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each family, ln det of the parents' block and the residual of the child."""
    return cholesky_pivots(matrix, families.children, families.parents, families.offsets)


@kernel
def cholesky_pivots(
    matrix: NDArray[np.float64],
    children: NDArray[np.int64],
    parents: NDArray[np.int64],
    offsets: NDArray[np.int64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The kernel of `family_pivots`: a Cholesky factor per family, row by row.

    Leading rows that a family shares with the family before it are not factored again.
    """
    largest = 0
    for k in range(len(children)):
        largest = max(largest, offsets[k + 1] - offsets[k])
    factor = np.zeros((largest + 1, largest + 1))
    pivots = np.zeros(largest + 1)
    previous = np.empty(largest + 1, dtype=np.int64)
    columns = np.empty(largest + 1, dtype=np.int64)
    for a in range(largest + 1):
        previous[a] = -1
    log_determinants = np.zeros(len(children))
    residuals = np.zeros(len(children))
    for k in range(len(children)):
        size = offsets[k + 1] - offsets[k]
        for a in range(size):
            columns[a] = parents[offsets[k] + a]
        columns[size] = children[k]
        shared = 0
        while shared <= size and columns[shared] == previous[shared]:
            shared += 1
        for a in range(shared, size + 1):
            i = columns[a]
            left = matrix[i, i]
            for b in range(a):
                entry = matrix[i, columns[b]]
                for c in range(b):
                    entry -= factor[a, c] * factor[b, c]
                # A collinear column has the pivot 0 and explains nothing that the others do not.
                factor[a, b] = entry / pivots[b] if pivots[b] > 0 else 0.0
                left -= factor[a, b] * factor[a, b]
            pivots[a] = np.sqrt(left) if left > COLLINEAR * matrix[i, i] else 0.0
            previous[a] = i
        for a in range(size + 1, largest + 1):
            previous[a] = -1
        for a in range(size):
            log_determinants[k] += np.log(max(pivots[a] ** 2, COLLINEAR * matrix[columns[a], columns[a]]))
        child = children[k]
        residuals[k] = max(pivots[size] ** 2, COLLINEAR * matrix[child, child])
    return log_determinants, residuals
