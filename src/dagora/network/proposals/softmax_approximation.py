"""Gaussian approximations of the density of missing continuous variables that have discrete children.

Given the discrete variables, the log density of missing continuous ones z is −½ zᵀ Λ z + hᵀ z, from
regressions, plus J(z), the sum of the log probabilities of the children's values. J is concave, as each child
is a softmax, so the density has one mode. Newton's method finds it for every row and configuration. There, J
is replaced in two ways:

- by its tangent, which lies above it everywhere: the importance weights are bounded, however improbable the
  observed values are;
- by its tangent and curvature (Laplace's approximation), which is close where J is smooth.

Half of the draws come from each, with importance weights (`importance_sampling`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.network.drawing import configurations
from dagora.network.model import NetworkModel
from dagora.network.proposals.gaussian_block import GaussianTerms
from dagora.network.proposals.proposal_plan import GaussianBlock
from dagora.network.proposals.row_factors import Floats

# The search ends where the squared distance from the mode, in units of the density's width, is below 1e-4: a
# hundredth of a standard deviation. 60 steps leave room for shortened ones.
MOST_STEPS, CLOSE = 60, 1e-4


@dataclass(frozen=True, eq=False)
class SoftmaxLikelihood:
    """A discrete child in each of some cases: its levels' intercepts and slopes, and the level it has."""

    intercepts: Floats
    slopes: Floats
    level: NDArray[np.int64]

    def take(self, cases: NDArray[np.int64]) -> SoftmaxLikelihood:
        """The child in some of the cases."""
        return SoftmaxLikelihood(self.intercepts[cases], self.slopes[cases], self.level[cases])

    def at(self, points: Floats) -> tuple[Floats, Floats, Floats]:
        """Ln of the probability of the level at a point for each case, its gradient, and minus its curvature.

        >>> child = SoftmaxLikelihood(np.zeros((1, 2)), np.array([[[0.0], [2.0]]]), np.array([1]))
        >>> [part.round(4).tolist() for part in child.at(np.zeros((1, 1)))]
        [[-0.6931], [[1.0]], [[[1.0]]]]
        """
        logits = self.intercepts + np.einsum("clk,ck->cl", self.slopes, points)
        logits -= logits.max(axis=1, keepdims=True)
        weights = np.exp(logits)
        whole = weights.sum(axis=1)
        shares = weights / whole[:, None]
        cases = np.arange(len(points))
        mean = np.einsum("cl,clk->ck", shares, self.slopes)
        spread = np.einsum("cl,cli,clj->cij", shares, self.slopes, self.slopes)
        spread -= mean[:, :, None] * mean[:, None, :]
        return logits[cases, self.level] - np.log(whole), self.slopes[cases, self.level] - mean, spread


@dataclass(frozen=True, eq=False)
class SoftmaxApproximation:
    """J at the mode of each row and configuration: its value, gradient and negative curvature."""

    block: GaussianBlock
    scales: Mapping[str, tuple[float, float]]
    mode: Floats
    value: Floats
    gradient: Floats
    spread: Floats

    def by_tangent(self, lines: GaussianTerms) -> GaussianTerms:
        """Add the tangent of J to the terms of the regressions."""
        shift = self.value - (self.gradient * self.mode).sum(axis=-1)
        return GaussianTerms(lines.precision, lines.linear + self.gradient, lines.total + shift)

    def by_curvature(self, lines: GaussianTerms) -> GaussianTerms:
        """Add the tangent and the curvature of J to the terms of the regressions."""
        tangent = self.by_tangent(lines)
        pull = np.einsum("...ij,...j->...i", self.spread, self.mode)
        return GaussianTerms(
            lines.precision + self.spread,
            tangent.linear + pull,
            tangent.total - 0.5 * (pull * self.mode).sum(axis=-1),
        )

    def approximations(self, drawn: Mapping[str, NDArray[Any]]) -> tuple[Floats, Floats]:
        """Approximate J by tangent, and by curvature, at what was drawn: arrays of draws × rows."""
        rows = np.arange(len(self.mode))[None, :]
        chosen = (rows, *(drawn[name] for name in self.block.discrete))
        points = [
            (drawn[name] - self.scales[name][0]) / self.scales[name][1] for name in self.block.continuous
        ]
        off = np.stack(points, axis=-1) - self.mode[chosen]
        tangent = self.value[chosen] + (self.gradient[chosen] * off).sum(axis=-1)
        return tangent, tangent - 0.5 * np.einsum("...i,...ij,...j->...", off, self.spread[chosen], off)


