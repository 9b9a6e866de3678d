"""The best network by dynamic programming over subsets.

Let B(S) be the best score that the variables outside S can reach when those in S come before them:

    B(S) = max over x ∉ S of  B(S ∪ {x}) + best score of x with parents in S,    B(all) = 0.

B(∅) is the optimum, and following the maxima from ∅ upwards gives an order that permits it (Silander &
Myllymäki 2006; Singh & Moore 2005). Only one number per subset is stored. The best parents within S are found
by a scan of the variable's candidates, which are few, and are found again on the way up. A variable whose
best set of all lies within S may come next without loss; then the other variables need not be examined.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dagora.base.options import GIBIBYTE
from dagora.kernels.decorators import kernel
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.learners.search.components import LocalProblem, Order
from dagora.learners.search.exact.component_solver import ComponentAnswer, Watch, solve_exactly
from dagora.learners.search.exact.k_best import best_by_subsets

# Sets examined between two looks at the clock: well below 0.2 s.
WORK_PER_ROUND = 20_000_000


def dynamic(candidates: Candidates, run: Run, *, memory: float = 4.0, best: int = 1) -> Outcome:
    """Find a best network, one component after the other; `memory` is the limit on the table, in GiB.

    `best` is the number of classes of equivalent networks to find.

    >>> listed = [[((1,), -1.0), ((), -3.0)], [((0,), -1.0), ((), -2.0)]]
    >>> outcome = dynamic(Candidates.of("ab", listed), Run())
    >>> outcome.status, outcome.score, outcome.graph.edges
    ('optimal', -3.0, (('b', 'a'),))
    """
    first = solve_exactly(
        candidates, run, solve, "dynamic programming", lambda size: refusal(size, memory), effort=4
    )
    return first if best == 1 or first.status == "failed" else best_by_subsets(first, candidates, run, best)


def refusal(size: int, memory: float) -> str:
    """The reason why a component of that size cannot be solved; empty if it can be."""
    needed = 8.0 * 2.0**size / GIBIBYTE
    if needed <= memory:
        return ""
    amount = f"{needed:.3g} GiB" if size < 60 else "far more memory than there is"
    return (
        f"dynamic programming over {size} variables that depend on each other takes {amount}, "
        f"the limit is {memory:g} GiB: try the method astar or ilp"
    )


def solve(problem: LocalProblem, order: Order, watch: Watch) -> ComponentAnswer:
    """The best order of one component, or the given one where time or memory runs out."""
    size = len(problem)
    score = problem.score(order)
    try:
        table = np.empty(1 << size, dtype=np.float64)
    except MemoryError:
        return ComponentAnswer(order, problem.bound, "memory-limit")
    for done in completions(problem, table):
        watch.report(done, score, problem.bound, lambda: order, total=1 << size)
        if done < 1 << size and watch.exhausted:
            return ComponentAnswer(order, problem.bound, "time-limit", {"subsets": float(done)})
    masks = problem.masks[:, 0].astype(np.int64)
    # Every step may lose a tie: all together no more than one.
    tolerance = problem.tie(float(table[0])) / size
    best = ascend(table, masks, problem.scores, problem.offsets, tolerance)
    return ComponentAnswer(best, problem.score(best), "optimal", {"subsets": float(1 << size)})


def completions(problem: LocalProblem, table: NDArray[np.float64]) -> Iterator[int]:
    """Fill the table B of a problem in rounds; after each round, yield the number of subsets done."""
    masks = problem.masks[:, 0].astype(np.int64)
    subset = len(table) - 1
    while subset >= 0:
        subset = fill(table, masks, problem.scores, problem.offsets, subset, WORK_PER_ROUND)
        yield len(table) - 1 - subset


@kernel
def fill(
    table: NDArray[np.float64],
    masks: NDArray[np.int64],
    scores: NDArray[np.float64],
    offsets: NDArray[np.int64],
    subset: int,
    work: int,
) -> int:
    """Fill the table from `subset` downwards until about `work` sets were examined; return the next subset.

    Every variable's sets must be sorted best first and include the empty set.
    """
    size = len(offsets) - 1
    full = (1 << size) - 1
    while subset >= 0 and work > 0:
        outside = full & ~subset
        best = -np.inf if outside else 0.0
        work -= size
        free = False
        for x in range(size):
            if outside >> x & 1 and masks[offsets[x]] & ~subset == 0:
                best = table[subset | 1 << x] + scores[offsets[x]]
                free = True
                break
        if not free:
            for x in range(size):
                if outside >> x & 1:
                    row = offsets[x] + 1
                    while masks[row] & ~subset:
                        row += 1
                    work -= row - offsets[x]
                    best = max(best, table[subset | 1 << x] + scores[row])
        table[subset] = best
        subset -= 1
    return subset


@kernel
def ascend(
    table: NDArray[np.float64],
    masks: NDArray[np.int64],
    scores: NDArray[np.float64],
    offsets: NDArray[np.int64],
    tolerance: float,
) -> NDArray[np.int64]:
    """Follow the maxima of a filled table from the empty set upwards; return the order of the variables.

    Of variables whose values differ by no more than `tolerance` the first is taken, so that rounding in the
    scores does not change the order.
    """
    size = len(offsets) - 1
    order = np.empty(size, dtype=np.int64)
    subset = 0
    for place in range(size):
        best = -np.inf
        for x in range(size):
            if not subset >> x & 1:
                row = offsets[x]
                while masks[row] & ~subset:
                    row += 1
                value = table[subset | 1 << x] + scores[row]
                if value > best + tolerance:
                    best = value
                    order[place] = x
        subset |= 1 << order[place]
    return order
