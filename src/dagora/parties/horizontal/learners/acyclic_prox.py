"""The coordinator's subproblem of consensus under acyclicity, equation (5) of Ng & Zhang (2022).

With K sites, penalty ρ and V the mean over sites of B_k + β_k/ρ, the quadratic terms of (5) are, up to a
constant, (Kρ/2) ‖W − V‖². For models with u weights per edge (u = 1 where linear), W[·, i, j] belonging to
the edge i → j, A_ij = Σ_u W[u, i, j]² and h(A) = tr exp(A) − d, this minimises

    Σ λ_ij |w_uij| + (λ₂/2) ‖W‖² + α h(A) + (ρ₁/2) h(A)² + ½ Σ q_ij (w_uij − v_uij)².

To first order in A, h(A) ≈ h(A₀) + ⟨G, A − A₀⟩ with G = exp(A₀)ᵀ. With that the problem splits into single
weights, each with a closed form,

    w = soft(q v, λ) / (q + λ₂ + 2 (α + ρ₁ h) G),

which shrinks an edge where walks lead back along it. The direction towards this point is one of descent.
Steps along it, with a line search, are repeated until the objective hardly falls. This takes a few
exponentials, where a quasi-Newton method needs hundreds of evaluations. Its fixed points are the stationary
points of (5).

`solve_by_lbfgs` solves (5) as Ng & Zhang (2022) do, by L-BFGS with subgradients of the L1 norm. As printed, W
is any matrix (“instead of the bound-constrained formulation”, section 5.1 and appendix B): its diagonal is
free too, and only h removes the edges from a variable to itself. The rounds therefore begin near W = I, where
the loss is 0, and another graph is found than from a diagonal held at 0. The subgradient of |w| at 0 is 0.
L-BFGS is SciPy's, with its own limits, and starts at the last W.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Support = NDArray[np.bool_]

# Largest number of steps of one subproblem, and the relative decrease of the objective below which it ends.
STEPS = 50
ENOUGH = 1e-6
# How often a step is halved until the objective falls; enough to return from where h overflows.
HALVINGS = 60
# Coefficients of the exponential's series for a matrix of norm at most 1 (1/20! ≈ 4·10⁻¹⁹), four by four.
SERIES = (1.0 / np.cumprod(np.arange(20.0).clip(1))).reshape(5, 4)
# Entries of a matrix exponential are capped here: the product of two such numbers is still finite, so that
# its product with zero is zero.
SATURATED = 1e150


@dataclass(frozen=True, eq=False)
class ProxPenalties:
    """λ₁ of the L1 norm, for all weights or per edge; λ₂ of squares; α and ρ₁ of h and h²/2.

    `present` has a 1 for each edge that counts as present in h, whatever its weights.
    """

    lambda1: float | Vector
    lambda2: float = 0.0
    alpha: float = 0.0
    rho1: float = 0.0
    present: float | Vector = 0.0


def cycles(weights: Vector, present: float | Vector = 0.0) -> float:
    """Compute h of weights [u, i, j], with some edges present in any case; infinite where it overflows.

    >>> round(cycles(np.array([[[0.0, 1.0], [1.0, 0.0]]])), 6)  # 2 cosh 1 − 2
    1.086161
    >>> cycles(np.array([[[0.0, 1e9], [0.0, 0.0]]]))
    0.0
    """
    h = float(np.trace(exponential_less_one(np.square(weights).sum(axis=0) + present)))
    return h if h < SATURATED else np.inf


def exponential_less_one(matrix: Vector) -> Vector:
    """Compute exp(A) − I for A ≥ 0 by scaling and squaring, from products alone.

    No terms cancel: weak cycles are computed precisely, and walks that do not return never count as cycles,
    however large their weights are. Entries are capped at `SATURATED`. SciPy's `expm` solves a linear system,
    whose threads wait for each other on a busy machine; these small products do not.
    """
    matrix = np.minimum(matrix, SATURATED)
    norm = float(matrix.sum(axis=0).max(initial=0.0))
    halvings = max(0, ceil(log2(norm))) if norm > 0 else 0
    scaled = np.ldexp(matrix, -halvings)
    square = scaled @ scaled
    cube, fourth = square @ scaled, square @ square
    identity = np.eye(len(matrix))
    # By Horner's rule in the fourth power, which takes seven products in place of nineteen.
    power: Vector = np.zeros_like(scaled)
    for one, first, second, third in SERIES[:0:-1]:
        power = fourth @ (power + one * identity + first * scaled + second * square + third * cube)
    power += scaled + SERIES[0, 2] * square + SERIES[0, 3] * cube
    for _ in range(halvings):
        power = np.minimum(2.0 * power + power @ power, SATURATED)
    return power


class ProxSolution(NamedTuple):
    """Weights, and the length of the next full step: zero where (5) is solved exactly."""

    weights: Vector
    left: float


def acyclic_prox(
    start: Vector,
    target: Vector,
    q: float | Vector,
    penalties: ProxPenalties,
    free: Support,
    *,
    enough: float = ENOUGH,
    steps: int = STEPS,
) -> ProxSolution:
    """Weights near `target` under the penalties, zero where not free; `start` is where the search begins.

    `q` weights the squared distance to the target: one number, or one per edge.

    >>> target = np.array([[[0.0, 2.0], [1.0, 0.0]]])
    >>> off_diagonal = ~np.eye(2, dtype=bool)
    >>> acyclic_prox(0 * target, target, 1.0, ProxPenalties(0.5), off_diagonal).weights
    array([[[0. , 1.5], [0.5, 0. ]]])
    >>> expensive = ProxPenalties(0.5, alpha=100.0, rho1=100.0)
    >>> acyclic_prox(0 * target, target, 1.0, expensive, off_diagonal).weights.round(2)
    array([[[0. , 1.5], [0. , 0. ]]])
    """
    pull = np.where(free, np.sign(target) * np.maximum(np.abs(q * target) - penalties.lambda1, 0.0), 0.0)
    ridge = q + penalties.lambda2
    if penalties.alpha == 0 and penalties.rho1 == 0:
        return ProxSolution(pull / ridge, 0.0)
    program = ProxProgram(target, q, penalties, pull, ridge)
    point = program.at(np.where(free, start, 0.0))
    for _ in range(steps):
        lower = step_downhill(program, point)
        if lower is None:
            break
        gained, point = point.value - lower.value, lower
        if gained <= enough * abs(point.value):
            break
    return ProxSolution(point.weights, float(np.linalg.norm(point.goal - point.weights)))


class ProxPoint(NamedTuple):
    """Weights, their objective, and the closed form of the linearised problem there."""

    weights: Vector
    value: float
    goal: Vector


@dataclass(frozen=True, eq=False)
class ProxProgram:
    """Equation (5), with the parts of its closed form that do not change: soft(q v, λ) and q + λ₂."""

    target: Vector
    q: float | Vector
    penalties: ProxPenalties
    pull: Vector
    ridge: float | Vector

    def at(self, weights: Vector) -> ProxPoint:
        """Evaluate at weights."""
        given = self.penalties
        walks = exponential_less_one(np.square(weights).sum(axis=0) + given.present)
        h = float(np.trace(walks))
        size = (given.lambda1 * np.abs(weights)).sum() + 0.5 * given.lambda2 * np.square(weights).sum()
        far = 0.5 * (self.q * np.square(weights - self.target)).sum()
        price = (given.alpha + 0.5 * given.rho1 * h) * h if h < SATURATED else np.inf
        with np.errstate(over="ignore"):
            ridge = self.ridge + 2.0 * (given.alpha + given.rho1 * h) * (walks.T + np.eye(len(walks)))
        return ProxPoint(weights, float(price + size + far), self.pull / ridge)


def step_downhill(program: ProxProgram, point: ProxPoint) -> ProxPoint | None:
    """A point on the line to the goal where the objective is lower; None if no step tried lowers it."""
    for halvings in range(HALVINGS):
        trial = program.at(point.weights + 0.5**halvings * (point.goal - point.weights))
        if trial.value < point.value:
            return trial
    return None


def with_own_edges(free: Support) -> Support:
    """The free edges, and those from every variable to itself.

    >>> with_own_edges(np.array([[False, True], [False, False]])).astype(int).tolist()
    [[1, 1], [0, 1]]
    """
    own: Support = free | np.eye(len(free), dtype=np.bool_)
    return own


def solve_by_lbfgs(
    start: Vector, target: Vector, q: float | Vector, penalties: ProxPenalties, free: Support
) -> ProxSolution:
    """Weights [u, i, j] near `target` under the penalties, zero where not free; q is Kρ₂.

    How far they are from a solution is not known: at a kink no subgradient need be small.

    >>> target = np.array([[[0.0, 2.0], [1.0, 0.0]]])
    >>> everywhere = np.ones((2, 2), dtype=bool)
    >>> solve_by_lbfgs(0 * target, target, 1.0, ProxPenalties(0.5), everywhere).weights.round(3)
    array([[[0. , 1.5], [0.5, 0. ]]])
    """
    from scipy.optimize import minimize

    chosen = np.broadcast_to(free, start.shape)

    def objective(entries: Vector) -> tuple[float, Vector]:
        weights = np.zeros_like(start)
        weights[chosen] = entries
        walks = exponential_less_one(np.square(weights).sum(axis=0) + penalties.present)
        h = min(float(np.trace(walks)), SATURATED)
        away = weights - target
        price = (penalties.alpha + 0.5 * penalties.rho1 * h) * h
        size, far = (penalties.lambda1 * np.abs(weights)).sum(), 0.5 * (q * np.square(away)).sum()
        slope = 2.0 * (penalties.alpha + penalties.rho1 * h) * (walks.T + np.eye(len(walks)))
        gradient = penalties.lambda1 * np.sign(weights) + slope * weights + q * away
        return float(size + price + far), gradient[chosen]

    with np.errstate(over="ignore", invalid="ignore"):
        found = minimize(objective, start[chosen], jac=True, method="L-BFGS-B")
    weights = np.zeros_like(start)
    weights[chosen] = found.x
    return ProxSolution(weights, np.inf)
