"""The coordinator's subproblem of consensus under acyclicity, equation (5) of Ng & Zhang (2022).

With K sites, penalty ρ and V the mean over sites of B_k + β_k/ρ, the quadratic terms of (5) are, up to a
constant, (Kρ/2) ‖W − V‖². For models with u weights per edge (u = 1 where linear), W[·, i, j] belonging to
the edge i → j, A_ij = Σ_u W[u, i, j]² and h(A) = tr exp(A) − d, this minimises

    Σ λ_ij |w_uij| + (λ₂/2) ‖W‖² + α h(A) + (ρ₁/2) h(A)² + ½ Σ q_ij (w_uij − v_uij)².

To first order in A, h(A) ≈ h(A₀) + ⟨G, A − A₀⟩ with G = exp(A₀)ᵀ. With that the problem falls apart into
single weights, each with a closed form,

    w = soft(q v, λ) / (q + λ₂ + 2 (α + ρ₁ h) G),

a ridge where an edge would close walks. The line towards it leads downhill, and a step along that line is
taken until the objective hardly falls: a few exponentials in place of the hundreds of evaluations that a
quasi-Newton method needs. Its fixed points are the stationary points of (5).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Support = NDArray[np.bool_]

# Steps of one subproblem at most, and the share of the objective that a step must gain to be followed by one.
STEPS = 50
ENOUGH = 1e-6
# How often a step is halved until it leads downhill: often enough for one that led to where cycles overflow.
HALVINGS = 60
# Terms of the exponential's series, enough where the norm is 1; and what counts as infinite: products of two
# such numbers are finite still, and their product with zero is zero.
TERMS = 18
SATURATED = 1e150


@dataclass(frozen=True, eq=False)
class Penalties:
    """λ₁ on sizes, one for all weights or one per edge; λ₂ on squares; α and ρ₁ on cycles.

    `present` has a 1 for each edge that counts as there, whatever its weights: no cycle may lead along it.
    """

    lambda1: float | Vector
    lambda2: float = 0.0
    alpha: float = 0.0
    rho1: float = 0.0
    present: float | Vector = 0.0


def cycles(weights: Vector, present: float | Vector = 0.0) -> float:
    """Compute h of weights [u, i, j], some edges being present in any case; infinite where it overflows.

    >>> round(cycles(np.array([[[0.0, 1.0], [1.0, 0.0]]])), 6)  # 2 cosh 1 − 2
    1.086161
    >>> cycles(np.array([[[0.0, 1e9], [0.0, 0.0]]]))
    0.0
    """
    h = float(np.trace(exponential_less_one(np.square(weights).sum(axis=0) + present)))
    return h if h < SATURATED else np.inf


def exponential_less_one(matrix: Vector) -> Vector:
    """Compute exp(A) − I for A ≥ 0 by scaling and squaring, from products alone.

    Nothing cancels, so that faint cycles are seen exactly, and walks that lead nowhere back are never taken
    for cycles however heavy they are. Entries beyond `SATURATED` are that number. And small products never
    wait for threads as SciPy's solver does on a busy machine.
    """
    matrix = np.minimum(matrix, SATURATED)
    norm = float(matrix.sum(axis=0).max(initial=0.0))
    halvings = max(0, ceil(log2(norm))) if norm > 0 else 0
    scaled = np.ldexp(matrix, -halvings)
    identity = np.eye(len(matrix))
    series = identity
    for term in range(TERMS, 1, -1):
        series = identity + scaled @ series / term
    power: Vector = scaled @ series
    for _ in range(halvings):
        power = np.minimum(2.0 * power + power @ power, SATURATED)
    return power


class Solution(NamedTuple):
    """Weights, and how far from them the next step would aim: zero where (5) is solved exactly."""

    weights: Vector
    left: float


def acyclic_prox(
    start: Vector,
    target: Vector,
    q: float | Vector,
    penalties: Penalties,
    free: Support,
    *,
    enough: float = ENOUGH,
    steps: int = STEPS,
) -> Solution:
    """Weights near `target` under the penalties, zero where not free; `start` is where the search begins.

    `q` is what it costs to be away from the target: one number, or one per edge.

    >>> target = np.array([[[0.0, 2.0], [1.0, 0.0]]])
    >>> off_diagonal = ~np.eye(2, dtype=bool)
    >>> acyclic_prox(0 * target, target, 1.0, Penalties(0.5), off_diagonal).weights
    array([[[0. , 1.5], [0.5, 0. ]]])
    >>> expensive = Penalties(0.5, alpha=100.0, rho1=100.0)
    >>> acyclic_prox(0 * target, target, 1.0, expensive, off_diagonal).weights.round(2)
    array([[[0. , 1.5], [0. , 0. ]]])
    """
    pull = np.where(free, np.sign(target) * np.maximum(np.abs(q * target) - penalties.lambda1, 0.0), 0.0)
    ridge = q + penalties.lambda2
    if penalties.alpha == 0 and penalties.rho1 == 0:
        return Solution(pull / ridge, 0.0)
    program = ProxProgram(target, q, penalties, pull, ridge)
    point = program.at(np.where(free, start, 0.0))
    for _ in range(steps):
        lower = downhill(program, point)
        if lower is None:
            break
        gained, point = point.value - lower.value, lower
        if gained <= enough * abs(point.value):
            break
    return Solution(point.weights, float(np.linalg.norm(point.goal - point.weights)))


class Point(NamedTuple):
    """Weights, their objective, and the closed form's answer there."""

    weights: Vector
    value: float
    goal: Vector


@dataclass(frozen=True, eq=False)
class ProxProgram:
    """Equation (5), with what its closed form needs of the target: soft(q v, λ) and q + λ₂."""

    target: Vector
    q: float | Vector
    penalties: Penalties
    pull: Vector
    ridge: float | Vector

    def at(self, weights: Vector) -> Point:
        """Evaluate at weights."""
        given = self.penalties
        walks = exponential_less_one(np.square(weights).sum(axis=0) + given.present)
        h = float(np.trace(walks))
        size = (given.lambda1 * np.abs(weights)).sum() + 0.5 * given.lambda2 * np.square(weights).sum()
        far = 0.5 * (self.q * np.square(weights - self.target)).sum()
        price = (given.alpha + 0.5 * given.rho1 * h) * h if h < SATURATED else np.inf
        with np.errstate(over="ignore"):
            ridge = self.ridge + 2.0 * (given.alpha + given.rho1 * h) * (walks.T + np.eye(len(walks)))
        return Point(weights, float(price + size + far), self.pull / ridge)


def downhill(program: ProxProgram, point: Point) -> Point | None:
    """A point on the line to the goal where the objective is lower; None where there is none to be seen."""
    for halvings in range(HALVINGS):
        trial = program.at(point.weights + 0.5**halvings * (point.goal - point.weights))
        if trial.value < point.value:
            return trial
    return None
