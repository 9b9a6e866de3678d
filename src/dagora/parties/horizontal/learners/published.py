"""Equation (5) as Ng & Zhang (2022) solve it: by L-BFGS, with subgradients of the L1 norm.

    minimise  λ ‖W‖₁ + α h(W) + (ρ₁/2) h(W)² + Σ_k tr(β_k (B_k − W)ᵀ) + (ρ₂/2) Σ_k ‖B_k − W‖²

As printed, W is any matrix (“instead of the bound-constrained formulation”, section 5.1 and appendix B): its
diagonal is free too, and only h removes the edges from a variable to itself. The rounds therefore begin near
W = I, where the loss is 0, and another graph is found than from a diagonal held at 0. The subgradient of |w|
at 0 is 0. L-BFGS is SciPy's, with its own limits, and starts at the last W. The quadratic terms are, up to a
constant, (Kρ₂/2) ‖W − V‖² with V the mean of B_k + β_k/ρ₂.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.parties.horizontal.learners.acyclic_prox import (
    SATURATED,
    Penalties,
    Solution,
    exponential_less_one,
)

Vector = NDArray[np.float64]
Support = NDArray[np.bool_]


def with_own_edges(free: Support) -> Support:
    """The free edges, and those from every variable to itself.

    >>> with_own_edges(np.array([[False, True], [False, False]])).astype(int).tolist()
    [[1, 1], [0, 1]]
    """
    own: Support = free | np.eye(len(free), dtype=np.bool_)
    return own


def solve_published(
    start: Vector, target: Vector, q: float | Vector, penalties: Penalties, free: Support
) -> Solution:
    """Weights [u, i, j] near `target` under the penalties, zero where not free; q is Kρ₂.

    How far they are from a solution is not known: at a kink no subgradient need be small.

    >>> target = np.array([[[0.0, 2.0], [1.0, 0.0]]])
    >>> everywhere = np.ones((2, 2), dtype=bool)
    >>> solve_published(0 * target, target, 1.0, Penalties(0.5), everywhere).weights.round(3)
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
    return Solution(weights, np.inf)
