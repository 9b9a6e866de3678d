"""The coordinator's subproblem of consensus under acyclicity, equation (5) of Ng & Zhang (2022).

With K sites, penalty ρ and V the mean over sites of B_k + β_k/ρ, the quadratic terms of (5) are, up to a
constant, (Kρ/2) ‖W − V‖². For models with u weights per edge (u = 1 where linear), W[·, i, j] belonging to
the edge i → j, A_ij = Σ_u W[u, i, j]² and h(A) = tr exp(A) − d, this minimises

    λ₁ ‖W‖₁ + (λ₂/2) ‖W‖² + α h(A) + (ρ₁/2) h(A)² + (q/2) ‖W − V‖².

To first order in A, h(A) ≈ h(A₀) + ⟨G, A − A₀⟩ with G = exp(A₀)ᵀ. With that the problem falls apart into
single weights, each with a closed form,

    w = soft(q v, λ₁) / (q + λ₂ + 2 (α + ρ₁ h) G_ij),

a ridge where an edge would close walks. The line towards it leads downhill, and a step along that line is
taken until the objective hardly falls: a few exponentials in place of the hundreds of evaluations that a
quasi-Newton method needs. Its fixed points are the stationary points of (5).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Support = NDArray[np.bool_]

# Steps of one subproblem at most, and the share of the objective that a step must gain to be followed by one.
STEPS = 50
ENOUGH = 1e-6
SHORTEST = 1e-3
# Terms of the exponential's series, enough where the norm is 1; beyond the largest norm it overflows.
TERMS = 18
LARGEST_NORM = 500.0


@dataclass(frozen=True)
class Penalties:
    """λ₁ on sizes, λ₂ on squares, and α and ρ₁ on cycles."""

    lambda1: float
    lambda2: float = 0.0
    alpha: float = 0.0
    rho1: float = 0.0


def cycles(weights: Vector) -> float:
    """Compute h of weights [u, i, j]; infinite where it overflows.

    >>> round(cycles(np.array([[[0.0, 1.0], [1.0, 0.0]]])), 6)  # 2 cosh 1 − 2
    1.086161
    """
    return float(np.trace(exponential_less_one(np.square(weights).sum(axis=0))))


def exponential_less_one(matrix: Vector) -> Vector:
    """Compute exp(A) − I for A ≥ 0 by scaling and squaring, from products alone.

    Nothing cancels, so that faint cycles are seen exactly, and small products never wait for threads as
    SciPy's solver does on a busy machine.
    """
    norm = float(matrix.sum(axis=0).max(initial=0.0))
    if not norm < LARGEST_NORM:
        return np.full_like(matrix, np.inf)
    halvings = max(0, ceil(log2(norm))) if norm > 0 else 0
    scaled = matrix / 2.0**halvings
    identity = np.eye(len(matrix))
    series = identity
    for term in range(TERMS, 1, -1):
        series = identity + scaled @ series / term
    power: Vector = scaled @ series
    for _ in range(halvings):
        power = 2.0 * power + power @ power
    return power


def nearest(
    start: Vector,
    target: Vector,
    q: float,
    penalties: Penalties,
    free: Support,
    *,
    enough: float = ENOUGH,
    steps: int = STEPS,
) -> Vector:
    """Weights near `target` under the penalties, zero where not free; `start` is where the search begins.

    >>> target = np.array([[[0.0, 2.0], [1.0, 0.0]]])
    >>> off_diagonal = ~np.eye(2, dtype=bool)
    >>> nearest(0 * target, target, 1.0, Penalties(0.5), off_diagonal)
    array([[[0. , 1.5], [0.5, 0. ]]])
    >>> nearest(0 * target, target, 1.0, Penalties(0.5, alpha=100.0, rho1=100.0), off_diagonal).round(2)
    array([[[0. , 1.5], [0. , 0. ]]])
    """
    pull = np.where(free, np.sign(target) * np.maximum(np.abs(q * target) - penalties.lambda1, 0.0), 0.0)
    ridge = q + penalties.lambda2
    if penalties.alpha == 0 and penalties.rho1 == 0:
        return pull / ridge

    def objective(weights: Vector) -> tuple[float, float, Vector]:
        power = exponential_less_one(np.square(weights).sum(axis=0))
        h = float(np.trace(power))
        size = penalties.lambda1 * np.abs(weights).sum() + 0.5 * penalties.lambda2 * np.square(weights).sum()
        far = 0.5 * q * np.square(weights - target).sum()
        return float((penalties.alpha + 0.5 * penalties.rho1 * h) * h + size + far), h, power

    identity = np.eye(len(free))
    weights = np.where(free, start, 0.0)
    value, h, power = objective(weights)
    for _ in range(steps):
        goal = pull / (ridge + 2.0 * (penalties.alpha + penalties.rho1 * h) * (power.T + identity))
        length = 1.0
        while True:
            trial = weights + length * (goal - weights)
            trial_value, trial_h, trial_power = objective(trial)
            if trial_value < value or length < SHORTEST:
                break
            length /= 2
        if not trial_value < value:
            break
        gained = value - trial_value
        weights, value, h, power = trial, trial_value, trial_h, trial_power
        if gained <= enough * abs(value):
            break
    return weights
