"""Posterior density of the hyperparameters with first-order interactions (eq. 18), from the rows.

k = τ₁ Σᵢ kᵢ + τ₂ Σᵢ<ⱼ kᵢkⱼ, with τ ~ IG(1, 1); a single parent has no τ₂. The published code has other terms,
τ₁² and τ₂τ₁⁴ in place of τ₁ and τ₂: `variant="published"`. With Kᵢ = ZᵢZᵢᵀ in the compressed basis of column
i, the product Kᵢ∘Kⱼ has the columns z_k∘z_l as factor, of which few are long: the shortest are left out up to
a trace of `CUT`. Where more columns than rows would remain, the N × N matrix itself is factored. A single
parent is the additive kernel with an amplitude, and needs no rows. For several the cost grows with the rows,
and derivatives are central differences of the (smooth) density: this score takes seconds a family where the
additive one takes milliseconds.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dagora.errors import OptionError
from dagora.scores.gp.additive import LEAST_LOG_NOISE, Additive, Derivatives, factored
from dagora.scores.gp.compression import SHORTEST, level_of
from dagora.scores.gp.differences import differences, slopes
from dagora.scores.gp.prior import AMPLITUDE, LENGTH_SCALE, NOISE

Array = NDArray[np.float64]
Positions = NDArray[np.int64]

VARIANTS = ("paper", "published")
# Trace that may be lost with the short columns of one product.
CUT = 1e-7
# Logarithms of parameters beyond this have no weight.
LARGEST = 25.0
# Beyond this share of the rows, columns do not pay.
DENSE = 0.7


class Interactions:
    """Model with main effects and first-order interactions of every column given others."""

    def __init__(self, columns: Array, variant: str = "paper") -> None:
        if variant not in VARIANTS:
            raise OptionError(f"variant is one of {', '.join(VARIANTS)}, not '{variant}'")
        self._columns = columns
        self._bases = Additive(columns)
        self._published = variant == "published"
        self._rows: dict[tuple[int, int], Array] = {}

    def starts(self, children: Positions, parents: Positions) -> tuple[Positions, Array]:
        """Families' numbers and parameters from which to climb to their modes."""
        number, size = len(children), parents.shape[1]
        amplitudes = (1.0,) if size == 1 else (1.0, 0.5)
        points = np.log([[*(scale,) * size, *amplitudes, 0.6] for scale in (3.0, 1.0)])
        return np.repeat(np.arange(number), len(points)), np.tile(points, (number, 1))

    def joined(self, singles: Array) -> Array:
        """Parameters from which to climb, by the modes of each parent alone."""
        return np.array([*singles[:, 0], singles[:, 1].mean(), np.log(0.5), singles[:, 2].min()])

    def log_density(self, children: Positions, parents: Positions, parameters: Array) -> Array:
        """Log of likelihood times prior at parameters, of one family or of one per row."""
        number = len(parameters)
        if parents.shape[1] == 1:
            return self._single(children, parents, parameters)
        children = np.broadcast_to(children, (number,))
        parents = np.broadcast_to(parents, (number, parents.shape[1]))
        return np.array(
            [self._log_density(int(c), p, x) for c, p, x in zip(children, parents, parameters, strict=True)]
        )

    def derivatives(self, children: Positions, parents: Positions, parameters: Array) -> Derivatives:
        """Log densities with gradients and Hessians, by central differences."""
        found = [
            differences(partial(self.log_density, child, row), point)
            for child, row, point in zip(children[:, None], parents[:, None, :], parameters, strict=True)
        ]
        return Derivatives(*(np.array(part) for part in zip(*found, strict=True)))

    def slopes(self, children: Positions, parents: Positions, parameters: Array) -> tuple[float, Array]:
        """Log density and gradient of one family at one point."""
        return slopes(partial(self.log_density, children, parents), parameters)

    def _single(self, children: Positions, parents: Positions, parameters: Array) -> Array:
        """Log densities with one parent: the additive kernel with an amplitude, which needs no rows."""
        variances = np.exp(np.minimum(parameters[:, 1], LARGEST) * (2.0 if self._published else 1.0))
        values = self._bases.log_likelihood(children, parents, parameters[:, [0, 2]], variances)
        values += LENGTH_SCALE.log_density(parameters[:, 0]) + AMPLITUDE.log_density(parameters[:, 1])
        values += NOISE.log_density(parameters[:, 2])
        values[parameters.max(axis=1) > LARGEST] = -np.inf
        return values

    def _log_density(self, child: int, parents: Positions, parameters: Array) -> float:
        p = len(parents)
        logs, amplitudes, log_noise = parameters[:p], parameters[p:-1], parameters[-1]
        if logs.min() < np.log(SHORTEST) or log_noise < LEAST_LOG_NOISE or parameters.max() > LARGEST:
            return -np.inf
        prior = LENGTH_SCALE.log_density(logs).sum() + AMPLITUDE.log_density(amplitudes).sum()
        prior += NOISE.log_density(parameters[-1:])[0]
        main, product = self._amplitudes(np.exp(amplitudes))
        parts = self._factors(parents, logs)
        y = self._columns[:, child]
        return float(prior) + log_likelihood(y, parts, main, product, np.exp(2 * log_noise))

    def _amplitudes(self, given: Array) -> tuple[float, float]:
        """Variances of main effects and of interactions."""
        first, second = float(given[0]), float(given[1]) if len(given) > 1 else 0.0
        return (first**2, second * first**4) if self._published else (first, second)

    def _factors(self, parents: Positions, logs: Array) -> list[Array]:
        """Zᵢ of every parent, Kᵢ = ZᵢZᵢᵀ."""
        number = int(level_of(np.exp(logs.min())))
        level = self._bases.level(number)
        (covariances,) = level.covariances(parents, logs)
        triangles = factored(covariances, level.jitter)
        found = []
        for parent, triangle in zip(parents.tolist(), triangles, strict=True):
            if (number, parent) not in self._rows:
                self._rows[number, parent] = level.bases[parent].rows(self._columns[:, parent], level.scale)
            rows = self._rows[number, parent]
            rank = rows.shape[1]
            found.append(rows @ triangle[:rank, :rank])
        return found