def approximate_softmax(
    model: NetworkModel,
    block: GaussianBlock,
    lines: GaussianTerms,
    columns: Mapping[str, NDArray[Any]],
    scales: Mapping[str, tuple[float, float]],
) -> SoftmaxApproximation:
    """Find the mode of every row and configuration, and expand J there."""
    shape, size = lines.total.shape, len(block.continuous)
    children = [softmax_in_cases(model, node, block, columns, shape, scales) for node in block.children]
    mode = find_modes(lines.precision.reshape(-1, size, size), lines.linear.reshape(-1, size), children)
    value, gradient, spread = total_at(children, mode)
    return SoftmaxApproximation(
        block,
        scales,
        mode.reshape(*shape, size),
        value.reshape(shape),
        gradient.reshape(*shape, size),
        spread.reshape(*shape, size, size),
    )


def softmax_in_cases(
    model: NetworkModel,
    node: str,
    block: GaussianBlock,
    columns: Mapping[str, NDArray[Any]],
    shape: tuple[int, ...],
    scales: Mapping[str, tuple[float, float]],
) -> SoftmaxLikelihood:
    """A child in every row and configuration, as a function of its standardised missing parents."""
    softmax, chosen = model.choices[node], configurations(model, node, columns)
    levels = softmax.intercepts.shape[-1]
    intercepts = np.broadcast_to(softmax.intercepts[chosen], (*shape, levels)).copy()
    slopes = np.zeros((*shape, levels, len(block.continuous)))
    for position, parent in enumerate(model.continuous_parents(node)):
        slope = softmax.slopes[chosen][..., position]
        if parent in block.continuous:
            intercepts += slope * scales[parent][0]
            slopes[..., block.continuous.index(parent)] = slope * scales[parent][1]
        else:
            intercepts += slope * columns[parent][..., None]
    level = np.broadcast_to(columns[node], shape).reshape(-1).astype(np.int64)
    return SoftmaxLikelihood(
        intercepts.reshape(-1, levels), slopes.reshape(-1, levels, len(block.continuous)), level
    )


def total_at(children: list[SoftmaxLikelihood], points: Floats) -> tuple[Floats, Floats, Floats]:
    """J at a point of each case, its gradient and its negative curvature."""
    value, gradient, spread = children[0].at(points)
    for child in children[1:]:
        more = child.at(points)
        value, gradient, spread = value + more[0], gradient + more[1], spread + more[2]
    return value, gradient, spread


def find_modes(precision: Floats, linear: Floats, children: list[SoftmaxLikelihood]) -> Floats:
    """Approximate the mode of −½ zᵀ Λ z + hᵀ z + J(z) in each case.

    Newton's steps are shortened where they do not climb (Armijo's rule with 1e-4). If `MOST_STEPS` do not
    reach a mode, the weights vary more, but the draws stay correct.

    >>> child = SoftmaxLikelihood(np.zeros((1, 2)), np.array([[[0.0], [2.0]]]), np.array([1]))
    >>> find_modes(np.ones((1, 1, 1)), np.zeros((1, 1)), [child]).round(3)
    array([[0.521]])
    """
    points = solve_all(precision, linear)
    active = np.arange(len(points))
    value, gradient, spread = total_at(children, points)
    height = log_density_at(precision, linear, points, value)
    length = np.ones(len(points))
    for _ in range(MOST_STEPS):
        quadratic, own = precision[active], linear[active]
        slope = own - np.einsum("cij,cj->ci", quadratic, points[active]) + gradient
        step = solve_all(quadratic + spread, slope)
        to_go = (slope * step).sum(axis=1)
        on = to_go > CLOSE
        if not on.any():
            break
        active, step, to_go = active[on], step[on], to_go[on]
        value, gradient, spread, height, length = (
            part[on] for part in (value, gradient, spread, height, length)
        )
        children = [child.take(np.flatnonzero(on)) for child in children]
        tried = points[active] + length[:, None] * step
        found = total_at(children, tried)
        reached = log_density_at(precision[active], linear[active], tried, found[0])
        climbs = reached >= height + 1e-4 * length * to_go
        points[active[climbs]] = tried[climbs]
        for old, new in zip((value, gradient, spread, height), (*found, reached), strict=True):
            old[climbs] = new[climbs]
        length = np.where(climbs, np.minimum(1.0, 4 * length), length / 4)
    return points


def solve_all(matrices: Floats, vectors: Floats) -> Floats:
    """Solve a system in each case, by pseudo-inverses if a matrix is singular to rounding.

    >>> solve_all(np.ones((1, 2, 2)), np.ones((1, 2))).round(3)
    array([[0.5, 0.5]])
    """
    try:
        found = np.linalg.solve(matrices, vectors[..., None])
    except np.linalg.LinAlgError:
        found = np.linalg.pinv(matrices, hermitian=True) @ vectors[..., None]
    return np.asarray(found[..., 0], dtype=np.float64)


def log_density_at(precision: Floats, linear: Floats, points: Floats, children: Floats) -> Floats:
    """−½ zᵀ Λ z + hᵀ z + J(z) of each case."""
    quadratic = np.einsum("ci,cij,cj->c", points, precision, points)
    return np.asarray((linear * points).sum(axis=1) - 0.5 * quadratic + children)
