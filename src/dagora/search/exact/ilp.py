"""The best network by integer programming: branch and cut, with a proof or a gap.

The program and its cuts are in `ilp_program`. Local search over orders gives the first network, and sets that
lose more than it does in all are dropped before the solver starts. What the solver calls optimal is checked
here: the network is rebuilt from an order, scored from the candidates, and compared with the solver's
numbers. (Cussens 2011; Bartlett & Cussens 2017.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.errors import OptionError
from dagora.kernel_random import random_state
from dagora.options import GIBIBYTE
from dagora.result import Outcome
from dagora.run import Run
from dagora.scores.candidates.candidates import Candidates
from dagora.scores.local_score import TIE
from dagora.search.components import NO_ROW, LocalProblem, Order
from dagora.search.exact.component_solver import Answer, Watch, failure, solve_exactly
from dagora.search.order.moves import iterate

# The solver's numbers and ours may differ by this much, relative to the numbers that the solver sees.
AGREEMENT = 1e-6

PHASE = "integer programming"

# The first search ends after this many disturbances per variable without a gain, or so much work: variables
# times sets times disturbances. A round of it is some milliseconds, all of it some seconds.
PATIENCE = 10
WORK_A_ROUND = 2_000_000
WORK = 500_000_000

# The program takes about this much memory for each set.
BYTES_A_SET = 10_000


class VerificationError(Exception):
    """The solver's answer does not stand up to our own arithmetic."""


def ilp(candidates: Candidates, run: Run, *, facets: bool = True, memory: float = 4.0) -> Outcome:
    """Find a best network and prove it; without time for that, the best found and its gap.

    `facets` adds facets of four nodes to the cluster inequalities; `memory` is the solver's limit, in GiB.

    >>> listed = [[((1,), -1.0), ((), -3.0)], [((0,), -1.0), ((), -2.0)]]
    >>> outcome = ilp(Candidates.of("ab", listed), Run())
    >>> outcome.status, outcome.score, outcome.graph.edges
    ('optimal', -3.0, (('b', 'a'),))
    """
    try:
        import pyscipopt  # noqa: F401 - only to see whether it is there
    except ImportError:
        raise OptionError("the method ilp needs PySCIPOpt: pip install 'dagora[exact]'") from None

    def solver(problem: LocalProblem, order: Order, watch: Watch) -> Answer:
        return solve(problem, order, watch, facets=facets, memory=memory)

    try:
        return solve_exactly(candidates, run, solver, PHASE, lambda _: "", effort=0)
    except VerificationError as error:
        return failure(candidates, str(error))


def solve(problem: LocalProblem, order: Order, watch: Watch, *, facets: bool, memory: float) -> Answer:
    """Solve one component, given an order to start from."""
    from dagora.search.exact.ilp_program import IlpProgram

    start = better_order(problem, order, watch)
    kept = worth_keeping(problem, start)
    if len(kept) * BYTES_A_SET > memory * GIBIBYTE:
        return Answer(start, problem.bound, "memory-limit", {"sets": float(len(kept))})
    program = IlpProgram(problem, kept, start, watch, facets=facets, memory=memory)
    try:
        status = program.solve()
        best, bound, claim, stats = program.best, program.bound, program.claim, program.stats
    finally:
        program.free()
    if status == "optimal":
        verify(problem, start, best, claim, bound, program.unit)
        return Answer(best, problem.score(best), "optimal", stats)
    reason = "memory-limit" if status == "memlimit" else "time-limit"
    return Answer(best, max(bound, problem.score(best)), reason, stats)


def better_order(problem: LocalProblem, order: Order, watch: Watch) -> Order:
    """Search near an order for a while: the better the start, the fewer sets are worth keeping."""
    state = random_state(watch.run.seed, len(problem))
    tolerance = TIE * abs(problem.bound)
    here, best_order, best = order.copy(), order.copy(), problem.score(order)
    cost = len(problem) * len(problem.scores)
    patience = PATIENCE * len(problem)
    kicks = max(1, min(patience, WORK_A_ROUND // cost))
    idle, left = 0, WORK // cost
    while idle < patience and left > 0 and best < problem.bound - tolerance:
        if watch.exhausted:
            break
        top = iterate(
            problem.masks, problem.scores, problem.offsets, here, best_order, best, state, tolerance, kicks
        )
        idle = 0 if top > best else idle + kicks
        best = top
        left -= kicks
        watch.report(0, best, problem.bound)
    return best_order


def worth_keeping(problem: LocalProblem, order: Order) -> NDArray[np.int64]:
    """Rows of the sets that can be part of a network at least as good as the order's.

    The others lose more, against their child's best set, than that network does in all.
    """
    best = np.repeat(problem.scores[problem.offsets[:-1]], np.diff(problem.offsets))
    gap = problem.bound - problem.score(order)
    tolerance = TIE * abs(problem.bound)
    return np.flatnonzero((best - problem.scores <= gap + tolerance) & (problem.rows != NO_ROW))


def verify(
    problem: LocalProblem, start: Order, best: Order, claim: float, bound: float, unit: float = 1.0
) -> None:
    """Check an optimum: its order's score is what the solver claims, meets the bound, and beats the start."""
    score = problem.score(best)
    # The solver sees scores less each child's best, in its unit.
    tolerance = AGREEMENT * max(unit, problem.bound - score) + TIE * abs(score)
    if abs(score - claim) > tolerance or abs(score - bound) > tolerance:
        raise VerificationError(
            f"the solver claims a score of {claim:.6f} and a bound of {bound:.6f}, "
            f"but its network scores {score:.6f}"
        )
    if score < problem.score(start) - tolerance:
        raise VerificationError(
            f"the solver's optimum {score:.6f} is below the {problem.score(start):.6f} it was given"
        )
