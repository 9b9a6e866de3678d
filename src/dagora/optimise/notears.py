"""NOTEARS: the weights of a linear model under the condition that they form no cycle.

    minimise  loss(W) + λ ‖W‖₁   subject to   W has no directed cycle

(Zheng, Aragam, Ravikumar & Xing 2018). There are two solvers. `path`, the default on second moments, follows
a smooth path to an order of the variables and then improves the order under the exact program
(`path_solver`); `augmented-lagrangian` is the published one and also takes losses that need rows. With either
solver the result has no cycle, weights below the threshold are removed (`thresholding`), and edges that had
to be dropped to reach a DAG are listed.

On simulated data this program owes much of its success to the scale of the columns. Every result therefore
reports its sortability (`scale`) and the objective of a baseline that sorts the columns by variance and
regresses each on those before it, under the same loss, penalty, threshold and knowledge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.errors import OptionError
from dagora.graph.dag import DAG
from dagora.optimise.acyclic_support import acyclic_support, describe_dropped, refuse_parent_limit
from dagora.optimise.augmented_lagrangian import augmented_lagrangian
from dagora.optimise.exponential_family import POISSON
from dagora.optimise.losses import (
    FamilyLoss,
    LeastSquares,
    Loss,
    count_rows,
    logistic_loss,
    logistic_rows,
    poisson_loss,
)
from dagora.optimise.path.order_descent import obeying_order
from dagora.optimise.path.path_solver import Solved, solve_by_path
from dagora.optimise.path.smooth_path import PathProgram
from dagora.optimise.path.thresholding import threshold_one_by_one, threshold_program
from dagora.optimise.profile_likelihood import ProfileLikelihood
from dagora.optimise.scale import judge_scale
from dagora.optimise.sortability import sorted_columns
from dagora.result import Outcome
from dagora.run import Run
from dagora.scores.usable_moments import gaussian_moments, refuse_duplicates
from dagora.stats.statistics import Statistics

# Poisson: the largest believable change of a log rate, threshold × largest count of a parent. e²⁰ is 5·10⁸.
LARGEST_EFFECT = 20.0
# Weights of the augmented Lagrangian below this are not zero only because h has a tolerance.
FAINT = 1e-3
# The minimiser has stalled if it leaves more than this share of the first slope; otherwise it leaves about
# 0.01.
STALLED = 0.1

Matrix = NDArray[np.float64]
Support = NDArray[np.bool_]


def notears(
    statistics: Statistics,
    run: Run,
    *,
    lambda1: float = 0.1,
    threshold: float = 0.3,
    cut: str = "guarded",
    solver: str | None = None,
    loss: str = "least-squares",
    intercept: bool = True,
    standardise: bool = False,
    disturbances: int | None = None,
) -> Outcome:
    """Learn a weighted graph; [i, j] of its weights belongs to the edge i → j."""
    refuse_parent_limit(run.knowledge, "notears")
    names = statistics.schema.names
    allowed = ~run.knowledge.forbidden_matrix(names)
    required = run.knowledge.required_matrix(names)
    chosen = solver or ("path" if loss in {"least-squares", "profile"} else "augmented-lagrangian")
    if chosen == "path" and loss in {"logistic", "poisson"}:
        raise OptionError(
            f"solver=path works on second moments; loss={loss} needs solver=augmented-lagrangian"
        )
    if loss in {"logistic", "poisson"} and cut not in {"guarded", "one-by-one"}:
        raise OptionError(f"cut={cut} works on second moments; loss={loss} takes cut=one-by-one")
    measure = make_loss(statistics, loss, standardise=standardise, intercept=intercept)
    task = Task(names, measure, lambda1, allowed, required, threshold, cut)
    program = task.program
    if chosen == "path" and program is not None:
        solved = solve_by_path(program, run, threshold, cut, disturbances)
    else:
        solved = solve_as_published(task, run)
    objective = task.objective(solved.weights)
    graph = DAG.from_numpy((solved.weights != 0) | required, names)
    units = program is not None and not np.allclose(np.diag(program.moments), 1.0, rtol=1e-9)
    covariance = covariance_behind(statistics, measure)
    sortability, warnings = judge_scale(
        graph, covariance, "loss=profile does not depend on units" if units else None
    )
    late = run.budget.exhausted
    baseline = {} if late and program is None else beside_sorting(task, solved.weights, np.diag(covariance))
    return Outcome(
        graph,
        "time-limit" if late else solved.status,
        f"{run.budget.reason}, after {solved.effort}" if late else solved.effort,
        -objective,
        {**solved.stats, **sortability, **baseline},
        solved.weights,
        (*solved.dropped, *judge_counts(task), *warnings),
    )


@dataclass(frozen=True)
class Task:
    """The program to be solved, for any loss, and how its solution is thresholded."""

    names: tuple[str, ...]
    loss: Loss
    lambda1: float
    allowed: Support
    required: Support
    threshold: float
    cut: str

    @property
    def program(self) -> PathProgram | None:
        """The program on second moments, where the loss has them."""
        if not isinstance(self.loss, LeastSquares | ProfileLikelihood):
            return None
        moments = np.ascontiguousarray(self.loss.covariance)
        profile = isinstance(self.loss, ProfileLikelihood)
        return PathProgram(moments, self.lambda1, self.allowed, self.required, profile)

    def objective(self, weights: Matrix) -> float:
        """Loss and penalty."""
        return self.loss.value(weights) + self.lambda1 * float(np.abs(weights).sum())

    def refit(self, support: Support) -> Matrix:
        """The best weights on an acyclic support."""
        return self.loss.refit(support, self.lambda1)

    def thresholded(self, weights: Matrix, support: Support) -> Matrix:
        """Weights on an acyclic support after the threshold; `weights` are where the solver starts."""
        if self.program is not None:
            return threshold_program(self.program, weights, support, self.threshold, self.cut)
        return threshold_one_by_one(self.refit, support, self.required, self.threshold)[0]


def make_loss(statistics: Statistics, name: str, *, standardise: bool, intercept: bool) -> Loss:
    """The loss of that name on the data; data that it cannot take are refused."""
    if name in {"logistic", "poisson"}:
        if standardise:
            raise OptionError(f"standardise=true would leave no data that loss={name} takes: leave it out")
        if name == "logistic":
            return logistic_loss(logistic_rows(statistics), intercept=intercept)
        return poisson_loss(count_rows(statistics), intercept=intercept)
    if not intercept:
        raise OptionError(f"intercept=false belongs to loss=logistic or poisson; loss={name} centres columns")
    moments = gaussian_moments(statistics, "the method notears")
    refuse_duplicates(moments, statistics.schema, "the method notears")
    covariance = moments.covariance
    if standardise or name == "profile":
        spread = np.sqrt(np.diag(covariance))
        covariance = covariance / np.outer(spread, spread)
    return ProfileLikelihood(covariance) if name == "profile" else LeastSquares(covariance)


def solve_as_published(task: Task, run: Run) -> Solved:
    """The augmented Lagrangian of the paper, then the DAG, the threshold, and a refit on that graph."""
    solution = augmented_lagrangian(
        task.loss, run, lambda1=task.lambda1, allowed=task.allowed, required=task.required
    )
    support, dropped = acyclic_support(solution.weights, FAINT, task.required)
    stats = {
        "h": solution.h,
        "rounds": float(solution.rounds),
        "evaluations": float(solution.evaluations),
        "dropped_edges": float(len(dropped)),
    }
    status, effort = "finished", solution.reason
    if run.budget.exhausted:
        effort = f"{solution.evaluations} evaluations"
    elif solution.steepness > STALLED:
        status = "stalled"
        effort = f"no step gains, though the slope is {solution.steepness:.2g} times what it was; {effort}"
    listed = describe_dropped(task.names, solution.weights, dropped)
    return Solved(task.thresholded(solution.weights, support), effort, stats, listed, status)


def covariance_behind(statistics: Statistics, loss: Loss) -> Matrix:
    """Covariance of the columns before any scaling; levels count as the numbers that the loss uses."""
    if isinstance(loss, FamilyLoss):
        return np.atleast_2d(np.cov(loss.rows.T, bias=True))
    return statistics.moments().covariance


def beside_sorting(task: Task, weights: Matrix, variances: NDArray[np.float64]) -> dict[str, float]:
    """The baseline that sorts by variance: its objective, ours, and in how many pairs the edges differ."""
    order = obeying_order(sorted_columns(variances), task.required)
    place = np.argsort(order)
    full = task.refit((place[:, None] < place[None, :]) & task.allowed)
    found = task.thresholded(full, (full != 0) | task.required)
    different = (found != 0) != (weights != 0)
    return {
        "sort_and_regress_objective": task.objective(found),
        "objective": task.objective(weights),
        "sort_and_regress_distance": float(np.triu(different | different.T).sum()),
    }


def judge_counts(task: Task) -> list[str]:
    """Warn of counts so large that any weight above the threshold would have an absurd effect."""
    if not isinstance(task.loss, FamilyLoss) or task.loss.family.name != POISSON.name:
        return []
    largest = task.loss.rows.max(axis=0)
    worst = int(largest.argmax())
    least = max(task.threshold, FAINT)
    if least * largest[worst] <= LARGEST_EFFECT:
        return []
    warning = (
        f"column '{task.names[worst]}' has counts up to {largest[worst]:.0f}, and weights act on logarithms "
        f"of rates: no weight that is kept ({least:g} or more) fits its edges; count in larger units"
    )
    return [warning + ", or lower the threshold" if task.threshold > FAINT else warning]
