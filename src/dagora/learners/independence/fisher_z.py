"""Partial correlations by Fisher's z, for columns that are jointly normal: from second moments alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.learners.independence.elimination import eliminate_others
from dagora.learners.independence.independence_test import Columns
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
    def most(self) -> int:
        """A test needs four rows more than it is given columns."""
        return self.rows - 4

    @property
    def at_a_time(self) -> int:
        """A test takes about a microsecond."""
        return 100_000

    def p_values(self, x: Columns, y: Columns, given: Columns) -> Floats:
        """The p-values of many partial correlations."""
        found = np.empty(len(x))
        squared_correlations(self.correlations, x, y, given, found)
        return self.tail(found, given.shape[1])

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


@kernel
def squared_correlations(correlations: Floats, x: Columns, y: Columns, given: Columns, out: Floats) -> None:
    """Squared partial correlations; NaN where one of the two is determined by what is given."""
    size = given.shape[1] + 2
    block = np.empty((size, size))
    members = np.empty(size, dtype=np.int64)
    for k in range(len(x)):
        members[0], members[1] = x[k], y[k]
        members[2:] = given[k]
        for a in range(size):
            for b in range(a + 1):
                block[a, b] = correlations[members[a], members[b]]
        eliminate_others(block, size)
        if block[0, 0] <= COLLINEAR or block[1, 1] <= COLLINEAR:
            out[k] = np.nan
        else:
            out[k] = min(1.0, block[1, 0] ** 2 / (block[0, 0] * block[1, 1]))
