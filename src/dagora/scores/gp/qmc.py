"""Log evidence by importance sampling from heavy-tailed proposals at the modes, with quasi-random points.

Z = E_q[p(θ)/q(θ)], where q is a mixture over the modes of products of t₅ densities along the axes of the
Hessian. Each side of an axis has its own width, from how far the density falls there. The points are a
scrambled Sobol net. Its eight sub-nets give eight estimates; their standard deviation over √8 is reported as
the standard error of ln Z. It is somewhat too large, because a net is more even than its parts. If it is
above `GOAL`, or few points carry the weight (Kish's effective number), further rounds are drawn, half of the
points from a proposal fitted to the weighted points so far, and all points are weighted against the mixture
of all rounds. Seeds are fixed: the same density gives the same number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, lgamma, log, log2, pi

import numpy as np
from numpy.typing import NDArray

from dagora.scores.gp.asking import Asking
from dagora.scores.gp.laplace import bounded_curvatures
from dagora.scores.gp.sobol import sobol_net

Array = NDArray[np.float64]

# Degrees of freedom of the t densities: few, so that their tails are heavier than the exponential ones of the
# priors.
FREEDOM = 5.0
# Log of a t density at its centre.
LOG_HEIGHT = lgamma((FREEDOM + 1) / 2) - lgamma(FREEDOM / 2) - 0.5 * log(FREEDOM * pi)
SUBNETS = 8
# A further round is drawn above this standard error (in nats), or below this share of effective points.
GOAL = 0.05
LEAST_SHARE = 0.15
ROUNDS = 5
# No mode of a mixture gets less than this share of the points.
LEAST_WEIGHT = 0.1
# How far from a mode, in standard deviations, its width is measured, and the bounds of the result.
LOOK = 1.5
WIDTHS = (0.3, 3.0)


@dataclass(frozen=True)
class Evidence:
    """An estimated log evidence, its standard error in nats, and how many effective points of how many.

    `best` is the point of the highest density among the points drawn, None if none were.
    """

    log_score: float
    standard_error: float
    ess: float
    points: int
    best: Array | None = None
    best_value: float = -np.inf


@dataclass(frozen=True)
class GPProposal:
    """A product of split t densities along the columns of `axes`: `left` and `right` scale its two halves."""

    centre: Array
    axes: Array
    left: Array
    right: Array

    def draw(self, uniform: Array) -> Array:
        """Turn uniform points into points of the proposal."""
        from scipy.special import stdtrit

        below = self.left / (self.left + self.right)
        share = np.where(uniform < below, uniform / below, (1 - uniform) / (1 - below))
        # Distances from the centre: both sides are halves of a t density.
        away = -stdtrit(FREEDOM, np.clip(share / 2, 1e-12, 0.5))
        standard = np.where(uniform < below, -self.left * away, self.right * away)
        points: Array = self.centre + standard @ self.axes.T
        return points

    def log_density(self, points: Array) -> Array:
        """Log density at points."""
        standard = np.linalg.solve(self.axes, (points - self.centre).T).T
        standard = standard / np.where(standard < 0, self.left, self.right)
        scales = np.log((self.left + self.right) / 2).sum() + np.linalg.slogdet(self.axes)[1]
        constant = LOG_HEIGHT * len(self.centre) - scales
        density: Array = constant - (FREEDOM + 1) / 2 * np.log1p(standard**2 / FREEDOM).sum(axis=1)
        return density


@dataclass(frozen=True)
class GPMixture:
    """Proposals with weights that sum to one."""

    parts: tuple[GPProposal, ...]
    weights: Array

    def draw(self, net: Array) -> Array:
        """A point per row of a net, whose first coordinate picks the part."""
        picked = np.searchsorted(np.cumsum(self.weights)[:-1], net[:, 0], side="right")
        points = np.empty((len(net), net.shape[1] - 1))
        for k, part in enumerate(self.parts):
            points[picked == k] = part.draw(net[picked == k, 1:])
        return points

    def log_density(self, points: Array) -> Array:
        """Log density at points."""
        return log_mean([part.log_density(points) for part in self.parts], self.weights)


def log_mean(logs: Sequence[Array], weights: Array) -> Array:
    """Logarithm of the weighted mean of numbers whose logarithms are given, point by point.

    >>> np.exp(log_mean([np.log([1.0, 2.0]), np.log([3.0, 6.0])], np.array([0.5, 0.5])))
    array([2., 4.])
    """
    if len(logs) == 1:
        return logs[0]
    stacked = np.array(logs)
    top = stacked.max(axis=0)
    mean: Array = top + np.log(weights @ np.exp(stacked - top))
    return mean


def proposals_at(points: Array, values: Array, precisions: Array) -> Asking[list[GPProposal]]:
    """Proposals at modes; each side of each axis has a width from how far the density falls there."""
    curvatures, vectors = bounded_curvatures(precisions)
    number, size = points.shape
    axes = vectors / np.sqrt(curvatures)[:, None, :]
    sides = axes.swapaxes(-1, -2)
    looked = points[:, None] + LOOK * np.concatenate([-sides, sides], axis=1)
    heights = yield looked.reshape(-1, size)
    falls = np.maximum(values[:, None] - heights.reshape(number, 2 * size), 1e-3)
    # A Gaussian falls by LOOK²/2.
    widths = np.clip(LOOK / np.sqrt(2 * falls), *WIDTHS)
    return [GPProposal(points[k], axes[k], widths[k, :size], widths[k, size:]) for k in range(number)]


def mixture_at(modes: Sequence[GPProposal], log_evidences: Array) -> GPMixture:
    """Mixture of proposals at several modes, weighted by their evidence, none below `LEAST_WEIGHT`."""
    weights = np.maximum(np.exp(log_evidences - log_evidences.max()), LEAST_WEIGHT)
    return GPMixture(tuple(modes), weights / weights.sum())


def estimate(start: GPMixture, points: int) -> Asking[Evidence]:
    """Log evidence of a density by rounds of importance sampling, from `points` points upwards."""
    number = 2 ** max(5, ceil(log2(points)))
    size = len(start.parts[0].centre)
    drawn: list[Array] = []
    values: list[Array] = []
    rounds: list[GPMixture] = []
    proposal = start
    for step in range(ROUNDS):
        # The second round is as large as the first; later ones double.
        net = sobol_net(size + 1, number << max(0, step - 1), step)
        rounds.append(proposal)
        drawn.append(proposal.draw(net))
        values.append((yield drawn[-1]))
        log_weights = balance_weights(rounds, drawn, values)
        evidence = summary(log_weights)
        if evidence.standard_error <= GOAL and evidence.ess >= LEAST_SHARE * evidence.points:
            break
        proposal = refit_mixture(start, np.concatenate(drawn), np.concatenate(log_weights))
    everything, heights = np.concatenate(drawn), np.concatenate(values)
    top = int(np.argmax(heights))
    return replace(evidence, best=everything[top], best_value=float(heights[top]))


def resample(start: GPMixture, points: int, number: int) -> Asking[Array]:
    """Points drawn from a density: by their weights, at even steps, from quasi-random points of a proposal.

    >>> proposal = GPProposal(np.zeros(1), np.eye(1), np.ones(1), np.ones(1))
    >>> asking = resample(GPMixture((proposal,), np.ones(1)), 256, 64)
    >>> normal = -0.5 * ((next(asking)[:, 0] - 1) / 0.5) ** 2
    >>> try:
    ...     asking.send(normal)
    ... except StopIteration as end:
    ...     print(end.value.mean().round(1), end.value.std().round(1))
    1.0 0.5
    """
    drawn = start.draw(sobol_net(len(start.parts[0].centre) + 1, points, 0))
    log_weights = (yield drawn) - start.log_density(drawn)
    reached = np.cumsum(np.exp(log_weights - log_weights.max()))
    places = np.searchsorted(reached, (np.arange(number) + 0.5) / number * reached[-1])
    found: Array = drawn[places]
    return found


def balance_weights(rounds: list[GPMixture], drawn: list[Array], values: list[Array]) -> list[Array]:
    """Log weights of each round's points against the mixture of all rounds' proposals."""
    shares = np.array([len(points) for points in drawn], dtype=np.float64)
    shares /= shares.sum()
    found = []
    for points, value in zip(drawn, values, strict=True):
        found.append(value - log_mean([proposal.log_density(points) for proposal in rounds], shares))
    return found


def summary(log_weights: list[Array]) -> Evidence:
    """Estimate, error and effective number of points from the log weights of all rounds."""
    top = max(float(some.max()) for some in log_weights)
    nets = [np.exp(some - top).reshape(SUBNETS, -1) for some in log_weights]
    weights = np.hstack(nets)
    parts = weights.mean(axis=1)
    mean = float(parts.mean())
    error = float(parts.std(ddof=1)) / np.sqrt(SUBNETS) / mean
    ess = float(weights.sum() ** 2 / (weights**2).sum())
    return Evidence(top + float(np.log(mean)), float(error), ess, weights.size)


def refit_mixture(start: GPMixture, points: Array, log_weights: Array) -> GPMixture:
    """A half-and-half mixture of the first proposal and one with the weighted points' mean and covariance."""
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    mean = weights @ points
    centred = points - mean
    covariance = (centred * weights[:, None]).T @ centred
    spreads, vectors = np.linalg.eigh(covariance)
    axes = vectors * np.sqrt(np.maximum(spreads, 1e-6))
    fitted = GPProposal(mean, axes, np.ones(len(mean)), np.ones(len(mean)))
    return GPMixture((*start.parts, fitted), np.append(start.weights / 2, 0.5))
