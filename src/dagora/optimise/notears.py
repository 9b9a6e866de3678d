"""NOTEARS: the weights of a linear model under the condition that they form no cycle.

    minimise  loss(W) + λ ‖W‖₁   subject to   W has no directed cycle

(Zheng, Aragam, Ravikumar & Xing 2018). Two solvers: `path`, the default on second moments, follows a smooth
path to an order of the variables and then improves the order under the exact program (`path_solver`);
`augmented-lagrangian` is the published one and also takes losses that need rows. Whatever the solver, the
result has no cycle, and weights below the threshold are gone (`thinning`): edges that had to be dropped to
reach a DAG are listed.

On simulated data this program owes much of its success to the columns' scale, so every result comes with its
sortability and with the baseline that only sorts (`sortability`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.errors import OptionError
from dagora.graph.dag import DAG
from dagora.optimise.augmented_lagrangian import augmented_lagrangian
from dagora.optimise.losses import LeastSquares, Logistic, Loss, Poisson, count_rows, logistic_rows
from dagora.optimise.path import Program
from dagora.optimise.path_solver import Solved, solve_by_path
from dagora.optimise.profile_likelihood import ProfileLikelihood
from dagora.optimise.sortability import r2_sortability, sort_and_regress, varsortability
from dagora.optimise.thinning import thin, thin_program
from dagora.optimise.trim import cut_to_dag, describe_dropped, refuse_parent_limit
from dagora.result import Outcome
from dagora.run import Run
from dagora.scores.gaussian import gaussian_moments, refuse_duplicates
from dagora.stats.statistics import Statistics

LOSSES = ("least-squares", "profile", "logistic", "poisson")
SOLVERS = ("path", "augmented-lagrangian")
# From this share of paths on, the scale of the columns alone gives the graph away.
SORTABLE = 0.9
# A parent at whose largest count a weight of the threshold would raise a rate by e to this cannot be kept.
LARGEST_EFFECT = 20.0
# Weights that the augmented Lagrangian leaves below this are zero but for its tolerance on h.
FAINT = 1e-3


def notears(
    statistics: Statistics,
    run: Run,
    *,
    lambda1: float = 0.1,
    threshold: float = 0.3,
    cut: str = "one-by-one",
    solver: str | None = None,
    loss: str = "least-squares",
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
    if loss in {"logistic", "poisson"} and cut != "one-by-one":
        raise OptionError(f"cut={cut} works on second moments; loss={loss} takes cut=one-by-one")
    measure = make_loss(statistics, loss, standardise=standardise)
    program = None
    if isinstance(measure, LeastSquares | ProfileLikelihood):
        moments = np.ascontiguousarray(measure.covariance)
        program = Program(moments, lambda1, allowed, required, isinstance(measure, ProfileLikelihood))
    if chosen == "path" and program is not None:
        solved = solve_by_path(program, run, threshold, cut, disturbances)
    else:
        solved = solve_as_published(measure, program, run, allowed, required, lambda1, threshold, cut, names)
    weights = solved.weights
    objective = measure.value(weights) + lambda1 * float(np.abs(weights).sum())
    graph = DAG.from_numpy((weights != 0) | required, names)
    scale_stats, scale_warnings = judge_scale(statistics, graph, program, threshold, cut, objective)
    late = run.budget.exhausted
    status = "time-limit" if late else "finished"
    message = f"{run.budget.reason}, after {solved.effort}" if late else solved.effort
    return Outcome(
        graph,
        status,
        message,
        -objective,
        {**solved.stats, **scale_stats},
        weights,
        (*solved.dropped, *judge_counts(measure, names, threshold), *scale_warnings),
    )


def make_loss(statistics: Statistics, name: str, *, standardise: bool) -> Loss:
    """The loss of that name on the data, which must fit it."""
    if name in {"logistic", "poisson"}:
        if standardise:
            raise OptionError(f"standardise=true would leave no data that loss={name} takes: leave it out")
        return Logistic(logistic_rows(statistics)) if name == "logistic" else Poisson(count_rows(statistics))
    moments = gaussian_moments(statistics, "the method notears")
    refuse_duplicates(moments, statistics.schema, "the method notears")
    covariance = moments.covariance
    if standardise or name == "profile":
        spread = np.sqrt(np.diag(covariance))
        covariance = covariance / np.outer(spread, spread)
    return ProfileLikelihood(covariance) if name == "profile" else LeastSquares(covariance)


def solve_as_published(
    loss: Loss,
    program: Program | None,
    run: Run,
    allowed: NDArray[np.bool_],
    required: NDArray[np.bool_],
    lambda1: float,
    threshold: float,
    cut: str,
    names: tuple[str, ...],
) -> Solved:
    """The augmented Lagrangian of the paper, cut to a DAG, thinned and solved again on what is left."""
    solution = augmented_lagrangian(loss, run, lambda1=lambda1, allowed=allowed)
    support, dropped = cut_to_dag(solution.weights, FAINT, required)
    if program is not None:
        weights = thin_program(program, solution.weights, support, threshold, cut)
    else:
        weights, _ = thin(lambda kept: loss.refit(kept, lambda1), support, required, threshold)
    stats = {
        "h": solution.h,
        "rounds": float(solution.rounds),
        "evaluations": float(solution.evaluations),
        "dropped_edges": float(len(dropped)),
    }
    effort = f"{solution.evaluations} evaluations" if run.budget.exhausted else solution.reason
    return Solved(weights, effort, stats, describe_dropped(names, solution.weights, dropped))


def judge_counts(loss: Loss, names: tuple[str, ...], threshold: float) -> list[str]:
    """Warn of counts so large that no weight above the threshold can belong to them."""
    if not isinstance(loss, Poisson):
        return []
    largest = loss.rows.max(axis=0)
    worst = int(largest.argmax())
    if threshold * largest[worst] <= LARGEST_EFFECT:
        return []
    warning = (
        f"column '{names[worst]}' has counts up to {largest[worst]:.0f}, and weights act on logarithms of "
        f"rates: no weight of the threshold ({threshold:g}) fits its edges; count in larger units, or lower "
        "the threshold"
    )
    return [warning]


def judge_scale(
    statistics: Statistics,
    graph: DAG,
    program: Program | None,
    threshold: float,
    cut: str,
    objective: float,
) -> tuple[dict[str, float], list[str]]:
    """Sortability of the result and the baseline that only sorts, with a warning where they say it all."""
    if program is None or not graph.edges:
        return {}, []
    support = graph.to_numpy()
    covariance = statistics.moments().covariance
    by_variance = varsortability(support, np.diag(covariance))
    by_fit = r2_sortability(support, covariance)
    stats = {"varsortability": by_variance, "r2_sortability": by_fit}
    warnings = []
    if not program.profile:
        sorted_weights = sort_and_regress(program.moments, program.lambda1)
        sorted_support, _ = cut_to_dag(sorted_weights, 0.0, np.zeros_like(support))
        sorted_weights = thin_program(program, sorted_weights, sorted_support, threshold, cut)
        stats["sort_and_regress_objective"] = program.objective(sorted_weights)
        stats["objective"] = objective
        different = (sorted_weights != 0) != support
        stats["sort_and_regress_distance"] = float(np.triu(different | different.T).sum())
    scaled = bool(np.allclose(np.diag(program.moments), 1.0, rtol=1e-9))
    if by_variance >= SORTABLE and not scaled:
        warnings.append(
            f"{by_variance:.0%} of the paths lead to a larger variance: the units of the columns alone "
            "suggest this graph, and other units would suggest another; loss=profile does not depend on units"
        )
    if by_fit >= SORTABLE:
        warnings.append(
            f"{by_fit:.0%} of the paths lead to a column that the others explain better: "
            "directions may follow that and nothing else"
        )
    return stats, warnings
