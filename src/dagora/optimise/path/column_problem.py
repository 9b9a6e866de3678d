"""One column of the NOTEARS program: the exact lasso of a variable on those that may be its parents.

With `profile` the loss of a column is ½ ln of its residual variance instead of half of it (the Gaussian
profile likelihood with unequal variances). The logarithm is bounded by its tangent, so a column is a
sequence of lassos with penalty λ · residual variance, until that variance stands still.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.compiled import kernel
from dagora.scores.lasso_kernels import Matrix, Vector, solve_lasso

# Residual variances below this share of the variable's variance are rounding.
SMALLEST_RESIDUAL = 1e-10
PROFILE_ROUNDS = 100


class ColumnProblem(NamedTuple):
    """The program: second moments, which edges may be and which must, the penalty, the kind of loss.

    With a `threshold` a column is judged by its loss once weak weights are gone: one by one as long as that
    loss is above the loss of cutting at once by no more than the share `slack` (`thresholding`).
    """

    moments: Matrix
    allowed: NDArray[np.bool_]
    required: NDArray[np.bool_]
    lambda1: float
    profile: bool
    threshold: float = 0.0
    slack: float = np.inf


class Workspace(NamedTuple):
    """What solving a column needs besides: a Cholesky factor, and a ridge of zeros."""

    factor: Matrix
    ridge: Vector


@kernel
def workspace_for(d: int) -> Workspace:
    """Room to solve columns of d variables in."""
    return Workspace(np.empty((d, d)), np.zeros(d))


@kernel
def solve_column(
    problem: ColumnProblem,
    child: int,
    free: NDArray[np.bool_],
    weights: Vector,
    gradient: Vector,
    workspace: Workspace,
) -> tuple[float, float]:
    """Solve one column in place; return its loss with penalty, and the penalty on the scale of its loss."""
    moments, lambda1 = problem.moments, problem.lambda1
    factor, ridge = workspace.factor, workspace.ridge
    if not problem.profile:
        return solve_lasso(moments, child, free, lambda1, ridge, weights, gradient, factor), lambda1
    floor = SMALLEST_RESIDUAL * moments[child, child]
    residual = max(residual_variance(moments, child, weights), floor)
    for _ in range(PROFILE_ROUNDS):
        solve_lasso(moments, child, free, lambda1 * residual, ridge, weights, gradient, factor)
        before, residual = residual, max(residual_variance(moments, child, weights), floor)
        if abs(residual - before) <= 1e-10 * before:
            break
    return 0.5 * np.log(residual) + lambda1 * np.abs(weights).sum(), lambda1 * residual


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
