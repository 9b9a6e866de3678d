"""Best order score search: each variable in turn moves to the place in the order where the score is highest.

The score of an order is that of the graph in which every variable has the parents that grow and shrink
chooses among those before it. Several random orders are improved side by side; they share the trees. From the
best one, greedy equivalence search goes on until no edge inserted, deleted or turned helps. (Andrews, Ramsey,
Sanchez Romero, Camchong & Kummerfeld 2023 end with its backward phase alone.)
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dagora.events import Event, OutOfTimeError
from dagora.graph.dag import DAG
from dagora.result import Outcome
from dagora.run import Run
from dagora.scores.local_score import LocalScore
from dagora.search.ges.ges import ges, limits_of
from dagora.search.order.best_places import advance, follow, wanted
from dagora.search.order.grow_shrink_trees import GrowShrinkTrees, Rules

Ints = NDArray[np.int64]


def boss(score: LocalScore, run: Run, *, starts: int = 10) -> Outcome:
    """Search orders from random starts, then classes of graphs from the best one.

    >>> from dagora.data.table import Table
    >>> from dagora.scores.information import bic
    >>> from dagora.stats.table import TableStatistics
    >>> table = Table.from_numpy([[0, 0], [1, 1]] * 20, names=["a", "b"], discrete=["a", "b"])
    >>> boss(bic(TableStatistics(table)), Run()).graph.undirected
    (('a', 'b'),)
    """
    names = score.schema.names
    limits = limits_of(run.knowledge, names, "boss")
    trees = GrowShrinkTrees(score, Rules(limits.apart, limits.max_parents), run.budget)
    search = OrderSearch(trees, run, starts)
    in_time = search.finish()
    dag, value = search.best()
    graph = DAG.from_numpy(dag, names)
    found = ges(score, run if in_time else replace(run, budget=run.budget.at_most(0)), start=graph)
    early = not in_time or found.status == "time-limit"
    orders = f"{starts} order{'s' * (starts != 1)}"
    if early:
        message = f"stopped early: {run.budget.reason}; the best class of graphs found is returned"
    else:
        gained = int(found.stats["steps"])
        message = (
            f"no variable of {orders} gains by another place; from the best one {gained} steps over classes, "
            "after which no edge inserted, deleted or turned improves it"
        )
    stats = {
        **found.stats,
        "evaluations": float(trees.evaluations) + found.stats["evaluations"],
        "order_score": value,
        "orders_finished": float(sum(search.ended)),
    }
    return replace(found, status="time-limit" if early else "local-optimum", message=message, stats=stats)


class OrderSearch:
    """Several orders that are improved side by side."""

    def __init__(self, trees: GrowShrinkTrees, run: Run, starts: int) -> None:
        self._trees = trees
        self._run = run
        nodes = len(trees.flat.value)
        random = np.random.default_rng(run.seed)
        self.orders = [random.permutation(nodes) for _ in range(starts)]
        self._states = [np.array([order[0], 0], dtype=np.int64) for order in self.orders]
        self._place = np.empty(nodes, dtype=np.int64)
        self._sums = np.empty((2, nodes + 1))
        self.ended = [False] * starts

    def finish(self) -> bool:
        """Improve the orders until none gains; False where time was up before."""
        rounds, trees = 0, self._trees
        while not all(self.ended):
            if self._run.budget.exhausted:
                return False
            for k, order in enumerate(self.orders):
                if not self.ended[k]:
                    self.ended[k] = advance(
                        self._trees.flat,
                        order,
                        self._states[k],
                        self._place,
                        self._sums,
                        self._trees.tolerance,
                    )
            try:
                trees.expand(wanted(trees.flat, trees.used))
            except OutOfTimeError:
                return False
            rounds += 1
            self._run.on_event(
                Event("orders", rounds, message=f"{sum(self.ended)} of {len(self.ended)} orders")
            )
        return True

    def best(self) -> tuple[NDArray[np.bool_], float]:
        """The graph of the order with the highest score, as far as its trees are known, and that score."""
        totals = [
            sum(float(self._trees.flat.value[node]) for node in self._ends(order)) for order in self.orders
        ]
        chosen = int(np.argmax(totals))
        dag = np.zeros((len(self._place), len(self._place)), dtype=np.bool_)
        order = self.orders[chosen]
        for child, node in zip(order.tolist(), self._ends(order), strict=True):
            dag[list(self._trees.parents(node)), child] = True
        return dag, totals[chosen]

    def _ends(self, order: Ints) -> list[int]:
        """The nodes that stand for the parents of each variable."""
        self._place[order] = np.arange(len(order))
        ends = [int(follow(self._trees.flat, int(child), self._place, k)) for k, child in enumerate(order)]
        wanted(self._trees.flat, self._trees.used)
        return ends
