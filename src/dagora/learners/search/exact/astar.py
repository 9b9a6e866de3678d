"""The best network by A* over subsets of the variables, best bound first.

A state is a set U of variables that have been placed, with the best score g(U) found for them; h(U) bounds
what the others can still add. The state with the largest g + h is expanded next, until no g + h exceeds the
score of the best network known: then that network is optimal (Yuan, Malone & Wu 2011; Yuan & Malone 2013).
The bound is a static pattern database; the first network comes from local search over orders. Most states are
never made:

- A variable whose best set of all lies within U is placed at once (Karan & Zola 2016).
- Given U, the sets that can still matter to a variable are those that score more than its best set within U
  and enough to beat the best network known. Draw an arc to each variable from the members of these sets. This
  graph has a strongly connected component that no arc enters; its members may come first without loss, so
  only they are tried.
"""

from __future__ import annotations

import numpy as np

from dagora.base.options import GIBIBYTE
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.learners.search.components import LocalProblem, Order
from dagora.learners.search.exact.astar_kernels import (
    EXPANDED,
    FULL,
    GENERATED,
    GOAL,
    PAUSED,
    STATES,
    WAITING,
    Search,
    WordSets,
    advance,
    begin,
    trace_order,
)
from dagora.learners.search.exact.component_solver import ComponentAnswer, Watch, solve_exactly
from dagora.learners.search.exact.pattern_database import group_members, pattern_database
from dagora.learners.search.exact.state_store import BYTES_PER_STATE, make_store

# States are sets of 64 bits.
LARGEST = 64

# Sets examined between two looks at the clock: about 0.1 s.
WORK_PER_ROUND = 5_000_000

# States that the store has room for at first; it doubles when full.
FIRST_CAPACITY = 1 << 12


def astar(candidates: Candidates, run: Run, *, memory: float = 4.0, bound_size: int = 20) -> Outcome:
    """Find a best network, one component after the other.

    `memory` is the limit on states and tables together, in GiB; `bound_size` is the most variables that a
    group of the bound may have.

    >>> listed = [[((1,), -1.0), ((), -3.0)], [((0,), -1.0), ((), -2.0)]]
    >>> outcome = astar(Candidates.of("ab", listed), Run())
    >>> outcome.status, outcome.score, outcome.graph.edges
    ('optimal', -3.0, (('b', 'a'),))
    """

    def solve(problem: LocalProblem, order: Order, watch: Watch) -> ComponentAnswer:
        return search(problem, order, watch, memory, bound_size)

    return solve_exactly(candidates, run, solve, "A*", refusal, effort=20)


def refusal(size: int) -> str:
    """The reason why a component of that size cannot be solved; empty if it can be."""
    if size <= LARGEST:
        return ""
    return (
        f"A* takes at most {LARGEST} variables that depend on each other, here there are {size}: "
        "try the method ilp or order-search"
    )


def largest_group(memory: float) -> int:
    """The most variables a group may have so that all tables together take at most a quarter of the memory.

    >>> largest_group(4.0)
    25
    """
    quarter = memory * GIBIBYTE / 4
    return max((g for g in range(1, LARGEST) if 8 * 2**g * (LARGEST // g + 1) <= quarter), default=1)


def search(given: LocalProblem, start: Order, watch: Watch, memory: float, group: int) -> ComponentAnswer:
    """Find a best order of one component, or the best that time and memory allow, starting from `start`."""
    problem, positions, starts = group_members(given, min(group, largest_group(memory)))
    database = pattern_database(problem, starts, lambda: watch.exhausted)
    if database is None:
        return ComponentAnswer(start, given.bound, "time-limit")
    room = memory * GIBIBYTE - database.tables.nbytes
    sets = WordSets(problem.masks[:, 0].copy(), problem.scores, problem.offsets)
    counts = np.zeros(5, dtype=np.int64)
    counts[GOAL] = -1
    best = np.array([given.score(start)])
    tie = given.tie()
    capacity = FIRST_CAPACITY
    store = make_store(capacity)
    states = Search(sets, database, store, counts, best, tie)
    begin(states)
    status = "optimal"

    def best_order() -> Order:
        return start if counts[GOAL] < 0 else positions[trace_order(sets, store, counts[GOAL])]

    while (ended := advance(states, WORK_PER_ROUND)) in {PAUSED, FULL}:
        bound = max(float(store.keys[0]), float(best[0]))
        watch.report(int(counts[EXPANDED]), float(best[0]), bound, best_order)
        if watch.exhausted:
            status = "time-limit"
            break
        if ended == FULL:
            capacity *= 2
            if capacity * BYTES_PER_STATE > room:
                status = "memory-limit"
                break
            store = make_store(capacity, store, int(counts[STATES]), int(counts[WAITING]))
            states = states._replace(store=store)
    waiting = status != "optimal" and counts[WAITING] > 0
    bound = max(float(best[0]), float(store.keys[0])) if waiting else float(best[0])
    stats = {"expanded": float(counts[EXPANDED]), "generated": float(counts[GENERATED])}
    return ComponentAnswer(best_order(), bound, status, stats)
