"""Stein variational gradient descent: particles climb towards the posterior and push each other away."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# RMSprop with JAX's defaults: the share of the mean square kept at each step, and what keeps it from 0.
KEPT, LEAST = 0.9, 1e-8


def stein_direction(positions: Floats, gradients: Floats, width: float) -> Floats:
    """φ_p = mean over q of k(q, p) ∇ln π(q) + ∇_q k(q, p), with k(q, p) = exp(−|q − p|² / width).

    One particle just follows its gradient.

    >>> stein_direction(np.zeros((1, 2)), np.array([[1.0, -2.0]]), 5.0).tolist()
    [[1.0, -2.0]]
    >>> apart = stein_direction(np.array([[0.0], [1.0]]), np.zeros((2, 1)), 5.0)
    >>> (apart[0] < 0 < apart[1]).item()
    True
    """
    squares = np.einsum("ij,ij->i", positions, positions)
    distances = np.maximum(squares[:, None] + squares - 2.0 * positions @ positions.T, 0.0)
    kernel = np.exp(-distances / width)
    pull = kernel @ gradients
    push = (2.0 / width) * (kernel.sum(axis=1)[:, None] * positions - kernel @ positions)
    return np.asarray((pull + push) / len(positions), dtype=np.float64)


class Ascent:
    """RMSprop: steps of a size that does not depend on the size of the gradient.

    >>> ascent = Ascent(0.005)
    >>> ascent.step(np.array([100.0, 0.1])).round(4).tolist()
    [0.0158, 0.0158]
    """

    def __init__(self, size: float) -> None:
        self._size = size
        self._square: Floats | float = 0.0

    def step(self, direction: Floats) -> Floats:
        """The step to take in a direction."""
        self._square = KEPT * self._square + (1.0 - KEPT) * direction**2
        return np.asarray(self._size * direction / np.sqrt(self._square + LEAST), dtype=np.float64)
