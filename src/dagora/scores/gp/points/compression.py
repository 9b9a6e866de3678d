"""A column's squared-exponential kernel in few dimensions: the cost of a score does not depend on the rows.

For values x and a length-scale ρ the kernel matrix is K(ρ) = [exp(−(x − x')²/2ρ²)]. Fix the shortest
length-scale ρ₀ that is to be allowed. A pivoted Cholesky factorisation of K(ρ₀) picks landmarks z among the
values, and with its factor F (K(ρ₀) ≈ F Fᵀ, F_z its rows at the landmarks) every smoother kernel is
  K(ρ) ≈ F F_z⁻¹ K_zz(ρ) F_z⁻ᵀ Fᵀ,   ρ ≥ ρ₀,
because its functions lie in the space of the rougher ones. The leading eigenvectors Q of F Fᵀ then give
K(ρ) ≈ Q C(ρ) Qᵀ with C(ρ) = Pᵀ K_zz(ρ) P, r × r. Ties, outliers and clusters need nothing special: landmarks
are values that occur. C is smooth in log ρ and is tabulated as a Chebyshev series per octave, whose
derivatives are exact. A `Level` holds this for all columns of a table and one ρ₀, with the products of all
bases, QᵢᵀQⱼ, and their projections on all columns: everything a score needs to know about the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Length-scales from here on share one table, in 1/ρ²; below it every octave has its own.
LONG = 8.0
# Levels are half an octave apart. Shorter length-scales than the finest level's have no weight: the prior
# puts (1 + 2/ρ) exp(−2/ρ) = 1e-26 there.
FINEST = 16
SHORTEST = LONG / 2.0 ** (FINEST / 2)
# More than the number of tables any length-scale needs (9); used to number pairs of column and table.
CELLS = 64
# Largest diagonal residual of the pivoted Cholesky factor, and how much of the trace the truncation may lose.
PIVOT = 1e-13
TAIL = 1e-9
# Chebyshev nodes per table: the terms of the series of exp(−c e^(−2t)) over an octave fall by a factor of
# 4.6, and 4.6^−22 is 3e-15.
NODES = 22
# Of values in the same narrow cell this many are kept as candidates for landmarks.
KEPT = 5
# Rows handled at a time, to bound the memory.
CHUNK = 8192


def thin_values(values: Array, width: float) -> Array:
    """Distinct values, ascending, at most `KEPT` from any cell of a width, its extremes among them.

    >>> thin_values(np.array([3.0, 0.0, 0.1, 0.1, 1.0]), 0.5)
    array([0. , 0.1, 1. , 3. ])
    """
    distinct = np.unique(values)
    cells = np.floor((distinct - distinct[0]) / width)
    starts = np.flatnonzero(np.append(True, cells[1:] != cells[:-1]))
    last = np.append(starts[1:], len(distinct)) - 1
    spread = np.linspace(0.0, 1.0, KEPT)
    kept = np.unique(np.rint(starts[:, None] + (last - starts)[:, None] * spread).astype(np.int64))
    return distinct[kept]


def se_kernel(one: Array, other: Array, scale: float) -> Array:
    """Squared-exponential kernel between two sets of numbers."""
    gaps = (one[:, None] - other[None, :]) / scale
    return np.exp(-0.5 * gaps * gaps)


def landmarks(values: Array, scale: float, tolerance: float = PIVOT) -> tuple[Array, Array]:
    """Landmarks by pivoted Cholesky factorisation, and the triangular factor of their kernel matrix."""
    candidates = thin_values(values, scale / 16)
    most = len(candidates)
    factor = np.zeros((most, min(64, most)))
    left = np.ones(most)
    chosen: list[int] = []
    while len(chosen) < most:
        pivot = int(np.argmax(left))
        if left[pivot] <= tolerance:
            break
        step = len(chosen)
        if step == factor.shape[1]:
            factor = np.hstack([factor, np.zeros((most, min(step, most - step)))])
        row = se_kernel(candidates, candidates[pivot : pivot + 1], scale)[:, 0]
        column = (row - factor[:, :step] @ factor[pivot, :step]) / np.sqrt(left[pivot])
        # The residual of a chosen value is exactly zero: rounding errors there would spoil the triangle.
        column[chosen] = 0.0
        factor[:, step] = column
        left = np.maximum(left - column * column, 0.0)
        chosen.append(pivot)
        left[chosen] = 0.0
    return candidates[chosen], factor[chosen, : len(chosen)]


@dataclass(frozen=True)
class ColumnBasis:
    """One column's basis: rows are `solve(F_z, K_z·) · rotation`, and C(ρ) = Pᵀ K_zz(ρ) P."""

    points: Array
    triangle: Array
    rotation: Array
    coefficients: Array
    lost: float

    def rows(self, values: Array, scale: float) -> Array:
        """Rows of Q at some values of the column."""
        from scipy.linalg import solve_triangular

        whitened = solve_triangular(self.triangle, se_kernel(self.points, values, scale), lower=True)
        product: Array = whitened.T @ self.rotation
        return product

    def covariance(self, scale: float) -> Array:
        """C(ρ) at one length-scale, by its definition."""
        kernel = se_kernel(self.points, self.points, scale)
        covariance: Array = self.coefficients.T @ kernel @ self.coefficients
        return covariance

    def series(self, cell: int, coefficients: Array) -> Array:
        """Chebyshev coefficients over one cell, of C(ρ) or of that with other columns in the place of P."""
        positions, transform, _ = chebyshev_tools()
        half = 0.5 * (self.points[:, None] - self.points[None, :]) ** 2
        kernels = np.exp(-half * inverse_squares(cell, positions)[:, None, None])
        values = coefficients.T @ kernels @ coefficients
        series: Array = (transform @ values.reshape(NODES, -1)).reshape(values.shape)
        return series


