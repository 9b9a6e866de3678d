"""Basis functions of each column made orthogonal, each with the standard deviation of its column.

Within a column, the functions are made uncorrelated one after the other (Gram and Schmidt), the column itself
first, and each gets the column's standard deviation σ_i. So the norm of the coefficients of f(x_i) is the
standard deviation of f(x_i) in units of σ_i: the size of the weight, where f is linear. A function that those
before it explain, as in a column with few values, becomes zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.stats.basis import BasisMoments

Matrix = NDArray[np.float64]

# A function with a smaller share of its variance left given those before it is linearly dependent on them.
EXPLAINED = 1e-8


@dataclass(frozen=True, eq=False)
class OrthonormalBasis:
    """Covariance of all functions; those of column i begin at i · functions, with x_i itself."""

    functions: int
    covariance: Matrix

    @property
    def columns(self) -> int:
        """Number of columns."""
        return len(self.covariance) // self.functions

    @classmethod
    def of(cls, given: BasisMoments, *, standardise: bool = False) -> OrthonormalBasis:
        """From basis moments; with `standardise`, every column counts as if its standard deviation were 1."""
        b, raw = given.functions, given.moments.covariance
        change = np.zeros_like(raw)
        for i, half_width in enumerate(given.half_width):
            block = slice(i * b, (i + 1) * b)
            scale = 1.0 if standardise else half_width * np.sqrt(raw[i * b, i * b])
            change[block, block] = scale * orthonormal_rows(raw[block, block])
        covariance = change @ raw @ change.T
        return cls(b, (covariance + covariance.T) / 2)


def orthonormal_rows(covariance: Matrix) -> Matrix:
    """Combinations of variables, one per row, that are uncorrelated with variance 1, or zero.

    >>> rows = orthonormal_rows(np.array([[4.0, 2.0, 4.0], [2.0, 2.0, 2.0], [4.0, 2.0, 4.0]]))
    >>> rows.round(3).tolist()
    [[0.5, 0.0, 0.0], [-0.5, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    size = len(covariance)
    rows = np.zeros((size, size))
    for r in range(size):
        row = np.eye(size)[r]
        # Twice, because rounding leaves something of the others after the first time.
        for _ in range(2):
            row = row - rows[:r].T @ (rows[:r] @ covariance @ row)
        variance = row @ covariance @ row
        if variance > EXPLAINED * covariance[r, r]:
            rows[r] = row / np.sqrt(variance)
    return rows
