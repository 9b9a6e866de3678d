"""Best order score search: each variable in turn moves to the place in the order where the score is highest.

The score of an order is that of the graph in which every variable has the parents that grow and shrink
chooses among those before it. Several random orders are improved side by side; they share the trees. From the
best one, greedy equivalence search goes on until no edge inserted, deleted or turned helps. (Andrews, Ramsey,
Sanchez Romero, Camchong & Kummerfeld 2023 end with its backward phase alone.) Many continuous columns have a
search of their own, see `wide_search`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from dagora.graph.dag import DAG
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.learners.search.ges.ges import class_within, ges, limits_of
from dagora.learners.search.ges.operators import ClassLimits
from dagora.learners.search.greedy.climber import check_start
from dagora.learners.search.greedy.hill_climb import hill_climb
from dagora.learners.search.order.best_places import ListedOrders
from dagora.learners.search.order.grow_shrink_trees import GrowShrinkTrees
from dagora.learners.search.order.moment_places import MomentOrders
from dagora.learners.search.order.wide.wide_search import form_of_many, search_wide
from dagora.scores.local_score import LocalScore, align, graph_score

# Orders to start from, where columns are few.
STARTS = 10


def boss(score: LocalScore, run: Run, *, starts: int | None = None, start: DAG | None = None) -> Outcome:
    """Search orders from random starts, or one of them that of a graph; then classes from the best one.

    >>> from dagora.data.table import Table
    >>> from dagora.scores.information import bic
    >>> from dagora.stats.table import TableStatistics
    >>> table = Table.from_numpy([[0, 0], [1, 1]] * 20, names=["a", "b"], discrete=["a", "b"])
    >>> boss(bic(TableStatistics(table)), Run()).graph.undirected
    (('a', 'b'),)
    """
    names = score.schema.names
    rules = limits_of(run.knowledge, names)
    form = form_of_many(score)
    if form is not None:
        wide = search_wide(score, form, rules, run, hill_climb(score, run, start=start), starts)
        return replace(wide, graph=class_within(rules, cast("DAG", wide.graph)))
    starts = starts or STARTS
    if start is not None:
        start = align(start, names)
        check_start(start, rules.forbidden, np.zeros_like(rules.forbidden), rules.max_parents)
    search = orders_of(score, rules, run, starts, None if start is None else start.order_indices)
    in_time = search.finish()
    dag, value = search.best()
    graph = DAG.from_numpy(dag, names)
    if start is not None and graph_score(score, start) > value:
        graph = start
    found = ges(score, run if in_time else replace(run, budget=run.budget.at_most(0)), start=graph)
    early = not in_time or found.status == "time-limit"
    orders = f"{starts} order{'s' * (starts != 1)}"
    if early:
        message = f"stopped early: {run.budget.reason}; the best class of graphs found is returned"
    else:
        gained = int(found.stats["steps"])
        message = (
            f"from {orders}: moving a single variable within an order improves nothing; then {gained} GES "
            "steps from the best one: inserting, deleting or turning an edge improves nothing; "
            "this is not a proof"
        )
    stats = {
        **found.stats,
        "evaluations": float(search.evaluations) + found.stats["evaluations"],
        "order_score": value,
        "orders_finished": float(sum(search.ended)),
    }
    return replace(found, status="time-limit" if early else "local-optimum", message=message, stats=stats)


class Orders(Protocol):
    """Several orders that are improved."""

    ended: list[bool]

    @property
    def evaluations(self) -> int:
        """Families scored so far."""

    def finish(self) -> bool:
        """Improve the orders until none gains; False where time was up before."""

    def best(self) -> tuple[NDArray[np.bool_], float]:
        """The graph of the order with the highest score, and that score."""


def orders_of(
    score: LocalScore, rules: ClassLimits, run: Run, starts: int, first: Sequence[int] | None
) -> Orders:
    """Random orders to improve, or the `first` as given; in one kernel where the score allows that."""
    form = score.capabilities.pivot_form()
    if form is not None:
        return MomentOrders(form, rules, run, starts, score.schema.names, first)
    return ListedOrders(GrowShrinkTrees(score, rules, run.budget), run, starts, first)
