"""Second moments of basis functions of continuous columns: nonlinear least squares without rows.

A column x is scaled to z = (x − centre) / half_width in [−1, 1]. Its functions are the Legendre polynomials
P_1(z) = z, P_2(z), …, P_b(z), which are orthogonal where z is uniform and never leave [−1, 1]. Any regression
of columns on sums of such functions needs only n, the means and the covariances of all d·b functions, which
are sums over rows, as moments are.

For a table the range of a column is from its smallest to its largest value, so that no value is cut off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.stats.moments import BLOCK_ROWS, add_block
from dagora.stats.statistics import Moments

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BasisMoments:
    """Moments of the basis functions of d columns, b of each: those of column i begin at i·b, with z itself.

    `centre` and `half_width` say how each column was scaled to [−1, 1].
    """

    functions: int
    centre: Matrix
    half_width: Matrix
    moments: Moments

    @property
    def of_columns(self) -> Moments:
        """Moments of the columns themselves, in their own units; not finite where values are too large."""
        mean = self.moments.mean[:: self.functions]
        scatter = self.moments.scatter[:: self.functions, :: self.functions]
        with np.errstate(over="ignore", invalid="ignore"):
            return Moments(
                self.moments.n,
                self.centre + self.half_width * mean,
                scatter * np.outer(self.half_width, self.half_width),
            )

    def in_order(self, places: NDArray[np.int64]) -> BasisMoments:
        """The same with the columns in another order."""
        turn = (places[:, None] * self.functions + np.arange(self.functions)).ravel()
        found = self.moments
        moments = Moments(found.n, found.mean[turn], found.scatter[np.ix_(turn, turn)])
        return BasisMoments(self.functions, self.centre[places], self.half_width[places], moments)


def basis_features(scaled: Matrix, functions: int) -> Matrix:
    """P_1 … P_b of columns in [−1, 1], one column per row: b rows for the first, then those of the next.

    >>> basis_features(np.array([[-1.0, 0.5]]), 3).tolist()
    [[-1.0, 0.5], [1.0, -0.125], [-1.0, -0.4375]]
    """
    d, n = scaled.shape
    found = np.empty((d, functions, n))
    before, latest = np.ones_like(scaled), scaled
    for degree in range(1, functions + 1):
        found[:, degree - 1] = latest
        # Bonnet's recursion.
        following = ((2 * degree + 1) * scaled * latest - degree * before) / (degree + 1)
        before, latest = latest, following
    return found.reshape(d * functions, n)


def table_basis_moments(table: Table, functions: int) -> BasisMoments:
    """Basis moments of a table's continuous columns, by blocks of rows."""
    columns, centre, half_width = scaled_columns(table)
    size = len(columns) * functions
    total = Moments(0, np.zeros(size), np.zeros((size, size)))
    for features in basis_blocks(columns, centre, half_width, functions):
        total = add_block(total, features)
    return BasisMoments(functions, centre, half_width, total)


def scaled_columns(table: Table) -> tuple[list[Matrix], Matrix, Matrix]:
    """The continuous columns of a table, with the centre and half the width of the range of each."""
    columns = [
        column for v, column in zip(table.schema, table.columns, strict=True) if v.kind is Kind.CONTINUOUS
    ]
    low = np.array([column.min(initial=np.inf) for column in columns])
    high = np.array([column.max(initial=-np.inf) for column in columns])
    return columns, low / 2 + high / 2, high / 2 - low / 2


def basis_blocks(
    columns: Sequence[Matrix], centre: Matrix, half_width: Matrix, functions: int
) -> Iterator[Matrix]:
    """The basis functions of all rows, one per row of a matrix, block by block of rows."""
    # A constant column has no width.
    width = np.where(half_width > 0, half_width, 1.0)[:, None]
    for start in range(0, len(columns[0]) if columns else 0, BLOCK_ROWS):
        block = np.stack([column[start : start + BLOCK_ROWS] for column in columns])
        yield basis_features(np.clip((block - centre[:, None]) / width, -1.0, 1.0), functions)
