"""Regression from sums over rows: slopes from moments, robust standard errors from products of four columns.

With d the deviations of the columns from their means, S = Σ d dᵀ and e the residuals,
cov(slopes) = S⁻¹ · Σ e² d dᵀ · S⁻¹ / (1 − k/n)² for k coefficients. That is HC3 with the mean leverage k/n in
place of each row's; the standard errors of both differ by about k/n.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.stats.statistics import Moments

Array = NDArray[np.float64]

DEPENDENT = 1e-5
"""Share of a column's length that others leave over, below which they determine it (of rounded values)."""
ROUNDING = 1e-15  # of each term of a sum of products, relative


@dataclass(frozen=True, eq=False)
class SlopeFit:
    """A regression of the first of some columns on the others; those that others determine have zeros.

    `root` · `root`ᵀ is the inverse of the scatter, `squares` is the sum of squared residuals.
    """

    n: int
    slopes: Array
    root: Array
    kept: NDArray[np.bool_]
    squares: float

    @property
    def freedom(self) -> int:
        """The degrees of freedom that are left."""
        return max(1, self.n - 1 - int(self.kept.sum()))

    def combine(self, weights: Array, fourth: Array) -> tuple[float, float, float]:
        """A weighted sum of slopes, its robust variance, and its usual t; `fourth` has products of four."""
        value, direction = float(weights @ self.slopes), weights @ self.root
        usual = float(direction @ direction) * self.squares / self.freedom
        with np.errstate(divide="ignore", invalid="ignore"):
            t = float(np.divide(value, np.sqrt(usual)))
        residual = np.concatenate([[1.0], -self.slopes])
        squares = np.einsum("abcd,a,b->cd", fourth, residual, residual)[1:, 1:]
        away = self.root @ direction
        share = 1 - (1 + int(self.kept.sum())) / self.n
        return value, max(0.0, float(away @ squares @ away)) / share**2, t

    def rounding(self, weights: Array, fourth: Array) -> float:
        """A bound on the rounding of the robust variance: large where columns nearly determine each other."""
        residual = np.abs(np.concatenate([[1.0], self.slopes]))
        squares = np.einsum("abcd,a,b->cd", np.abs(fourth), residual, residual)[1:, 1:]
        away = np.abs(self.root @ (weights @ self.root))
        return ROUNDING * float(away @ squares @ away)

    def largest_leverage(self, fourth: Array) -> float:
        """A leverage that no row exceeds, but for 1/n: the root of the sum of all their squares."""
        inverse = self.root @ self.root.T
        squares = np.einsum("abcd,ab,cd->", fourth[1:, 1:, 1:, 1:], inverse, inverse)
        return float(np.sqrt(min(max(squares, 0.0), 1.0)))


def fit_slopes(moments: Moments) -> SlopeFit:
    """Regress the first column on the others.

    >>> rows = np.array([[0.0, 0], [1, 1], [2, 2], [4, 3]])
    >>> apart = rows - rows.mean(axis=0)
    >>> fit = fit_slopes(Moments(4, rows.mean(axis=0), apart.T @ apart))
    >>> fit.slopes.round(3).tolist(), fit.freedom, round(fit.squares, 3)
    ([1.3], 2, 0.3)
    """
    scatter = moments.scatter
    inner, cross = scatter[1:, 1:], scatter[1:, 0]
    kept = independent_places(inner)
    k = len(inner)
    slopes, root = np.zeros(k), np.zeros((k, k))
    if kept.any():
        scale = np.sqrt(np.diag(inner)[kept])
        lower = np.linalg.cholesky(inner[np.ix_(kept, kept)] / np.outer(scale, scale))
        own = np.linalg.inv(lower).T / scale[:, None]
        root[np.ix_(kept, kept)] = own
        slopes[kept] = own @ (own.T @ cross[kept])
    squares = max(0.0, float(scatter[0, 0] - slopes @ cross))
    return SlopeFit(moments.n, slopes, root, kept, squares)


def independent_places(scatter: Array) -> NDArray[np.bool_]:
    """Columns that those before them do not determine, from their scatter."""
    size = np.sqrt(np.maximum(np.diag(scatter), 0.0))
    kept = np.zeros(len(scatter), dtype=np.bool_)
    for place in np.flatnonzero(size > 0):
        before = np.flatnonzero(kept)
        unit = scatter / np.outer(np.where(size > 0, size, 1), np.where(size > 0, size, 1))
        left = 1.0
        if len(before):
            known = unit[before, place]
            left -= float(known @ np.linalg.solve(unit[np.ix_(before, before)], known))
        kept[place] = left > DEPENDENT**2
    return kept
