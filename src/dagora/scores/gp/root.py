"""Log evidence of a variable without parents: Gaussian with the same priors of μ and σ.

μ ~ N(0, 1) integrates in closed form, y ~ N(0, s I + 1 1ᵀ) with s = σ²; the integral over log σ is a sum over
a fine grid, which for a smooth density that vanishes at both ends is exact to rounding.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.scores.gp.prior import NOISE

Array = NDArray[np.float64]


def root_density(rows: int, total: float, squares: float, log_sigma: Array) -> Array:
    """Log of likelihood times prior of log σ, for data with a sum and a sum of squares."""
    s = np.exp(2 * log_sigma)
    determinant = (rows - 1) * 2 * log_sigma + np.log(s + rows)
    quadratic = (squares - total * total / (s + rows)) / s
    density: Array = -0.5 * (rows * np.log(2 * np.pi) + determinant + quadratic)
    return density + NOISE.log_density(log_sigma)


def root_evidence(rows: int, total: float, squares: float) -> float:
    """Log evidence of standardised data without parents."""
    width = 1 / np.sqrt(2 * rows)
    middle = 0.5 * np.log(squares / rows)
    grid = middle + width * np.arange(-15.0, 40.0, 0.125)
    values = root_density(rows, total, squares, grid)
    top = values.max()
    return float(top + np.log(np.exp(values - top).sum() * 0.125 * width))


def root_mode(rows: int, total: float, squares: float) -> float:
    """The σ at which the density of log σ is largest, to six digits.

    >>> round(root_mode(1000, 0.0, 999.0), 3)
    1.0
    """
    low, high = np.log(1e-5), np.log(1e2)
    for _ in range(8):
        grid = np.linspace(low, high, 41)
        best = int(root_density(rows, total, squares, grid).argmax())
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, 40)]
    return float(np.exp((low + high) / 2))
