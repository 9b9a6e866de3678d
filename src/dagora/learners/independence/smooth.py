"""Residuals of additive regressions on smooth functions: penalised splines with REML smoothing.

A column z, scaled to [0, 1], has the linear function and a cubic spline with knots along its range and at its
quantiles, f(z) = b z + Σ c_k R(z, t_k), where R is the kernel of ∫ f''² (Gu 2013, section 2.3.3) and cᵀ R c
that penalty. In the basis of the eigenvectors of R the penalty is the identity. With λ of each spline fixed
the fit is ridge regression; λ = σ² γ / |β|² with γ the effective number of coefficients is the step that
increases the restricted likelihood (Fellner 1986; Schall 1991; Wood & Fasiolo 2017). Two conditioning columns
also have an interaction, the products of their first functions, with its own λ; more columns have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# Evenly spaced knots, and as many at quantiles; the smoothest functions on them (mgcv's default: 10).
KNOTS, FUNCTIONS = 12, 12
# Eigenvectors of R with a smaller share of the largest eigenvalue are left out as rounding.
FLAT = 1e-9
# Functions of each of two columns, beside the linear one, in the interaction: (3 + 1)² products.
PRODUCTS = 3
# The most steps of λ, and the change of log λ below which it has converged.
STEPS, CONVERGED = 30, 0.01
# The first and the largest λ, in units of the functions' mean square; the largest makes a spline linear.
START, LARGEST_PENALTY = 0.1, 1e6
# Added to the diagonal, so that linearly dependent functions do no harm.
RIDGE = 1e-10


class SmoothRegression:
    """Residuals of columns after regression on sums of smooth functions of others.

    >>> a, noise = np.random.default_rng(0).normal(size=(2, 300))
    >>> rows = np.stack([a, np.sin(2 * a) + 0.1 * noise])
    >>> left = SmoothRegression(rows).residuals([1], [0])[0]
    >>> bool(np.corrcoef(left, noise)[0, 1] > 0.9)
    True
    """

    def __init__(self, columns: Floats) -> None:
        centred = columns - columns.mean(axis=1, keepdims=True)
        self._columns = centred / np.maximum(np.abs(centred).max(axis=1, keepdims=True), 1e-300)
        self._functions: dict[int, Floats] = {}

    def residuals(self, responses: Sequence[int], given: Sequence[int]) -> Floats:
        """The residuals of each response, one per row."""
        y = self._columns[list(responses)]
        if not given:
            return cast("Floats", y.copy())
        own = [self._of(column) for column in given]
        blocks = [functions[1:] for functions in own]
        if len(own) == 2:
            one, other = (functions[: PRODUCTS + 1] for functions in own)
            products = (one[:, None] * other[None]).reshape(-1, y.shape[1])
            blocks.append(products - products.mean(axis=1, keepdims=True))
        design = np.concatenate([np.stack([functions[0] for functions in own]), *blocks])
        starts = np.cumsum([len(own), *(len(block) for block in blocks)])
        beta = np.empty((len(y), len(design)))
        fit(design @ design.T, design @ y.T, (y**2).sum(axis=1), y.shape[1], starts, beta)
        return cast("Floats", y - beta @ design)

    def _of(self, column: int) -> Floats:
        """The functions of a column, the linear one first, each with mean 0."""
        if column not in self._functions:
            self._functions[column] = spline_functions(self._columns[column])
        return self._functions[column]


def spline_functions(values: Floats) -> Floats:
    """The linear function and those of the spline, one per row, centred.

    >>> spline_functions(np.linspace(0, 1, 50)).shape
    (12, 50)
    """
    z = (values - values.min()) / np.ptp(values)
    even = np.linspace(0, 1, KNOTS)
    knots = np.unique(np.concatenate([even, np.quantile(z, even)]))
    sizes, vectors = np.linalg.eigh(bending_kernel(knots, knots))
    largest = np.flatnonzero(sizes > FLAT * sizes[-1])[: -FUNCTIONS - 1 : -1]
    scale = vectors[:, largest] / np.sqrt(sizes[largest])
    functions = np.concatenate([z[None], (bending_kernel(z, knots) @ scale).T])
    centred: Floats = functions - functions.mean(axis=1, keepdims=True)
    return cast("Floats", centred / np.sqrt((centred[:1] ** 2).mean()))


def bending_kernel(x: Floats, z: Floats) -> Floats:
    """R(x, z) for values in [0, 1]."""
    far = np.abs(x[:, None] - z) - 0.5
    one, other = ((each - 0.5) ** 2 - 1 / 12 for each in (x, z))
    found: Floats = one[:, None] * other / 4 - (far**4 - far**2 / 2 + 7 / 240) / 24
    return found


@kernel
def fit(
    gram: Floats, cross: Floats, squares: Floats, rows: int, starts: Integers, coefficients: Floats
) -> None:
    """Write the coefficients of each response; from `starts[0]` on each block has a penalty λ."""
    size, blocks = len(gram), len(starts) - 1
    factor = np.empty((size, size))
    column, half = np.empty(size), np.empty(size)
    penalty, gained, norms = np.empty(blocks), np.empty(blocks), np.empty(blocks)
    unit = 0.0
    for a in range(size):
        unit += gram[a, a] / size
    for k in range(len(squares)):
        beta = coefficients[k]
        for b in range(blocks):
            penalty[b] = START * unit
        for _ in range(STEPS):
            for a in range(size):
                for b in range(a + 1):
                    factor[a, b] = gram[a, b]
                factor[a, a] += RIDGE * unit
            for b in range(blocks):
                for a in range(starts[b], starts[b + 1]):
                    factor[a, a] += penalty[b]
            decompose(factor)
            solve(factor, cross[:, k], half, beta)
            # The penalised sum of squares; below, less the penalties.
            left = squares[k]
            for a in range(size):
                left -= half[a] * half[a]
            used = float(starts[0])
            for b in range(blocks):
                norms[b], trace = 0.0, 0.0
                for a in range(starts[b], starts[b + 1]):
                    trace += inverse_entry(factor, a, column)
                    norms[b] += beta[a] * beta[a]
                left -= penalty[b] * norms[b]
                gained[b] = max(0.0, starts[b + 1] - starts[b] - penalty[b] * trace)
                used += gained[b]
            noise = max(left, RIDGE * squares[k]) / max(1.0, rows - 1 - used)
            moved = 0.0
            for b in range(blocks):
                wanted = noise * gained[b] / max(norms[b], 1e-300)
                wanted = min(max(wanted, RIDGE * unit), LARGEST_PENALTY * unit)
                moved = max(moved, abs(np.log(wanted / penalty[b])))
                penalty[b] = wanted
            if moved < CONVERGED:
                break


@kernel
def decompose(lower: Floats) -> None:
    """Replace the lower triangle of a positive matrix by its Cholesky factor."""
    for a in range(len(lower)):
        for b in range(a + 1):
            total = lower[a, b]
            for c in range(b):
                total -= lower[a, c] * lower[b, c]
            lower[a, b] = np.sqrt(max(total, 1e-300)) if a == b else total / lower[b, b]


@kernel
def solve(lower: Floats, right: Floats, half: Floats, out: Floats) -> None:
    """Solve L Lᵀ out = right; `half` is the solution of L half = right."""
    size = len(lower)
    for a in range(size):
        total = right[a]
        for b in range(a):
            total -= lower[a, b] * half[b]
        half[a] = total / lower[a, a]
    for a in range(size - 1, -1, -1):
        total = half[a]
        for b in range(a + 1, size):
            total -= lower[b, a] * out[b]
        out[a] = total / lower[a, a]


@kernel
def inverse_entry(lower: Floats, place: int, column: Floats) -> float:
    """A diagonal entry of (L Lᵀ)⁻¹: the squared length of a column of L⁻¹."""
    total = 0.0
    for a in range(place, len(lower)):
        value = 1.0 if a == place else 0.0
        for b in range(place, a):
            value -= lower[a, b] * column[b]
        column[a] = value / lower[a, a]
        total += column[a] * column[a]
    return total
