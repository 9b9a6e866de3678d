"""The program min F(W) = loss(W) + λ‖W‖₁ subject to h(W) = 0, by the augmented Lagrangian of the paper.

Repeat: minimise F(W) + (ρ/2) h(W)² + α h(W) from the last W; while h has not fallen below c = ¼ of what it
was in the round before, multiply ρ by 10 and minimise again; then α ← α + ρh. It ends when h ≤ 10⁻⁸ (checked
after each minimisation) or ρ reaches 10¹⁶. It starts at W = 0, ρ = 1, α = 0.
Zheng et al. (2018), algorithm 1.

The weights that come out may still hold slight cycles (0 < h ≤ 10⁻⁸): cut them before calling it a graph.
h takes the weights at face value, so where all of them are small (regressions on large counts) a cycle of
weights that matter can pass: four weights of 0.1 in a circle have h = 2·10⁻⁹.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.events import Event
from dagora.optimise.acyclicity import Acyclicity, beside_required, log_determinant, trace_exponential
from dagora.optimise.losses import Loss
from dagora.optimise.quasi_newton import minimise, steepest_slope
from dagora.options import find
from dagora.run import Run

ACYCLICITIES: Mapping[str, Acyclicity] = {
    "trace-exponential": trace_exponential,
    "log-determinant": log_determinant,
}
PROGRESS = 0.25
GROWTH = 10.0
# Seconds between two signs of life within one minimisation.
SIGN_OF_LIFE = 0.5


@dataclass(frozen=True, eq=False)
class Solution:
    """Weights with their h and F = loss + λ‖W‖₁, and how the program ended.

    `rounds` counts the updates of α, `evaluations` those of loss and h. `converged` means h ≤ its tolerance;
    `reason` says in words why it ended. `steepness` is the steepest slope that the last minimisation left, as
    a share of that at W = 0: near 0, unless the minimiser stalled.
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
    h_tolerance: float = 1e-8,
    rho_max: float = 1e16,
    tolerance: float = 1e-5,
    max_steps: int = 10_000,
) -> Solution:
    """Solve the program; where `allowed[i, j]` is False the weight of i → j stays 0, as does the diagonal.

    A `required` edge counts as there in h, however small its weight: nothing may lead back along it.
    `tolerance` and `max_steps` belong to each minimisation. When the budget is spent the last weights come
    back, which are those of the hardest program tried so far, with `converged` False.

    >>> from dagora.optimise.losses import LeastSquares
    >>> covariance = np.array([[1.0, 2.0], [2.0, 5.0]])  # b = 2a + noise of variance 1
    >>> solution = augmented_lagrangian(LeastSquares(covariance), Run(), lambda1=0.1)
    >>> np.where(abs(solution.weights) > 0.3, solution.weights, 0).round(2).tolist(), solution.converged
    ([[0.0, 1.9], [0.0, 0.0]], True)
    """
    constraint = find("acyclicity", acyclicity, ACYCLICITIES) if isinstance(acyclicity, str) else acyclicity
    if required is not None:
        constraint = beside_required(constraint, required)
    size = loss.n_variables
    free = np.ones((size, size), dtype=np.bool_) if allowed is None else allowed.copy()
    np.fill_diagonal(free, val=False)
    point = np.zeros(size * size)
    rho, alpha, h = 1.0, 0.0, np.inf
    _, slopes = loss.value_and_gradient(point.reshape(size, size))
    steepest = at_zero = steepest_slope(point, slopes.ravel(), free.ravel(), lambda1)
    rounds, evaluations = 0, 0
    told = run.budget.elapsed

    def tell(h: float) -> None:
        nonlocal told
        told = run.budget.elapsed
        run.on_event(Event("augmented Lagrangian", rounds, message=f"h = {h:.2g}, ρ = {rho:.0e}"))

    def lagrangian(entries: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = entries.reshape(size, size)
        cycles, cycles_gradient = constraint(weights)
        if not np.isfinite(cycles):
            return np.inf, np.zeros_like(entries)
        value, gradient = loss.value_and_gradient(weights)
        value += (0.5 * rho * cycles + alpha) * cycles
        with np.errstate(over="ignore"):
            slopes = (gradient + (rho * cycles + alpha) * cycles_gradient).ravel()
        if not (np.isfinite(value) and np.isfinite(slopes).all()):
            return np.inf, np.zeros_like(entries)
        return value, slopes

    def stop(entries: NDArray[np.float64]) -> bool:
        if run.budget.elapsed - told > SIGN_OF_LIFE:
            tell(constraint(entries.reshape(size, size))[0])
        return run.budget.exhausted

    while h > h_tolerance and rho < rho_max and not run.budget.exhausted:
        before = h
        while True:
            found = minimise(
                lagrangian, point, free.ravel(), lambda1, tolerance=tolerance, max_steps=max_steps, stop=stop
            )
            point, steepest = found.point, found.steepest
            evaluations += found.evaluations
            h = constraint(point.reshape(size, size))[0]
            tell(h)
            if h <= max(PROGRESS * before, h_tolerance) or rho >= rho_max or run.budget.exhausted:
                break
            rho *= GROWTH
        alpha += rho * h
        rounds += 1
    weights = point.reshape(size, size)
    h = constraint(weights)[0]
    converged = h <= h_tolerance and not run.budget.exhausted
    if converged:
        reason = f"h = {h:.1e} is at most {h_tolerance:g}"
    else:
        reason = run.budget.reason if run.budget.exhausted else f"ρ reached {rho_max:g} with h = {h:.1e}"
    objective = loss.value(weights) + lambda1 * float(np.abs(weights).sum())
    steepness = steepest / at_zero if at_zero > 0 else 0.0
    return Solution(weights, h, objective, steepness, rounds, evaluations, converged, reason)
