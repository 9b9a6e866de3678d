"""A search over orders of many columns, from a graph that was climbed to; then hill climbing again.

The same as in `boss`, but for the last phase: greedy equivalence search looks at every pair of columns.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from dagora.graph.dag import DAG
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.learners.search.ges.operators import ClassLimits
from dagora.learners.search.greedy.hill_climb import WIDE, hill_climb
from dagora.learners.search.order.wide.wide_orders import WideOrders
from dagora.scores.local_score import LocalScore, PivotForm, align

# Columns of all orders together, unless the user says how many orders: from 9 orders down to 1. By hand: of
# 120 columns the tenth order still found a better graph, of 1000 each takes seconds.
ORDERED_COLUMNS = 1000
# With more columns than these, the first order is that of the graph that was climbed to. From there the
# search takes less than half as long as from a random order, but it ends in a lower score.
CLIMBED = 2000


def form_of_many(score: LocalScore) -> PivotForm | None:
    """The form of a score of many columns, where sets of one size differ by their residuals only."""
    if len(score.schema) <= WIDE or score.capabilities.interventions is not None:
        return None
    form = score.capabilities.pivot_form()
    return None if form is None or form.determinant.any() else form


def search_wide(
    score: LocalScore,
    form: PivotForm,
    rules: ClassLimits,
    run: Run,
    climbed: Outcome,
    starts: int | None = None,
) -> Outcome:
    """Improve random orders, or that of a graph climbed to before; then climb from the best graph of all."""
    names = score.schema.names
    starts = starts or max(1, ORDERED_COLUMNS // len(names))
    start = align(cast("DAG", climbed.graph), names)
    first = np.array(start.order_indices, dtype=np.int64) if len(names) > CLIMBED else None
    orders = WideOrders(form, rules, run, starts, names, first)
    in_time = orders.finish()
    dag, value = orders.best()
    if value > cast("float", climbed.score):
        start = DAG.from_numpy(dag, names)
    found = hill_climb(score, run, start=start)
    early = not in_time or found.status == "time-limit"
    of_orders = f"{starts} order{'s' * (starts != 1)}"
    if early:
        message = (
            f"{sum(orders.ended)} of {of_orders} ended: {run.budget.reason}; the best graph found is returned"
        )
    else:
        message = (
            f"from {of_orders}: moving a single variable within an order improves nothing; then "
            f"{int(found.stats['steps'])} steps of hill climbing from the best one: adding, deleting or "
            "turning an edge improves nothing; this is not a proof"
        )
    stats = {
        **found.stats,
        "evaluations": found.stats["evaluations"] + climbed.stats["evaluations"] + orders.evaluations,
        "order_score": value,
        "orders_finished": float(sum(orders.ended)),
    }
    return replace(found, status="time-limit" if early else "local-optimum", message=message, stats=stats)
