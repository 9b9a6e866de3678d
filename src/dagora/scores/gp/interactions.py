"""Posterior density of the hyperparameters with first-order interactions (eq. 18), from the rows.

k = τ₁ Σᵢ kᵢ + τ₂ Σᵢ<ⱼ kᵢkⱼ, with τ ~ IG(1, 1); a single parent has no τ₂. The published code has other terms,
τ₁² and τ₂τ₁⁴ in place of τ₁ and τ₂: `published=True`. Parameters are log ρ₁, …, log ρ_p, log τ₁, log τ₂
and log σ; the logarithms of the variances are linear in them, so that derivatives carry over. The likelihood
is that of `interaction_density`, with kernels from the compressed basis of each parent at its own level. With
a single parent it is the additive kernel with an amplitude, which does not need the rows; with several
parents the cost grows with the rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dagora.scores.gp.additive import Additive, Derivatives
from dagora.scores.gp.interaction_density import (
    CUT,
    CUT_DERIVATIVES,
    Kernel,
    Variances,
    factor,
    log_likelihood,
)
from dagora.scores.gp.interaction_derivatives import (
    blocks_of,
    derivatives,
    likelihood_derivatives,
    reduce,
    terms,
)
from dagora.scores.gp.interaction_scan import MAIN, PRODUCT, JointScan
from dagora.scores.gp.points.compression import SHORTEST, covariances, level_of
from dagora.scores.gp.points.placing import LEAST_LOG_NOISE
from dagora.scores.gp.prior import log_prior, prior_derivatives

Array = NDArray[np.float64]
Positions = NDArray[np.int64]

# Points with the logarithm of a parameter beyond ±25 are given the density zero.
LARGEST = 25.0
# A kernel has few columns compared with the products, so it may lose only this share of their trace.
KERNEL_SHARE = 0.01
NONE = np.empty((0, 0))


class Interactions:
    """Model with main effects and first-order interactions of every column given others."""

    # Families are computed one by one and take seconds each: large groups would only delay progress reports.
    families_at_once = 4

    def __init__(self, columns: Array, *, published: bool = False) -> None:
        self._columns = columns
        self._bases = Additive(columns)
        self._scan = JointScan(columns)
        self._published = published
        self._rows: dict[tuple[int, int], Array] = {}

    def starts(self, children: Positions, parents: Positions) -> tuple[Positions, Array]:
        """Starts of the climbs: the number of the family, and its parameters; at least one per family."""
        number, size = parents.shape
        if size == 1:
            family, points = self._bases.starts(children, parents)
            return family, np.insert(points, 1, np.log(MAIN), axis=1)
        found = []
        for child, row in zip(children.tolist(), parents.tolist(), strict=True):
            points = self._scan.starts(child, tuple(row))
            found.append(np.insert(points, [size], np.log([MAIN, PRODUCT]), axis=1))
        return np.repeat(np.arange(number), [len(points) for points in found]), np.concatenate(found)

    def look_at(self, parent: int) -> None:
        """Scan the children of a parent."""
        self._bases.scan(parent)

    def joint_start(self, singles: Array) -> Array:
        """A start for several parents, from the modes with each parent alone."""
        return np.array([*singles[:, 0], singles[:, 1].mean(), np.log(PRODUCT), singles[:, 2].min()])

    def log_density(self, children: Positions, parents: Positions, parameters: Array) -> Array:
        """Log of likelihood times prior at parameters, of one family or of one per row."""
        number, p = len(parameters), parents.shape[1]
        inside = is_within_bounds(parameters, p)
        some = parameters[inside]
        children = np.broadcast_to(children, (number,))[inside]
        parents = np.broadcast_to(parents, (number, p))[inside]
        values = np.full(number, -np.inf)
        if p == 1:
            variances = np.exp(some[:, 1] * self._powers(1)[0, 0])
            found = self._bases.log_likelihood(children, parents, some[:, [0, 2]], variances)
        else:
            found = np.array([self._value(*each) for each in zip(children, parents, some, strict=True)])
        values[inside] = found + log_prior(some, p)
        return values

    def derivatives(self, children: Positions, parents: Positions, parameters: Array) -> Derivatives:
        """Log densities with gradients and Hessians."""
        number, size = parameters.shape
        p = parents.shape[1]
        found = Derivatives(
            np.full(number, -np.inf), np.zeros((number, size)), np.tile(-np.eye(size), (number, 1, 1))
        )
        powers = np.eye(size)
        powers[p:-1, p:-1] = self._powers(p)
        for k in np.flatnonzero(is_within_bounds(parameters, p)).tolist():
            try:
                value, gradient, hessian = self._derivatives(int(children[k]), parents[k], parameters[k])
            except np.linalg.LinAlgError:
                continue
            slopes, curvatures = prior_derivatives(parameters[k : k + 1], p)
            found.values[k] = value + log_prior(parameters[k : k + 1], p)[0]
            found.gradients[k] = gradient @ powers + slopes[0]
            found.hessians[k] = powers.T @ hessian @ powers + np.diag(curvatures[0])
        return found

    def _value(self, child: int, parents: Positions, point: Array) -> float:
        try:
            return log_likelihood(self._columns[:, child], *self._model(parents, point, 0))
        except np.linalg.LinAlgError:
            # The kernel is so much larger than the noise that the noise is lost in rounding: far from any
            # mode.
            return -np.inf

    def _derivatives(self, child: int, parents: Positions, point: Array) -> tuple[float, Array, Array]:
        """Log likelihood with gradient and Hessian in the logarithms of ρ, of the variances, and of σ."""
        if len(parents) == 1:
            return self._single(child, int(parents[0]), point)
        return likelihood_derivatives(self._columns[:, child], *self._model(parents, point, 2))

    def _powers(self, parents: int) -> Array:
        """Exponents of the amplitudes in the variances: of main effects, and of interactions."""
        powers = np.array([[2.0, 0.0], [4.0, 1.0]]) if self._published else np.eye(2)
        return powers[:1, :1] if parents == 1 else powers

    def _variances(self, parameters: Array, p: int, order: int) -> tuple[Variances, float]:
        """The variances, and the trace that a parent's kernel may lose."""
        amplitudes = np.exp(self._powers(p) @ parameters[p:-1]).tolist()
        main, product = amplitudes if p > 1 else (*amplitudes, 0.0)
        s = float(np.exp(2 * parameters[-1]))
        lost = s * (CUT_DERIVATIVES if order else CUT)
        # The trace of Kᵢ∘Kⱼ is that of Kᵢ.
        return Variances(main, product, s, lost), KERNEL_SHARE * lost / (p * (main + (p - 1) * product))

    def _model(self, parents: Positions, parameters: Array, order: int) -> tuple[list[Kernel], Variances]:
        """Kernels of the parents, with derivatives up to an order (0 or 2), and variances."""
        p = len(parents)
        variances, lost = self._variances(parameters, p, order)
        kernels = []
        for parent, log_scale in zip(parents.tolist(), parameters[:p].tolist(), strict=True):
            number = int(level_of(np.exp(log_scale)))
            short = self._compress(number, parent, log_scale, lost, order)
            kernels.append(replace(short, rows=short.rows @ self._basis(number, parent)))
        return kernels, variances

    def _single(self, child: int, parent: int, parameters: Array) -> tuple[float, Array, Array]:
        """`_derivatives` for one parent, without the rows: its basis is orthonormal."""
        variances, lost = self._variances(parameters, 1, 2)
        number = int(level_of(np.exp(parameters[0])))
        level = self._bases.level(number)
        kernel = self._compress(number, parent, float(parameters[0]), lost, 2)
        rank = kernel.rows.shape[1]
        columns = factor([kernel], [], variances, level.projections[parent, child, :rank])
        columns[0] = level.sums[parent, :rank]
        gram = columns @ columns.T
        y = self._columns[:, child]
        gram[0, 0], gram[-1, -1] = len(y), y @ y
        gram[0, -1] = gram[-1, 0] = y.sum()
        value, reduced = reduce(gram, len(y), blocks_of([kernel], []), variances.s)
        return value, *derivatives(reduced, terms([kernel], []), variances.s)

    def _compress(self, number: int, parent: int, log_scale: float, lost: float, order: int) -> Kernel:
        """A parent's kernel in a level's basis, by the eigenvectors that are needed up to a lost trace."""
        level = self._bases.level(number)
        rank = level.bases[parent].coefficients.shape[1]
        found = covariances(level, np.array([parent]), np.array([log_scale]), order)
        covariance, *changes = (each[0, :rank, :rank] for each in found)
        eigenvalues, vectors = np.linalg.eigh(covariance)
        first = int(np.searchsorted(np.cumsum(np.maximum(eigenvalues, 0.0)), lost, side="right"))
        # The eigenvector of an eigenvalue that is only rounding error means nothing.
        first = max(min(first, rank - 1), int((eigenvalues < level.jitter).sum()))
        roots, vectors = np.sqrt(eigenvalues[first:][::-1]), vectors[:, first:][:, ::-1]
        outward = vectors / roots
        slope, bend = (outward.T @ change @ outward for change in changes) if order else (NONE, NONE)
        return Kernel((vectors * roots).T, slope, bend)

    def _basis(self, number: int, parent: int) -> Array:
        """Rows of Qᵀ."""
        known = self._rows.get((number, parent))
        if known is None:
            level = self._bases.level(number)
            rows = level.bases[parent].rows(self._columns[:, parent], level.scale)
            known = self._rows[number, parent] = np.ascontiguousarray(rows.T)
        return known


def is_within_bounds(parameters: Array, p: int) -> NDArray[np.bool_]:
    """Mark the points that are within bounds; the density of the others is taken as zero."""
    inside: NDArray[np.bool_] = np.abs(parameters).max(axis=1) <= LARGEST
    inside &= (parameters[:, :p].min(axis=1) >= np.log(SHORTEST)) & (parameters[:, -1] >= LEAST_LOG_NOISE)
    return inside
