"""Posterior density of the hyperparameters of an additive Gaussian process, with gradient and Hessian.

The child is y ~ N(0, S), S = 1 1ᵀ + Σᵢ Kᵢ(ρᵢ) + s I with s = σ²: the mean μ ~ N(0, 1) is integrated out
and is the first term. In the compressed bases Φ = [1, Q₁, …, Q_p], with B = diag(1, C₁(ρ₁), …, C_p(ρ_p)) =
L Lᵀ, G = ΦᵀΦ, M = s I + LᵀGL (m × m) and h = LᵀΦᵀy,
  ln det S = (N − m) ln s + ln det M,   yᵀS⁻¹y = (yᵀy − hᵀM⁻¹h) / s,
both read off the diagonal of one Cholesky factor of [[M, h], [hᵀ, yᵀy]]. With W = ΦᵀS⁻¹Φ, a = ΦᵀS⁻¹y and
dots for derivatives in log ρ,
  ∂ᵢ = ½ (aᵢᵀĊᵢaᵢ − tr WᵢᵢĊᵢ),
  ∂ᵢⱼ = ½ tr(WᵢⱼĊⱼWⱼᵢĊᵢ) − aᵢᵀĊᵢWᵢⱼĊⱼaⱼ + δᵢⱼ ½ (aᵢᵀC̈ᵢaᵢ − tr WᵢᵢC̈ᵢ),
and those in s follow from S⁻². Parameters are (log ρ₁, …, log ρ_p, log σ); densities carry the Jacobian.
Many families with the same number of parents are evaluated together.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from dagora.scores.gp.compression import SHORTEST, Level, level_of
from dagora.scores.gp.prior import LENGTH_SCALE, NOISE

Array = NDArray[np.float64]
Positions = NDArray[np.int64]

# Below this noise the prior density is exp(−10⁵).
LEAST_LOG_NOISE = float(np.log(1e-5))
# Where the modes of one parent are looked for: the best points of these grids, one of each region.
SCALES = (5.0, 2.5, 1.3, 0.7, 0.4, 0.22)
NOISES = (0.9, 0.55, 0.3, 0.12)
REGIONS = ((1.0, 9.0), (0.3, 1.0), (0.1, 0.3))
# A region whose best point is this many nats below the best of all is left alone.
HOPELESS = 12.0
# Numbers in the matrices that are handled in one go.
BATCH = 400_000
# Triangles up to this size are inverted at once.
SMALL = 16


@dataclass(frozen=True)
class Derivatives:
    """Log densities of many families, their gradients and Hessians."""

    values: Array
    gradients: Array
    hessians: Array


class Additive:
    """Additive model of every column of a table given others; levels are made when first needed."""

    def __init__(self, columns: Array) -> None:
        self.columns = columns
        self.rows = len(columns)
        self._squares = (columns * columns).sum(axis=0)
        self._levels: dict[int, Level] = {}
        self._lock = Lock()

    def level(self, number: int) -> Level:
        """The bases of one level."""
        with self._lock:
            if number not in self._levels:
                self._levels[number] = Level(self.columns, number)
            return self._levels[number]

    def starts(self, children: Positions, parents: Positions) -> list[Array]:
        """Parameters from which to climb to the modes of families, one row per family each."""
        number, size = parents.shape
        if size > 1:
            pairs = ((4.0, 0.7), (1.0, 0.5))
            return [np.tile(np.log([*(scale,) * size, noise]), (number, 1)) for scale, noise in pairs]
        grid = np.log([(scale, noise) for scale in SCALES for noise in NOISES])
        values = self.log_density(
            np.repeat(children, len(grid)), np.repeat(parents, len(grid), axis=0), np.tile(grid, (number, 1))
        ).reshape(number, len(grid))
        # The best of each region; a hopeless one gives way to the best of all, which costs little twice.
        best = values.argmax(axis=1)
        found = []
        for region in REGIONS:
            mine = np.flatnonzero((grid[:, 0] >= np.log(region[0])) & (grid[:, 0] < np.log(region[1])))
            picked = mine[values[:, mine].argmax(axis=1)]
            hopeless = values[np.arange(number), picked] < values.max(axis=1) - HOPELESS
            found.append(grid[np.where(hopeless, best, picked)])
        return found

    def joined(self, singles: Array) -> Array:
        """Parameters from which to climb, by the modes of each parent alone."""
        return np.append(singles[:, 0], singles[:, 1].min())

    def log_density(self, children: Positions, parents: Positions, parameters: Array) -> Array:
        """Log of likelihood times prior at parameters (B, p + 1), of one family or of B families."""
        values = np.full(len(parameters), -np.inf)
        for level, some in self._by_level(parameters):
            for few in in_batches(some, parents.shape[1], level.rank):
                values[few] = self._values(
                    level, chosen(children, few), chosen(parents, few), parameters[few]
                )
        return values

    def derivatives(self, children: Positions, parents: Positions, parameters: Array) -> Derivatives:
        """Log densities with gradients and Hessians."""
        number, size = parameters.shape
        found = Derivatives(
            np.full(number, -np.inf), np.zeros((number, size)), np.zeros((number, size, size))
        )
        for level, some in self._by_level(parameters):
            for few in in_batches(some, parents.shape[1], level.rank):
                value, gradient, hessian = self._derivatives(
                    level, chosen(children, few), chosen(parents, few), parameters[few]
                )
                found.values[few], found.gradients[few], found.hessians[few] = value, gradient, hessian
        return found

    def slopes(self, children: Positions, parents: Positions, parameters: Array) -> tuple[float, Array]:
        """Log density and gradient of one family at one point."""
        found = self.derivatives(children, parents, parameters[None])
        return float(found.values[0]), found.gradients[0]

    def _by_level(self, parameters: Array) -> list[tuple[Level, Positions]]:
        """Points by the level that their shortest length-scale needs; those out of bounds are left out."""
        shortest = parameters[:, :-1].min(axis=1)
        inside = (shortest >= np.log(SHORTEST)) & (parameters[:, -1] >= LEAST_LOG_NOISE)
        inside &= (parameters < 50).all(axis=1)
        needed = level_of(np.exp(np.where(inside, shortest, 0.0)))
        return [
            (self.level(int(k)), np.flatnonzero(inside & (needed == k))) for k in np.unique(needed[inside])
        ]

    def _values(self, level: Level, children: Positions, parents: Positions, parameters: Array) -> Array:
        (covariances,) = level.covariances(spread(parents, parameters), parameters[:, :-1])
        factors = factored(covariances, level.jitter)
        s = np.exp(2 * parameters[:, -1])
        matrix, _ = self._matrix(level, children, parents, factors, s)
        return self._log_likelihood(cholesky(matrix), s) + log_prior(parameters)

    def _matrix(
        self, level: Level, children: Positions, parents: Positions, factors: Array, s: Array
    ) -> tuple[Array, Array]:
        """[[M, h], [hᵀ, yᵀy]], of which only the lower triangle is filled, and the products LᵢᵀGᵢⱼ."""
        number, p, r, _ = factors.shape
        m = 1 + p * r
        matrix = np.zeros((number, m + 1, m + 1))
        turned = factors.swapaxes(-1, -2)
        matrix[:, 0, 0] = self.rows
        products = np.empty((number, p, p, r, r))
        for i in range(p):
            rows = slice(1 + i * r, 1 + (i + 1) * r)
            vectors = np.stack(
                [level.sums[parents[:, i]], level.projections[parents[:, i], children]], axis=-1
            )
            projected = turned[:, i] @ vectors
            matrix[:, rows, 0] = projected[..., 0]
            matrix[:, m, rows] = projected[..., 1]
            for j in range(i + 1):
                if i == j:
                    products[:, i, i] = turned[:, i]
                else:
                    np.matmul(turned[:, i], level.gram[parents[:, i], parents[:, j]], out=products[:, i, j])
                np.matmul(products[:, i, j], factors[:, j], out=matrix[:, rows, 1 + j * r : 1 + (j + 1) * r])
        diagonal = np.arange(m)
        matrix[:, diagonal, diagonal] += s[:, None]
        # The child's sum is zero: columns are centred.
        matrix[:, m, m] = self._squares[children]
        return matrix, products

    def _log_likelihood(self, triangle: Array, s: Array) -> Array:
        pivots = np.diagonal(triangle, axis1=1, axis2=2)
        m = pivots.shape[1] - 1
        determinant = (self.rows - m) * np.log(s) + 2 * np.log(pivots[:, :m]).sum(axis=1)
        likelihood: Array = -0.5 * (self.rows * np.log(2 * np.pi) + determinant + pivots[:, m] ** 2 / s)
        return likelihood

    def _derivatives(
        self, level: Level, children: Positions, parents: Positions, parameters: Array
    ) -> tuple[Array, Array, Array]:
        number, size = parameters.shape
        p, r = size - 1, level.rank
        m = 1 + p * r
        c, c1, c2 = level.covariances(parents, parameters[:, :-1], 2)
        factors = factored(c, level.jitter)
        s = np.exp(2 * parameters[:, -1])
        matrix, products = self._matrix(level, children, parents, factors, s)
        triangle = cholesky(matrix)
        value = self._log_likelihood(triangle, s) + log_prior(parameters)
        # Φ's Gram matrix and LᵀG, constant first.
        gram = np.zeros((number, m, m))
        half = np.zeros((number, m, m))
        gram[:, 0, 0] = half[:, 0, 0] = self.rows
        target = np.zeros((number, m))
        for i in range(p):
            rows = slice(1 + i * r, 1 + (i + 1) * r)
            gram[:, 0, rows] = gram[:, rows, 0] = half[:, 0, rows] = level.sums[parents[:, i]]
            half[:, rows, 0] = matrix[:, rows, 0]
            target[:, rows] = level.projections[parents[:, i], children]
            for j in range(p):
                columns = slice(1 + j * r, 1 + (j + 1) * r)
                gram[:, rows, columns] = level.gram[parents[:, i], parents[:, j]]
                if j <= i:
                    half[:, rows, columns] = products[:, i, j]
                else:
                    half[:, rows, columns] = factors[:, i].swapaxes(-1, -2) @ gram[:, rows, columns]
        # With T the triangle of M, A = T⁻ᵀT⁻¹ its inverse and X = LᵀG: first T⁻¹X, T⁻¹h, then AX and Ah.
        inner = triangular_inverses(triangle[:, :m, :m])
        outer = inner.swapaxes(-1, -2)
        white = inner @ half
        white_h = triangle[:, m, :m]
        solved = outer @ white
        u = times(outer, white_h)
        w = (gram - white.swapaxes(-1, -2) @ white) / s[:, None, None]
        a = (target - times(white.swapaxes(-1, -2), white_h)) / s[:, None]
        a2 = (a - times(solved.swapaxes(-1, -2), u)) / s[:, None]
        quadratic = triangle[:, m, m] ** 2 / s
        quadratic2 = (quadratic - (u * u).sum(axis=1)) / s
        quadratic3 = (quadratic2 - (times(inner, u) ** 2).sum(axis=1)) / s
        trace = (self.rows - m) / s + (inner * inner).sum(axis=(1, 2))
        trace2 = (self.rows - m) / s**2 + ((outer @ inner) ** 2).sum(axis=(1, 2))

        gradient = np.empty((number, size))
        hessian = np.empty((number, size, size))
        in_s = 0.5 * (quadratic2 - trace)
        gradient[:, p] = 2 * s * in_s
        hessian[:, p, p] = 4 * s * s * (0.5 * trace2 - quadratic3) + 4 * s * in_s
        blocks = [slice(1 + i * r, 1 + (i + 1) * r) for i in range(p)]
        turned = [c1[:, i] @ w[:, blocks[i], :] for i in range(p)]
        pushed = [times(c1[:, i], a[:, blocks[i]]) for i in range(p)]
        for i, rows in enumerate(blocks):
            ai, wii = a[:, rows], w[:, rows, rows]
            gradient[:, i] = 0.5 * ((ai * pushed[i]).sum(axis=1) - (wii * c1[:, i]).sum(axis=(1, 2)))
            own = 0.5 * ((ai * times(c2[:, i], ai)).sum(axis=1) - (wii * c2[:, i]).sum(axis=(1, 2)))
            mine = solved[:, :, rows]
            w2 = (wii - mine.swapaxes(-1, -2) @ mine) / s[:, None, None]
            mixed = 0.5 * (w2 * c1[:, i]).sum(axis=(1, 2)) - (pushed[i] * a2[:, rows]).sum(axis=1)
            hessian[:, i, p] = hessian[:, p, i] = 2 * s * mixed
            for j in range(i + 1):
                others = blocks[j]
                traces = (turned[i][:, :, others] * turned[j][:, :, rows].swapaxes(-1, -2)).sum(axis=(1, 2))
                bilinear = (pushed[i] * times(w[:, rows, others], pushed[j])).sum(axis=1)
                hessian[:, i, j] = hessian[:, j, i] = 0.5 * traces - bilinear + (own if i == j else 0.0)
        slopes, curvatures = prior_derivatives(parameters)
        corner = np.arange(size)
        hessian[:, corner, corner] += curvatures
        return value, gradient + slopes, hessian


def times(matrices: Array, vectors: Array) -> Array:
    """Each matrix times its vector."""
    product: Array = (matrices @ vectors[..., None])[..., 0]
    return product


def triangular_inverses(triangles: Array) -> Array:
    """Inverses of lower triangles, by halves: most of the work is then products, the fastest there is."""
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


def chosen(positions: Positions, some: Positions) -> Positions:
    """Rows of an array that has one row for all, or one per point."""
    return positions if len(positions) == 1 else positions[some]


def spread(parents: Positions, parameters: Array) -> Positions:
    """Parents, one row per point."""
    return np.broadcast_to(parents, (len(parameters), parents.shape[1]))


def in_batches(some: Positions, parents: int, rank: int) -> list[Positions]:
    """Points in batches whose matrices fit a cache."""
    size = max(1, BATCH // (1 + parents * rank) ** 2)
    return [some[start : start + size] for start in range(0, len(some), size)]


def factored(covariances: Array, jitter: float) -> Array:
    """Cholesky factors of matrices that are positive up to rounding."""
    r = np.arange(covariances.shape[-1])
    covariances = covariances.copy()
    covariances[..., r, r] += jitter
    return cholesky(covariances)


def cholesky(matrices: Array) -> Array:
    """Lower Cholesky factors; only the lower triangles are looked at."""
    return np.linalg.cholesky(matrices).astype(np.float64, copy=False)


def log_prior(parameters: Array) -> Array:
    """Log prior density of (log ρ, log σ)."""
    scales = LENGTH_SCALE.log_density(parameters[:, :-1]).sum(axis=1)
    prior: Array = scales + NOISE.log_density(parameters[:, -1])
    return prior


def prior_derivatives(parameters: Array) -> tuple[Array, Array]:
    """First and second derivatives of the log prior, each parameter by itself."""
    scales, noise = parameters[:, :-1], parameters[:, -1:]
    return (
        np.hstack([LENGTH_SCALE.slope(scales), NOISE.slope(noise)]),
        np.hstack([LENGTH_SCALE.curvature(scales), NOISE.curvature(noise)]),
    )
