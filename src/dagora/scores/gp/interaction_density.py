"""Likelihood of a Gaussian process with main effects and first-order interactions.

S = 1 1ᵀ + m Σᵢ Kᵢ + q Σᵢ<ⱼ Kᵢ∘Kⱼ + s I. Each parent's kernel is written by its own eigenvectors, Kᵢ = ZᵢZᵢᵀ,
and a product Kᵢ∘Kⱼ then has the columns z_k∘z_l as factor, of which few are long. The short columns that are
left out lose about `CUT` s of the trace of S, and change the log likelihood by about `CUT`. With all columns
in F = [1, √m Zᵢ, √q z_k∘z_l], S = FFᵀ + s I, and with A = FᵀF + s I
  ln det S = (N − w) ln s + ln det A,   yᵀS⁻¹y = (yᵀy − yᵀFA⁻¹Fᵀy) / s,
both read off one Cholesky factor of [[A, Fᵀy], [yᵀF, yᵀy]]. Where F would have about as many columns w as
there are rows N, S itself is factored. Arrays hold the columns of Z and F one per row.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Positions = NDArray[np.int64]

# Trace that may be lost with the short columns, as a share of the noise variance. Derivatives contain
# products of short and long columns, so that the error there is of the order of the root.
CUT = 1e-4
CUT_DERIVATIVES = 1e-6
# If F has more columns than this share of the rows, factoring S itself is faster.
DENSE = 0.7


@dataclass(frozen=True)
class Kernel:
    """One parent's K = ZZᵀ: the columns of Z, and T of the first and second derivative in log ρ, ZTZᵀ."""

    rows: Array
    slope: Array
    bend: Array


@dataclass(frozen=True)
class Variances:
    """Variances of main effects, of interactions and of the noise, and the trace that may be lost."""

    main: float
    product: float
    s: float
    lost: float


@dataclass(frozen=True)
class Products:
    """The columns whose products make a factor of Kᵢ∘Kⱼ."""

    one: int
    other: int
    k: Positions
    j: Positions


def pick_products(kernels: list[Kernel], variances: Variances) -> list[Products]:
    """Products of columns that are kept: all but the shortest, which together lose at most `lost`."""
    pairs = list(combinations(range(len(kernels)), 2))
    found = []
    for one, other in pairs:
        first, second = kernels[one].rows, kernels[other].rows
        squares = variances.product * ((first * first) @ (second * second).T)
        order = np.argsort(squares, axis=None)
        gone = np.searchsorted(np.cumsum(squares.ravel()[order]), variances.lost / len(pairs), side="right")
        k, j = np.unravel_index(np.sort(order[gone:]), squares.shape)
        found.append(Products(one, other, k, j))
    return found


def factor(kernels: list[Kernel], products: list[Products], variances: Variances, y: Array) -> Array:
    """Columns of F: constant, main effects, products; the child comes last."""
    width = width_of(kernels, products)
    rows = np.empty((width + 1, len(y)))
    rows[0] = 1.0
    at = 1
    for kernel in kernels:
        np.multiply(kernel.rows, np.sqrt(variances.main), out=rows[at : at + len(kernel.rows)])
        at += len(kernel.rows)
    for some in products:
        block = rows[at : at + len(some.k)]
        np.take(np.sqrt(variances.product) * kernels[some.one].rows, some.k, axis=0, out=block)
        block *= kernels[some.other].rows[some.j]
        at += len(some.k)
    rows[width] = y
    return rows


def likelihood_of(gram: Array, rows: int, s: float) -> tuple[float, Array]:
    """Log likelihood by the products of the columns of F and y, and the Cholesky factor it is read off."""
    width = len(gram) - 1
    matrix = gram.copy()
    matrix[np.arange(width), np.arange(width)] += s
    triangle: Array = np.linalg.cholesky(matrix).astype(np.float64, copy=False)
    pivots = np.diag(triangle)
    determinant = (rows - width) * np.log(s) + 2 * np.log(pivots[:width]).sum()
    return float(-0.5 * (rows * np.log(2 * np.pi) + determinant + pivots[width] ** 2 / s)), triangle


def log_likelihood(y: Array, kernels: list[Kernel], variances: Variances) -> float:
    """Log density N(y; 0, S)."""
    products = pick_products(kernels, variances)
    if width_of(kernels, products) > DENSE * len(y):
        return dense_log_likelihood(y, kernels, variances)
    rows = factor(kernels, products, variances, y)
    return likelihood_of(rows @ rows.T, len(y), variances.s)[0]


def width_of(kernels: list[Kernel], products: list[Products]) -> int:
    """Number of F's columns."""
    return 1 + sum(len(kernel.rows) for kernel in kernels) + sum(len(some.k) for some in products)


def dense_log_likelihood(y: Array, kernels: list[Kernel], variances: Variances) -> float:
    """The same log density, from the N × N matrix S."""
    triangle = np.linalg.cholesky(dense_covariance(kernels, variances))
    from scipy.linalg import solve_triangular

    white = solve_triangular(triangle, y, lower=True)
    return float(-0.5 * (len(y) * np.log(2 * np.pi) + white @ white) - np.log(np.diag(triangle)).sum())


def dense_covariance(kernels: list[Kernel], variances: Variances) -> Array:
    """S, N × N."""
    main, products = dense_parts([kernel.rows.T @ kernel.rows for kernel in kernels], variances)
    matrix: Array = 1.0 + main + products
    matrix[np.arange(len(matrix)), np.arange(len(matrix))] += variances.s
    return matrix


def dense_parts(kernels: list[Array], variances: Variances) -> tuple[Array, Array]:
    """Both sums of kernels, m Σ Kᵢ and q Σ Kᵢ∘Kⱼ."""
    total = np.sum(kernels, axis=0)
    products = 0.5 * variances.product * (total * total - np.sum([k * k for k in kernels], axis=0))
    return variances.main * total, products
