"""The root of the branch and cut: cutting planes are added until they gain no more.

Linear program and cuts take turns. Each solution suggests an order to a local search, and its prices bound
every network and exclude parent sets. Often the bound meets the best network here; otherwise branch and cut
starts from the sets and cuts that are left.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.random import random_state
from dagora.learners.search.alarm import Alarm
from dagora.learners.search.components import LocalProblem, Order
from dagora.learners.search.exact.cluster_cuts import arc_weights, order_along
from dagora.learners.search.exact.component_solver import Watch
from dagora.learners.search.exact.gains import unit_of
from dagora.learners.search.exact.relaxation import Relaxation
from dagora.learners.search.exact.separation import Cut, ProgramSets, separate
from dagora.learners.search.order.moves import descend, effort_of, iterate

# The loop ends when so many rounds have closed less than this share of the gap.
STALLED_ROUNDS = 10
STALLED_SHARE = 0.1

# Disturbances of the order that a solution suggests (as in `ilp_program`).
KICKS = 2


@dataclass(frozen=True)
class Root:
    """The best order, a bound on every network's score, and the sets and cuts that are left."""

    order: Order
    bound: float
    is_closed: bool
    kept: NDArray[np.int64]
    cuts: list[Cut]
    stats: dict[str, float]


def tighten(
    problem: LocalProblem, kept: NDArray[np.int64], start: Order, watch: Watch, *, facets: bool
) -> Root:
    """Exclude sets from those that are kept, and find a bound and cuts."""
    offsets = np.searchsorted(kept, problem.offsets)
    sets = ProgramSets(problem.masks[kept], offsets)
    gains = problem.scores[kept] - np.repeat(problem.scores[problem.offsets[:-1]], np.diff(offsets))
    unit = unit_of(gains)
    tolerance = max(problem.tie(), problem.tie(float(np.abs(gains).max(initial=0.0))))
    best, score = start, problem.score(start)
    relaxation = Relaxation(sets, gains / unit, tolerance / unit)
    relaxation.learn_of(np.searchsorted(kept, problem.choose(best)))
    state = random_state(watch.run.seed, len(problem))
    counts: Counter[str] = Counter()
    gaps: list[float] = []

    def best_order() -> Order:
        return best

    while not watch.exhausted:
        point = relaxation.solve(watch.run.budget.left)
        if point is None or relaxation.is_closed:
            break
        order = order_along(arc_weights(point))
        with Alarm(watch.run.budget) as stop:
            found = descend(problem.flat, order, state, tolerance, stop)
            better = order.copy()
            found = iterate(
                problem.flat, order, better, found, state, tolerance, KICKS, np.zeros(1), effort_of(), stop
            )
        if found > score + tolerance:
            best, score = better, found
            relaxation.learn_of(np.searchsorted(kept, problem.choose(best)))
        gaps.append(relaxation.bound - relaxation.known)
        watch.report(len(gaps), score, problem.bound + unit * relaxation.bound, best_order)
        if len(gaps) > STALLED_ROUNDS and gaps[-1] > (1.0 - STALLED_SHARE) * gaps[-1 - STALLED_ROUNDS]:
            break
        cuts = separate(point, sets, facets=facets)
        if not cuts:
            break
        counts.update(cut.kind for cut in cuts)
        relaxation.add(cuts)
    alive = relaxation.alive
    place = np.where(alive, np.cumsum(alive) - 1, -1)
    stats = {"root_rounds": float(len(gaps)), "iterations": float(relaxation.iterations)}
    return Root(
        best,
        max(score, problem.bound + unit * min(0.0, relaxation.bound)),
        relaxation.is_closed,
        kept[alive],
        [cut.renumber(place) for cut in relaxation.cuts],
        stats | {kind: float(number) for kind, number in counts.items()},
    )
