"""The default solver of NOTEARS: improve two orders, and choose by the objective after the threshold.

The two starts are the order at the end of the smooth path (`smooth_path`) and the order of the variances.
Both are improved under the exact program (`order_descent`). Of all orders reached whose objective is nearly
the best, the solver takes the one with the best objective after its weak weights are removed
(`thresholding`). That order is improved once more, now by its objective after the threshold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.wording import setting
from dagora.graph.topological import topological_order
from dagora.learners.optimise.acyclic_support import acyclic_support
from dagora.learners.optimise.path.order_descent import (
    TOLERANCE,
    after_exogenous,
    improve_after_threshold,
    improve_order,
    obeying_order,
    smallest_gain,
    solve_given_order,
)
from dagora.learners.optimise.path.order_moves import OrderSolution
from dagora.learners.optimise.path.path_on_gpu import PathOnGpu, find_gpu, is_out_of_memory, require_gpu
from dagora.learners.optimise.path.path_on_processor import PathOnProcessor
from dagora.learners.optimise.path.smooth_path import EXACT_TO, PathProgram, follow_path
from dagora.learners.optimise.path.thresholding import threshold_program
from dagora.learners.optimise.path.wide_moves import no_time_limit
from dagora.learners.optimise.path.workers import ALONE, ColumnWorkers
from dagora.learners.optimise.sortability import sorted_columns
from dagora.learners.run import Run
from dagora.scores.lasso_kernels import Matrix

# Default number of disturbances of the best order, and the number of variables above which there are none.
DISTURBANCES, MANY_VARIABLES = 30, 150
# An order counts as nearly best if its objective before the threshold is at most this share above the best.
# Other orders can be better after the threshold by chance, above all where rows are few.
NEARLY = 0.005
# Largest number of variables for the last improvement with loss=profile, where dropping a weight takes many
# lassos.
PROFILED_TO = 30
# With device=auto, tables of more columns than this go to a GPU: compiling for it takes seconds.
WORTH_A_GPU = 1000


@dataclass(frozen=True)
class WeightSolution:
    """A solver's final weights, its message, and warnings, such as the edges dropped to reach a DAG.

    `raw` are the weights before the threshold, if the final ones were not solved for again.
    """

    weights: Matrix
    effort: str
    stats: dict[str, float]
    dropped: tuple[str, ...] = ()
    status: str = "finished"
    raw: Matrix | None = None


@dataclass
class BestAfterThreshold:
    """Of all orders that a search reaches, the one with the best objective after the threshold.

    Orders with equal objectives before the threshold can differ much after it. `before` is the best objective
    before the threshold, `objective` the best one after it, and `weights` those of the best order. `hasty`:
    time was up, and all weak weights were removed at once.
    """

    program: PathProgram
    threshold: float
    cut: str
    workers: ColumnWorkers = ALONE
    late: Callable[[], bool] = no_time_limit
    order: NDArray[np.int64] | None = None
    objective: float = np.inf
    before: float = np.inf
    weights: Matrix | None = None
    hasty: bool = False

    def is_nearly_best(self, solution: OrderSolution) -> bool:
        """Return True if a solution's objective before the threshold is nearly the best one seen."""
        return solution.objective <= self.before + NEARLY * abs(self.before)

    def __call__(self, solution: OrderSolution) -> None:
        """Apply the threshold to a solution that is nearly best; keep its order if it is better."""
        self.before = min(self.before, solution.objective)
        gain = smallest_gain(self.program, solution)
        if not self.is_nearly_best(solution):
            return
        weights = solution.weights
        support = (weights != 0) | self.program.required
        # With profiled variances, weights that are removed one by one take seconds.
        self.hasty = self.program.profile and self.late()
        cut = "at-once" if self.hasty else self.cut
        left = threshold_program(self.program, weights, support, self.threshold, cut, self.workers)
        thresholded = self.program.objective(left)
        if thresholded < self.objective - gain:
            self.order, self.objective, self.weights = solution.order.copy(), thresholded, left


