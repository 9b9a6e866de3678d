"""Least squares with HC3 standard errors, which hold where the noise is not the same in all rows.

cov(b) = (XᵀX)⁻¹ Xᵀ diag(e² / (1 − h)²) X (XᵀX)⁻¹, with the residuals e and the leverages h (MacKinnon & White
1985).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.effects.row_sums import EQUAL, RowSums

Array = NDArray[np.float64]

DEPENDENT = 1e-9  # share of a column's length that others leave over: below it, they determine the column
# The residual of a row that the fit follows alone is rounding, and divided by this still is.
FULL_LEVERAGE = 1e-6


@dataclass(frozen=True)
class RobustFit:
    """Coefficients with their covariance; a column that those before it determine has neither."""

    coefficients: Array
    covariance: Array
    usual_covariance: Array  # if the noise is the same in all rows
    kept: NDArray[np.bool_]
    freedom: int

    def combine(self, weights: Array) -> tuple[float, float]:
        """A weighted sum of coefficients, and its variance."""
        return float(weights @ self.coefficients), float(weights @ self.covariance @ weights)

    def usual_t(self, weights: Array) -> float:
        """A weighted sum of coefficients by its usual standard error."""
        return float(weights @ self.coefficients / np.sqrt(weights @ self.usual_covariance @ weights))


def least_squares(design: Array, y: Array, rows: RowSums = EQUAL) -> RobustFit:
    """Regress y on the columns of a design; rows may have weights, or errors that those of a group share.

    >>> fit = least_squares(np.array([[1.0, 0], [1, 1], [1, 2], [1, 3]]), np.array([0.0, 1, 2, 4]))
    >>> fit.coefficients.round(3).tolist(), fit.freedom
    ([-0.2, 1.3], 2)
    """
    kept = independent_columns(design)
    if rows.weights is not None:
        root = np.sqrt(rows.weights)
        design, y = design * root[:, None], y * root
    orthonormal, triangle = np.linalg.qr(design[:, kept])
    inverse = np.linalg.inv(triangle)
    projected = orthonormal.T @ y
    leverage = np.einsum("ij,ij->i", orthonormal, orthonormal)
    residual = y - orthonormal @ projected
    scaled = residual / np.maximum(1 - leverage, FULL_LEVERAGE)
    scores = orthonormal * scaled[:, None]
    small = inverse @ rows.squares(scores) @ inverse.T
    freedom = rows.freedom(len(y), int(kept.sum()))
    coefficients, covariance, usual = (
        np.zeros(len(kept)),
        np.zeros((len(kept), len(kept))),
        np.zeros((len(kept), len(kept))),
    )
    coefficients[kept] = inverse @ projected
    covariance[np.ix_(kept, kept)] = small
    usual[np.ix_(kept, kept)] = (
        inverse @ inverse.T * float(residual @ residual) / max(1, len(y) - int(kept.sum()))
    )
    return RobustFit(coefficients, covariance, usual, kept, freedom)


def independent_columns(design: Array) -> NDArray[np.bool_]:
    """Columns that those before them do not determine."""
    length = np.sqrt((design**2).sum(axis=0))
    kept = length > 0
    left = np.abs(np.diag(np.linalg.qr(design[:, kept], mode="r")))
    if len(left) == kept.sum() and (left > DEPENDENT * length[kept]).all():
        return np.asarray(kept)
    basis = np.zeros((len(design), 0))
    for place in np.flatnonzero(kept):
        column = design[:, place] / length[place]
        for _ in range(2):  # once more, against rounding
            column = column - basis @ (basis.T @ column)
        size = float(np.sqrt(column @ column))
        kept[place] = size > DEPENDENT and basis.shape[1] < len(design)
        if kept[place]:
            basis = np.column_stack([basis, column / size])
    return np.asarray(kept)
