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

from collections.abc import Iterator
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from dagora.scores.gp.batch import Batch
from dagora.scores.gp.compression import SHORTEST, Level
from dagora.scores.gp.matrices import cholesky, factored, times, triangular_inverses
from dagora.scores.gp.prior import log_prior, prior_derivatives
from dagora.scores.gp.scan import SCALES, Spectrum, best_noises, peaks
from dagora.scores.gp.view import Views, grouped

Array = NDArray[np.float64]
Positions = NDArray[np.int64]

# Below this noise the prior density is exp(−10⁵).
LEAST_LOG_NOISE = float(np.log(1e-5))
# Starts of the climbs with several parents: the length-scale of all of them, and the noise.
STARTS = ((4.0, 0.7), (1.0, 0.5))
# Matrix entries that are handled in one call: 3 MB of doubles.
BATCH = 400_000


@dataclass(frozen=True)
class Derivatives:
    """Log densities of many families, their gradients and Hessians."""

    values: Array
    gradients: Array
    hessians: Array


class Additive:
    """Additive model of every column of a table given others; levels are built when first needed."""

    families_at_once = 32

    def __init__(self, columns: Array) -> None:
        self.columns = columns
        self.rows = len(columns)
        self._squares = (columns * columns).sum(axis=0)
        self._levels: dict[int, Views] = {}
        self._scans: dict[int, tuple[Array, Array]] = {}
        self._lock = Lock()

    def level(self, number: int) -> Level:
        """The bases of one level."""
        return self.views(number).level

    def views(self, number: int) -> Views:
        """The bases of one level with their cuts."""
        with self._lock:
            if number not in self._levels:
                self._levels[number] = Views(Level(self.columns, number), number)
            return self._levels[number]

    def starts(self, children: Positions, parents: Positions) -> tuple[Positions, Array]:
        """Starts of the climbs: the number of the family, and its parameters; at least one per family."""
        number, size = parents.shape
        if size > 1:
            points = np.log([[*(scale,) * size, noise] for scale, noise in STARTS])
            return np.repeat(np.arange(number), len(points)), np.tile(points, (number, 1))
        found = []
        for child, parent in zip(children.tolist(), parents[:, 0].tolist(), strict=True):
            log_noises, log_densities = self.scan(parent)
            found.append(peaks(log_noises[:, child], log_densities[:, child]))
        return np.repeat(np.arange(number), [len(some) for some in found]), np.concatenate(found)

    def scan(self, parent: int) -> tuple[Array, Array]:
        """Best log σ of every child of a parent at every length-scale of the scan, and log density there."""
        known = self._scans.get(parent)
        if known is None:
            found = [best_noises(self._spectrum(parent, x), self.rows, self._squares) for x in np.log(SCALES)]
            known = np.array([log_noise for log_noise, _ in found]), np.array([value for _, value in found])
            self._scans[parent] = known
        return known

    def _spectrum(self, parent: int, log_scale: float) -> Spectrum:
        point = np.array([[log_scale, 0.0]])
        (batch,) = self._batches(np.array([parent]), np.array([[parent]]), point)
        (covariances,) = batch.bases[0].covariances(batch.parents[:, 0], point[:, 0])
        factors = factored(covariances, batch.jitter)
        matrix, _ = self._matrix(batch, [factors])
        eigenvalues, vectors = np.linalg.eigh(matrix[0, :-1, :-1])
        # That point has the noise variance s = 1, which the matrix contains.
        eigenvalues = np.maximum(eigenvalues - 1.0, 0.0)
        projected = factors[0].T @ batch.bases[0].projections[parent].T
        squares: Array = (vectors[1:].T @ projected) ** 2
        return Spectrum(eigenvalues, squares)

    def joined(self, singles: Array) -> Array:
        """A start for several parents, from the modes with each parent alone."""
        return np.append(singles[:, 0], singles[:, 1].min())

    def log_density(self, children: Positions, parents: Positions, parameters: Array) -> Array:
        """Log of likelihood times prior at parameters (B, p + 1), of one family or of B families."""
        values = np.full(len(parameters), -np.inf)
        for batch in self._batches(children, parents, parameters):
            values[batch.points] = self._values(batch)
        return values

    def log_likelihood(
        self, children: Positions, parents: Positions, parameters: Array, variances: Array
    ) -> Array:
        """Log likelihood alone, with all kernels of a point multiplied by its variance."""
        values = np.full(len(parameters), -np.inf)
        for batch in self._batches(children, parents, parameters):
            scale = np.sqrt(variances[batch.points])[:, None, None]
            matrix, _ = self._matrix(batch, [scale * factor for factor in self._factors(batch)])
            values[batch.points] = self._log_likelihood(cholesky(matrix), batch.s)
        return values

    def derivatives(self, children: Positions, parents: Positions, parameters: Array) -> Derivatives:
        """Log densities with gradients and Hessians."""
        number, size = parameters.shape
        found = Derivatives(
            np.full(number, -np.inf), np.zeros((number, size)), np.zeros((number, size, size))
        )
        for batch in self._batches(children, parents, parameters):
            value, gradient, hessian = self._derivatives(batch)
            points, order = batch.points[:, None], batch.order
            found.values[batch.points], found.gradients[points, order] = value, gradient
            found.hessians[points[:, :, None], order[:, :, None], order[:, None, :]] = hessian
        return found

    def slopes(self, children: Positions, parents: Positions, parameters: Array) -> tuple[float, Array]:
        """Log density and gradient of one family at one point."""
        found = self.derivatives(children, parents, parameters[None])
        return float(found.values[0]), found.gradients[0]

    def _batches(self, children: Positions, parents: Positions, parameters: Array) -> Iterator[Batch]:
        """Yield points that are computed together; points out of bounds are left out."""
        number, size = parameters.shape
        children = np.broadcast_to(children, (number,))
        parents = np.broadcast_to(parents, (number, size - 1))
        log_scales = parameters[:, :-1]
        inside = (log_scales.min(axis=1) >= np.log(SHORTEST)) & (parameters[:, -1] >= LEAST_LOG_NOISE)
        inside &= (parameters < 50).all(axis=1)
        for group in grouped(log_scales, np.flatnonzero(inside)):
            views = self.views(group.levels[0])
            ranks = [views.bases(level).rank for level in group.levels]
            step = max(1, BATCH // (1 + sum(ranks)) ** 2)
            # The noise stays behind the length-scales.
            orders = np.empty((len(group.points), size), dtype=np.int64)
            orders[:, :-1], orders[:, -1] = group.order, size - 1
            for start in range(0, len(group.points), step):
                points = group.points[start : start + step]
                order = orders[start : start + step]
                yield Batch(
                    views,
                    group.levels,
                    points,
                    order,
                    children[points],
                    parents[points[:, None], order[:, :-1]],
                    parameters[points[:, None], order],
                )

    def _factors(self, batch: Batch) -> list[Array]:
        """Lᵢ of each parent."""
        return [
            factored(bases.covariances(batch.parents[:, i], batch.parameters[:, i])[0], batch.jitter)
            for i, bases in enumerate(batch.bases)
        ]

    def _values(self, batch: Batch) -> Array:
        matrix, _ = self._matrix(batch, self._factors(batch))
        likelihood = self._log_likelihood(cholesky(matrix), batch.s)
        return likelihood + log_prior(batch.parameters, batch.parents.shape[1])

    def _matrix(self, batch: Batch, factors: list[Array]) -> tuple[Array, dict[tuple[int, int], Array]]:
        """[[M, h], [hᵀ, yᵀy]], of which only the lower triangle is filled, and the products LᵢᵀGᵢⱼ."""
        number, parents = batch.parents.shape
        m = batch.blocks[-1].stop
        matrix = np.zeros((number, m + 1, m + 1))
        matrix[:, 0, 0] = self.rows
        products = {}
        for i in range(parents):
            rows, turned = batch.blocks[i], factors[i].swapaxes(-1, -2)
            projected = turned @ np.stack([batch.sums(i), batch.projections(i)], axis=-1)
            matrix[:, rows, 0] = projected[..., 0]
            matrix[:, m, rows] = projected[..., 1]
            for j in range(i + 1):
                products[i, j] = turned if i == j else turned @ batch.gram(i, j)
                np.matmul(products[i, j], factors[j], out=matrix[:, rows, batch.blocks[j]])
        diagonal = np.arange(m)
        matrix[:, diagonal, diagonal] += batch.s[:, None]
        # The child's sum is zero: columns are centred.
        matrix[:, m, m] = self._squares[batch.children]
        return matrix, products

    def _log_likelihood(self, triangle: Array, s: Array) -> Array:
        pivots = np.diagonal(triangle, axis1=1, axis2=2)
        m = pivots.shape[1] - 1
        determinant = (self.rows - m) * np.log(s) + 2 * np.log(pivots[:, :m]).sum(axis=1)
        likelihood: Array = -0.5 * (self.rows * np.log(2 * np.pi) + determinant + pivots[:, m] ** 2 / s)
        return likelihood

    def _derivatives(self, batch: Batch) -> tuple[Array, Array, Array]:
        number, size = batch.parameters.shape
        p, s, blocks = size - 1, batch.s, batch.blocks
        m = blocks[-1].stop
        kernels = [
            bases.covariances(batch.parents[:, i], batch.parameters[:, i], 2)
            for i, bases in enumerate(batch.bases)
        ]
        factors = [factored(c, batch.jitter) for c, _, _ in kernels]
        matrix, products = self._matrix(batch, factors)
        triangle = cholesky(matrix)
        value = self._log_likelihood(triangle, s) + log_prior(batch.parameters, batch.parents.shape[1])
        # Φ's Gram matrix and LᵀG, constant first.
        gram = np.zeros((number, m, m))
        half = np.zeros((number, m, m))
        gram[:, 0, 0] = half[:, 0, 0] = self.rows
        target = np.zeros((number, m))
        for i, rows in enumerate(blocks):
            gram[:, 0, rows] = gram[:, rows, 0] = half[:, 0, rows] = batch.sums(i)
            half[:, rows, 0] = matrix[:, rows, 0]
            target[:, rows] = batch.projections(i)
            for j, columns in enumerate(blocks):
                gram[:, rows, columns] = batch.gram(i, j)
                if j <= i:
                    half[:, rows, columns] = products[i, j]
                else:
                    half[:, rows, columns] = factors[i].swapaxes(-1, -2) @ gram[:, rows, columns]
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
        turned = [kernels[i][1] @ w[:, blocks[i], :] for i in range(p)]
        pushed = [times(kernels[i][1], a[:, blocks[i]]) for i in range(p)]
        for i, rows in enumerate(blocks):
            _, c1, c2 = kernels[i]
            ai, wii = a[:, rows], w[:, rows, rows]
            gradient[:, i] = 0.5 * ((ai * pushed[i]).sum(axis=1) - (wii * c1).sum(axis=(1, 2)))
            own = 0.5 * ((ai * times(c2, ai)).sum(axis=1) - (wii * c2).sum(axis=(1, 2)))
            mine = solved[:, :, rows]
            w2 = (wii - mine.swapaxes(-1, -2) @ mine) / s[:, None, None]
            mixed = 0.5 * (w2 * c1).sum(axis=(1, 2)) - (pushed[i] * a2[:, rows]).sum(axis=1)
            hessian[:, i, p] = hessian[:, p, i] = 2 * s * mixed
            for j in range(i + 1):
                others = blocks[j]
                traces = (turned[i][:, :, others] * turned[j][:, :, rows].swapaxes(-1, -2)).sum(axis=(1, 2))
                bilinear = (pushed[i] * times(w[:, rows, others], pushed[j])).sum(axis=1)
                hessian[:, i, j] = hessian[:, j, i] = 0.5 * traces - bilinear + (own if i == j else 0.0)
        slopes, curvatures = prior_derivatives(batch.parameters, p)
        corner = np.arange(size)
        hessian[:, corner, corner] += curvatures
        return value, gradient + slopes, hessian
