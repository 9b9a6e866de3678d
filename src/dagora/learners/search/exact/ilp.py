"""The best network by integer programming: branch and cut, with a proof or a gap.

Local search over orders gives the first network. A set that loses more, against its child's best set, than
this whole network does is dropped. Cutting planes (`root`) then give a bound that often proves the network
best; what they leave is solved by branch and cut (`ilp_program`). The cuts are in `separation`. An optimum
that the solver reports is checked here: the network is rebuilt from an order, scored from the candidates, and
compared with the solver's numbers. (Cussens 2011; Bartlett & Cussens 2017.)
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from dagora.base.extras import SCIP
from dagora.base.options import GIBIBYTE
from dagora.kernels.random import random_state
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.learners.search.components import NO_ROW, LocalProblem, Order
from dagora.learners.search.exact.component_solver import (
    ComponentAnswer,
    Watch,
    failure,
    improve_order,
    solve_exactly,
)
from dagora.learners.search.exact.verification import AGREEMENT, PHASE, VerificationError
from dagora.learners.search.path_rules import PathRules

# The local search before the solver ends after this many disturbances per variable without a gain, or after
# so much work: variables times sets times disturbances, some seconds in all.
PATIENCE = 10
WORK = 500_000_000

# Memory that the program takes for each set, roughly.
BYTES_A_SET = 10_000

# Seconds to hand a set over to SCIP, and to take it back, for each of its parents; more than measured.
HAND_OVER, TAKE_BACK = 30e-6, 6e-6


def ilp(
    candidates: Candidates, run: Run, *, facets: bool = True, memory: float = 4.0, best: int = 1
) -> Outcome:
    """Find a best network and prove it optimal; where time runs out, return the best one found and its gap.

    `facets` adds inequalities on three to seven nodes to the cluster inequalities; `memory` is the solver's
    limit, in GiB; `best` is the number of classes of equivalent networks to find.

    >>> listed = [[((1,), -1.0), ((), -3.0)], [((0,), -1.0), ((), -2.0)]]
    >>> outcome = ilp(Candidates.of("ab", listed), Run())
    >>> outcome.status, outcome.score, outcome.graph.edges
    ('optimal', -3.0, (('b', 'a'),))
    """
    SCIP.require("the method ilp")
    rules = PathRules.of(run.knowledge, candidates.names)
    if rules is not None:
        from dagora.learners.search.exact.path_ilp import solve_with_paths

        return solve_with_paths(candidates, run, rules, facets=facets, memory=memory)

    def solver(problem: LocalProblem, order: Order, watch: Watch) -> ComponentAnswer:
        return solve(problem, order, watch, facets=facets, memory=memory)

    try:
        first = solve_exactly(candidates, run, solver, PHASE, lambda _: "", effort=0)
        if best == 1 or first.status == "failed":
            return first
        from dagora.learners.search.exact.k_best import best_by_cuts

        return best_by_cuts(first, candidates, run, best, facets=facets, memory=memory)
    except VerificationError as error:
        return failure(candidates, str(error))


def solve(
    problem: LocalProblem, order: Order, watch: Watch, *, facets: bool, memory: float
) -> ComponentAnswer:
    """Solve one component, given an order to start from."""
    from dagora.learners.search.exact.ilp_program import IlpProgram
    from dagora.learners.search.exact.root import tighten

    start = better_order(problem, order, watch)
    kept = worth_keeping(problem, start)
    if len(kept) * BYTES_A_SET > memory * GIBIBYTE:
        return ComponentAnswer(start, problem.bound, "memory-limit", {"sets": float(len(kept))})
    root = tighten(problem, kept, start, watch, facets=facets)
    stats = Counter(
        {"sets": float(len(kept)), "sets_after_root": float(len(root.kept)), "nodes": 0.0, **root.stats}
    )
    if root.is_closed:
        return ComponentAnswer(root.order, problem.score(root.order), "optimal", stats)
    parents = int(np.bitwise_count(problem.masks[root.kept]).sum())
    if parents * HAND_OVER > watch.run.budget.left:
        return ComponentAnswer(root.order, max(root.bound, problem.score(root.order)), "time-limit", stats)
    program = IlpProgram(problem, root.kept, root.order, watch, cuts=root.cuts, facets=facets, memory=memory)
    try:
        status = program.solve(watch.run.budget.left - parents * TAKE_BACK)
        best, bound, claim = program.best, min(program.bound, root.bound), program.claim
        stats.update(program.stats)
    finally:
        program.free()
    if status == "optimal":
        verify(problem, root.order, best, claim, bound, program.unit)
        return ComponentAnswer(best, problem.score(best), "optimal", stats)
    reason = "memory-limit" if status == "memlimit" else "time-limit"
    return ComponentAnswer(best, max(bound, problem.score(best)), reason, stats)


def better_order(problem: LocalProblem, order: Order, watch: Watch) -> Order:
    """Improve an order by local search: the better the start, the fewer sets are worth keeping."""
    return improve_order(
        problem,
        order,
        problem.score(order),
        random_state(watch.run.seed, len(problem)),
        PATIENCE * len(problem),
        watch.run.budget,
        most=WORK // (len(problem) * len(problem.scores)),
        report=lambda best, found: watch.report(0, best, problem.bound, lambda: found),
    )


def worth_keeping(problem: LocalProblem, order: Order) -> NDArray[np.int64]:
    """Rows of the sets that can be part of a network that scores at least as much as the order's.

    Every other set loses more, against its child's best set, than the order's network loses in all.
    """
    best = np.repeat(problem.scores[problem.offsets[:-1]], np.diff(problem.offsets))
    gap = problem.bound - problem.score(order)
    kept = (best - problem.scores <= gap + problem.tie()) & (problem.rows != NO_ROW)
    kept[problem.choose(order)] = True
    return np.flatnonzero(kept)


def verify(
    problem: LocalProblem, start: Order, best: Order, claim: float, bound: float, unit: float = 1.0
) -> None:
    """Check an optimum: it scores what the solver claims, equals the bound, and is not below the start."""
    score = problem.score(best)
    # The solver sees scores minus each child's best score, in its unit.
    tolerance = AGREEMENT * max(unit, problem.bound - score) + problem.tie(score)
    if abs(score - claim) > tolerance or abs(score - bound) > tolerance:
        raise VerificationError(
            f"the solver claims a score of {claim:.6f} and a bound of {bound:.6f}, "
            f"but its network scores {score:.6f}"
        )
    if score < problem.score(start) - tolerance:
        raise VerificationError(
            f"the solver's optimum {score:.6f} is below the {problem.score(start):.6f} it was given"
        )
