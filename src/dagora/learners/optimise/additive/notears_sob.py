"""NOTEARS-SOB: a DAG of nonlinear relations, each a sum of functions of single parents.

x_j ≈ Σ_i f_ij(x_i), where f_ij is a sum of b basis functions of x_i (`stats/basis`: Legendre polynomials, in
place of the published sines). Minimise ½ Σ_j Var(x_j − Σ_i f_ij(x_i)) + λ₁ Σ A_ij + (λ₂/2)
Σ coefficients² subject to h(A) = tr exp(A∘A) − d = 0, where A_ij is the standard deviation of f_ij(x_i)
divided by that of x_i: where f_ij is linear, the size of its weight. With b = 1 this is the program of linear
NOTEARS. Everything comes from the second moments of the basis functions (`program`).

Afterwards edges with A_ij below the threshold are dropped, and then the weakest edges that still close a
cycle. The functions are fitted once more with that graph fixed; the returned weights (A) and the score (minus
the objective) belong to that fit. The program assumes noise of equal variance, so the scale of the columns
matters, and the result reports its sortability.

Zheng, Dan, Aragam, Ravikumar & Xing (2020), Learning sparse nonparametric DAGs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import RowsUnavailableError
from dagora.graph.dag import DAG
from dagora.learners.optimise.acyclic_support import acyclic_support, dropped_edges_warning
from dagora.learners.optimise.acyclicity import trace_exponential, with_required_edges
from dagora.learners.optimise.additive.orthonormal import OrthonormalBasis
from dagora.learners.optimise.additive.program import AdditiveProgram, follow_multipliers, minimise, strengths
from dagora.learners.optimise.method_of_multipliers import H_TOLERANCE, RHO_MAX, ConstrainedMinimum
from dagora.learners.optimise.progress import watcher
from dagora.learners.optimise.sortability import report_sortability
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.scores.usable_moments import refuse_discrete, refuse_duplicates, refuse_unusable
from dagora.stats.capabilities import capabilities_of
from dagora.stats.statistics import Statistics

OWNER = "the method notears-sob"


def notears_sob(
    statistics: Statistics,
    run: Run,
    *,
    lambda1: float = 0.03,
    lambda2: float = 0.01,
    threshold: float = 0.2,
    functions: int = 5,
    standardise: bool = False,
) -> Outcome:
    """Learn a DAG of nonlinear additive relations from the moments of basis functions."""
    refuse_discrete(statistics.schema, OWNER)
    basis_moments = capabilities_of(statistics).basis_moments
    if basis_moments is None:
        raise RowsUnavailableError(
            f"{OWNER} needs rows or the moments of basis functions, which these statistics do not have: "
            "choose notears, which needs only moments"
        )
    basis = basis_moments(functions)
    moments = basis.of_columns
    refuse_unusable(statistics.schema.names, moments.mean, np.diag(moments.covariance), OWNER)
    refuse_duplicates(moments, statistics.schema, OWNER)
    names = statistics.schema.names
    required = run.knowledge.required_matrix(names)
    program = AdditiveProgram(
        OrthonormalBasis.of(basis, standardise=standardise),
        lambda1,
        lambda2,
        with_required_edges(trace_exponential, required),
        watcher(run),
    )
    path = follow_multipliers(program, ~run.knowledge.forbidden_matrix(names))
    outcome = finish(program, path, run, names, threshold)
    sortability, warnings = report_sortability(
        cast("DAG", outcome.graph),
        moments.covariance,
        None if standardise else "standardise=true takes them out",
    )
    return replace(outcome, stats={**outcome.stats, **sortability}, warnings=(*outcome.warnings, *warnings))


def finish(
    program: AdditiveProgram,
    path: ConstrainedMinimum[NDArray[np.float64]],
    run: Run,
    names: tuple[str, ...],
    threshold: float,
) -> Outcome:
    """Reduce the strengths to a DAG, fit its functions, and describe the outcome."""
    required = run.knowledge.required_matrix(names)
    found = strengths(path.point)
    support, dropped = acyclic_support(found, threshold, required)
    fitted, in_time = np.where(support[:, None, :], path.point, 0.0), path.in_time
    if in_time:
        fitted, in_time = minimise(program, fitted, support)
    full = "" if path.h <= H_TOLERANCE or not path.in_time else f", ρ reached {RHO_MAX:.0e}"
    ending = f"h = {path.h:.1e} after {path.rounds} rounds{full}"
    return Outcome(
        graph=DAG.from_numpy(support, names),
        status="finished" if in_time else "time-limit",
        message=ending if in_time else f"{run.budget.reason}; {ending}",
        score=-program.objective(fitted),
        stats={
            "h": path.h,
            "rounds": float(path.rounds),
            "evaluations": float(program.evaluations),
            "functions": float(program.basis.functions),
            "dropped_edges": float(len(dropped)),
        },
        weights=strengths(fitted),
        warnings=dropped_edges_warning(names, found, dropped),
    )
