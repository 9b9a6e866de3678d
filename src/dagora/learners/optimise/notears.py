"""NOTEARS: the weights of a linear model under the condition that they form no cycle.

    minimise  loss(W) + λ ‖W‖₁   subject to   W has no directed cycle

(Zheng, Aragam, Ravikumar & Xing 2018). There are three solvers. On second moments, one follows a smooth path
to an order of the variables and then improves the order under the exact program (`path_solver`). Losses that
need rows have an augmented Lagrangian (`augmented_lagrangian`). After either, weights below the
threshold are removed and the rest is solved again (`thresholding`). With `published` it is algorithm 1 of the
paper and nothing after it (`published`): weights below the threshold become zero, the others stay as they
are. Weights that still hold a cycle lose their weakest edges on cycles, which are listed: before the
threshold with our augmented Lagrangian, after it with the published algorithm.

On simulated data this program owes much of its success to the scale of the columns. Every result therefore
reports its sortability and the objective of a baseline that sorts the columns by variance and
regresses each on those before it, under the same loss, penalty, threshold and knowledge.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.base.wording import setting
from dagora.graph.dag import DAG
from dagora.learners.optimise.acyclic_support import acyclic_support, dropped_edges_warning
from dagora.learners.optimise.augmented_lagrangian import augmented_lagrangian
from dagora.learners.optimise.exponential_family import POISSON
from dagora.learners.optimise.losses import (
    FamilyLoss,
    LeastSquares,
    Loss,
    ProfileLikelihood,
    count_rows,
    logistic_loss,
    logistic_rows,
    poisson_loss,
)
from dagora.learners.optimise.path.choosing import AUTO, choose
from dagora.learners.optimise.path.order_descent import obeying_order
from dagora.learners.optimise.path.path_on_gpu import require_gpu
from dagora.learners.optimise.path.path_solver import WeightSolution, solve_by_path
from dagora.learners.optimise.path.refitting import refit_columns
from dagora.learners.optimise.path.smooth_path import PathProgram
from dagora.learners.optimise.path.thresholding import threshold_one_by_one, threshold_program
from dagora.learners.optimise.path.workers import ALONE, ColumnWorkers
from dagora.learners.optimise.progress import EdgeMaker, edges_of
from dagora.learners.optimise.published import published_algorithm
from dagora.learners.optimise.sortability import report_sortability, sorted_columns
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.scores.usable_moments import gaussian_moments, refuse_duplicates
from dagora.stats.statistics import Statistics

# Poisson: the largest plausible change of a log rate, threshold × largest count of a parent. e²⁰ is 5·10⁸.
LARGEST_EFFECT = 20.0
# Weights of the augmented Lagrangian below this are not zero only because h has a tolerance.
FAINT = 1e-3
# The minimiser has stalled if it leaves more than this share of the first slope (usually about 0.01).
STALLED = 0.1

ALGORITHM = "algorithm 1 of Zheng et al. (2018)"
# Losses that need rows; the others need second moments.
ON_ROWS = {"logistic", "poisson"}

Matrix = NDArray[np.float64]
Support = NDArray[np.bool_]


def notears(
    statistics: Statistics,
    run: Run,
    *,
    lambda1: float | str = 0.1,
    threshold: float | str = 0.3,
    published: bool = False,
    inner: str | None = None,
    cut: str | None = None,
    loss: str = "least-squares",
    intercept: bool | None = None,
    standardise: bool = False,
    disturbances: int | None = None,
    device: str = "auto",
) -> Outcome:
    """Learn a weighted graph; [i, j] of its weights belongs to the edge i → j."""
    names = statistics.schema.names
    allowed = ~run.knowledge.forbidden_matrix(names)
    required = run.knowledge.required_matrix(names)
    if device == "gpu":
        if published or loss in ON_ROWS:
            raise OptionError(
                f"{setting('device', 'gpu')} belongs to our solver on second moments: leave it out, or "
                "choose loss=least-squares or profile without published=true"
            )
        require_gpu()
    if inner is not None and not published:
        raise OptionError(f"inner={inner} belongs to published=true: leave it out, or add published=true")
    if published:
        check_published_options(cut=cut, loss=loss, intercept=intercept, disturbances=disturbances)
    if loss in ON_ROWS and cut not in {None, "one-by-one"}:
        raise OptionError(f"cut={cut} works on second moments; loss={loss} takes cut=one-by-one")
    if published and loss in ON_ROWS:
        intercept = False
    measure = make_loss(statistics, loss, standardise=standardise, intercept=intercept)
    chosen: dict[str, float] = {}
    if AUTO in {lambda1, threshold}:
        if published or loss in ON_ROWS:
            other = "published=true" if published else f"loss={loss}"
            raise OptionError(f"auto needs second moments and our solver; with {other} give a number")
        start = NotearsTask(names, measure, 0.0, allowed, required, 0.0, "guarded").program
        if start is None:
            raise AssertionError("losses that need no rows have a program on second moments")
        rows = statistics.moments().n
        open_ = [name for name, value in (("lambda1", lambda1), ("threshold", threshold)) if value == AUTO]
        start = replace(start, edge_maker=None)  # without a penalty nothing is worth seeing
        lambda1, threshold = choose(start, run, rows, lambda1, threshold, cut or "guarded", device)
        chosen = {
            name: value for name, value in (("lambda1", lambda1), ("threshold", threshold)) if name in open_
        }
    task = NotearsTask(
        names, measure, float(lambda1), allowed, required, float(threshold), cut or "guarded", published
    )
    program = task.program
    if published:
        solved = solve_as_in_paper(task, run, inner or "split", standardise=standardise)
    elif program is not None:
        solved = solve_by_path(program, run, task.threshold, task.cut, disturbances, device)
    else:
        solved = solve_by_multipliers(task, run)
    objective = task.objective(solved.weights)
    graph = DAG.from_numpy((solved.weights != 0) | required, names)
    units = program is not None and not np.allclose(np.diag(program.moments), 1.0, rtol=1e-9)
    covariance = unscaled_covariance(statistics, measure)
    sortability, warnings = report_sortability(
        graph, covariance, f"{setting('loss', 'profile')} does not depend on units" if units else None
    )
    late = run.budget.exhausted
    with ColumnWorkers(run.jobs) as workers:
        baseline = (
            {}
            if late and (program is None or program.profile)
            else sorting_baseline(task, solved.weights, np.diag(covariance), workers)
        )
    return Outcome(
        graph,
        "time-limit" if late else solved.status,
        "; ".join(
            [
                f"{run.budget.reason}, after {solved.effort}" if late else solved.effort,
                *choice_message(chosen),
            ]
        ),
        -objective,
        {**solved.stats, **sortability, **baseline, **chosen},
        solved.weights,
        (*solved.dropped, *count_warnings(task), *warnings),
        raw_weights=solved.raw,
    )


def choice_message(chosen: dict[str, float]) -> list[str]:
    """A message with the values that were chosen from the data; empty if none was."""
    values = " and ".join(f"{name} = {value:.3g}" for name, value in chosen.items())
    return [f"{values} by extended BIC"] if chosen else []


def check_published_options(
    *, cut: str | None, loss: str, intercept: bool | None, disturbances: int | None
) -> None:
    """Raise for options that the published algorithm does not have."""
    reasons = {
        f"loss={loss}": ("the paper has no such loss", loss == "profile"),
        f"cut={cut}": ("the paper only sets weak weights to zero", cut is not None),
        "intercept=true": ("the paper's models have no intercept", intercept is True),
        f"disturbances={disturbances}": ("the paper has one start", disturbances is not None),
    }
    for given, (reason, contradicts) in reasons.items():
        if contradicts:
            raise OptionError(f"{given} contradicts published=true: {reason}; leave one of them out")


@dataclass(frozen=True)
class NotearsTask:
    """The program to be solved, for any loss, and how its solution is thresholded."""

    names: tuple[str, ...]
    loss: Loss
    lambda1: float
    allowed: Support
    required: Support
    threshold: float
    cut: str
    published: bool = False

    @property
    def program(self) -> PathProgram | None:
        """The program on second moments; None if the loss needs rows."""
        if not isinstance(self.loss, LeastSquares | ProfileLikelihood):
            return None
        moments = np.ascontiguousarray(self.loss.covariance)
        profile = isinstance(self.loss, ProfileLikelihood)
        return PathProgram(
            moments, self.lambda1, self.allowed, self.required, profile, edge_maker=self.edge_maker
        )

    @property
    def edge_maker(self) -> EdgeMaker:
        """Makes the edges of weights in events."""
        return partial(edges_of, self.names, self.threshold, self.required)

    def objective(self, weights: Matrix) -> float:
        """Loss and penalty."""
        return self.loss.value(weights) + self.lambda1 * float(np.abs(weights).sum())

    def refit(self, support: Support, workers: ColumnWorkers = ALONE) -> Matrix:
        """The best weights on an acyclic support."""
        if (program := self.program) is None:
            return self.loss.refit(support, self.lambda1)
        return refit_columns(program.moments, support, self.lambda1, profile=program.profile, workers=workers)

    def apply_threshold(self, weights: Matrix, support: Support, workers: ColumnWorkers = ALONE) -> Matrix:
        """Weights on an acyclic support after the threshold; the solver starts at `weights`."""
        if self.published:
            return self.without_weak(weights)
        if self.program is not None:
            return threshold_program(self.program, weights, support, self.threshold, self.cut, workers)
        return threshold_one_by_one(self.refit, support, self.required, self.threshold)[0]

    def without_weak(self, weights: Matrix) -> Matrix:
        """Weights of at least the threshold, and those of required edges, as they are; zero elsewhere."""
        return np.where((np.abs(weights) >= self.threshold) | self.required, weights, 0.0)


def make_loss(statistics: Statistics, name: str, *, standardise: bool, intercept: bool | None) -> Loss:
    """The loss of that name on the data; raises for data that it cannot take."""
    if name in ON_ROWS:
        if standardise:
            raise OptionError(f"standardise=true would leave no data that loss={name} takes: leave it out")
        if name == "logistic":
            return logistic_loss(logistic_rows(statistics), intercept=intercept is not False)
        return poisson_loss(count_rows(statistics), intercept=intercept is not False)
    if intercept is False:
        raise OptionError(f"intercept=false belongs to loss=logistic or poisson; loss={name} centres columns")
    moments = gaussian_moments(statistics, "the method notears")
    refuse_duplicates(moments, statistics.schema, "the method notears")
    covariance = moments.covariance
    if standardise or name == "profile":
        spread = np.sqrt(np.diag(covariance))
        covariance = covariance / np.outer(spread, spread)
    return ProfileLikelihood(covariance) if name == "profile" else LeastSquares(covariance)


def solve_by_multipliers(task: NotearsTask, run: Run) -> WeightSolution:
    """The augmented Lagrangian for losses on rows, then the DAG, the threshold, and a refit on that graph."""
    solution = augmented_lagrangian(
        task.loss,
        run,
        lambda1=task.lambda1,
        allowed=task.allowed,
        required=task.required,
        edge_maker=task.edge_maker,
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
    listed = dropped_edges_warning(task.names, solution.weights, dropped)
    return WeightSolution(task.apply_threshold(solution.weights, support), effort, stats, listed, status)


def solve_as_in_paper(task: NotearsTask, run: Run, inner: str, *, standardise: bool) -> WeightSolution:
    """Algorithm 1 of the paper; if cycles are left after the threshold, their weakest edges are dropped."""
    found = published_algorithm(
        task.loss,
        run,
        lambda1=task.lambda1,
        allowed=task.allowed,
        required=task.required,
        edge_maker=task.edge_maker,
        inner=inner,
    )
    thresholded = task.without_weak(found.weights)
    support, dropped = acyclic_support(thresholded, 0.0, task.required)
    stats = {
        "h": found.h,
        "rho": found.rho,
        "rounds": float(found.rounds),
        "evaluations": float(found.evaluations),
        "objective_before_threshold": found.objective,
        "objective_before_cut": task.objective(thresholded),
        "dropped_edges": float(len(dropped)),
    }
    if run.budget.exhausted:
        parts = [f"{found.evaluations} evaluations of {ALGORITHM}"]
    else:
        parts = [f"{ALGORITHM}: {found.reason}"]
    if dropped:
        edges = "1 edge" if len(dropped) == 1 else f"{len(dropped)} edges"
        parts.append(
            f"cycles were left after the threshold, and {edges} on them dropped, which the paper has not"
        )
    parts += departures(task, inner, standardise=standardise)
    return WeightSolution(
        np.where(support, thresholded, 0.0),
        "; ".join(parts),
        stats,
        dropped_edges_warning(task.names, thresholded, dropped),
        "finished" if found.converged else "stalled",
        raw=found.weights,
    )


def departures(task: NotearsTask, inner: str, *, standardise: bool) -> list[str]:
    """The differences between this run of the published algorithm and the paper, as messages."""
    knowing = task.required.any() or not (task.allowed | np.eye(len(task.names), dtype=np.bool_)).all()
    solver = "the inner solver is that of the paper, with our line search and tolerance"
    if inner == "split":
        solver = "not as in the paper: L-BFGS-B on W = W⁺ − W⁻, as in its authors' code, is the inner solver"
    others = {
        "the paper does not say that columns are centred": not isinstance(task.loss, FamilyLoss),
        "the paper has no knowledge of edges": knowing,
        "the paper does not scale columns (standardise=true)": standardise,
        "the paper has no results with other losses than least squares": isinstance(task.loss, FamilyLoss),
    }
    return [solver, *(message for message, holds in others.items() if holds)]


def unscaled_covariance(statistics: Statistics, loss: Loss) -> Matrix:
    """The covariance of the columns before any scaling; levels are the numbers that the loss uses."""
    if isinstance(loss, FamilyLoss):
        return np.atleast_2d(np.cov(loss.rows.T, bias=True))
    return statistics.moments().covariance


def sorting_baseline(
    task: NotearsTask, weights: Matrix, variances: NDArray[np.float64], workers: ColumnWorkers
) -> dict[str, float]:
    """The objective of a baseline that sorts by variance, that of `weights`, and the pairs that differ."""
    order = obeying_order(sorted_columns(variances), task.required)
    place = np.argsort(order)
    full = task.refit((place[:, None] < place[None, :]) & task.allowed, workers)
    found = task.apply_threshold(full, (full != 0) | task.required, workers)
    different = (found != 0) != (weights != 0)
    return {
        "sort_and_regress_objective": task.objective(found),
        "objective": task.objective(weights),
        "sort_and_regress_distance": float(np.triu(different | different.T).sum()),
    }


def count_warnings(task: NotearsTask) -> list[str]:
    """A warning of counts so large that any weight above the threshold would have an absurd effect."""
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
