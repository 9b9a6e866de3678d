"""Statistics of rows of which only the covariance matrix is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, RowsUnavailableError
from dagora.data.schema import Kind, Schema, Variable
from dagora.stats.statistics import CellCounts, ColumnSets, Contingency, Moments

# Printed matrices are rounded: entries (i, j) and (j, i) may differ by so much of the product of the standard
# deviations, and an eigenvalue of the correlations may be so much below 0.
ROUNDED = 1e-3


class GivenMoments:
    """A covariance matrix (divided by n − 1) or correlation matrix of `rows` rows, whose means are not known.

    >>> statistics = GivenMoments(["a", "b"], [[4.0, 1.0], [1.0, 1.0]], 11)
    >>> statistics.n_rows, statistics.moments().scatter.tolist()
    (11, [[40.0, 10.0], [10.0, 10.0]])
    """

    def __init__(self, names: Sequence[str], covariance: object, rows: int) -> None:
        matrix = checked_covariance(names, np.asarray(covariance, dtype=np.float64))
        self.schema = Schema(Variable(name, Kind.CONTINUOUS) for name in names)
        self.n_rows = rows
        with np.errstate(over="ignore"):  # a score refuses numbers that are too large
            self._moments = Moments(rows, np.zeros(len(names)), matrix * (rows - 1))

    def counts(self, column_sets: ColumnSets) -> CellCounts:
        """Nothing is counted, as no column is discrete."""
        if any(len(each) for each in column_sets):
            self.rows()
        ends = np.arange(len(column_sets) + 1)
        return CellCounts(np.full(len(column_sets), self.n_rows), ends)

    def contingency(self, columns: Sequence[int]) -> Contingency:  # noqa: ARG002
        """Refuse counts."""
        self.rows()

    def moments(self) -> Moments:
        """The moments; the means are given as 0."""
        return self._moments

    def rows(self) -> NoReturn:
        """Refuse rows: there are none."""
        raise RowsUnavailableError(
            "this needs rows, and only their covariance matrix is given: choose a method and a score that "
            "need no more than that, such as tabu with bic-gaussian, or pc"
        )


def checked_covariance(names: Sequence[str], matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The matrix, symmetric; one triangle may be missing. What is no covariance matrix is refused."""
    size = len(names)
    if matrix.shape != (size, size):
        shape = " × ".join(map(str, matrix.shape))
        raise DataError(f"a covariance matrix of {size} columns has as many rows; this one is {shape}")
    upper, lower = np.triu_indices(size, 1), np.tril_indices(size, -1)
    for there, empty in ((upper, lower), (lower, upper)):
        if np.isnan(matrix[empty]).all() and not np.isnan(matrix[there]).any():
            matrix = np.where(np.isnan(matrix), matrix.T, matrix)
    if not np.isfinite(matrix).all():
        i, j = (int(place) for place in np.argwhere(~np.isfinite(matrix))[0])
        raise DataError(f"the covariance of '{names[i]}' and '{names[j]}' is no finite number")
    variances = np.diagonal(matrix)
    if (variances <= 0).any():
        raise DataError(f"the variance of '{names[int(variances.argmin())]}' is not above 0")
    deviations = np.sqrt(variances)
    correlations = matrix / deviations[:, None] / deviations
    if (off := np.abs(correlations - correlations.T)).max() > ROUNDED:
        i, j = (int(place) for place in np.unravel_index(int(off.argmax()), off.shape))
        raise DataError(
            f"the matrix is not symmetric: '{names[i]}' with '{names[j]}' has {matrix[i, j]:g}, and the "
            f"other way round {matrix[j, i]:g}"
        )
    if (least := float(np.linalg.eigvalsh((correlations + correlations.T) / 2)[0])) < -ROUNDED:
        raise DataError(
            f"this is no covariance matrix of any rows: the correlations have an eigenvalue of {least:.3g}. "
            "Pairs of columns with different missing rows can bring that about"
        )
    symmetric: NDArray[np.float64] = matrix / 2 + matrix.T / 2
    return symmetric