def column_basis(values: Array, scale: float, tail: float = TAIL) -> ColumnBasis:
    """The basis of one column for length-scales from `scale` upwards; `lost` is the trace it leaves out."""
    from scipy.linalg import solve_triangular

    points, triangle = landmarks(values, scale)
    gram = np.zeros((len(points), len(points)))
    residual = 0.0
    for start in range(0, len(values), CHUNK):
        some = values[start : start + CHUNK]
        whitened = solve_triangular(triangle, se_kernel(points, some, scale), lower=True)
        gram += whitened @ whitened.T
        residual += float(np.maximum(0.0, 1.0 - (whitened * whitened).sum(axis=0)).sum())
    eigenvalues, vectors = np.linalg.eigh(gram)
    eigenvalues, vectors = np.maximum(eigenvalues[::-1], 0.0), vectors[:, ::-1]
    beyond = np.append(np.cumsum(eigenvalues[::-1])[::-1], 0.0)
    rank = int(np.argmax(beyond <= tail))
    # The eigenvector of an eigenvalue that is only rounding error means nothing.
    rank = min(rank, int((eigenvalues > 1e-15 * eigenvalues[0]).sum()))
    roots = np.sqrt(eigenvalues[:rank])
    kept = vectors[:, :rank]
    coefficients = solve_triangular(triangle, kept * roots, lower=True, trans="T")
    return ColumnBasis(points, triangle, kept / roots, coefficients, residual + float(beyond[rank]))


def level_of(shortest: Array) -> NDArray[np.int64]:
    """The coarsest level whose bases are accurate for a length-scale.

    >>> level_of(np.array([100.0, 8.0, 7.9, 1.0]))
    array([0, 0, 1, 6])
    """
    needed = np.ceil(2 * np.log2(LONG / shortest) - 1e-9)
    return np.clip(needed, 0, FINEST).astype(np.int64)


def cell_of(log_scale: Array) -> NDArray[np.int64]:
    """The table for a length-scale: 0 from `LONG` upwards, c for the c-th octave below it."""
    octaves = np.ceil((np.log(LONG) - log_scale) / np.log(2.0))
    cells: NDArray[np.int64] = np.maximum(0, octaves).astype(np.int64)
    return cells


@lru_cache(maxsize=1)
def chebyshev_tools() -> tuple[Array, Array, Array]:
    """Chebyshev nodes, the matrix from values there to coefficients, and that from T(x) to dT(x)/dx."""
    angles = (np.arange(NODES) + 0.5) * np.pi / NODES
    transform = np.cos(np.outer(np.arange(NODES), angles)) * (2.0 / NODES)
    transform[0] /= 2
    derivative = np.zeros((NODES, NODES))
    for k in range(1, NODES):
        # T_k' = 2k (T_(k−1) + T_(k−3) + …), with T_0 counted half.
        derivative[k - 1 :: -2, k] = 2 * k
        derivative[0, k] /= 2
    return np.cos(angles), transform, derivative


