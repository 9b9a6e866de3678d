"""Stacks of small matrices: Cholesky factors, inverses of triangles, products with vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Triangles up to this size are inverted directly.
SMALL = 16


def times(matrices: Array, vectors: Array) -> Array:
    """Each matrix times its vector."""
    product: Array = (matrices @ vectors[..., None])[..., 0]
    return product


def triangular_inverses(triangles: Array) -> Array:
    """Inverses of lower triangles, by halves: most of the work is then matrix products, which are fast."""
    size = triangles.shape[-1]
    if size <= SMALL:
        inverted: Array = np.linalg.inv(triangles).astype(np.float64, copy=False)
        return inverted
    half = size // 2
    inverses = np.zeros_like(triangles)
    inverses[:, :half, :half] = first = triangular_inverses(triangles[:, :half, :half])
    inverses[:, half:, half:] = last = triangular_inverses(triangles[:, half:, half:])
    np.matmul(-last @ triangles[:, half:, :half], first, out=inverses[:, half:, :half])
    return inverses


def factored(covariances: Array, jitter: float) -> Array:
    """Cholesky factors of matrices that are positive up to rounding."""
    r = np.arange(covariances.shape[-1])
    covariances = covariances.copy()
    covariances[..., r, r] += jitter
    return cholesky(covariances)


def cholesky(matrices: Array) -> Array:
    """Lower Cholesky factors; only the lower triangles are looked at."""
    return np.linalg.cholesky(matrices).astype(np.float64, copy=False)
