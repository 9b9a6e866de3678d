"""Complete a table by draws, for structural EM: both kinds of columns, and discrete graphs that are wide."""

from __future__ import annotations

from collections.abc import Callable

from dagora.base.events import Budget
from dagora.data.incomplete import IncompleteTable
from dagora.graph.dag import DAG
from dagora.network.incomplete.completion import Completion
from dagora.network.incomplete.drawn_fit import COPIES, Drawable, first_network, fit_in_rounds
from dagora.network.incomplete.filled_rows import FilledRows
from dagora.stats.table import TableStatistics

# Rounds of drawing and fitting for the first graph, and for those that follow, which begin with filled rows.
FIRST_ROUNDS, ROUNDS = 12, 6


class DrawnRows:
    """Copies of a table that are filled from one network after the other."""

    def __init__(self, table: IncompleteTable, copies: int, seed: int) -> None:
        self._table = table
        self._rows = FilledRows(table, copies, seed)
        self._begun = False

    def fit(self, graph: DAG, budget: Budget) -> tuple[Drawable, float]:
        """Fit a network and fill the copies from it; return ln of the density of what was seen, too.

        That is NaN where too many missing levels hang together. Where time is up, `OutOfTimeError` is raised.
        """
        aligned = graph if graph.nodes == self._table.names else graph.reorder(self._table.names)
        first = None if self._begun else first_network(aligned, self._table)
        rounds = ROUNDS if self._begun else FIRST_ROUNDS
        self._begun = True
        network = fit_in_rounds(aligned, self._rows, rounds, budget, first)
        return network, float(self._rows.sweep(network.model, budget).sum())

    def completion(self) -> Completion:
        """The copies as they were filled last."""
        return Completion(TableStatistics(self._rows.table()), self._rows.copies)


class MixedFilling:
    """Completes a table with both kinds of columns by draws; `judge` scores a graph on what was seen.

    That score adds up what families say of what was seen of them. The first graph is a local optimum of it,
    so it says nothing about the graphs of later rounds: the last one counts.
    """

    comparable = False
    note = f"missing cells were drawn, {COPIES} times"

    def __init__(self, table: IncompleteTable, seed: int, judge: Callable[[DAG], float]) -> None:
        self._rows = DrawnRows(table, COPIES, seed)
        self._judge = judge

    def fit(self, graph: DAG, budget: Budget) -> float:
        """Fit the network and draw the holes from it; return the graph's score on what was seen."""
        self._rows.fit(graph, budget)
        return self._judge(graph)

    def complete(self, turn: int) -> Completion:  # noqa: ARG002 - draws go on where they were
        """The copies, filled as they were drawn last."""
        return self._rows.completion()
