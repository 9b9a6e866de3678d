"""The `Statistics` of rows that are not pooled: every count and moment is a secure sum over the sites.

Counts of a set of columns are summed over all its cells, occupied or not, so that nobody learns which cells a
site occupies. Many sets share one round, and a set is asked for once, whatever the order of its columns. Sums
of weights are brought to the effective number of rows, as those of `stats.designed` are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError, RowsUnavailableError
from dagora.base.wording import option
from dagora.data.schema import Schema
from dagora.data.table import Table
from dagora.graph.lagged_graph import window_names
from dagora.parties.horizontal.plan.plan import MOST_CELLS
from dagora.parties.horizontal.session.federation import Federation
from dagora.parties.horizontal.session.row_sums import WeightSums
from dagora.stats.basis import BasisMoments
from dagora.stats.capabilities import StatisticsCapabilities
from dagora.stats.effective_rows import FEWEST, EffectiveRows
from dagora.stats.indicators import IndicatorMoments
from dagora.stats.lagged import LaggedStatistics
from dagora.stats.statistics import CellCounts, ColumnSets, Contingency, Moments, flatten, running_sum

Key = tuple[int, ...]


class SecureStatistics:
    """Statistics over a federation."""

    def __init__(self, federation: Federation) -> None:
        self.federation = federation
        self._cardinalities: list[int] = federation.schema.cardinalities.tolist()
        self._known: dict[Key, NDArray[np.int64]] = {}

    @property
    def schema(self) -> Schema:
        """The agreed variables."""
        return self.federation.schema

    @cached_property
    def n_rows(self) -> int:
        """Number of rows of all sites together."""
        if self.effective is not None:
            return self.effective.effective
        if not all(self._cardinalities):
            return self.moments().n
        for table in self._known.values():
            return int(table.sum())
        self._learn([()])
        return int(self._known[()][0])

    @property
    def capabilities(self) -> StatisticsCapabilities:
        """The federation, many sets in one round, and moments of functions and indicators."""
        return StatisticsCapabilities(
            contingencies=self.contingencies,
            basis_moments=self.basis_moments,
            indicator_moments=self.indicator_moments,
            federation=self.federation,
            design=self.effective,
        )

    @cached_property
    def _weights(self) -> WeightSums | None:
        return self.federation.weight_sums()

    @property
    def effective(self) -> EffectiveRows | None:
        """The effective number of rows, where they have weights."""
        return self._effective

    @cached_property
    def _effective(self) -> EffectiveRows | None:
        sums = self._weights
        if sums is None:
            return None
        number = max(1, round(sums.effective))
        said = f"with their weights the {sums.rows} rows of all sites count as {number}, the effective number"
        if number < FEWEST:
            raise DataError(f"{said}: at least {FEWEST} are needed")
        return EffectiveRows(sums.rows, number, said)

    def _in_rows(self, found: NDArray[np.int64]) -> NDArray[Any]:
        """Sums of weights as numbers of effective rows; counts stay as they are."""
        if self._weights is None or self.effective is None:
            return found
        return found * (self.effective.effective / self._weights.total)

    def _rescaled(self, moments: Moments) -> Moments:
        """Moments over the sum of weights as those of the effective number of rows."""
        if self._weights is None or self.effective is None:
            return moments
        number = self.effective.effective
        return Moments(number, moments.mean, moments.scatter * (number / self._weights.total))

    def rows(self) -> Table:
        """Refuse: rows stay at their sites."""
        raise RowsUnavailableError(
            "this method needs rows, which the sites keep: choose one that works on counts or moments"
        )

    def counts(self, column_sets: ColumnSets) -> CellCounts:
        """Occupied joint counts of many sets, in as few rounds as their size allows."""
        columns, offsets = flatten(column_sets)
        keys = [tuple(columns[a:b].tolist()) for a, b in pairwise(offsets)]
        self._learn(keys)
        found = [table[table > 0] for table in map(self._table, keys)]
        values = np.concatenate(found) if found else np.zeros(0, dtype=np.int64)
        return CellCounts(
            self._in_rows(values), running_sum(np.array([len(some) for some in found], dtype=np.int64))
        )

    def _learn(self, keys: Iterable[Key]) -> None:
        batch: list[Key] = []
        cells = 0
        for key in dict.fromkeys(tuple(sorted(key)) for key in keys):
            if key in self._known:
                continue
            size = self._cells(key)
            if batch and cells + size > MOST_CELLS:
                self._ask(batch)
                batch, cells = [], 0
            batch.append(key)
            cells += size
        if batch:
            self._ask(batch)

    def _cells(self, key: Key) -> int:
        cards = [self._cardinalities[column] for column in key]
        for column, card in zip(key, cards, strict=True):
            if card == 0:
                name = self.schema[column].name
                raise DataError(f"column '{name}' is continuous, so it has no counts: discretise it first")
        size = prod(cards)
        most = self.federation.largest_table
        if size > most.cells or len(key) > most.columns:
            raise DataError(
                f"a joint table of {len(key)} columns and {size} cells is larger than the plan of this run "
                f"allows ({most.columns} columns, {most.cells} cells): set {option('max_parents')} "
                "(for pc the option max_given), or merge levels"
            )
        return size

    def _ask(self, batch: list[Key]) -> None:
        sums = self.federation.counts(batch)
        starts = running_sum(np.array([self._cells(key) for key in batch], dtype=np.int64))
        for key, (start, stop) in zip(batch, pairwise(starts), strict=True):
            self._known[key] = sums[start:stop]

    def _table(self, key: Key) -> NDArray[np.int64]:
        """All cells of a set in the order of its columns, whatever order it was asked for in."""
        order = sorted(range(len(key)), key=key.__getitem__)
        asked = self._known[tuple(key[i] for i in order)]
        if order == list(range(len(key))):
            return asked
        shape = [self._cardinalities[key[i]] for i in order]
        return asked.reshape(shape).transpose(np.argsort(order)).ravel()

    def contingency(self, columns: Sequence[int]) -> Contingency:
        """Occupied cells of one set in lexicographic order, with their counts."""
        return self.contingencies([columns])[0]

    def contingencies(self, column_sets: Sequence[Sequence[int]]) -> list[Contingency]:
        """Occupied cells of many sets, in as few rounds as their size allows."""
        keys = [tuple(int(column) for column in columns) for columns in column_sets]
        self._learn(keys)
        return [self._contingency(key) for key in keys]

    def _contingency(self, key: Key) -> Contingency:
        table = self._table(key)
        occupied = np.flatnonzero(table)
        shape = [self._cardinalities[column] for column in key]
        cells = np.stack(np.unravel_index(occupied, shape), axis=1) if key else np.zeros((1, 0))
        return Contingency(cells.astype(np.int64), self._in_rows(table[occupied]))

    def moments(self) -> Moments:
        """First and second moments of the continuous columns."""
        return self._moments

    @cached_property
    def _moments(self) -> Moments:
        return self._rescaled(self.federation.moments())

    def basis_moments(self, functions: int) -> BasisMoments:
        """Moments of basis functions of the continuous columns."""
        found = self.federation.basis_moments(functions)
        return replace(found, moments=self._rescaled(found.moments))

    def indicator_moments(self) -> IndicatorMoments:
        """Moments of the columns, the squares of the continuous ones, and indicators of levels."""
        return self._indicator_moments

    @cached_property
    def _indicator_moments(self) -> IndicatorMoments:
        found = self.federation.indicator_moments()
        return replace(found, moments=self._rescaled(found.moments))


class SecureSeriesStatistics(SecureStatistics):
    """Statistics over a federation of sites that have series, of windows that reach `lags` steps back.

    Only the sum over windows is asked for. So statistics of single steps are of those that end a window:
    `n_rows` is their number, and `moments` are those of the window's last step.
    """

    def __init__(self, federation: Federation, lags: int) -> None:
        super().__init__(federation)
        self.lags = lags

    @property
    def effective(self) -> None:
        """No weights: a plan about series has none."""
        return

    @property
    def capabilities(self) -> StatisticsCapabilities:
        """Those of rows over sites, and windows."""
        return replace(super().capabilities, lagged=self.lagged)

    def lagged(self, lags: int) -> LaggedStatistics:
        """Statistics of windows; of those that the plan of the run allows."""
        if lags != self.lags:
            raise OptionError(f"the plan is for {option('lags', self.lags)}, not for {option('lags', lags)}")
        return LaggedStatistics(self.schema.names, lags, self._windows)

    def moments(self) -> Moments:
        """Moments of the steps that end a window."""
        d, windows = len(self.schema), self._windows
        return Moments(windows.n, windows.mean[:d], windows.scatter[:d, :d])

    @cached_property
    def _windows(self) -> Moments:
        window_names(self.schema.names, self.lags)  # refuses a variable that is named like a lagged one
        moments = self.federation.lagged_moments(self.lags)
        if moments.n == 0:
            raise DataError(
                f"no site has a series of {self.lags + 1} steps ({option('lags', self.lags)}): choose fewer "
                "lags"
            )
        return moments
