"""NOTEARS-MLP: a DAG of nonlinear relations, from one multilayer perceptron per variable.

Minimise 1/(2n) Σ_j ‖x_j − f_j(x)‖² + λ₁ penalty + λ₂/2 ‖weights‖² over networks f_j with one hidden layer,
subject to h(A) = tr exp(A∘A) − d = 0, where A_kj is the norm of network j's first-layer weights of input x_k.
The penalty is Σ|w| over the first layer (`l1`) or Σ A_kj (`group`). Afterwards edges with A_kj < threshold
are dropped, and then the weakest edges that still close a cycle. The networks are fitted once more with that
graph fixed; the returned weights (A) and the score (minus the objective) belong to that fit. Columns are
centred. The program assumes noise of equal variance, so the scale of the columns matters, and the result
reports its sortability.

Zheng, Dan, Aragam, Ravikumar & Xing (2020), Learning sparse nonparametric DAGs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from dagora.graph.dag import DAG
from dagora.kernels.jax import require_jax
from dagora.learners.optimise.acyclic_support import acyclic_support
from dagora.learners.optimise.method_of_multipliers import H_TOLERANCE, RHO_MAX, ConstrainedMinimum
from dagora.learners.optimise.progress import watcher
from dagora.learners.optimise.sortability import report_sortability
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.scores.usable_moments import gaussian_moments, refuse_duplicates
from dagora.stats.statistics import Statistics

if TYPE_CHECKING:
    from dagora.learners.optimise.mlp.network import NetworkWeights
    from dagora.learners.optimise.mlp.program import MlpProgram


def notears_mlp(
    statistics: Statistics,
    run: Run,
    *,
    lambda1: float = 0.01,
    lambda2: float = 0.01,
    threshold: float = 0.3,
    hidden: int = 10,
    penalty: str = "l1",
    standardise: bool = False,
) -> Outcome:
    """Learn a DAG of nonlinear relations from the rows of continuous columns."""
    require_jax("the method notears-mlp")
    from dagora.learners.optimise.mlp.program import MlpProgram, augmented_lagrangian

    names = statistics.schema.names
    columns = centred_columns(statistics, standardise=standardise)
    required = run.knowledge.required_matrix(names)
    program = MlpProgram(columns, lambda1, lambda2, penalty, watcher(run), required)
    free = ~run.knowledge.forbidden_matrix(names)
    path = augmented_lagrangian(program, initial_weights(free, hidden, run.seed), free)
    outcome = finish(program, path, run, names, threshold)
    sortability, warnings = report_sortability(
        cast("DAG", outcome.graph),
        statistics.moments().covariance,
        None if standardise else "standardise=true takes them out",
    )
    return replace(outcome, stats={**outcome.stats, **sortability}, warnings=(*outcome.warnings, *warnings))


def finish(
    program: MlpProgram,
    path: ConstrainedMinimum[NetworkWeights],
    run: Run,
    names: tuple[str, ...],
    threshold: float,
) -> Outcome:
    """Reduce the strengths to a DAG, fit its networks, and describe the outcome."""
    from dagora.learners.optimise.mlp.program import minimise, strengths

    required = run.knowledge.required_matrix(names)
    raw = strengths(path.point)
    support, dropped = acyclic_support(raw, threshold, required)
    if path.in_time:
        weights, in_time = minimise(program, path.point, support)
    else:
        weights, in_time = keep_inputs(path.point, support), False
    objective, _ = program.objective(weights)
    if not in_time:
        nothing = weights._replace(
            **{field: np.zeros_like(part) for field, part in weights._asdict().items()}
        )
        least, _ = program.objective(nothing)
        if least < objective:
            # Networks that were hardly trained fit worse than constants: return none of them.
            weights, objective, support, dropped = nothing, least, required, []
    edges = [f"{names[i]} → {names[j]}" for i, j in dropped]
    full = "" if path.h <= H_TOLERANCE or not path.in_time else f", ρ reached {RHO_MAX:.0e}"
    ending = f"h = {path.h:.1e} after {path.rounds} rounds{full}"
    return Outcome(
        graph=DAG.from_numpy(support, names),
        status="finished" if in_time else "time-limit",
        message=ending if in_time else f"{run.budget.reason}; {ending}",
        score=-objective,
        stats={
            "h": path.h,
            "rounds": float(path.rounds),
            "evaluations": float(program.evaluations),
            "hidden": float(np.asarray(weights.inward).shape[0]),
            "dropped_edges": float(len(dropped)),
        },
        weights=np.where(support, strengths(weights), 0.0),
        warnings=(f"edges dropped to reach a DAG: {', '.join(edges)}",) if edges else (),
        raw_weights=raw,
    )


def keep_inputs(weights: NetworkWeights, support: NDArray[np.bool_]) -> NetworkWeights:
    """The same networks with the first-layer weights of all inputs outside the support set to zero."""
    return weights._replace(inward=np.asarray(weights.inward) * support.T)


def initial_weights(free: NDArray[np.bool_], hidden: int, seed: int) -> NetworkWeights:
    """Uniform random weights, scaled by one over the square root of the number of inputs of a unit."""
    from dagora.learners.optimise.mlp.network import NetworkWeights

    rng = np.random.default_rng(seed)
    d = len(free)
    inward = rng.uniform(-1.0, 1.0, (hidden, d, d)) / np.sqrt(d) * free.T
    bias = rng.uniform(-1.0, 1.0, (hidden, d)) / np.sqrt(d)
    outward = rng.uniform(-1.0, 1.0, (hidden, d)) / np.sqrt(hidden)
    return NetworkWeights(inward, bias, outward, np.zeros(d))


def centred_columns(statistics: Statistics, *, standardise: bool) -> NDArray[np.float64]:
    """Columns as rows of a matrix, centred and, if asked, standardised; raises for unusable columns."""
    owner = "the method notears-mlp"
    moments = gaussian_moments(statistics, owner)
    refuse_duplicates(moments, statistics.schema, owner)
    table = statistics.rows()
    columns = np.stack([table.values(i) for i in range(len(table.schema))])
    centred: NDArray[np.float64] = columns - columns.mean(axis=1, keepdims=True)
    return centred / np.sqrt(np.square(centred).mean(axis=1, keepdims=True)) if standardise else centred
