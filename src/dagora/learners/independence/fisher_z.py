"""Tests of partial correlations by Fisher's z, for jointly normal columns, from second moments alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import inlined, kernel
from dagora.kernels.rows import copy_row
from dagora.learners.independence.protocol import Columns
from dagora.scores.gaussian import COLLINEAR
from dagora.scores.usable_moments import gaussian_moments, refuse_duplicates
from dagora.stats.statistics import Statistics

Floats = NDArray[np.float64]


class FisherZ:
    """Tests of partial correlations.

    >>> from dagora.data.table import Table
    >>> from dagora.stats.table import TableStatistics
    >>> a, noise, more = np.random.default_rng(0).normal(size=(3, 200))
    >>> rows = np.stack([a, a + noise, a + more], axis=1)
    >>> test = FisherZ(TableStatistics(Table.from_numpy(rows, names=["a", "b", "c"])), "the method pc")
    >>> test.p_values(np.array([1]), np.array([2]), np.array([[0]])).round(3)
    array([0.392])
    """

    def __init__(self, statistics: Statistics, owner: str) -> None:
        moments = gaussian_moments(statistics, owner)
        refuse_duplicates(moments, statistics.schema, owner)
        spread = np.sqrt(np.diag(moments.scatter))
        self.names = statistics.schema.names
        self.rows = moments.n
        self.correlations: Floats = np.clip(moments.scatter / np.outer(spread, spread), -1.0, 1.0)
        np.fill_diagonal(self.correlations, 1.0)

    @property
    def max_given(self) -> int:
        """A test needs four rows more than conditioning columns."""
        return self.rows - 4

    @property
    def batch_size(self) -> int:
        """A test takes about a microsecond."""
        return 100_000

    def p_values(self, x: Columns, y: Columns, given: Columns) -> Floats:
        """The p-values of many partial correlations."""
        squared = np.empty(len(x))
        squared_correlations(self.correlations, x, y, given, squared)
        return self.tail(squared, given.shape[1])

    def tail(self, squared: Floats, size: int) -> Floats:
        """The p-values of squared partial correlations given `size` columns."""
        from scipy.special import ndtr

        freedom = self.rows - 3 - size
        if freedom <= 0:
            return np.full(len(squared), np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.arctanh(np.sqrt(squared)) * np.sqrt(freedom)
        p: Floats = 2 * ndtr(-z)
        return p


@inlined
def eliminate_others(block: NDArray[np.float64], size: int) -> None:
    """Eliminate all rows but 0 and 1 from the lower triangle of the first `size` rows, the last one first.

    >>> block = np.array([[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.5, 1.0, 1.0]])
    >>> eliminate_others(block, 3)
    >>> block[1, 0], block[0, 0], block[1, 1]
    (np.float64(0.0), np.float64(0.75), np.float64(0.0))
    """
    for last in range(size - 1, 1, -1):
        pivot = block[last, last]
        # A column that is linearly dependent on the others explains nothing further.
        if pivot <= COLLINEAR:
            continue
        for a in range(last):
            factor = block[last, a] / pivot
            for b in range(a + 1):
                block[a, b] -= factor * block[last, b]


@kernel
def squared_correlations(correlations: Floats, x: Columns, y: Columns, given: Columns, out: Floats) -> None:
    """Write squared partial correlations; NaN if the conditioning set determines x or y."""
    size = given.shape[1] + 2
    block = np.empty((size, size))
    members = np.empty(size, dtype=np.int64)
    for k in range(len(x)):
        members[0], members[1] = x[k], y[k]
        copy_row(given[k], members[2:])
        for a in range(size):
            for b in range(a + 1):
                block[a, b] = correlations[members[a], members[b]]
        eliminate_others(block, size)
        if block[0, 0] <= COLLINEAR or block[1, 1] <= COLLINEAR:
            out[k] = np.nan
        else:
            out[k] = min(1.0, block[1, 0] ** 2 / (block[0, 0] * block[1, 1]))
