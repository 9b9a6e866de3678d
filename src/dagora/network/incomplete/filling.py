"""Complete a table with missing values from a network, for structural EM.

The network is fitted by EM. For discrete columns, several completions of the table are drawn, one below the
other, each row given its observed values. For continuous ones, the expected moments of the completed table
are known in closed form. Tables with both kinds are completed by draws, and so are discrete ones whose graph
is too wide for exact expectations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Protocol

import numpy as np

from dagora.base.budget import Budget
from dagora.data.incomplete import IncompleteTable
from dagora.data.schema import Kind, Schema
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.network.incomplete.bucket_tree import BucketTree
from dagora.network.incomplete.filled_rows import FilledRows
from dagora.network.incomplete.fitting import TooWideError, fit_discrete_by_em, fit_gaussian_by_em
from dagora.network.incomplete.matching import node_codes
from dagora.network.incomplete.stochastic_em import (
    COPIES,
    Drawable,
    first_network,
    fit_in_rounds,
    parameters_of,
)
from dagora.network.networks import DiscreteNetwork
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.statistics import CellCounts, ColumnSets, Contingency, Moments, Statistics
from dagora.stats.table import TableStatistics

# Completions of the table that are drawn in a round.
DRAWS = 5
# Completions if the graph is too wide: the parameters are estimated from them, too.
MANY_DRAWS = 20
# Tolerance of EM per row within structural EM: the next graph changes the likelihood by far more.
ROUGHLY = 1e-5
# Rounds of drawing and fitting for the first graph, and for those that follow, which begin with filled rows.
FIRST_ROUNDS, ROUNDS = 12, 6


@dataclass(frozen=True)
class Completion:
    """Statistics of completed rows, which are `copies` times as many as the rows of the data."""

    statistics: Statistics
    copies: int


class Filling(Protocol):
    """Fits networks to a table with missing values and completes it.

    If `comparable`, the scores of graphs can be compared; otherwise the last graph counts. `note` says how
    missing values were filled, if that is not exact.
    """

    comparable: bool
    note: str

    def fit(self, graph: DAG, budget: Budget) -> float:
        """Fit parameters; return the score of the graph on the observed values."""

    def complete(self, turn: int) -> Completion:
        """Complete the table from the network that was fitted last; `turn` is part of the random seed."""


def filling_of(
    statistics: IncompleteStatistics, seed: int, penalty: float, score_graph: Callable[[DAG], float]
) -> Filling:
    """Return the filling for the kinds of columns; `score_graph` scores a graph on observed mixed data."""
    if statistics.schema.kinds == {Kind.DISCRETE}:
        return DiscreteFilling(statistics.table, seed, penalty)
    if statistics.schema.kinds == {Kind.CONTINUOUS}:
        return GaussianFilling(statistics, penalty)
    return MixedFilling(statistics.table, seed, score_graph)


class SampledRows:
    """Copies of a table that are filled from one network after the other."""

    def __init__(self, table: IncompleteTable, copies: int, seed: int) -> None:
        self._table = table
        self._rows = FilledRows(table, copies, seed)
        self._begun = False

    def fit(self, graph: DAG, budget: Budget) -> tuple[Drawable, float]:
        """Fit a network and fill the copies from it; also return the log density of the observed values.

        It is NaN if too many missing discrete variables depend on each other. If time is up, `OutOfTimeError`
        is raised.
        """
        aligned = graph if graph.nodes == self._table.names else graph.reorder(self._table.names)
        first = None if self._begun else first_network(aligned, self._table, budget)
        rounds = ROUNDS if self._begun else FIRST_ROUNDS
        self._begun = True
        network = fit_in_rounds(aligned, self._rows, rounds, budget, first)
        return network, float(self._rows.sweep(network.model, budget).sum())

    def completion(self) -> Completion:
        """The copies as they were filled last."""
        return Completion(TableStatistics(self._rows.table()), self._rows.copies)


class MixedFilling:
    """Completes a table with both kinds of columns by draws.

    `score_graph` sums the scores of families on their observed values. The first graph is a local optimum
    of that score, so it cannot compare the graphs of later rounds: the last one counts.
    """

    comparable = False
    note = f"missing values were drawn, {COPIES} times"

    def __init__(self, table: IncompleteTable, seed: int, score_graph: Callable[[DAG], float]) -> None:
        self._rows = SampledRows(table, COPIES, seed)
        self._score_graph = score_graph

    def fit(self, graph: DAG, budget: Budget) -> float:
        """Fit the network and draw the missing values from it; return the graph's score."""
        self._rows.fit(graph, budget)
        return self._score_graph(graph)

    def complete(self, turn: int) -> Completion:  # noqa: ARG002 - draws go on where they were
        """The copies, filled as they were drawn last."""
        return self._rows.completion()


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
    def _sampled_rows(self) -> SampledRows:
        return SampledRows(self._table, MANY_DRAWS, self._seed)

    def fit(self, graph: DAG, budget: Budget) -> float:
        """Fit tables by EM from those of the graph before; return the BIC on the observed values."""
        try:
            found = fit_discrete_by_em(
                graph, self._table, start=self._network, tolerance=ROUGHLY, budget=budget
            )
        except TooWideError:
            return self._fit_wide(graph, budget)
        self._wide = False
        self._network = found.network
        return float(found.log_likelihood - self._price * parameters_of(found.network))

    def _fit_wide(self, graph: DAG, budget: Budget) -> float:
        self._wide = True
        network, log_likelihood = self._sampled_rows.fit(graph, budget)
        if np.isnan(log_likelihood):
            raise TooWideError("too many missing levels depend on each other")
        self.note = f"missing values of wide graphs were drawn, {MANY_DRAWS} times"
        return float(log_likelihood - self._price * parameters_of(network))

    def complete(self, turn: int) -> Completion:
        """Draw completions from the network."""
        if self._wide:
            return self._sampled_rows.completion()
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
        """Fit regressions by EM; return the BIC on the observed values."""
        aligned = graph if graph.nodes == self._schema.names else graph.reorder(self._schema.names)
        found = fit_gaussian_by_em(aligned, self._values, self._seen, self._moments, budget=budget)
        self._moments = found.moments
        parameters = sum(len(graph.parents(node)) + 2 for node in graph)
        return found.log_likelihood - self._price * parameters

    def complete(self, turn: int) -> Completion:  # noqa: ARG002 - nothing is drawn
        """The expected moments under the network."""
        return Completion(ExpectedStatistics(self._schema, self._moments), 1)


@dataclass(frozen=True)
class ExpectedStatistics:
    """Statistics that have moments only."""

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
