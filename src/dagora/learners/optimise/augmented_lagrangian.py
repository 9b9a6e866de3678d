"""Linear models: min F(W) = loss(W) + λ‖W‖₁ subject to h(W) = 0, by an augmented Lagrangian.

It solves the losses that need rows, logistic and Poisson; second moments have a better solver
(`path_solver`), and that of the paper is `published`.

The outer loop over α and ρ is `method_of_multipliers`; each problem F(W) + (ρ/2) h(W)² + α h(W) is minimised
by `quasi_newton`, starting at W = 0. After Zheng et al. (2018), algorithm 1 and section 4.2.

The resulting weights may still hold slight cycles (0 < h ≤ 10⁻⁸): pass them to `acyclic_support` before
calling them a graph. h depends on the size of the weights. If all weights are small (regressions on large
counts), a cycle of weights that matter can remain: four weights of 0.1 in a cycle have h = 2·10⁻⁹.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Event
from dagora.base.options import find
from dagora.learners.optimise.acyclicity import (
    Acyclicity,
    log_determinant,
    trace_exponential,
    with_required_edges,
)
from dagora.learners.optimise.losses import Loss
from dagora.learners.optimise.method_of_multipliers import (
    H_TOLERANCE,
    RHO_MAX,
    Multipliers,
    ProblemMinimum,
    method_of_multipliers,
)
from dagora.learners.optimise.progress import EVENT_INTERVAL, PHASE, EdgeMaker, lazy_edges
from dagora.learners.optimise.quasi_newton import minimise, steepest_slope
from dagora.learners.run import Run

ACYCLICITIES: Mapping[str, Acyclicity] = {
    "trace-exponential": trace_exponential,
    "log-determinant": log_determinant,
}
# Each minimisation ends when no entry of the minimal subgradient exceeds this.
TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class LagrangianSolution:
    """Weights with their h and F = loss + λ‖W‖₁, and how the program ended.

    `rounds` counts the completed rounds (updates of α), `evaluations` the evaluations of the Lagrangian.
    `converged` means that h is at most its tolerance; `reason` says in words why the program ended.
    `steepness` is the largest entry of the minimal subgradient after the last minimisation, as a share of
    that at W = 0. It is near 0 unless the minimiser stalled.
    """

    weights: NDArray[np.float64]
    h: float
    objective: float
    steepness: float
    rounds: int
    evaluations: int
    converged: bool
    reason: str


def augmented_lagrangian(
    loss: Loss,
    run: Run,
    *,
    lambda1: float,
    allowed: NDArray[np.bool_] | None = None,
    required: NDArray[np.bool_] | None = None,
    acyclicity: str | Acyclicity = "trace-exponential",
    h_tolerance: float = H_TOLERANCE,
    rho_max: float = RHO_MAX,
    edge_maker: EdgeMaker | None = None,
) -> LagrangianSolution:
    """Solve the program; where `allowed[i, j]` is False the weight of i → j stays 0, as does the diagonal.

    A `required` edge counts as present in h, however small its weight, so no path may lead back from its head
    to its tail. When the budget is spent, the last
    weights are returned with `converged` False. `edge_maker` makes the edges in events.

    >>> from dagora.learners.optimise.losses import LeastSquares
    >>> covariance = np.array([[1.0, 2.0], [2.0, 5.0]])  # b = 2a + noise of variance 1
    >>> solution = augmented_lagrangian(LeastSquares(covariance), Run(), lambda1=0.1)
    >>> np.where(abs(solution.weights) > 0.3, solution.weights, 0).round(2).tolist(), solution.converged
    ([[0.0, 1.9], [0.0, 0.0]], True)
    """
    constraint = find("acyclicity", acyclicity, ACYCLICITIES) if isinstance(acyclicity, str) else acyclicity
    if required is not None:
        constraint = with_required_edges(constraint, required)
    size = loss.n_variables
    free = np.ones((size, size), dtype=np.bool_) if allowed is None else allowed.copy()
    np.fill_diagonal(free, val=False)
    start = np.zeros(size * size)
    _, slopes = loss.value_and_gradient(start.reshape(size, size))
    steepest = at_zero = steepest_slope(start, slopes.ravel(), free.ravel(), lambda1)
    evaluations = 0
    last_event = run.budget.elapsed

    def h_of(entries: NDArray[np.float64]) -> float:
        return constraint(entries.reshape(size, size))[0]

    def report(entries: NDArray[np.float64], at: Multipliers) -> float:
        nonlocal last_event
        h = h_of(entries)
        last_event = run.budget.elapsed
        edges = lazy_edges(edge_maker, lambda: entries.reshape(size, size))
        run.on_event(Event(PHASE, at.rounds, message=f"h = {h:.2g}, ρ = {at.rho:.0e}", edges=edges))
        return h

    def minimise_at(point: NDArray[np.float64], at: Multipliers) -> ProblemMinimum[NDArray[np.float64]]:
        nonlocal steepest, evaluations

        def lagrangian(entries: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            weights = entries.reshape(size, size)
            cycles, cycles_gradient = constraint(weights)
            if not np.isfinite(cycles):
                return np.inf, np.zeros_like(entries)
            value, gradient = loss.value_and_gradient(weights)
            value += (0.5 * at.rho * cycles + at.alpha) * cycles
            with np.errstate(over="ignore"):
                slopes = (gradient + (at.rho * cycles + at.alpha) * cycles_gradient).ravel()
            if not (np.isfinite(value) and np.isfinite(slopes).all()):
                return np.inf, np.zeros_like(entries)
            return value, slopes

        def stop(entries: NDArray[np.float64]) -> bool:
            if run.budget.elapsed - last_event > EVENT_INTERVAL:
                report(entries, at)
            return run.budget.exhausted

        if run.budget.exhausted:
            return ProblemMinimum(point, h_of(point), in_time=False)
        found = minimise(lagrangian, point, free.ravel(), lambda1, tolerance=TOLERANCE, stop=stop)
        steepest = found.steepest
        evaluations += found.evaluations
        h = report(found.point, at)
        return ProblemMinimum(found.point, h, in_time=not run.budget.exhausted)

    ended = method_of_multipliers(start, minimise_at, h_tolerance=h_tolerance, rho_max=rho_max)
    weights = ended.point.reshape(size, size)
    h = ended.h
    converged = h <= h_tolerance and not run.budget.exhausted
    if converged:
        reason = f"h = {h:.1e} is at most {h_tolerance:g}"
    else:
        reason = run.budget.reason if run.budget.exhausted else f"ρ reached {rho_max:g} with h = {h:.1e}"
    objective = loss.value(weights) + lambda1 * float(np.abs(weights).sum())
    steepness = steepest / at_zero if at_zero > 0 else 0.0
    return LagrangianSolution(weights, h, objective, steepness, ended.rounds, evaluations, converged, reason)
