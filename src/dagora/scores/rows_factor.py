"""Residuals of regressions from the rows themselves, for columns whose moments hold too few digits.

Moments are sums of squares: where correlations have the condition c, a residual from them has a relative
error of about c times that of a number, and one from an orthogonal factor of the rows √c times. The triangle
R of QR of the rows, centred and scaled, is such a factor: a child's residual given its parents is the square
of the last entry of the triangle of their columns of R (Golub & Van Loan 2013, section 5.3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.data.table import Table
from dagora.scores.gaussian import FlatFamilies
from dagora.stats.moments import column_blocks
from dagora.stats.statistics import Moments

# With a smaller eigenvalue of the correlations, residuals from the rows are rounding as well.
LEAST_EIGENVALUE = 1e-15
# Numbers that are factored at a time.
MOST_AT_ONCE = 1 << 22


def triangle_of(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The triangle R of QR of a matrix, or of each of several."""
    return np.asarray(np.linalg.qr(rows, mode="r"))


@dataclass(frozen=True)
class RowsFactor:
    """The triangle of QR of the columns, centred and divided by `spread`, the roots of their squares."""

    triangle: NDArray[np.float64]
    spread: NDArray[np.float64]

    @classmethod
    def of(cls, table: Table, moments: Moments) -> RowsFactor:
        """The factor of a table of continuous columns, from blocks of its rows."""
        spread = np.sqrt(np.diagonal(moments.scatter))
        d = len(spread)
        triangle = np.zeros((0, d + 1))
        for block in column_blocks(table.columns):
            rows = (block - moments.mean[:, None]) / spread[:, None]
            # A column of ones before the others takes what rounding left of their means.
            beside_ones = np.column_stack([np.ones(rows.shape[1]), rows.T])
            triangle = triangle_of(np.concatenate([triangle, beside_ones]))
        return cls(triangle[1:, 1:], spread)

    @property
    def tells(self) -> bool:
        """True if residuals from it are more than rounding, whatever the family."""
        return bool(np.linalg.svd(self.triangle, compute_uv=False)[-1] ** 2 >= LEAST_EIGENVALUE)

    def residuals(self, families: FlatFamilies) -> NDArray[np.float64]:
        """The residual sum of squares of each family's child."""
        found = np.empty(len(families.children))
        sizes = families.sizes
        for size in np.unique(sizes).tolist():
            chosen = np.flatnonzero(sizes == size)
            at_once = max(1, MOST_AT_ONCE // (len(self.triangle) * (size + 1)))
            for start in range(0, len(chosen), at_once):
                some = chosen[start : start + at_once]
                parents = families.parents[families.offsets[some][:, None] + np.arange(size)]
                members = np.column_stack([parents, families.children[some]])
                columns = self.triangle[:, members].transpose(1, 0, 2)
                found[some] = triangle_of(columns)[:, size, size] ** 2
        squares: NDArray[np.float64] = found * self.spread[families.children] ** 2
        return squares
