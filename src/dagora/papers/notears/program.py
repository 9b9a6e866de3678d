"""The NOTEARS program's objective, F(W) = 1/(2n) ‖X − XW‖² + λ ‖W‖₁ on centred columns (equation 2).

It is a function of the second moments alone: with S = XᵀX/n the first term is ½ tr((I − W)ᵀ S (I − W)).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.stats.statistics import Moments


def objective(moments: Moments, weights: NDArray[np.float64], lambda1: float) -> float:
    """F at given weights, [i, j] for the edge i → j.

    >>> moments = Moments(4, np.zeros(2), np.array([[4.0, 2.0], [2.0, 4.0]]))
    >>> objective(moments, np.array([[0.0, 0.5], [0.0, 0.0]]), lambda1=0.1)
    0.925
    """
    residual = np.eye(len(weights)) - weights
    loss = 0.5 * float(np.sum(residual * (moments.scatter @ residual))) / moments.n
    return loss + lambda1 * float(np.abs(weights).sum())
