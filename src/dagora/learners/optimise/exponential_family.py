"""Losses of exponential families and their regressions: min over b of Σ [a(η) − x η] / n with η = Xw + b.

a is the log-partition function, a′ the mean and a″ the variance. The intercept b is not penalised and is
profiled out: for given w it is the b at which the means of prediction and target agree. Hence the gradient of
the loss is that at fixed b, and its curvature is that of rows centred on their mean under the weights a″. A
family `through_the_origin` has b = 0. A regression with an L1 penalty is solved by proximal Newton steps
(Lee, Sun and Saunders 2014): a lasso on the quadratic model, then a line search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from dagora.scores.lasso_kernels import solve_lasso

# Largest number of Newton steps for one column: a binary column that its parents separate has no optimum.
NEWTON_STEPS = 100
# Slopes below this share of the largest entry of Xᵀx/n are rounding errors.
ROUNDING = 1e-13
# For the intercept: bisections after which an interval of doubles is a single number; the length at which a
# Newton step is the last one (its error is the square of that); and the relative size of rounding errors.
HALVINGS, LAST_STEP, EXACT = 200, 1e-8, 1e-15

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Family:
    """An exponential family by its natural parameter η.

    `loss(η, x)` is a(η) − x η, `mean` is a′ and `variance` a″. `intercept(η, m)` is the b for which the mean
    over rows of a′(η + b) is m; it is infinite where m is at the end of the range of a′.
    """

    name: str
    loss: Callable[[Array, Array], Array]
    mean: Callable[[Array], Array]
    variance: Callable[[Array], Array]
    intercept: Callable[[Array, Array], Array] | None = None

    def through_the_origin(self) -> Family:
        """The family without an intercept."""
        return replace(self, intercept=None)

    def predictors(self, rows: Array, targets: Array, weights: Array) -> Array:
        """The natural parameters of one target or a matrix of them."""
        eta: Array = rows @ weights
        return eta if self.intercept is None else eta + self.intercept(eta, targets.mean(axis=0))


def bernoulli_intercept(eta: Array, means: Array) -> Array:
    """Solve mean(σ(η + b)) = m by Newton's method, within the bounds that the extremes of η give.

    >>> bernoulli_intercept(np.array([0.0, 0.0]), np.array(0.75)).round(6)  # log 3
    np.float64(1.098612)
    """
    middle = logit(means)
    low, high = middle - eta.max(axis=0), middle - eta.min(axis=0)
    point: Array = middle - eta.mean(axis=0)
    for _ in range(HALVINGS):
        chance = expit(eta + point)
        excess = chance.mean(axis=0) - means
        low, high = np.where(excess < 0, point, low), np.where(excess > 0, point, high)
        step = -excess / (chance * (1 - chance)).mean(axis=0)
        inside = (low <= point + step) & (point + step <= high)
        closed = (np.abs(excess) <= EXACT) | (high - low <= EXACT * np.abs(point))
        point = np.where(closed, point, np.where(inside, point + step, low + (high - low) / 2))
        if (closed | (inside & (np.abs(step) <= LAST_STEP))).all():
            break
    return point


def count_intercept(eta: Array, means: Array) -> Array:
    """Solve mean(e^(η + b)) = m: b = log m − log mean(e^η), computed without overflow."""
    top = eta.max(axis=0)
    intercept: Array = np.log(means) - top - np.log(np.exp(eta - top).mean(axis=0))
    return intercept


def bernoulli_loss(eta: Array, targets: Array) -> Array:
    """log(1 + e^η) − x η for x of 0 or 1."""
    return np.logaddexp(0.0, np.where(targets > 0, -eta, eta))


def count_loss(eta: Array, targets: Array) -> Array:
    """e^η − x η; at η = −∞ the expected count is 0, and x = 0 has no loss."""
    loss: Array = np.exp(eta) - np.where(targets > 0, targets * eta, 0.0)
    return loss


BERNOULLI = Family(
    "Bernoulli", bernoulli_loss, expit, lambda eta: expit(eta) * expit(-eta), bernoulli_intercept
)
POISSON = Family("Poisson", count_loss, np.exp, np.exp, count_intercept)


def family_loss(family: Family, rows: Array, targets: Array, weights: Array) -> float:
    """Σ [a(η) − x η] / n, for one target or a matrix of them."""
    with np.errstate(all="ignore"):
        value = float(family.loss(family.predictors(rows, targets, weights), targets).sum()) / len(rows)
    return np.inf if np.isnan(value) else value


def family_gradient(family: Family, rows: Array, targets: Array, weights: Array) -> tuple[float, Array]:
    """The loss and its derivatives by the weights."""
    with np.errstate(all="ignore"):
        eta = family.predictors(rows, targets, weights)
        value = float(family.loss(eta, targets).sum()) / len(rows)
        gradient: Array = rows.T @ (family.mean(eta) - targets) / len(rows)
    if not (np.isfinite(value) and np.isfinite(gradient).all()):
        return np.inf, np.zeros_like(weights)
    return value, gradient


def family_curvature(family: Family, rows: Array, target: Array, weights: Array) -> Array:
    """Second derivatives of the loss of one target."""
    with np.errstate(all="ignore"):
        spread = family.variance(family.predictors(rows, target, weights))
    total = float(spread.sum())
    if family.intercept is not None and total > 0:
        rows = rows - spread @ rows / total
    curvature: Array = rows.T @ (spread[:, None] * rows) / len(rows)
    return curvature


def refit_family(family: Family, rows: Array, support: NDArray[np.bool_], lambda1: float) -> Array:
    """Each column's regression on its parents."""
    weights = np.zeros(support.shape)
    for child in range(len(support)):
        parents = np.flatnonzero(support[:, child])
        if len(parents):
            weights[parents, child] = fit_column(family, rows[:, parents], rows[:, child], lambda1)
    return weights