class Level:
    """All columns' bases for length-scales from `scale` upwards, and the products that scores need.

    `columns` are the standardised columns, `gram[i, j]` is QᵢᵀQⱼ, `sums[i]` is Qᵢᵀ1, `projections[i, c]` is
    Qᵢᵀ y for y = column c. All bases are padded with zeros to one rank.
    """

    def __init__(self, columns: Array, level: int) -> None:
        rows, d = columns.shape
        self.scale = LONG / 2.0 ** (level / 2)
        self.bases = [column_basis(columns[:, i], self.scale) for i in range(d)]
        self.lost = max(basis.lost for basis in self.bases)
        self.rank = r = max(basis.coefficients.shape[1] for basis in self.bases)
        # Added to diagonals, so that rounding does not make small matrices indefinite.
        self.jitter = 1e-12 * rows + 1e-11
        self._columns = columns
        products = np.zeros((d * r, d + 1))
        for some, wide in self._wide():
            products += wide.T @ np.column_stack([some, np.ones(len(some))])
        self.projections = np.ascontiguousarray(products[:, :-1].reshape(d, r, d).transpose(0, 2, 1))
        self.sums = products[:, -1].reshape(d, r).copy()
        self._series: dict[tuple[int, int], Array] = {}

    def _wide(self) -> Iterator[tuple[Array, Array]]:
        """Yield some rows of the table at a time, and the bases of all columns there, side by side."""
        rows, d = self._columns.shape
        for start in range(0, rows, CHUNK):
            some = self._columns[start : start + CHUNK]
            wide = np.zeros((len(some), d * self.rank))
            for i, basis in enumerate(self.bases):
                q = basis.rows(some[:, i], self.scale)
                wide[:, i * self.rank : i * self.rank + q.shape[1]] = q
            yield some, wide

    @cached_property
    def gram(self) -> Array:
        """QᵢᵀQⱼ for all pairs of columns; the longest pass over the rows, not needed for single parents."""
        d, r = len(self.bases), self.rank
        products = np.zeros((d * r, d * r))
        for _, wide in self._wide():
            products += wide.T @ wide
        return np.ascontiguousarray(products.reshape(d, r, d, r).transpose(0, 2, 1, 3))

    def series(self, column: int, cell: int) -> Array:
        """Chebyshev coefficients of C over one cell, one row per term."""
        known = self._series.get((column, cell))
        if known is None:
            basis = self.bases[column]
            rank = basis.coefficients.shape[1]
            series = np.zeros((NODES, self.rank, self.rank))
            series[:, :rank, :rank] = basis.series(cell, basis.coefficients)
            known = self._series[column, cell] = series.reshape(NODES, -1)
        return known


class ChebyshevBases(Protocol):
    """Bases of all columns whose covariance C(ρ) is known by its Chebyshev series."""

    rank: int

    def series(self, column: int, cell: int) -> Array:
        """Chebyshev coefficients of C over one cell, one row per term."""


def covariances(
    bases: ChebyshevBases, columns: NDArray[np.int64], log_scales: Array, order: int = 0
) -> tuple[Array, ...]:
    """C(ρ) of columns at length-scales, and its derivatives in log ρ up to an order (at most 2).

    Both arrays have one shape (…); the answers have the shape (…, r, r).
    """
    series, rank = bases.series, bases.rank
    flat, logs = columns.ravel(), log_scales.ravel()
    cells = cell_of(logs)
    weights = polynomials(cells, logs, order)
    keys = flat * CELLS + cells
    if len(keys) and (keys == keys[0]).all():
        coefficients = series(*divmod(int(keys[0]), CELLS))
        return tuple((weight @ coefficients).reshape(*columns.shape, rank, rank) for weight in weights)
    found = tuple(np.empty((len(flat), rank * rank)) for _ in range(order + 1))
    for key in np.unique(keys):
        mine = np.flatnonzero(keys == key)
        coefficients = series(*divmod(int(key), CELLS))
        for answer, weight in zip(found, weights, strict=True):
            answer[mine] = weight[mine] @ coefficients
    return tuple(answer.reshape(*columns.shape, rank, rank) for answer in found)


def inverse_squares(cell: int, positions: Array) -> Array:
    """1/ρ² at positions in [−1, 1] of a cell."""
    if cell == 0:
        return (1 + positions) / (2 * LONG * LONG)
    middle = np.log(LONG) - (cell - 0.5) * np.log(2.0)
    octave: Array = np.exp(-2 * (middle + 0.5 * np.log(2.0) * positions))
    return octave


def polynomials(cells: NDArray[np.int64], logs: Array, order: int) -> tuple[Array, ...]:
    """Chebyshev polynomials of the cells' positions at log ρ, and their derivatives in log ρ."""
    long = cells == 0
    slope = 2 / np.log(2.0)
    octave = (logs - np.log(LONG) + (cells - 0.5) * np.log(2.0)) * slope
    # The position of a long length-scale is 2 LONG²/ρ² − 1, and its derivative in log ρ is −2 (position + 1).
    position = np.where(long, 2 * LONG * LONG * np.exp(-2 * np.where(long, logs, 0.0)) - 1, octave)
    position = np.clip(position, -1.0, 1.0)
    plain = np.cos(np.arccos(position)[:, None] * np.arange(NODES))
    if order == 0:
        return (plain,)
    _, _, derivative = chebyshev_tools()
    slopes = np.where(long, -2 * (position + 1), slope)[:, None]
    once = plain @ derivative
    if order == 1:
        return plain, once * slopes
    bends = np.where(long, 4 * (position + 1), 0.0)[:, None]
    return plain, once * slopes, (once @ derivative) * slopes**2 + once * bends
