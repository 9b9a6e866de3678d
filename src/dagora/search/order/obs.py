"""Ordering-based search: greedy swaps of neighbours in an order, with a tabu list and random restarts.

Teyssier & Koller (2005). The score of an order is that of the best network that agrees with it. A swap of two
neighbours changes the parents of these two only. `order_search` is the stronger search over orders.
"""

from __future__ import annotations

import numpy as np

from dagora.events import Edges, Event
from dagora.kernel_random import random_state, shuffle
from dagora.result import Outcome
from dagora.run import Run
from dagora.scores.candidates.candidates import Candidates
from dagora.search.alarm import Alarm
from dagora.search.components import LocalProblem
from dagora.search.order.order_search import network_of, outcome_of
from dagora.search.order.swap_moves import swap_search


def obs(
    candidates: Candidates, run: Run, *, restarts: int = 100, length: int = 10, patience: int = 100
) -> Outcome:
    """Search from `restarts` random orders; each ends after `patience` swaps without a better order."""
    problem = LocalProblem.whole(candidates)
    d = len(candidates)
    state = random_state(run.seed)
    order, found, best_order = np.arange(d), np.arange(d), np.arange(d)
    best = -np.inf
    done = 0

    def edges() -> Edges:
        return network_of(problem, problem.choose(best_order), candidates.names).edges

    with Alarm(run.budget) as stop:
        while done < restarts and not (run.budget.exhausted and done):
            shuffle(order, state)
            tolerance = problem.tie(best if np.isfinite(best) else None)
            score = swap_search(problem.flat, order, found, length, patience, tolerance, stop)
            if score > best + tolerance:
                best, best_order = score, found.copy()
            done += 1
            run.on_event(Event("searching orders", done, score=best, total=restarts, edges=edges))
    return outcome_of(
        candidates, best_order, run, {"orders": float(done)}, f"{done} random orders with swaps"
    )
