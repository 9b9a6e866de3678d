"""Fit and complete tables with both kinds of columns, by stochastic EM.

The missing cells of several copies of the table are drawn from the current network, the network is fitted to
the filled copies, and so on: the parameters wander about those of largest likelihood and stay near them
(Celeux & Diebolt 1985). The graph is judged elsewhere, on what was seen.
"""

from __future__ import annotations

from collections.abc import Callable

from dagora.data.incomplete import IncompleteTable
from dagora.events import Budget
from dagora.graph.dag import DAG
from dagora.network.fit import fit_mixed
from dagora.network.incomplete.completion import Completion
from dagora.network.incomplete.gibbs import FilledRows
from dagora.network.networks import MixedNetwork
from dagora.stats.table import TableStatistics

# Copies of the table that are filled together, and rounds of drawing and fitting.
COPIES, ROUNDS = 5, 15
# Every so many rounds all holes are drawn anew, however they were filled before.
ANEW = 5
# Copies and rounds for parameters that are kept.
MORE_COPIES, MORE_ROUNDS = 10, 40


def fit_mixed_with_holes(
    graph: DAG,
    table: IncompleteTable,
    *,
    pseudocount: float = 0.0,
    ess: float | None = None,
    name: str = "network",
    seed: int = 0,
) -> MixedNetwork:
    """Fit a mixed network to what was seen."""
    rows = FilledRows(table.select(graph.nodes), MORE_COPIES, seed)
    return fit_in_rounds(graph, rows, MORE_ROUNDS, Budget(), pseudocount, ess, name)


def fit_in_rounds(
    graph: DAG,
    rows: FilledRows,
    rounds: int,
    budget: Budget,
    pseudocount: float = 0.0,
    ess: float | None = None,
    name: str = "network",
) -> MixedNetwork:
    """Draw the holes and fit the network, in turns; the rows stay as they were drawn last."""
    network = fit_mixed(graph, TableStatistics(rows.table()), pseudocount, ess, name)
    for turn in range(rounds):
        if budget.exhausted:
            break
        if turn % ANEW == 0:
            rows.begin(network.model)
        rows.sweep(network.model)
        network = fit_mixed(graph, TableStatistics(rows.table()), pseudocount, ess, name)
    return network


class MixedFilling:
    """Completes a table with both kinds of columns by draws; `judge` scores a graph on what was seen.

    That score adds up what families say of what was seen of them. The first graph is a local optimum of it,
    so it says nothing about the graphs of later rounds: the last one counts.
    """

    comparable = False

    def __init__(self, table: IncompleteTable, seed: int, judge: Callable[[DAG], float]) -> None:
        self._rows = FilledRows(table, COPIES, seed)
        self._judge = judge

    def fit(self, graph: DAG, budget: Budget) -> float:
        """Fit the network and draw the holes from it; return the graph's score on what was seen."""
        fit_in_rounds(graph, self._rows, ROUNDS, budget)
        return self._judge(graph)

    def complete(self, turn: int) -> Completion:  # noqa: ARG002 - draws go on where they were
        """The copies, filled as they were drawn last."""
        return Completion(TableStatistics(self._rows.table()), COPIES)
