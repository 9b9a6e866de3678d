"""First and second moments of continuous columns in one pass over the rows.

Each block of rows is centred on its own mean; blocks are merged by the update of Chan, Golub & LeVeque
(1983), scatter = scatter_a + scatter_b + (n_a n_b / n) δ δᵀ with δ the difference of the means. This needs
memory for one block only, and values far from zero lose no digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.stats.statistics import Moments

# Rows that are read at a time: 128 KiB per column.
BLOCK_ROWS = 1 << 14
# Below 0 by more than this, an eigenvalue of correlations is no rounding.
SLACK = 1e-9


def is_semidefinite(matrix: NDArray[np.float64]) -> bool:
    """Return True for a symmetric matrix that has no negative eigenvalue, but for rounding."""
    squares = np.diag(matrix)
    size = np.sqrt(np.where(squares > 0, squares, 1.0))
    try:
        np.linalg.cholesky(matrix / np.outer(size, size) + SLACK * np.eye(len(size)))
    except np.linalg.LinAlgError:
        return False
    return True


def merge_moments(a: Moments, b: Moments) -> Moments:
    """Moments of the rows behind `a` and `b` together.

    >>> one = Moments(1, np.array([1.0]), np.array([[0.0]]))
    >>> two = Moments(1, np.array([3.0]), np.array([[0.0]]))
    >>> merge_moments(one, two).scatter
    array([[2.]])
    """
    if 0 in (a.n, b.n):  # without a further matrix, which of 10,000 columns takes 0.8 GB
        return b if b.n else a
    n = a.n + b.n
    shift = b.mean - a.mean
    scatter = a.scatter + b.scatter + (a.n * b.n / n) * np.outer(shift, shift)
    return Moments(n, a.mean + shift * (b.n / n), scatter)


def table_moments(table: Table) -> Moments:
    """Moments of a table's continuous columns, in column order; not finite where values are too large."""
    columns = [
        column for v, column in zip(table.schema, table.columns, strict=True) if v.kind is Kind.CONTINUOUS
    ]
    d = len(columns)
    if d == 0:
        return Moments(table.n_rows, np.zeros(0), np.zeros((0, 0)))
    return block_moments(Moments(0, np.zeros(d), np.zeros((d, d))), columns)


def column_blocks(columns: Sequence[NDArray[np.float64]]) -> Iterator[NDArray[np.float64]]:
    """The columns as rows of a matrix, block by block of their cells."""
    for start in range(0, len(columns[0]) if columns else 0, BLOCK_ROWS):
        yield np.stack([column[start : start + BLOCK_ROWS] for column in columns])


def block_moments(total: Moments, columns: Sequence[NDArray[np.float64]]) -> Moments:
    """Add rows to moments, block by block."""
    with np.errstate(over="ignore", invalid="ignore"):
        for block in column_blocks(columns):
            total = add_block(total, block)
    return total


def add_block(total: Moments, block: NDArray[np.float64]) -> Moments:
    """Add a block of rows, one column per row of a matrix, which is centred in place."""
    mean = block.mean(axis=1)
    block -= mean[:, None]
    return merge_moments(total, Moments(block.shape[1], mean, block @ block.T))
