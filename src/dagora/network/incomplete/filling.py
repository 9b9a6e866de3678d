"""Complete a table with holes from a network, for structural EM.

A network that was fitted by EM says what the missing cells may have been. For discrete columns, several
completions of the table are drawn, one below the other, each row given what was seen in it. For continuous
ones, the moments that are expected of the completed table are known in closed form. Tables with both kinds
are completed by draws (`drawn_filling`), and so are discrete ones whose graph is too wide for exact
expectations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np

from dagora.base.events import Budget
from dagora.data.incomplete import IncompleteTable
from dagora.data.schema import Kind, Schema
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.network.incomplete.bucket_tree import BucketTree
from dagora.network.incomplete.completion import Completion, Filling
from dagora.network.incomplete.drawn_filling import DrawnRows, MixedFilling
from dagora.network.incomplete.drawn_fit import parameters_of
from dagora.network.incomplete.fitting import TooWideError, fit_discrete_with_holes, fit_gaussian_with_holes
from dagora.network.incomplete.matching import node_codes
from dagora.network.networks import DiscreteNetwork
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.statistics import CellCounts, ColumnSets, Contingency, Moments
from dagora.stats.table import TableStatistics

# Completions of the table that are drawn in a round.
DRAWS = 5
# Completions where the graph is too wide: they tell the parameters, too.
MANY_DRAWS = 20
# Within structural EM, parameters need not be fitted to the last digit.
ROUGHLY = 1e-5


def filling_of(
    statistics: IncompleteStatistics, seed: int, penalty: float, judge: Callable[[DAG], float]
) -> Filling:
    """What completes a table; with both kinds of columns, `judge` scores a graph on what was seen."""
    if statistics.schema.kinds == {Kind.DISCRETE}:
        return DiscreteFilling(statistics.table, seed, penalty)
    if statistics.schema.kinds == {Kind.CONTINUOUS}:
        return GaussianFilling(statistics, penalty)
    return MixedFilling(statistics.table, seed, judge)


class DiscreteFilling:
    """Completes a discrete table by draws."""

    comparable = True
    note = ""

    def __init__(self, table: IncompleteTable, seed: int, penalty: float = 1.0) -> None:
        self._table = table
        self._seed = seed
        self._price = penalty * log(max(1, table.n_rows)) / 2
        self._network: DiscreteNetwork | None = None
        self._wide = False

    @cached_property
    def _drawn(self) -> DrawnRows:
        return DrawnRows(self._table, MANY_DRAWS, self._seed)

    def fit(self, graph: DAG, budget: Budget) -> float:
        """Fit tables by EM from those of the graph before; return the BIC of what was seen."""
        try:
            found = fit_discrete_with_holes(
                graph, self._table, start=self._network, tolerance=ROUGHLY, budget=budget
            )
        except TooWideError:
            return self._fit_wide(graph, budget)
        self._wide = False
        self._network = found.network
        return float(found.log_likelihood - self._price * parameters_of(found.network))

    def _fit_wide(self, graph: DAG, budget: Budget) -> float:
        self._wide = True
        network, log_likelihood = self._drawn.fit(graph, budget)
        if np.isnan(log_likelihood):
            raise TooWideError("too many missing levels hang together")
        self.note = f"missing cells of wide graphs were drawn, {MANY_DRAWS} times"
        return float(log_likelihood - self._price * parameters_of(network))

    def complete(self, turn: int) -> Completion:
        """Draw completions from the network."""
        if self._wide:
            return self._drawn.completion()
        assert self._network is not None  # `fit` comes first
        tree = BucketTree(self._network)
        codes = node_codes(self._network, self._table)
        draws = [tree.draw(self._network, codes, (self._seed, turn, k)) for k in range(DRAWS)]
        stacked = dict(zip(self._network.graph, np.concatenate(draws, axis=1).astype(np.uint16), strict=True))
        table = Table(self._table.schema, tuple(stacked[name] for name in self._table.names))
        return Completion(TableStatistics(table), DRAWS)


class GaussianFilling:
    """Completes a continuous table by expected moments."""

    comparable = True
    note = ""

    def __init__(self, statistics: IncompleteStatistics, penalty: float = 1.0) -> None:
        table = statistics.table
        self._schema = table.schema
        self._values = np.stack(table.columns, axis=1)
        self._seen = table.seen.T
        self._price = penalty * log(max(1, table.n_rows)) / 2
        self._moments = statistics.moments()

    def fit(self, graph: DAG, budget: Budget) -> float:
        """Fit regressions by EM; return the BIC of what was seen."""
        aligned = graph if graph.nodes == self._schema.names else graph.reorder(self._schema.names)
        found = fit_gaussian_with_holes(aligned, self._values, self._seen, self._moments, budget=budget)
        self._moments = found.moments
        parameters = sum(len(graph.parents(node)) + 2 for node in graph)
        return found.log_likelihood - self._price * parameters

    def complete(self, turn: int) -> Completion:  # noqa: ARG002 - nothing is drawn
        """The moments that are expected under the network."""
        return Completion(ExpectedMoments(self._schema, self._moments), 1)


@dataclass(frozen=True)
class ExpectedMoments:
    """Statistics that know moments only."""

    schema: Schema
    found: Moments

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.found.n

    def moments(self) -> Moments:
        """The moments."""
        return self.found

    def counts(self, column_sets: ColumnSets) -> CellCounts:
        """There are no discrete columns to count."""
        raise NotImplementedError

    def contingency(self, columns: object) -> Contingency:
        """There are no discrete columns to count."""
        raise NotImplementedError

    def rows(self) -> Table:
        """There are no rows."""
        raise NotImplementedError