def fit_column(family: Family, rows: Array, target: Array, lambda1: float) -> Array:
    """Minimise loss + λ‖w‖₁ of one regression."""
    point = np.zeros(rows.shape[1])
    flat = ROUNDING * (float(np.abs(rows.T @ target).max()) / len(rows) + lambda1)
    for _ in range(NEWTON_STEPS):
        value, gradient = family_gradient(family, rows, target, point)
        value += lambda1 * float(np.abs(point).sum())
        if np.abs(minimal_subgradient(point, gradient, lambda1)).max() <= flat:
            break
        hessian = family_curvature(family, rows, target, point)
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
        # The predicted decrease is within rounding: Newton's method has converged.
        if -change <= rounding:
            break
    return point


def solve_model(hessian: Array, target: Array, lambda1: float) -> Array:
    """Minimise ½ wᵀHw − tᵀw + λ‖w‖₁: the lasso of a last variable whose moments with the others are t."""
    size = len(target)
    moments = np.zeros((size + 1, size + 1))
    moments[:size, :size] = hessian
    moments[size, :size] = moments[:size, size] = target
    # The least variance that such a variable can have; the solver takes the scale of rounding errors from it.
    curved = np.diag(hessian) > 0
    moments[size, size] = (target[curved] ** 2 / np.diag(hessian)[curved]).max(initial=0.0)
    weights, gradient, factor = np.zeros(size + 1), np.empty(size + 1), np.empty((size + 1, size + 1))
    free = np.append(curved, False)
    solve_lasso(moments, size, free, lambda1, np.zeros(size + 1), weights, gradient, factor)
    return weights[:size]


def minimal_subgradient(point: Array, gradient: Array, lambda1: float) -> Array:
    """The smallest element of ∇f(w) + λ ∂‖w‖₁, which vanishes exactly at a stationary point.

    >>> minimal_subgradient(np.array([0.0, 0.0, 2.0]), np.array([0.5, -3.0, -1.0]), 1.0)
    array([ 0., -2.,  0.])
    """
    at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - lambda1, 0.0)
    return np.where(point == 0, at_zero, gradient + lambda1 * np.sign(point))
