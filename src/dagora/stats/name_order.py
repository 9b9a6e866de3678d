"""The same statistics with the columns in the order of their names.

A search that settles ties by the order of the columns then ends in the same graph wherever they stand in the
data: the names go with the columns.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dagora.data.schema import Kind, Schema
from dagora.data.table import Table
from dagora.stats.basis import BasisMoments
from dagora.stats.capabilities import (
    Sets,
    StatisticsCapabilities,
    capabilities_of,
    contingencies,
    require_basis_moments,
    require_indicator_moments,
)
from dagora.stats.designed import DesignStatistics
from dagora.stats.indicators import IndicatorMoments
from dagora.stats.interventional import InterventionalStatistics
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.statistics import CellCounts, ColumnSets, Contingency, Moments, Statistics
from dagora.stats.table import TableStatistics
from dagora.stats.windows import WindowStatistics


def in_name_order(statistics: Statistics) -> Statistics:
    """The statistics with sorted columns; the same object where they are sorted, or were noised as they are.

    >>> table = Table.from_numpy([[0, 1], [1, 1]], names=["b", "a"], discrete=["a", "b"])
    >>> ordered = in_name_order(TableStatistics(table))
    >>> ordered.schema.names, ordered.contingency((0, 1)).cells.tolist()
    (('a', 'b'), [[0, 0], [0, 1]])
    """
    names = statistics.schema.names
    if list(names) == sorted(names) or capabilities_of(statistics).release is not None:
        return statistics
    if type(statistics) is TableStatistics or isinstance(
        statistics, InterventionalStatistics | IncompleteStatistics | WindowStatistics | DesignStatistics
    ):
        return statistics.in_order(sorted(names))
    return NameOrder(statistics)


class NameOrder:
    """Statistics whose columns are those of others, sorted by name."""

    def __init__(self, statistics: Statistics) -> None:
        self._behind = statistics
        schema = statistics.schema
        self._places = np.array([schema.index(name) for name in sorted(schema.names)], dtype=np.int64)
        self.schema = Schema(schema[int(place)] for place in self._places)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._behind.n_rows

    @property
    def capabilities(self) -> StatisticsCapabilities:
        """The counts and sums of the statistics behind, with the columns in the order of names."""
        behind = capabilities_of(self._behind)
        return StatisticsCapabilities(
            contingencies=self.contingencies,
            knows=behind.knows and self.knows,
            basis_moments=behind.basis_moments and self.basis_moments,
            indicator_moments=behind.indicator_moments and self.indicator_moments,
            max_parents=behind.max_parents,
            design=behind.design,
        )

    def counts(self, column_sets: ColumnSets) -> CellCounts:
        """Occupied joint counts of many sets."""
        if isinstance(column_sets, np.ndarray):
            return self._behind.counts(self._places[column_sets])
        return self._behind.counts(self._sets_behind(column_sets))

    def _sets_behind(self, column_sets: Sets) -> list[list[int]]:
        """Sets of columns by their places in the statistics behind."""
        places = self._places.tolist()
        return [[places[column] for column in columns] for columns in column_sets]

    def contingency(self, columns: Sequence[int]) -> Contingency:
        """Occupied joint counts of one set, with their cells."""
        return self._behind.contingency(self._places[list(columns)].tolist())

    def contingencies(self, column_sets: Sequence[Sequence[int]]) -> list[Contingency]:
        """Occupied joint counts of many sets, with their cells."""
        return contingencies(self._behind, self._sets_behind(column_sets))

    def knows(self, column_sets: Sets) -> bool:
        """Return True if the counts of some sets take no pass over the rows."""
        known = capabilities_of(self._behind).knows
        return known is None or known(self._sets_behind(column_sets))

    def moments(self) -> Moments:
        """Moments of the continuous columns."""
        found = self._behind.moments()
        schema = self._behind.schema
        continuous = [place for place, variable in enumerate(schema) if variable.kind is Kind.CONTINUOUS]
        rank = {place: k for k, place in enumerate(continuous)}
        turn = [rank[place] for place in self._places.tolist() if place in rank]
        return Moments(found.n, found.mean[turn], found.scatter[np.ix_(turn, turn)])

    def basis_moments(self, functions: int) -> BasisMoments:
        """Moments of functions of the columns, where all are continuous."""
        return require_basis_moments(self._behind, functions).in_order(self._places)

    def indicator_moments(self) -> IndicatorMoments:
        """Moments of the widened table."""
        return require_indicator_moments(self._behind).in_order(self._places)

    def rows(self) -> Table:
        """Return the rows, where they may be shown."""
        return self._behind.rows().select(self.schema.names)
