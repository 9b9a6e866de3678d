"""Multinomial logistic regression: P(level l) ∝ exp(a_l + b_l · x), by Newton's method.

A small ridge on coefficients of standardised columns keeps them finite where levels are separated perfectly
or never seen; the first level has coefficients 0. What is maximised is concave, and a step that does not
raise it is halved (Böhning 1992 has the Hessian).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.base.budget import Budget, OutOfTimeError

Matrix = NDArray[np.float64]

RIDGE = 0.01  # larger: coefficients are drawn to 0; smaller: they grow where levels are separated
MOST_STEPS = 100  # a safeguard: Newton's method converges in far fewer
CLOSE = 1e-10  # relative gain of a step that ends the fit
HALVINGS = 30  # 2⁻³⁰ of a step is rounding
BLOCK_ROWS = 1 << 12  # of the design matrix at a time, to bound memory


def fit_softmax(
    codes: NDArray[np.integer],
    values: Matrix,
    levels: int,
    budget: Budget | None = None,
    weights: Matrix | None = None,
) -> tuple[Matrix, Matrix]:
    """Intercepts (levels) and slopes (levels × columns) of level numbers on the columns of a matrix.

    Rows may have weights. If time is up, `OutOfTimeError` is raised.

    >>> intercepts, slopes = fit_softmax(np.array([0, 0, 1, 1, 0, 1]), np.array([[0.0, 1, 2, 3, 2, 1]]).T, 2)
    >>> bool(slopes[1, 0] > 0), intercepts[0], slopes[0]
    (True, np.float64(0.0), array([0.]))
    """
    centre, scale = values.mean(axis=0), values.std(axis=0)
    if weights is not None:
        centre = np.average(values, axis=0, weights=weights)
        scale = np.sqrt(np.average((values - centre) ** 2, axis=0, weights=weights))
    scale = np.where(scale > 0, scale, 1.0)
    design = np.concatenate([np.ones((len(values), 1)), (values - centre) / scale], axis=1)
    seen = np.eye(levels)[codes][:, 1:]
    coefficients = np.zeros((levels - 1, design.shape[1]))
    height, shares = objective(coefficients, design, seen, weights)
    for _ in range(MOST_STEPS):
        left = seen - shares if weights is None else (seen - shares) * weights[:, None]
        slope = left.T @ design - RIDGE * coefficients
        bend = curvature(shares, design, budget, weights)
        step = np.linalg.solve(bend, slope.ravel()).reshape(slope.shape)
        size = 1.0
        for _ in range(HALVINGS):
            reached, there = objective(coefficients + size * step, design, seen, weights)
            if reached >= height:
                break
            size /= 2
        else:
            break
        coefficients, shares, gained = coefficients + size * step, there, reached - height
        height = reached
        if gained <= CLOSE * abs(height):
            break
    whole = np.concatenate([np.zeros((1, design.shape[1])), coefficients])
    slopes = whole[:, 1:] / scale
    return whole[:, 0] - slopes @ centre, slopes


def objective(
    coefficients: Matrix, design: Matrix, seen: Matrix, weights: Matrix | None = None
) -> tuple[float, Matrix]:
    """Log-likelihood less the ridge, and the probabilities of all levels but the first."""
    logits = design @ coefficients.T
    top = np.maximum(logits.max(axis=1, initial=0.0), 0.0)
    odds = np.exp(logits - top[:, None])
    total = np.exp(-top) + odds.sum(axis=1)
    if weights is None:
        fit = (seen * logits).sum() - (top + np.log(total)).sum()
    else:
        fit = weights @ ((seen * logits).sum(axis=1) - top - np.log(total))
    return float(fit - RIDGE / 2 * np.square(coefficients).sum()), odds / total[:, None]


def curvature(
    shares: Matrix, design: Matrix, budget: Budget | None = None, weights: Matrix | None = None
) -> Matrix:
    """Minus the Hessian: Σ over rows of (diag p − p pᵀ) ⊗ x xᵀ, and the ridge."""
    levels, wide = shares.shape[1], design.shape[1]
    size = levels * wide
    found = RIDGE * np.eye(size)
    for start in range(0, len(design), BLOCK_ROWS):
        if budget is not None and budget.exhausted:
            raise OutOfTimeError
        some = slice(start, start + BLOCK_ROWS)
        x, p = design[some], shares[some]
        spread = (p[:, :, None] * x[:, None, :]).reshape(len(x), size)
        if weights is None:
            found -= spread.T @ spread
        else:
            x = x * weights[some, None]
            found -= spread.T @ (spread * weights[some, None])
        for level in range(levels):
            own = slice(level * wide, (level + 1) * wide)
            found[own, own] += spread[:, own].T @ x
    return found
