"""A test of trend between ordered columns: the sum over strata of products of ranks (linear by linear).

Columns are replaced by their ranks, equal values sharing the mean rank. Rows with the same levels in the
conditioning set are a stratum. If two columns are independent within strata, Σ (u − ū)(v − v̄) has the mean 0
and the variance Σ_h S_u S_v / (n_h − 1) over all permutations of rows within strata (Mantel 1963; Agresti
2010). It has one degree of freedom, so it sees a trend with fewer rows than a test of any dependence, and no
other dependence.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dagora.base.errors import DataError
from dagora.base.wording import col, setting
from dagora.data.columns.ordinal import mean_ranks
from dagora.data.schema import Kind
from dagora.learners.independence.protocol import Columns
from dagora.stats.latent_correlations import in_order, is_ordered, no_order
from dagora.stats.statistics import Statistics

Floats = NDArray[np.float64]

AT_ONCE = 500


class TrendTest:
    """Tests of trend between columns with an order, given columns with levels.

    >>> from dagora.data.table import Table
    >>> from dagora.stats.table import TableStatistics
    >>> a = np.repeat([0, 1, 2], 20)
    >>> table = Table.from_numpy(np.column_stack([a, a, a[::-1]]), names="abc", discrete=["a", "b", "c"])
    >>> test = TrendTest(TableStatistics(table), "it")
    >>> bool(test.p_values(np.array([0]), np.array([1]), np.empty((1, 0), dtype=np.int64))[0] < 1e-6)
    True
    """

    def __init__(self, statistics: Statistics, owner: str) -> None:
        table = statistics.rows()
        self.names = table.names
        self._owner = owner
        self._schema = table.schema
        self._ranks = np.empty((len(table.names), table.n_rows))
        self._codes = np.zeros((len(table.names), table.n_rows), dtype=np.int64)
        for place, variable in enumerate(table.schema):
            if variable.kind is Kind.CONTINUOUS:
                self._ranks[place] = mean_ranks(table.values(place))
                continue
            if not is_ordered(variable):
                raise no_order("the test trend", variable)
            self._codes[place] = in_order(variable, table.codes(place))
            self._ranks[place] = mean_ranks(self._codes[place])

    @property
    def max_given(self) -> int:
        """Any set of columns with levels."""
        return len(self.names)

    @property
    def batch_size(self) -> int:
        """Few enough that the time limit is checked now and then."""
        return AT_ONCE

    def p_values(self, x: Columns, y: Columns, given: Columns) -> Floats:
        """The p-values of many pairs."""
        return np.array(
            [self._p(i, j, k) for i, j, k in zip(x.tolist(), y.tolist(), given.tolist(), strict=True)]
        )

    def _p(self, x: int, y: int, given: list[int]) -> float:
        stratum = np.zeros(self._ranks.shape[1], dtype=np.int64)
        for column in given:
            variable = self._schema[column]
            if variable.kind is Kind.CONTINUOUS:
                raise DataError(
                    f"the test trend is given levels only, and {col(variable.name)} is continuous: choose "
                    f"{setting('test', 'latent')}, or cut it into intervals"
                )
            _, stratum = np.unique(
                stratum * (len(variable.levels) + 1) + self._codes[column], return_inverse=True
            )
        rows = np.bincount(stratum).astype(np.float64)
        u, v = self._ranks[x], self._ranks[y]
        u = u - (np.bincount(stratum, u) / rows)[stratum]
        v = v - (np.bincount(stratum, v) / rows)[stratum]
        spread = np.bincount(stratum, u * u) * np.bincount(stratum, v * v)
        variance = float((spread[rows > 1] / (rows[rows > 1] - 1)).sum())
        if variance <= 0:
            return float("nan")
        return float(2 * ndtr(-abs(float(u @ v)) / np.sqrt(variance)))
