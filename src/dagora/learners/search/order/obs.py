"""Ordering-based search: greedy swaps of neighbours in an order, with a tabu list and random restarts.

Teyssier & Koller (2005). The score of an order is that of the best network that agrees with it. A swap of two
neighbours changes the parents of these two only. `order_search` is the stronger search over orders.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Edges, Event
from dagora.kernels.random import random_state, shuffle
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.learners.search.alarm import Alarm
from dagora.learners.search.components import NO_ROW, LocalProblem, feasible_order
from dagora.learners.search.order.order_search import network_of, outcome_of
from dagora.learners.search.order.swap_moves import swap_search


def obs(
    candidates: Candidates, run: Run, *, restarts: int = 100, length: int = 10, patience: int = 100
) -> Outcome:
    """Search from `restarts` random orders; each ends after `patience` swaps without a better order.

    Where none of them leaves every variable a candidate set, as required edges may do, the search begins once
    more with an order that does.
    """
    problem = LocalProblem.whole(candidates)
    d = len(candidates)
    state = random_state(run.seed)
    order, found, best_order = np.arange(d), np.arange(d), np.arange(d)
    best = -np.inf
    done, permitted = 0, False

    def edges() -> Edges:
        return network_of(problem, problem.choose(best_order), candidates.names).edges

    with Alarm(run.budget) as stop:
        while done < restarts and not (run.budget.exhausted and done):
            shuffle(order, state)
            tolerance = problem.tie(best if np.isfinite(best) else None)
            score = swap_search(problem.flat, order, found, length, patience, tolerance, stop)
            if score > best + tolerance:
                best, best_order = score, found.copy()
                permitted = is_permitted(problem, best_order)
            done += 1
            # What only stands for a missing set is no score.
            known: dict[str, Any] = {"score": best, "edges": edges} if permitted else {}
            run.on_event(Event("searching orders", done, total=restarts, **known))
        if not permitted:
            order, stuck = feasible_order(candidates)
            if not stuck:
                swap_search(problem.flat, order, best_order, length, patience, problem.tie(), stop)
    return outcome_of(
        candidates, best_order, run, {"orders": float(done)}, f"{done} random orders with swaps"
    )


def is_permitted(problem: LocalProblem, order: NDArray[np.int64]) -> bool:
    """Return True if an order leaves every variable a candidate set."""
    return bool((problem.rows[problem.choose(order)] != NO_ROW).all())
