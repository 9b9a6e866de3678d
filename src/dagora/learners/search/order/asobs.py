"""Acyclic-selection ordering-based search: random orders, parents chosen beyond what the order permits.

Scanagatta, de Campos, Corani & Zaffalon (2015). Given an order, variables choose their parents from the last
to the first; a parent may stand later in the order as long as no cycle arises. The network scores at least as
high as the best one that agrees with the order.
"""

from __future__ import annotations

import numpy as np

from dagora.base.events import Edges, Event
from dagora.kernels.random import random_state
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.learners.search.components import LocalProblem
from dagora.learners.search.order.order_search import network_of, outcome_of
from dagora.learners.search.order.swap_moves import sample_acyclic

# Orders that are shuffled one from the other, and tried with one tolerance for ties.
TOGETHER = 200
# Seconds between two looks at the clock, about.
MOMENT = 0.05


def asobs(candidates: Candidates, run: Run, *, orders: int = 20_000) -> Outcome:
    """Try `orders` random orders and keep the best network."""
    problem = LocalProblem.whole(candidates)
    state = random_state(run.seed)
    choice = np.full(len(candidates), -1, dtype=np.int64)
    best = -np.inf
    done = 0
    pace = 1

    def edges() -> Edges:
        return network_of(problem, choice, candidates.names).edges

    while done < orders and not (run.budget.exhausted and done):
        if done % TOGETHER == 0:
            order = np.arange(len(candidates))
            tolerance = problem.tie(best if np.isfinite(best) else None)
        some = min(pace, TOGETHER - done % TOGETHER, orders - done)
        begun = run.budget.elapsed
        best = sample_acyclic(problem.flat, order, state, some, best, choice, tolerance)
        pace = 2 * pace if run.budget.elapsed - begun < MOMENT else max(1, pace // 2)
        done += some
        # The clock decides where a piece ends, so only whole rounds enter the trace.
        score = best if done % TOGETHER == 0 or done == orders else None
        run.on_event(Event("sampling orders", done, score=score, total=orders, edges=edges))
    # A topological order of the network found permits at least that network.
    graph = network_of(problem, choice, candidates.names)
    found = np.array(graph.order_indices, dtype=np.int64)
    return outcome_of(candidates, found, run, {"orders": float(done)}, f"{done} random orders")
