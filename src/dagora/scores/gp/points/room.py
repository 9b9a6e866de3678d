"""The arguments of the kernels of points: the query, numbers about the rows, work space, and the answer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.scores.gp.points.compression import NODES

Array = NDArray[np.float64]
Positions = NDArray[np.int64]

# Matrices in the room: lower factors of kernels, M with h, and products.
LOWER, M, PRODUCT, FEW_MATRICES = 0, 1, 2, 3
# With derivatives: kernels' derivatives, Gram matrix of the bases, T⁻¹X, AX, ΦᵀS⁻¹Φ, ĊW, T⁻¹ and A.
SLOPE, BEND, GRAM, WHITE, SOLVED, W, TURNED, INNER, INVERSE, MATRICES = 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
# Rows in the room: Chebyshev polynomials with derivatives, a row for whatever, ΦᵀS⁻¹y, ΦᵀS⁻²y, Ċa.
PLAIN, ONCE, TWICE, SPARE, TARGET, TARGET_2, PUSHED, ROWS = 0, 1, 2, 3, 4, 5, 6, 7


class PointQuery(NamedTuple):
    """Families and points: children and parents by number, parameters, variances of all kernels."""

    children: Positions
    parents: Positions
    parameters: Array
    variances: Array


class PointValues(NamedTuple):
    """Log likelihoods (NaN where a matrix is not positive), gradients and Hessians."""

    values: Array
    gradients: Array
    hessians: Array


class Rows(NamedTuple):
    """The pool of numbers about the rows, sums of squares of columns, what is added to diagonals by level."""

    pool: Array
    squares: Array
    jitters: Array
    number: int


class PointRoom(NamedTuple):
    """Memory for one point: square matrices of one width, rows, and where each parent's dimensions begin."""

    matrices: Array
    rows: Array
    starts: Positions

    @classmethod
    def of(cls, dimensions: int, parents: int, *, derivatives: bool) -> PointRoom:
        """Room for points of up to so many dimensions."""
        width = dimensions + 1
        return cls(
            np.empty((MATRICES if derivatives else FEW_MATRICES, width * width)),
            np.empty((ROWS, max(width, NODES))),
            np.empty(parents + 1, dtype=np.int64),
        )
