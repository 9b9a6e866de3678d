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
Points of many families with the same number of parents are evaluated in one call, by the kernels of `points`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.scores.gp.points.basis_pool import BasisPool
from dagora.scores.gp.points.compression import Level, covariances, level_of
from dagora.scores.gp.points.likelihood import likelihoods
from dagora.scores.gp.points.placing import OUTSIDE
from dagora.scores.gp.points.room import PointQuery, PointRoom, PointValues, Rows
from dagora.scores.gp.prior import log_prior, prior_derivatives
from dagora.scores.gp.scan import SCALES, Spectrum, best_noises, peaks

Array = NDArray[np.float64]
Positions = NDArray[np.int64]

# Starts of the climbs with several parents: the length-scale of all of them, and the noise.
STARTS = ((4.0, 0.7), (1.0, 0.5))


@dataclass(frozen=True)
class Derivatives:
    """Log densities of many families, their gradients and Hessians."""

    values: Array
    gradients: Array
    hessians: Array


class Additive:
    """Additive model of every column of a table given others; levels are built when first needed."""

    families_at_once = 8

    def __init__(self, columns: Array) -> None:
        self.columns = columns
        self.rows = len(columns)
        self._squares = (columns * columns).sum(axis=0)
        self._pool = BasisPool(columns)
        self._scans: dict[int, tuple[Array, Array]] = {}

    def level(self, number: int) -> Level:
        """The bases of one level."""
        return self._pool.views(number).level

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

    def look_at(self, parent: int) -> None:
        """Scan the children of a parent."""
        self.scan(parent)

    def scan(self, parent: int) -> tuple[Array, Array]:
        """Best log σ of every child of a parent at every length-scale of the scan, and log density there."""
        known = self._scans.get(parent)
        if known is None:
            found = [best_noises(self._spectrum(parent, x), self.rows, self._squares) for x in np.log(SCALES)]
            known = np.array([log_noise for log_noise, _ in found]), np.array([value for _, value in found])
            self._scans[parent] = known
        return known

    def _spectrum(self, parent: int, log_scale: float) -> Spectrum:
        level = self.level(int(level_of(np.exp(log_scale))))
        (covariance,) = covariances(level, np.array([parent]), np.array([log_scale]))
        lower = np.linalg.cholesky(covariance[0] + level.jitter * np.eye(level.rank))
        matrix = np.empty((level.rank + 1, level.rank + 1))
        matrix[0, 0] = self.rows
        matrix[0, 1:] = matrix[1:, 0] = level.sums[parent] @ lower
        matrix[1:, 1:] = lower.T @ lower
        eigenvalues, vectors = np.linalg.eigh(matrix)
        squares: Array = (vectors[1:].T @ (lower.T @ level.projections[parent].T)) ** 2
        return Spectrum(np.maximum(eigenvalues, 0.0), squares)

    def joint_start(self, singles: Array) -> Array:
        """A start for several parents, from the modes with each parent alone."""
        return np.append(singles[:, 0], singles[:, 1].min())

    def log_density(self, children: Positions, parents: Positions, parameters: Array) -> Array:
        """Log of likelihood times prior at parameters (B, p + 1), of one family or of B families."""
        found, _ = self._likelihoods(children, parents, parameters, np.ones(len(parameters)))
        density: Array = found.values + log_prior(parameters, parents.shape[1])
        return density

    def log_likelihood(
        self, children: Positions, parents: Positions, parameters: Array, variances: Array
    ) -> Array:
        """Log likelihood alone, with all kernels of a point multiplied by its variance."""
        return self._likelihoods(children, parents, parameters, variances)[0].values

    def derivatives(self, children: Positions, parents: Positions, parameters: Array) -> Derivatives:
        """Log densities with gradients and Hessians."""
        size = parents.shape[1]
        found, inside = self._likelihoods(
            children, parents, parameters, np.ones(len(parameters)), derivatives=True
        )
        some = parameters[inside]
        slopes, curvatures = prior_derivatives(some, size)
        found.values[inside] += log_prior(some, size)
        found.gradients[inside] += slopes
        found.hessians[inside] += curvatures[:, :, None] * np.eye(size + 1)
        return Derivatives(*found)

    def _likelihoods(
        self,
        children: Positions,
        parents: Positions,
        parameters: Array,
        variances: Array,
        *,
        derivatives: bool = False,
    ) -> tuple[PointValues, NDArray[np.bool_]]:
        """Log likelihoods at points, with derivatives if wanted, and which points are within bounds."""
        number, size = parameters.shape
        asked = PointQuery(
            np.array(np.broadcast_to(children, (number,))),
            np.array(np.broadcast_to(parents, (number, size - 1)), order="C"),
            np.array(parameters, order="C"),
            variances,
        )
        placed, largest = self._pool.place(asked.parameters, asked.parents)
        wanted = number if derivatives else 0
        found = PointValues(np.empty(number), np.zeros((wanted, size)), np.zeros((wanted, size, size)))
        rows = Rows(self._pool.numbers, self._squares, self._pool.jitters, self.rows)
        room = PointRoom.of(largest, size - 1, derivatives=derivatives)
        likelihoods(rows, self._pool.places, asked, placed, room, found, derivatives)
        if np.isnan(found.values).any():
            raise np.linalg.LinAlgError("a matrix of a Gaussian process is not positive")
        return found, placed.levels[:, 0] != OUTSIDE