def log_likelihood(y: Array, parts: list[Array], main: float, product: float, s: float) -> float:
    """Log density N(y; 0, 1 1ᵀ + main Σ ZᵢZᵢᵀ + product Σ (ZᵢZᵢᵀ)∘(ZⱼZⱼᵀ) + s I)."""
    rows = len(y)
    picked = [picked_columns(one, other) for one, other in combinations(parts, 2)] if product else []
    width = 1 + sum(part.shape[1] for part in parts) + sum(len(k) for k, _ in picked)
    if width > DENSE * rows:
        return dense_log_likelihood(y, parts, main, product, s)
    wide = np.empty((rows, width + 1))
    wide[:, 0] = 1.0
    at = 1
    for part in parts:
        np.multiply(part, np.sqrt(main), out=wide[:, at : at + part.shape[1]])
        at += part.shape[1]
    for (one, other), (k, j) in zip(combinations(parts, 2), picked, strict=False):
        np.multiply(one[:, k] * np.sqrt(product), other[:, j], out=wide[:, at : at + len(k)])
        at += len(k)
    wide[:, width] = y
    matrix = wide.T @ wide
    matrix[np.arange(width), np.arange(width)] += s
    pivots = np.diag(np.linalg.cholesky(matrix))
    determinant = (rows - width) * np.log(s) + 2 * np.log(pivots[:width]).sum()
    return float(-0.5 * (rows * np.log(2 * np.pi) + determinant + pivots[width] ** 2 / s))


def picked_columns(one: Array, other: Array) -> tuple[Positions, Positions]:
    """Pairs of columns whose products are kept: all but the shortest, which together lose `CUT`."""
    squares = (one * one).T @ (other * other)
    order = np.argsort(squares, axis=None)
    lost = np.cumsum(squares.ravel()[order])
    kept = np.sort(order[np.searchsorted(lost, CUT, side="right") :])
    k, j = np.unravel_index(kept, squares.shape)
    return k, j


def dense_log_likelihood(y: Array, parts: list[Array], main: float, product: float, s: float) -> float:
    """The same from the N × N matrix."""
    kernels = [part @ part.T for part in parts]
    matrix = 1.0 + main * np.sum(kernels, axis=0)
    for one, other in combinations(kernels, 2):
        matrix += product * one * other
    matrix[np.arange(len(y)), np.arange(len(y))] += s
    triangle = np.linalg.cholesky(matrix)
    from scipy.linalg import solve_triangular

    white = solve_triangular(triangle, y, lower=True)
    return float(-0.5 * (len(y) * np.log(2 * np.pi) + white @ white) - np.log(np.diag(triangle)).sum())
