"""Statistics of a table with missing values.

Counts of complete rows would be those of other rows for every set of columns: they are refused. What can be
asked for is what the seen cells say of a set of columns: the largest likelihood of a table over it, and the
moments of a normal distribution, both by EM.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from dagora.base.budget import Budget
from dagora.base.errors import DataError
from dagora.base.wording import option
from dagora.data.columns.overview import Overview
from dagora.data.incomplete import IncompleteTable
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.stats.capabilities import StatisticsCapabilities
from dagora.stats.indicators import IndicatorMoments, feature_starts
from dagora.stats.observed.normal_em import check_estimable, normal_moments
from dagora.stats.observed.seen_together import SeenTogether
from dagora.stats.observed.set_likelihoods import MOST_CELLS, observed_likelihoods
from dagora.stats.statistics import CellCounts, ColumnSets, Contingency, Moments, flatten

# EM of the widened table ends here at the latest. Where rows are many, fewer steps suffice. Where features
# are nearly as many as rows, it would go on for long, only to follow chance.
FEATURE_TOLERANCE, FEATURE_STEPS = 1e-5, 50
# Of the time that is left, the share that EM of moments may take.
SHARE = 0.5
# EM over the cells of a set ends where less than this is estimated to be left to gain.
TOLERANCE = 1e-4


class IncompleteStatistics:
    """Statistics of the observed cells of a table.

    >>> whole = Table.from_numpy([[0, 0], [0, 1], [1, 1], [1, 1]], names=["a", "b"], discrete=["a", "b"])
    >>> holes = [[True, True, True, True], [True, True, True, False]]
    >>> statistics = IncompleteStatistics(IncompleteTable.of(whole, holes))
    >>> statistics.likelihoods([(0,), (0, 1)]).round(4)
    array([-2.7726, -4.1589])
    >>> statistics.counts([(0,)])
    Traceback (most recent call last):
    dagora.DataError: 1 of 8 cells is missing, and this needs complete rows: choose missing="drop" ...
    """

    def __init__(self, table: IncompleteTable, clock: Budget | None = None) -> None:
        self._table = table
        self.schema, self.n_rows = table.schema, table.n_rows
        self._clock = clock or Budget()
        self._cardinalities = table.schema.cardinalities

    def with_clock(self, clock: Budget) -> IncompleteStatistics:
        """The same statistics, for which EM of moments takes no more than its share of a time limit."""
        return self if clock.limit is None else IncompleteStatistics(self._table, clock)

    def in_order(self, names: Sequence[str]) -> IncompleteStatistics:
        """The same statistics with the columns in another order; what took long is not done again."""
        turned = IncompleteStatistics(self._table.select(names), self._clock)
        if "_indicator_moments" in vars(self):
            places = np.array([self.schema.index(name) for name in names], dtype=np.int64)
            turned._indicator_moments = self._indicator_moments.in_order(places)
        if "_moments" in vars(self):
            kinds = {variable.name for variable in self.schema if variable.kind is Kind.CONTINUOUS}
            before = [name for name in self.schema.names if name in kinds]
            order = [before.index(name) for name in names if name in kinds]
            found = self._moments
            turned._moments = Moments(found.n, found.mean[order], found.scatter[np.ix_(order, order)])
        return turned

    @property
    def overview(self) -> Overview | None:
        """The overview of the table's source."""
        return self._table.overview

    @property
    def table(self) -> IncompleteTable:
        """The table with its missing values."""
        return self._table

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """The rows as level numbers, a row for each column; a missing value is one above the last level."""
        codes = np.zeros(self._table.seen.shape, dtype=np.int32)
        for i, variable in enumerate(self.schema):
            if variable.kind is Kind.DISCRETE:
                codes[i] = np.where(self._table.seen[i], self._table.columns[i], variable.cardinality)
        return codes

    @property
    def capabilities(self) -> StatisticsCapabilities:
        """Moments of indicators; what needs complete rows is refused."""
        return StatisticsCapabilities(
            in_memory=True,
            overview=self.overview,
            indicator_moments=self.indicator_moments,
            refuse_missing=self.refuse,
        )

    def likelihoods(self, column_sets: ColumnSets, tolerance: float = TOLERANCE) -> NDArray[np.float64]:
        """For each set of discrete columns, the largest log-likelihood of what was seen of it.

        −∞ where a set has too many cells.
        """
        columns, offsets = flatten(column_sets)
        found = np.empty(len(offsets) - 1)
        if len(found):
            observed_likelihoods(
                self.codes, self._cardinalities, columns, offsets, tolerance, MOST_CELLS, found
            )
        return found

    @cached_property
    def _moments(self) -> Moments:
        kept = [i for i, variable in enumerate(self.schema) if variable.kind is Kind.CONTINUOUS]
        if not kept:
            return Moments(self.n_rows, np.zeros(0), np.zeros((0, 0)))
        check_estimable(self.n_rows, len(kept))
        values = np.stack([self._table.columns[i] for i in kept], axis=1)
        return normal_moments(values, self._table.seen[kept].T, budget=self._clock.part(SHARE))

    @cached_property
    def together(self) -> SeenTogether:
        """The number of rows in which columns are observed together."""
        return SeenTogether(self._table.seen)

    def moments(self) -> Moments:
        """Maximum-likelihood moments of the continuous columns, by EM."""
        return self._moments

    def indicator_moments(self) -> IndicatorMoments:
        """Maximum-likelihood moments of columns, squares and indicators, by EM."""
        return self._indicator_moments

    @cached_property
    def _indicator_moments(self) -> IndicatorMoments:
        starts = feature_starts(self.schema)
        features = np.zeros((self.n_rows, int(starts[-1])))
        seen = np.empty(features.shape, dtype=np.bool_)
        for i, (variable, column) in enumerate(zip(self.schema, self._table.columns, strict=True)):
            own = features[:, starts[i] : starts[i + 1]]
            here = self._table.seen[i]
            seen[:, starts[i] : starts[i + 1]] = here[:, None]
            if variable.kind is Kind.CONTINUOUS:
                spread = float(column[here].std()) or 1.0
                own[:, 0] = (column - column[here].mean()) / spread
                own[:, 1] = own[:, 0] ** 2
            else:
                own[:] = column[:, None] == np.arange(1, own.shape[1] + 1)
        check_estimable(self.n_rows, features.shape[1], "columns, squares and levels")
        found = normal_moments(features, seen, FEATURE_TOLERANCE, FEATURE_STEPS, self._clock.part(SHARE))
        return IndicatorMoments(found, starts)

    def counts(self, column_sets: ColumnSets) -> CellCounts:  # noqa: ARG002
        """Refuse: rows would have to be complete."""
        self.refuse()

    def contingency(self, columns: Sequence[int]) -> Contingency:  # noqa: ARG002
        """Refuse: rows would have to be complete."""
        self.refuse()

    def rows(self) -> Table:
        """Refuse: rows would have to be complete."""
        self.refuse()

    def refuse(self, what: str = "this") -> NoReturn:
        """Say that something needs complete rows, and what to do."""
        missing, cells = self._table.missing, self._table.seen.size
        raise DataError(
            f"{missing} of {cells} cells {'is' if missing == 1 else 'are'} missing, and {what} needs "
            f"complete rows: choose {option('missing', 'drop')} to leave out such rows, or "
            f"{option('missing', 'level')} to make missing a level of a discrete column"
        )
