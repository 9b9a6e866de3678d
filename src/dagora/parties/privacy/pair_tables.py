"""Pair tables with noise, made to agree with each other.

In exact counts all tables that a column is in have the same margin of it, and all tables the same total.
With independent noise of variance v₀ on every cell each table gives another estimate. Totals are averaged,
then margins, each weighted by its precision; then every table is moved to the agreed margins by the least
change. What is left of the noise in a cell of an r × s table has variance v₀ (r − 1)(s − 1) / rs, beside that
of the margins, which is small as they are averages over many tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError

Floats = NDArray[np.float64]
Pair = tuple[int, int]


def pairs_of(columns: int) -> list[Pair]:
    """All pairs of columns, in the order in which their tables are released.

    >>> pairs_of(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return list(combinations(range(columns), 2))


@dataclass(frozen=True)
class PairTables:
    """Tables that agree: the number of rows, the margins, and the table of each pair i < j.

    `variance(i, j)` is that of the noise in each cell of a table.
    """

    rows: float
    margins: tuple[Floats, ...]
    tables: dict[Pair, Floats]
    noise: float

    def table(self, i: int, j: int) -> Floats:
        """The table of two columns in any order; the first varies along the rows."""
        return self.tables[i, j] if i < j else self.tables[j, i].T

    def variance(self, i: int, j: int) -> float:
        """Variance of what is left of the noise in a cell."""
        r, s = len(self.margins[i]), len(self.margins[j])
        return self.noise * (r - 1) * (s - 1) / (r * s)


def agreeing_tables(cardinalities: NDArray[np.int64], summed: NDArray[np.int64], noise: float) -> PairTables:
    """Make tables agree; `summed` has the cells of all pairs one after the other, `noise` is their variance.

    >>> agreeing = agreeing_tables(np.array([2, 2, 2]), np.array([5, 1, 0, 6, 5, 0, 1, 4, 3, 1, 1, 3]), 1.0)
    >>> agreeing.rows, agreeing.margins[0], agreeing.table(0, 1), agreeing.variance(0, 1)
    (10.0, array([5., 5.]), array([[ 4.75,  0.25],
           [-0.25,  5.25]]), 0.25)
    """
    sizes = [int(r) for r in cardinalities]
    pairs = pairs_of(len(sizes))
    cells = [sizes[i] * sizes[j] for i, j in pairs]
    if summed.shape != (sum(cells),):
        raise DataError(f"the pair tables have {sum(cells)} cells, not {summed.size}")
    parts = np.split(summed.astype(np.float64), np.cumsum(cells)[:-1])
    raw = {(i, j): part.reshape(sizes[i], sizes[j]) for (i, j), part in zip(pairs, parts, strict=True)}
    rows = float(np.average([part.sum() for part in parts], weights=1 / np.array(cells)))
    if rows < 2:
        raise DataError(
            "the noise is larger than the number of rows: release from more rows, or with a larger epsilon"
        )
    margins = tuple(agreed_margin(raw, sizes, column, rows) for column in range(len(sizes)))
    tables = {pair: moved(table, margins[pair[0]], margins[pair[1]], rows) for pair, table in raw.items()}
    return PairTables(rows, margins, tables, noise)


def agreed_margin(raw: dict[Pair, Floats], sizes: list[int], column: int, rows: float) -> Floats:
    """A column's margin: an average over its tables, with no negative part, that adds up to the rows."""
    others = [other for other in range(len(sizes)) if other != column]
    estimates = [
        raw[column, other].sum(axis=1) if column < other else raw[other, column].sum(axis=0)
        for other in others
    ]
    average = np.average(estimates, axis=0, weights=[1 / sizes[other] for other in others])
    positive = np.maximum(average + (rows - average.sum()) / sizes[column], 0.0)
    agreed: Floats = positive * (rows / positive.sum())
    return agreed


def moved(table: Floats, along: Floats, across: Floats, rows: float) -> Floats:
    """The table nearest to a given one (least squares) that has these margins."""
    r, s = table.shape
    by_row = (along - table.sum(axis=1)) / s
    by_column = (across - table.sum(axis=0)) / r
    nearest: Floats = table + by_row[:, None] + by_column[None, :] - (rows - table.sum()) / (r * s)
    return nearest
