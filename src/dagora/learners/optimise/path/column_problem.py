"""One column of the NOTEARS program: the exact lasso of a variable on those that may be its parents.

With `profile` the loss of a column is ½ ln of its residual variance instead of half of it (the Gaussian
profile likelihood with unequal variances). The logarithm is bounded from above by its tangent, so a column is
solved by a sequence of lassos with penalty λ · residual variance, until that variance converges.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import inlined, kernel
from dagora.scores.lasso_kernels import Matrix, Vector, solve_lasso_entering

# Residual variances below this share of the variable's variance are rounding errors.
SMALLEST_RESIDUAL = 1e-10
# Largest number of lassos of one profiled column; the bound on the loss falls with each.
PROFILE_ROUNDS = 100


class ColumnProblem(NamedTuple):
    """The program: second moments, allowed and required edges, the penalty λ, and the kind of loss.

    With a `threshold`, the loss of a column is that after its weak weights are removed. They are removed one
    by one, unless that loss exceeds the loss of removing them all at once by more than the share `slack`
    (`thresholding`).

    The last `exogenous` columns come first in every order and have no parents. Weights from them have a
    threshold of their own.
    """

    moments: Matrix
    allowed: NDArray[np.bool_]
    required: NDArray[np.bool_]
    lambda1: float
    profile: bool
    threshold: float = 0.0
    slack: float = np.inf
    exogenous: int = 0
    exogenous_threshold: float = 0.0


class ColumnWorkspace(NamedTuple):
    """Work arrays for solving columns: a Cholesky factor, and the ridge penalty, which is zero here."""

    factor: Matrix
    ridge: Vector


@inlined
def threshold_of(problem: ColumnProblem, i: int) -> float:
    """The absolute value below which a weight from column i is weak."""
    return problem.threshold if i < len(problem.moments) - problem.exogenous else problem.exogenous_threshold


@kernel
def workspace_for(d: int) -> ColumnWorkspace:
    """Make a workspace for columns of d variables."""
    return ColumnWorkspace(np.empty((d, d)), np.zeros(d))


@kernel
def solve_column(
    problem: ColumnProblem,
    child: int,
    free: NDArray[np.bool_],
    weights: Vector,
    gradient: Vector,
    workspace: ColumnWorkspace,
) -> tuple[float, float]:
    """Solve one column in place; return its loss with penalty, and the λ of the lasso that it solves.

    Variable 1 on variable 0, with S_01 = 0.8: the weight is soft(0.8, 0.2) = 0.6, the residual variance is
    1 − 2·0.6·0.8 + 0.6² = 0.4, and the loss with penalty ½·0.4 + 0.2·0.6 = 0.32. `gradient` becomes S(w −
    e₁).

    >>> moments = np.array([[1.0, 0.8], [0.8, 1.0]])
    >>> allowed, free = ~np.eye(2, dtype=bool), np.array([True, False])
    >>> problem = ColumnProblem(moments, allowed, ~allowed & allowed, lambda1=0.2, profile=False)
    >>> weights, gradient = np.zeros(2), np.empty(2)
    >>> loss, penalty = solve_column(problem, 1, free, weights, gradient, workspace_for(2))
    >>> weights.round(9), gradient.round(9), round(loss, 9), penalty
    (array([0.6, 0. ]), array([-0.2 , -0.52]), 0.32, 0.2)
    """
    return solve_column_entering(problem, child, free, weights, gradient, workspace, -1)


@kernel
def solve_column_entering(
    problem: ColumnProblem,
    child: int,
    free: NDArray[np.bool_],
    weights: Vector,
    gradient: Vector,
    workspace: ColumnWorkspace,
    newcomer: int,
) -> tuple[float, float]:
    """As `solve_column`, for a column that is solved with its gradient but for one new parent (−1: none)."""
    moments, lambda1 = problem.moments, problem.lambda1
    factor, ridge = workspace.factor, workspace.ridge
    if not problem.profile:
        loss = solve_lasso_entering(moments, child, free, lambda1, ridge, weights, gradient, factor, newcomer)
        return loss, lambda1
    floor = SMALLEST_RESIDUAL * moments[child, child]
    residual = max(residual_variance(moments, child, weights), floor)
    for _ in range(PROFILE_ROUNDS):
        solve_lasso_entering(
            moments, child, free, lambda1 * residual, ridge, weights, gradient, factor, newcomer
        )
        newcomer = -1
        before, residual = residual, max(residual_variance(moments, child, weights), floor)
        if abs(residual - before) <= 1e-10 * before:
            break
    size = 0.0
    for weight in weights:
        size += abs(weight)
    return 0.5 * np.log(residual) + lambda1 * size, lambda1 * residual


@kernel
def residual_variance(moments: Matrix, child: int, weights: Vector) -> float:
    """Mean squared residual of a column at given weights."""
    d = len(weights)
    total = moments[child, child]
    for a in range(d):
        if weights[a] != 0.0:
            row = moments[a]
            inner = -2.0 * row[child]
            for b in range(d):
                inner += row[b] * weights[b]
            total += weights[a] * inner
    return float(total)
