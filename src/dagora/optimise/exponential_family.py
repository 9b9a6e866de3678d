"""Losses of exponential families and their regressions: Σ [a(η) − x η] / n with predictor η = Xw.

a is the log-partition function, a′ the mean and a″ the variance. A regression with an L1 penalty is solved by
proximal Newton steps (Lee, Sun and Saunders 2014): a lasso on the quadratic model, then a line search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dagora.scores.lasso_kernels import solve_lasso

# Steps of Newton's method for one column; a binary column that its parents separate has no optimum.
NEWTON_STEPS = 100
# Slopes below this share of the largest entry of Xᵀx/n are rounding.
ROUNDING = 1e-13

Elementwise = Callable[[NDArray[np.float64]], NDArray[np.float64]]


@dataclass(frozen=True)
class Family:
    """An exponential family: its log-partition function a(η), the mean a′(η) and the variance a″(η)."""

    partition: Elementwise
    mean: Elementwise
    variance: Elementwise


BERNOULLI = Family(lambda eta: np.logaddexp(0.0, eta), expit, lambda eta: expit(eta) * expit(-eta))
COUNT = Family(np.exp, np.exp, np.exp)


def family_loss(
    family: Family,
    rows: NDArray[np.float64],
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> float:
    """Σ [a(η) − x η] / n with η = rows · weights, for one target or a matrix of them."""
    with np.errstate(over="ignore", invalid="ignore"):
        eta = rows @ weights
        value = float((family.partition(eta) - targets * eta).sum()) / len(rows)
    return np.inf if np.isnan(value) else value


def family_gradient(
    family: Family,
    rows: NDArray[np.float64],
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> tuple[float, NDArray[np.float64]]:
    """The loss and its derivatives by the weights."""
    with np.errstate(over="ignore", invalid="ignore"):
        eta = rows @ weights
        value = float((family.partition(eta) - targets * eta).sum()) / len(rows)
        gradient: NDArray[np.float64] = rows.T @ (family.mean(eta) - targets) / len(rows)
    if not (np.isfinite(value) and np.isfinite(gradient).all()):
        return np.inf, np.zeros_like(weights)
    return value, gradient


def refit_family(
    family: Family, rows: NDArray[np.float64], support: NDArray[np.bool_], lambda1: float
) -> NDArray[np.float64]:
    """Each column's regression on its parents."""
    weights = np.zeros(support.shape)
    for child in range(len(support)):
        parents = np.flatnonzero(support[:, child])
        if len(parents):
            weights[parents, child] = fit_column(family, rows[:, parents], rows[:, child], lambda1)
    return weights


def fit_column(
    family: Family, rows: NDArray[np.float64], target: NDArray[np.float64], lambda1: float
) -> NDArray[np.float64]:
    """Minimise loss + λ‖w‖₁ of one regression."""
    point = np.zeros(rows.shape[1])
    flat = ROUNDING * (float(np.abs(rows.T @ target).max()) / len(rows) + lambda1)
    for _ in range(NEWTON_STEPS):
        value, gradient = family_gradient(family, rows, target, point)
        value += lambda1 * float(np.abs(point).sum())
        if np.abs(minimal_subgradient(point, gradient, lambda1)).max() <= flat:
            break
        hessian = rows.T @ (family.variance(rows @ point)[:, None] * rows) / len(rows)
        direction = solve_model(hessian, hessian @ point - gradient, lambda1) - point
        change = gradient @ direction + lambda1 * (np.abs(point + direction) - np.abs(point)).sum()
        rounding = 1e-14 * (1.0 + abs(value))
        step = 1.0
        while step > 1e-12:
            trial = point + step * direction
            worth = family_loss(family, rows, target, trial) + lambda1 * float(np.abs(trial).sum())
            if worth <= value + 1e-4 * step * change + rounding:
                break
            step *= 0.5
        else:
            break
        point = trial
        # A step that promises no more than rounding leaves an error of its square: it was the last.
        if -change <= rounding:
            break
    return point


def solve_model(
    hessian: NDArray[np.float64], target: NDArray[np.float64], lambda1: float
) -> NDArray[np.float64]:
    """Minimise ½ wᵀHw − tᵀw + λ‖w‖₁: the lasso of a last variable whose moments with the others are t."""
    size = len(target)
    moments = np.zeros((size + 1, size + 1))
    moments[:size, :size] = hessian
    moments[size, :size] = moments[:size, size] = target
    # The least variance that such a variable can have; it sets the scale of rounding.
    curved = np.diag(hessian) > 0
    moments[size, size] = (target[curved] ** 2 / np.diag(hessian)[curved]).max(initial=0.0)
    weights, gradient, room = np.zeros(size + 1), np.empty(size + 1), np.empty((size + 1, size + 1))
    free = np.append(curved, False)
    solve_lasso(moments, size, free, lambda1, np.zeros(size + 1), weights, gradient, room)
    return weights[:size]


def minimal_subgradient(
    point: NDArray[np.float64], gradient: NDArray[np.float64], lambda1: float
) -> NDArray[np.float64]:
    """The smallest element of ∇f(w) + λ ∂‖w‖₁, which vanishes exactly at a stationary point.

    >>> minimal_subgradient(np.array([0.0, 0.0, 2.0]), np.array([0.5, -3.0, -1.0]), 1.0)
    array([ 0., -2.,  0.])
    """
    at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - lambda1, 0.0)
    return np.where(point == 0, at_zero, gradient + lambda1 * np.sign(point))
