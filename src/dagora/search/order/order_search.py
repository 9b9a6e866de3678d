"""Search over orders of the variables by iterated local search with insertion moves.

An order fixes the best network that agrees with it, so orders are searched instead of graphs (Teyssier &
Koller 2005). From a few starts, every variable is moved to its best place until none gains; then the order is
disturbed and the descent repeated, many times, going on from what is not worse. Insertions reach better
networks than swaps of neighbours (Lee & van Beek 2017; Scanagatta, Corani & Zaffalon 2017).
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.events import Event
from dagora.graph.dag import DAG
from dagora.result import Outcome
from dagora.run import Run
from dagora.scores.candidates import Candidates
from dagora.scores.local_score import TIE
from dagora.search.components import NO_ROW, LocalProblem, feasible_order
from dagora.search.order.moves import descend, iterate, random_state, shuffle

# A round of a chain lasts for about this many variables moved, so that time limits are noticed.
WORK_PER_ROUND = 2_000_000


@dataclass
class Chain:
    """One search: where it stands, and the best order it has seen."""

    order: NDArray[np.int64]
    best_order: NDArray[np.int64]
    best: float
    random: NDArray[np.uint64]


def order_search(
    candidates: Candidates, run: Run, *, chains: int = 4, patience: int | None = None
) -> Outcome:
    """Search from `chains` starts until `patience` disturbances in a row improved nothing."""
    problem = LocalProblem.whole(candidates)
    wait = patience if patience is not None else 2000
    kicks = max(1, min(wait, WORK_PER_ROUND // (len(problem) * len(problem.scores))))
    steps = idle = 0
    with ThreadPoolExecutor(run.jobs) as pool:
        started = list(pool.map(lambda start: begin(problem, start), starts(candidates, run.seed, chains)))
        best = max(chain.best for chain in started)
        run.on_event(Event("searching orders", steps, score=best))
        while best < problem.bound - TIE * abs(best) and idle < wait and not run.budget.exhausted:
            list(pool.map(lambda chain: go_on(problem, chain, kicks), started))
            steps += kicks * chains
            top = max(chain.best for chain in started)
            idle = 0 if top > best + TIE * abs(best) else idle + kicks
            best = max(best, top)
            run.on_event(Event("searching orders", steps, score=best))
    leader = max(started, key=lambda chain: chain.best)
    stats = {"disturbances": float(steps)}
    return outcome_of(candidates, leader.best_order, run, stats, f"{steps} disturbances of {chains} orders")


def starts(candidates: Candidates, seed: int, chains: int) -> Iterator[Chain]:
    """Starting orders: the candidates' hint, else one that permits a network, and random orders."""
    for chain in range(chains):
        state = random_state(seed, chain)
        order = np.arange(len(candidates))
        if chain == 0 and candidates.hint is not None:
            order = np.array(candidates.hint, dtype=np.int64)
        elif chain == 0 and not feasible_order(candidates)[1]:
            order = np.array(feasible_order(candidates)[0], dtype=np.int64)
        else:
            shuffle(order, state)
        yield Chain(order, order.copy(), -np.inf, state)


def begin(problem: LocalProblem, chain: Chain) -> Chain:
    """Descend from the chain's start."""
    choice = np.empty(len(chain.order), dtype=np.int64)
    tolerance = TIE * abs(problem.score(chain.order))
    chain.best = descend(
        problem.masks, problem.scores, problem.offsets, chain.order, choice, chain.random, tolerance
    )
    chain.best_order[:] = chain.order
    return chain


def go_on(problem: LocalProblem, chain: Chain, kicks: int) -> None:
    """Disturb and descend a number of times."""
    chain.best = iterate(
        problem.masks,
        problem.scores,
        problem.offsets,
        chain.order,
        chain.best_order,
        chain.best,
        chain.random,
        TIE * abs(chain.best),
        kicks,
    )


def outcome_of(
    candidates: Candidates, order: NDArray[np.int64], run: Run, stats: dict[str, float], effort: str
) -> Outcome:
    """The best network that agrees with an order, and how the search for the order ended."""
    problem = LocalProblem.whole(candidates)
    rows = problem.rows[problem.choose(order)]
    if (rows == NO_ROW).any():
        return Outcome(DAG(candidates.names), "failed", describe_failure(candidates))
    total = float(candidates.flat.scores[rows].sum())
    if total >= problem.bound - TIE * abs(total) and candidates.complete:
        status, message = "optimal", "every variable has its best parents: no network scores higher"
    elif run.budget.exhausted:
        status, message = "time-limit", f"stopped after {effort}: {run.budget.reason}"
    else:
        status, message = "finished", f"no better order was found in {effort}"
    return Outcome(candidates.graph(rows), status, message, total, stats)


def describe_failure(candidates: Candidates) -> str:
    """Say why no network was found."""
    stuck = feasible_order(candidates)[1]
    if stuck:
        names = ", ".join(f"'{candidates.names[x]}'" for x in stuck[:5])
        return f"no acyclic graph can be made of the candidate parent sets: {names} always need each other"
    return "no order was found that leaves every variable a candidate parent set"
