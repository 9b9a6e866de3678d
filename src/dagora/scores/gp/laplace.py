"""Laplace's approximation of the log evidence: a Gaussian at the mode, in the logarithms of the parameters.

  ln Z ≈ ln p(θ̃) + (d/2) ln 2π − ½ ln det(−H),   H = ∇² ln p at the mode θ̃,
where p is likelihood times prior times Jacobian, with the mean integrated out. (The published code takes the
mode in one parametrisation and the Hessian in another, and leaves the Jacobian out; eq. 13 misprints H as the
Hessian of the density itself.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.scores.gp.mode import FLATTEST, Modes

Array = NDArray[np.float64]


def bounded_curvatures(precisions: Array) -> tuple[Array, Array]:
    """Eigenvalues of minus the Hessians, none below `FLATTEST`, and eigenvectors."""
    curvatures, vectors = np.linalg.eigh(precisions)
    return np.maximum(curvatures, FLATTEST), vectors


def laplace(modes: Modes) -> Array:
    """Log evidence at each mode.

    >>> modes = Modes(np.zeros((1, 2)), np.zeros(1), np.eye(2)[None] * 4.0)
    >>> bool(np.isclose(laplace(modes)[0], np.log(2 * np.pi / 4)))
    True
    """
    curvatures, _ = bounded_curvatures(modes.precisions)
    size = modes.points.shape[1]
    evidence: Array = modes.values + 0.5 * (size * np.log(2 * np.pi) - np.log(curvatures).sum(axis=1))
    return evidence
