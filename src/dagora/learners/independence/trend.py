"""A test of trend between ordered columns: the sum over strata of products of ranks (linear by linear).

Columns are replaced by their ranks, equal values sharing the mean rank. Rows with the same levels in the
conditioning set are a stratum. If two columns are independent within strata, Σ (u − ū)(v − v̄) has the mean 0
and the variance Σ_h S_u S_v / (n_h − 1) over all permutations of rows within strata (Mantel 1963; Agresti
2010). It has one degree of freedom, so it sees a trend with fewer rows than a test of any dependence, and no
other dependence. Of levels alone, joint counts are enough.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dagora.base.errors import DataError
from dagora.base.wording import col, setting
from dagora.data.columns.ordinal import mean_ranks
from dagora.data.schema import Kind
from dagora.learners.independence.protocol import Columns
from dagora.stats.capabilities import contingencies
from dagora.stats.latent_correlations import check_columns, columns_of, in_order
from dagora.stats.statistics import Contingency, Statistics

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
        owner = f"{owner} with the test trend"
        check_columns(statistics, owner)
        self.names = statistics.schema.names
        self._statistics, self._schema = statistics, statistics.schema
        numbers = any(variable.kind is Kind.CONTINUOUS for variable in statistics.schema)
        self._columns = columns_of(statistics, owner) if numbers else []

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
        sets = np.column_stack([x, y, given]).tolist()
        of_levels = [not self._numbers(members) for members in sets]
        counted = [members for members, levels in zip(sets, of_levels, strict=True) if levels]
        joint = iter(contingencies(self._statistics, counted))
        return np.array(
            [
                self._of_counts(members, next(joint)) if levels else self._of_rows(members)
                for members, levels in zip(sets, of_levels, strict=True)
            ]
        )

    def _numbers(self, members: list[int]) -> list[str]:
        """The columns of numbers among some."""
        some = [self._schema[column] for column in members]
        return [variable.name for variable in some if variable.kind is Kind.CONTINUOUS]

    def _of_counts(self, members: list[int], joint: Contingency) -> float:
        """The p-value of the first two columns given the others, by their joint counts."""
        one, other = (in_order(self._schema[k], joint.cells[:, a]) for a, k in enumerate(members[:2]))
        u, v = mean_ranks_of(one, joint.counts), mean_ranks_of(other, joint.counts)
        return trend(u, v, strata_of(joint.cells[:, 2:]), joint.counts)

    def _of_rows(self, members: list[int]) -> float:
        """The p-value of the first two columns given the others, by the rows."""
        if numbers := self._numbers(members[2:]):
            raise DataError(
                f"the test trend is given levels only, and {col(numbers[0])} is continuous: choose "
                f"{setting('test', 'latent')}, or cut it into intervals"
            )
        u, v = (mean_ranks(self._columns[k]) for k in members[:2])
        rows = len(self._columns[0])
        given = np.array([self._columns[k] for k in members[2:]], dtype=np.int64).reshape(-1, rows)
        return trend(u, v, strata_of(given.T), np.ones(rows))


def strata_of(cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """The stratum of each row of levels: equal rows share one."""
    return np.unique(cells, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def mean_ranks_of(codes: NDArray[np.int64], counts: NDArray[Any]) -> Floats:
    """The mean rank of each cell's level among all rows, as `mean_ranks` has it.

    >>> mean_ranks_of(np.array([0, 1, 1]), np.array([2, 1, 2])), mean_ranks(np.array([0, 0, 1, 1, 1]))
    (array([0.5, 3. , 3. ]), array([0.5, 0.5, 3. , 3. , 3. ]))
    """
    margin = np.bincount(codes, counts)
    return np.asarray((np.cumsum(margin) - (margin + 1) / 2)[codes])


def trend(u: Floats, v: Floats, stratum: NDArray[np.int64], counts: NDArray[Any]) -> float:
    """The p-value of two columns of ranks in strata, of rows or of cells with counts."""
    rows = np.bincount(stratum, counts)
    u = u - (np.bincount(stratum, counts * u) / rows)[stratum]
    v = v - (np.bincount(stratum, counts * v) / rows)[stratum]
    spread = np.bincount(stratum, counts * u * u) * np.bincount(stratum, counts * v * v)
    variance = float((spread[rows > 1] / (rows[rows > 1] - 1)).sum())
    if variance <= 0:
        return float("nan")
    return float(2 * ndtr(-abs(float(counts * u @ v)) / np.sqrt(variance)))
