"""The default solver of NOTEARS: from the path's order to the best one, and what the threshold leaves of it.

The smooth path (`path`) and the order of the variances are two starts; both orders are improved under the
exact program (`order_descent`), and of all orders reached that are nearly best the one counts whose solution
is best without its weak weights (`thresholding`). That one is improved once more, judged by what the threshold
leaves.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.graph.dag import topological_order
from dagora.optimise.acyclic_support import acyclic_support
from dagora.optimise.path.order_descent import (
    TOLERANCE,
    improve_order,
    improve_thresholded,
    obeying_order,
    smallest_gain,
    solve_given_order,
)
from dagora.optimise.path.order_moves import OrderSolution
from dagora.optimise.path.smooth_path import PathProgram, follow_path
from dagora.optimise.path.thresholding import threshold_program
from dagora.optimise.sortability import sorted_columns
from dagora.run import Run
from dagora.scores.lasso_kernels import Matrix

# How often the best order is disturbed, unless there are many variables.
FEW_DISTURBANCES, MANY_VARIABLES = 30, 150
# Orders whose objective, all weights counted, is above the best by more than this share do not count: what
# the threshold leaves of them may be better by chance, above all where rows are few.
NEARLY = 0.005
# A profiled column takes many lassos each time that a weak weight goes: to so many variables it is worth it.
PROFILED_TO = 30


@dataclass(frozen=True)
class Solved:
    """A solver's answer without cycles and weak edges, how it ended, and what was dropped to reach a DAG."""

    weights: Matrix
    effort: str
    stats: dict[str, float]
    dropped: tuple[str, ...] = ()
    status: str = "finished"


@dataclass
class BestThresholded:
    """The order whose solution is best once weak weights are gone, among all that a search ends in.

    Orders that are equally good with all their weights can differ much without the small ones.
    """

    program: PathProgram
    threshold: float
    cut: str
    order: NDArray[np.int64] | None = None
    objective: float = np.inf
    before: float = np.inf

    def nearly_best(self, solution: OrderSolution) -> bool:
        """Whether a solution with all its weights is as good as the best that was seen, or nearly so."""
        return solution.objective <= self.before + NEARLY * abs(self.before)

    def __call__(self, solution: OrderSolution) -> None:
        """Thin a solution, unless it is far from the best, and keep its order if it is better."""
        self.before = min(self.before, solution.objective)
        gain = smallest_gain(self.program, solution)
        if not self.nearly_best(solution):
            return
        weights = solution.weights
        support = (weights != 0) | self.program.required
        left = threshold_program(self.program, weights, support, self.threshold, self.cut)
        thresholded = self.program.objective(left)
        if thresholded < self.objective - gain:
            self.order, self.objective = solution.order.copy(), thresholded


def solve_by_path(
    program: PathProgram, run: Run, threshold: float, cut: str, disturbances: int | None
) -> Solved:
    """Follow the path and improve the order it ends in; the order of the variances is a second start.

    The best order of both is improved once more as it stands after the threshold.
    """
    d = len(program)
    times = disturbances if disturbances is not None else (FEW_DISTURBANCES if d <= MANY_VARIABLES else 0)
    with ThreadPoolExecutor(run.jobs) as pool:
        weights, steps = follow_path(program, run, pool)
        # On columns of one variance both directions of an edge can be equal: rounding must not choose.
        support, _ = acyclic_support(weights.round(9), 0.0, program.required)
        orders = [topological_order(support)]
        if not program.profile:
            by_variance = sorted_columns(np.diag(program.moments))
            orders.append(obeying_order(by_variance, program.required))

        def improve(k: int) -> tuple[BestThresholded, int, bool]:
            order = orders[k]
            if order is None:
                raise AssertionError("a support cut to a DAG has an order")
            solution = solve_given_order(program, order, np.zeros((d, d)))
            generator = np.random.default_rng([run.seed, k])
            best_thresholded = BestThresholded(program, threshold, cut)
            tried, exact = improve_order(program, solution, run, generator, times, best_thresholded)
            return best_thresholded, tried, exact

        ends = list(pool.map(improve, range(len(orders))))
    best = ends[0][0]
    for other, *_ in ends[1:]:
        if other.objective < best.objective * (1 - TOLERANCE * np.sign(best.objective)):
            best = other
    if best.order is None:
        raise AssertionError("every descent ends in an order")
    tried, exact = sum(end[1] for end in ends), ends[0][2]
    last = solve_given_order(program, best.order, np.zeros((d, d)))
    if threshold > 0 and exact and (d <= PROFILED_TO or not program.profile):
        judge = program.judged_after(threshold, cut)
        moved = solve_given_order(program, best.order, last.weights, judge)
        tried += improve_thresholded(program, moved, run, np.random.default_rng([run.seed, len(orders)]), judge)
        moved = solve_given_order(program, moved.order, moved.weights)
        if best.nearly_best(moved):
            last = moved
    weights = threshold_program(program, last.weights, (last.weights != 0) | program.required, threshold, cut)
    starts = "1 order" if len(orders) == 1 else f"{len(orders)} orders"
    effort = f"{steps} steps on the path and {tried} tries from {starts}"
    if not run.budget.exhausted:
        verb = "gains" if exact else "seems to gain"
        effort = f"best of the orders reached; in the last no variable {verb} by moving, after {effort}"
    stats = {"path_steps": float(steps), "variables_tried": float(tried), "dropped_edges": 0.0}
    return Solved(weights, effort, stats)