def solve_by_path(
    program: PathProgram, run: Run, threshold: float, cut: str, disturbances: int | None, device: str = "cpu"
) -> WeightSolution:
    """Improve the order at the end of the path and that of the variances, then the better one once more."""
    d = len(program)
    inside = program.without_exogenous()
    many = len(inside) > MANY_VARIABLES
    times = disturbances if disturbances is not None else (0 if many else DISTURBANCES)
    with ColumnWorkers(run.jobs) as workers, ColumnWorkers(min(run.jobs, 2)) as sides:
        weights, steps, warnings = path_on_device(inside, run, workers, device)
        # With equal variances both directions of an edge can have equal weights: rounding must not decide.
        support, _ = acyclic_support(weights.round(9), 0.0, inside.required)
        orders = [topological_order(support)]
        if not program.profile:
            by_variance = sorted_columns(np.diag(inside.moments))
            orders.append(obeying_order(by_variance, inside.required))

        def improve(k: int) -> tuple[BestAfterThreshold, int, bool]:
            order = orders[k]
            if order is None:
                raise AssertionError("an acyclic support has an order")
            solution = solve_given_order(
                program, after_exogenous(program, order), np.zeros((d, d)), workers=workers
            )
            generator = np.random.default_rng([run.seed, k])
            best_after_threshold = BestAfterThreshold(
                program, threshold, cut, workers, late=lambda: run.budget.exhausted
            )
            tried, exact = improve_order(
                program, solution, run, generator, times, best_after_threshold, workers
            )
            return best_after_threshold, tried, exact

        # Both orders wait for the same workers, so they have threads of their own to wait in.
        ends = sides.map(improve, range(len(orders)))
        solved = finish(program, run, threshold, cut, ends, steps, workers)
    return replace(solved, dropped=(*warnings, *solved.dropped))


def path_on_device(
    program: PathProgram, run: Run, workers: ColumnWorkers, device: str
) -> tuple[Matrix, int, tuple[str, ...]]:
    """Weights at the end of the smooth path, the number of steps, and warnings.

    Up to `EXACT_TO` variables the path is followed on the processor whatever the option `device` says.
    """
    gpu = None
    if device == "gpu":
        gpu = require_gpu()
    elif device == "auto" and len(program) > WORTH_A_GPU:
        gpu = find_gpu()
    warnings: tuple[str, ...] = ()
    if gpu is not None and len(program) > EXACT_TO:
        from jax.errors import JaxRuntimeError

        try:
            return *follow_path(PathOnGpu(program, gpu), run), ()
        except JaxRuntimeError as error:
            if not is_out_of_memory(error):
                raise
        message = (
            f"the GPU has too little memory for {len(program)} columns, so the path was followed on the "
            f"processor instead; {setting('device', 'cpu')} does so at once"
        )
        warnings = (message,)
    return *follow_path(PathOnProcessor(program, workers), run), warnings


def finish(
    program: PathProgram,
    run: Run,
    threshold: float,
    cut: str,
    ends: list[tuple[BestAfterThreshold, int, bool]],
    steps: int,
    workers: ColumnWorkers,
) -> WeightSolution:
    """Improve the better of the orders once more, and apply the threshold."""
    d = len(program)
    best = ends[0][0]
    for other, *_ in ends[1:]:
        if other.objective < best.objective * (1 - TOLERANCE * np.sign(best.objective)):
            best = other
    if best.order is None or best.weights is None:
        raise AssertionError("every descent ends in an order")
    tried, exact = sum(end[1] for end in ends), ends[0][2]
    if run.budget.exhausted:
        return describe_solution(run, best.weights, ends, steps, tried, exact)
    last = solve_given_order(program, best.order, np.zeros((d, d)), workers=workers)
    thresholds = max(threshold, program.exogenous_threshold)
    if thresholds > 0 and exact and (d <= PROFILED_TO or not program.profile):
        criterion = program.thresholded_problem(threshold, cut)
        moved = solve_given_order(program, best.order, last.weights, criterion, workers)
        generator = np.random.default_rng([run.seed, len(ends)])
        tried += improve_after_threshold(program, moved, run, generator, criterion, workers)
        moved = solve_given_order(program, moved.order, moved.weights, workers=workers)
        if best.is_nearly_best(moved):
            last = moved
    support = (last.weights != 0) | program.required
    weights = threshold_program(program, last.weights, support, threshold, cut, workers)
    return describe_solution(run, weights, ends, steps, tried, exact)


def describe_solution(
    run: Run,
    weights: Matrix,
    ends: list[tuple[BestAfterThreshold, int, bool]],
    steps: int,
    tried: int,
    exact: bool,
) -> WeightSolution:
    """The solution with a message on how it was reached."""
    starts = "1 order" if len(ends) == 1 else f"{len(ends)} orders"
    effort = f"{steps} steps on the path and {tried} tries from {starts}"
    if any(end[0].hasty for end in ends):
        effort += "; weak weights were removed all at once"
    if not run.budget.exhausted:
        verb = "gains" if exact else "seems to gain"
        effort = f"best of the orders reached; in the last no variable {verb} by moving, after {effort}"
    stats = {
        "path_steps": float(steps),
        "variables_tried": float(tried),
        "dropped_edges": 0.0,
        "objective_before_threshold": min(end[0].before for end in ends),
    }
    return WeightSolution(weights, effort, stats)
