"""What sums of smooth functions of some columns leave of another: penalised splines, smoothed by REML.

A column z, scaled to [0, 1], has the linear function and a cubic spline with knots along its range and at its
quantiles, f(z) = b z + Σ c_k R(z, t_k), where R is the kernel of ∫ f''² (Gu 2013, section 2.3.3) and cᵀ R c
that penalty. Turned by the eigenvectors of R the penalty is the identity. With λ of each spline fixed the fit
is ridge regression; λ = σ² γ / |β|² with γ the effective number of coefficients is the step that raises the
restricted likelihood (Fellner 1986; Schall 1991; Wood & Fasiolo 2017). Two given columns also have the
products of their first functions, as a spline of both would, with a λ of their own; of more columns only the
sum is fitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# Knots spread evenly, and as many at quantiles; the smoothest functions on them are kept.
KNOTS, FUNCTIONS = 12, 12
# The share of the largest eigenvalue of R below which a direction is left out.
FLAT = 1e-9
# Functions of each of two columns whose products are fitted, beside the linear ones.
PRODUCTS = 3
STEPS = 30
# λ stands still when its logarithm moves by less.
STILL = 0.01
# λ begins here and ends at the latest there, in units of the mean square of the functions.
START, STIFFEST = 0.1, 1e6
# What is added to every function, so that those that depend on each other do no harm.
RIDGE = 1e-10


class SmoothRegression:
    """Residuals of columns, given sums of smooth functions of others.

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
        """What is left of each response, one a row."""
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
        found = np.empty((len(y), len(design)))
        fit(design @ design.T, design @ y.T, (y**2).sum(axis=1), y.shape[1], starts, found)
        return cast("Floats", y - found @ design)

    def _of(self, column: int) -> Floats:
        """The functions of a column, the linear one first, each with mean 0."""
        if column not in self._functions:
            self._functions[column] = spline_functions(self._columns[column])
        return self._functions[column]


def spline_functions(values: Floats) -> Floats:
    """The linear function and the spline's own ones, one a row, centred.

    >>> spline_functions(np.linspace(0, 1, 50)).shape
    (12, 50)
    """
    z = (values - values.min()) / np.ptp(values)
    even = np.linspace(0, 1, KNOTS)
    knots = np.unique(np.concatenate([even, np.quantile(z, even)]))
    sizes, turned = np.linalg.eigh(bending_kernel(knots, knots))
    kept = np.flatnonzero(sizes > FLAT * sizes[-1])[: -FUNCTIONS - 1 : -1]
    scale = turned[:, kept] / np.sqrt(sizes[kept])
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
    """Coefficients of each response; functions before `starts[0]` are free, others shrunk block by block."""
    size, blocks = len(gram), len(starts) - 1
    factor = np.empty((size, size))
    column, half = np.empty(size), np.empty(size)
    stiffness, gained, norms = np.empty(blocks), np.empty(blocks), np.empty(blocks)
    unit = 0.0
    for a in range(size):
        unit += gram[a, a] / size
    for k in range(len(squares)):
        beta = coefficients[k]
        for b in range(blocks):
            stiffness[b] = START * unit
        for _ in range(STEPS):
            for a in range(size):
                for b in range(a + 1):
                    factor[a, b] = gram[a, b]
                factor[a, a] += RIDGE * unit
            for b in range(blocks):
                for a in range(starts[b], starts[b + 1]):
                    factor[a, a] += stiffness[b]
            decompose(factor)
            solve(factor, cross[:, k], half, beta)
            # The least penalised sum of squares, and without the penalties.
            left = squares[k]
            for a in range(size):
                left -= half[a] * half[a]
            used = float(starts[0])
            for b in range(blocks):
                norms[b], trace = 0.0, 0.0
                for a in range(starts[b], starts[b + 1]):
                    trace += inverse_entry(factor, a, column)
                    norms[b] += beta[a] * beta[a]
                left -= stiffness[b] * norms[b]
                gained[b] = max(0.0, starts[b + 1] - starts[b] - stiffness[b] * trace)
                used += gained[b]
            noise = max(left, RIDGE * squares[k]) / max(1.0, rows - 1 - used)
            moved = 0.0
            for b in range(blocks):
                wanted = noise * gained[b] / max(norms[b], 1e-300)
                wanted = min(max(wanted, RIDGE * unit), STIFFEST * unit)
                moved = max(moved, abs(np.log(wanted / stiffness[b])))
                stiffness[b] = wanted
            if moved < STILL:
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
    """An entry on the diagonal of (L Lᵀ)⁻¹: the squared length of a column of L⁻¹."""
    total = 0.0
    for a in range(place, len(lower)):
        value = 1.0 if a == place else 0.0
        for b in range(place, a):
            value -= lower[a, b] * column[b]
        column[a] = value / lower[a, a]
        total += column[a] * column[a]
    return total
