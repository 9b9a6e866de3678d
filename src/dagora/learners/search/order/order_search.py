"""Search over orders of the variables by iterated local search with insertion moves.

An order determines the best network that agrees with it, so orders are searched instead of graphs (Teyssier &
Koller 2005). Several chains are run. In each, variables move to their best places until no move gains. Then
the order is disturbed and the descent repeated, many times; a result that is not worse, and now and then one
that is, becomes the new start. Insertions reach better networks than swaps of neighbours (Lee & van Beek
2017; Scanagatta, Corani & Zaffalon 2017). Between rounds of the search, incomplete candidates are widened
around the networks found, if they can be (see `widen`), and the best network takes over what is better in
those of the other chains (see `recombine`), which all go on from there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dagora.base.budget import Budget
from dagora.base.events import Edges, Event
from dagora.graph.bits import unpack
from dagora.graph.dag import DAG
from dagora.kernels.random import random_state, shuffle
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.learners.search.alarm import Alarm, Flag
from dagora.learners.search.components import NO_ROW, LocalProblem, feasible_order, reason_cyclic
from dagora.learners.search.order.moves import ENDLESS, descend, effort_of, iterate
from dagora.learners.search.order.recombine import combine, order_of
from dagora.scores.local_score import align

# Disturbances of a chain between two looks at the other chains; more where each look also widens candidates,
# which takes longer. Without an option, the search ends after ten rounds that improve nothing.
ROUND, WIDENING_ROUND = 500, 2000
IDLE_ROUNDS = 10
# The same between two looks at the clock, where there is a limit: so many at first, then for so many seconds.
FIRST_PIECE, PIECE_SECONDS = 10, 0.1


# In units of `WorkLimit`: what it costs to pass a variable, and every parent set when candidates are widened.
WORK_OF_PASSING, WORK_OF_WIDENING = 0.2, 150


@dataclass
class OrderChain:
    """One search: its current order, the best order it has seen with its score, and its random numbers.

    `losses` holds what disturbances cost in this round, and `tolerance` what counts as a tie in it: so it
    does not matter into how many pieces a round is cut. `effort` is what may still be done in
    it, and what was done.
    """

    order: NDArray[np.int64]
    best_order: NDArray[np.int64]
    best: float
    random: NDArray[np.uint64]
    losses: NDArray[np.float64] = field(default_factory=lambda: np.zeros(1))
    tolerance: float = 0.0
    effort: NDArray[np.int64] = field(default_factory=effort_of)

    def begin_round(self, problem: LocalProblem, trials: int = ENDLESS) -> None:
        """Forget the losses of the last round; ties are measured by the best score so far."""
        self.losses[0] = 0.0
        self.tolerance = problem.tie(self.best)
        self.effort = effort_of(trials)


@dataclass(frozen=True)
class WorkLimit:
    """The most work of a search, in parent sets that are looked at; it does not ask the clock.

    A round ends when the work of a round is done, and the search with the round in which that of all is.
    `why` says the latter to the user.
    """

    in_round: float
    in_all: float
    why: str

    def trials(self, problem: LocalProblem, chains: int) -> int:
        """The number of times that one chain may try a variable in other places, in one round."""
        return int(self.in_round / (chains * self.of_trial(problem)))

    def of_trial(self, problem: LocalProblem) -> float:
        """About what one trial of a variable costs: it passes the others, and looks at parent sets."""
        return WORK_OF_PASSING * len(problem) + len(problem.scores) / len(problem)


def order_search(
    candidates: Candidates,
    run: Run,
    *,
    start: DAG | None = None,
    chains: int = 4,
    patience: int | None = None,
) -> Outcome:
    """Search from `chains` starts until `patience` disturbances of each in a row improve nothing."""
    if start is not None and candidates.hint is None:  # else from the graph of a search that began there
        candidates = replace(candidates, hint=align(start, candidates.names).order_indices)
    found = search_orders(candidates, run, chains, patience)
    return found if candidates.permitted is None else permitted_outcome(found, candidates, run)


def permitted_outcome(found: Outcome, candidates: Candidates, run: Run) -> Outcome:
    """The outcome if its graph has the paths that must be there, else the best graph known that has them."""
    permitted = candidates.permitted
    if permitted is None or (isinstance(found.graph, DAG) and not run.knowledge.violations(found.graph)):
        return found
    score = candidates.score_of(permitted)
    message = (
        "the best graph of the orders lacks a path of 'causes' or has one of 'not_causes': the best graph of "
        f"a tabu search that obeys them is returned; {found.message}"
    )
    return replace(found, graph=permitted, score=score, status="finished", message=message)


def search_orders(
    candidates: Candidates, run: Run, chains: int, patience: int | None, work: WorkLimit | None = None
) -> Outcome:
    """Search as `order_search` does, as long as the limit on `work` allows, if there is one.

    A round then also ends when its share of the work is done, and the search when all is.
    """
    size = ROUND if candidates.widen is None else WIDENING_ROUND
    wait = patience if patience is not None else IDLE_ROUNDS * size
    problem = LocalProblem.whole(candidates)
    pace = RoundPieces(run.budget)
    steps = idle = 0
    done = 0.0

    def edges() -> Edges:
        return network_of(problem, problem.choose(leading(started).best_order), candidates.names).edges

    with ThreadPoolExecutor(run.jobs) as pool, Alarm(run.budget) as stop:
        started = list(starts(candidates, run.seed, chains))
        list(pool.map(partial(begin, problem, stop), started))
        best = max(chain.best for chain in started)
        run.on_event(Event("searching orders", steps, score=best, edges=edges))
        while idle < wait and not run.budget.exhausted and (work is None or done < work.in_all):
            wider = widen_candidates(candidates, problem, started, run)
            if wider is not candidates:
                candidates, problem = wider, LocalProblem.whole(wider)
                list(pool.map(partial(descend_best, problem, stop), started))
                done += WORK_OF_WIDENING * len(problem.scores)
            elif candidates.widen is None and best >= problem.bound - problem.tie(best):
                break
            trials = ENDLESS if work is None else work.trials(problem, chains)
            for chain in started:
                chain.begin_round(problem, trials)
            for some in pace.pieces(min(wait, size)):
                list(pool.map(partial(go_on, problem, stop, some), started))
            gather(problem, stop, started)
            made = [int(chain.effort[1]) for chain in started]
            steps += sum(made)
            if work is not None:
                tried = sum(trials - int(chain.effort[0]) for chain in started)
                done += tried * work.of_trial(problem)
            top = max(chain.best for chain in started)
            idle = 0 if top > best + problem.tie(best) else idle + min(made)
            best = max(best, top)
            run.on_event(Event("searching orders", steps, score=best, edges=edges))
    stats = {"disturbances": float(steps)}
    ended = work.why if work is not None and done >= work.in_all and idle < wait else ""
    effort = f"{steps:,} random tries"
    return outcome_of(candidates, leading(started).best_order, run, stats, effort, ended)


def leading(chains: list[OrderChain]) -> OrderChain:
    """The chain that has seen the best order."""
    return max(chains, key=lambda chain: chain.best)


def network_of(problem: LocalProblem, choice: NDArray[np.int64], names: Sequence[str]) -> DAG:
    """The network of a set for each variable, of a problem of all columns.

    A variable whose sets the order does not permit has no parents in it: see `LocalProblem`.
    """
    return DAG.from_numpy(unpack(problem.masks[choice], len(problem)).T, names)


class RoundPieces:
    """Cuts a round into pieces between two looks at the clock; a round is one piece where time is free."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._size = WIDENING_ROUND if math.isinf(budget.left) else FIRST_PIECE

    def pieces(self, kicks: int) -> Iterator[int]:
        """Numbers of disturbances whose sum is a round, or less if time is up."""
        while kicks and not self._budget.exhausted:
            some = min(kicks, self._size)
            started = self._budget.elapsed
            yield some
            kicks -= some
            took = self._budget.elapsed - started
            if took < PIECE_SECONDS / 2:
                self._size = min(WIDENING_ROUND, 2 * self._size)
            elif took > PIECE_SECONDS and not math.isinf(self._budget.left):
                self._size = max(1, self._size // 2)


def gather(problem: LocalProblem, stop: Flag, chains: list[OrderChain]) -> None:
    """Combine the best networks of all chains into one, from which all go on."""
    leader, *others = sorted(chains, key=lambda chain: -chain.best)
    own = choice = problem.choose(leader.best_order)
    for other in others:
        choice = combine(problem, choice, problem.choose(other.best_order), problem.tie(leader.best))
    order = order_of(problem, choice)
    if order is not None and not np.array_equal(choice, own):
        leader.best_order[:] = order
        descend_best(problem, stop, leader)
    for chain in chains:
        chain.best = leader.best
        chain.best_order[:] = leader.best_order
        chain.order[:] = leader.best_order


def widen_candidates(
    candidates: Candidates, problem: LocalProblem, chains: list[OrderChain], run: Run
) -> Candidates:
    """Add sets around the chains' current networks to the candidates, the best network first."""
    if candidates.widen is None:
        return candidates
    ranked = sorted(chains, key=lambda chain: -chain.best)
    orders = [ranked[0].best_order, *(chain.order for chain in ranked)]
    choices = [problem.rows[problem.choose(order)] for order in orders]
    graphs = [candidates.graph(rows) for rows in choices if (rows != NO_ROW).all()]
    return candidates.widen(candidates, graphs, run)


def starts(candidates: Candidates, seed: int, chains: int) -> Iterator[OrderChain]:
    """Start chains from the hint, but the last of them at random.

    Without a hint the first starts from an order that permits a network, all others at random.
    """
    for chain in range(chains):
        state = random_state(seed, chain)
        order = np.arange(len(candidates))
        if candidates.hint is not None and (chain == 0 or chain < chains - 1):
            order = np.array(candidates.hint, dtype=np.int64)
        elif chain == 0 and not feasible_order(candidates)[1]:
            order = np.array(feasible_order(candidates)[0], dtype=np.int64)
        else:
            shuffle(order, state)
        yield OrderChain(order, order.copy(), -np.inf, state)


def begin(problem: LocalProblem, stop: Flag, chain: OrderChain) -> None:
    """Descend from the chain's start; if there is no time, only compute the score of the order."""
    if stop[0]:
        chain.best = problem.score(chain.best_order)
    else:
        descend_best(problem, stop, chain)
    chain.order[:] = chain.best_order


def descend_best(problem: LocalProblem, stop: Flag, chain: OrderChain) -> None:
    """Descend from the chain's best order."""
    tolerance = problem.tie(problem.score(chain.best_order))
    chain.best = descend(problem.flat, chain.best_order, chain.random, tolerance, stop)


def go_on(problem: LocalProblem, stop: Flag, kicks: int, chain: OrderChain) -> None:
    """Disturb and descend `kicks` times."""
    chain.best = iterate(
        problem.flat,
        chain.order,
        chain.best_order,
        chain.best,
        chain.random,
        chain.tolerance,
        kicks,
        chain.losses,
        chain.effort,
        stop,
    )


def outcome_of(
    candidates: Candidates,
    order: NDArray[np.int64],
    run: Run,
    stats: dict[str, float],
    effort: str,
    ended: str = "",
) -> Outcome:
    """The best network that agrees with an order, and a message on how the search for the order ended."""
    problem = LocalProblem.whole(candidates)
    rows = problem.rows[problem.choose(order)]
    if (rows == NO_ROW).any():
        why = (
            reason_cyclic(candidates)
            or "no order was found that leaves every variable a candidate parent set"
        )
        return Outcome(DAG(candidates.names), "failed", why)
    total = float(candidates.flat.scores[rows].sum())
    if total >= problem.bound - problem.tie(total) and candidates.complete:
        status, message = "optimal", "every variable has its best parents: no network scores higher"
    elif run.budget.exhausted:
        status, message = "time-limit", f"stopped after {effort}: {run.budget.reason}"
    elif ended:
        status, message = "finished", f"stopped after {effort}: {ended}"
    else:
        status, message = "finished", f"{effort} found nothing better; this is not a proof"
    return Outcome(candidates.graph(rows), status, message, total, stats)
