"""Rows in a regression: with weights, and with errors that rows of a group share.

Without either, every row counts once and has an error of its own. Weights are scaled to sum to the number of
rows. The variance of an average or a coefficient is that of the sum of what each row, or each group together,
moves it by (Liang & Zeger 1986; Cameron & Miller 2015), with the factor G / (G − 1) for G groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dagora.data.columns.row_design import RowDesign

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RowSums:
    """The weights and groups of rows; None where rows count alike, or are independent."""

    weights: Array | None = None
    groups: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, design: RowDesign | None) -> RowSums:
        """Those of a table.

        >>> RowSums.of(RowDesign(np.array([1.0, 3.0]), by_weight="w")).weights
        array([0.5, 1.5])
        """
        if design is None:
            return EQUAL
        weights = design.weights
        if weights is not None:
            weights = weights * (len(weights) / weights.sum())
        return cls(weights, design.groups)

    @property
    def plain(self) -> bool:
        """True if all rows count alike and are independent."""
        return self.weights is None and self.groups is None

    def take(self, rows: ArrayLike) -> RowSums:
        """Those of some rows, given by position or by a mask."""
        if self.plain:
            return self
        chosen = np.asarray(rows)
        return RowSums(
            None if self.weights is None else self.weights[chosen],
            None if self.groups is None else self.groups[chosen],
        )

    def weights_of(self, rows: int) -> Array:
        """The weight of each of so many rows."""
        return np.ones(rows) if self.weights is None else self.weights

    def mean(self, values: Array) -> Array:
        """The means of columns."""
        found: Array = values.mean(axis=0) if self.weights is None else np.average(values, 0, self.weights)
        return found

    def squares(self, moved: Array) -> Array:
        """The matrix of sums of squares and products of what each row, or each group, moves columns by.

        >>> RowSums(groups=np.array([0, 0, 1])).squares(np.array([[1.0], [2.0], [-3.0]]))
        array([[36.]])
        """
        if self.groups is None:
            return np.asarray(moved.T @ moved)
        number = int(self.groups.max()) + 1
        sums = np.stack([np.bincount(self.groups, column, number) for column in moved.T], axis=1)
        there = int((np.bincount(self.groups, minlength=number) > 0).sum())
        return np.asarray(sums.T @ sums) * (there / max(1, there - 1))

    def freedom(self, rows: int, columns: int) -> int:
        """The degrees of freedom of a robust variance: of rows, or of groups less one."""
        if self.groups is None:
            return max(1, rows - columns)
        return max(1, min(rows - columns, len(np.unique(self.groups)) - 1))


EQUAL = RowSums()
