"""Where to draw missing numbers on which discrete nodes depend: the judges.

Given levels, ln of the density of missing numbers z is −½ zᵀ Λ z + hᵀ z, from lines, and J(z), the sum of
logarithms of the probabilities that judges give to their levels. J is concave, as a softmax is. So the
density has one peak, which Newton's method finds for every row and configuration. There, J is replaced:

- by its tangent, which lies above it everywhere: draws are never much too rare (the weights are bounded),
  however improbable what was seen;
- by its tangent and curvature (Laplace's approximation): draws are close to the truth where J is smooth.

Half of the draws are made from each, and weighed (`weighed_draws`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.network.drawing import configurations
from dagora.network.incomplete.group_plan import Piece
from dagora.network.incomplete.level_elimination import Floats
from dagora.network.incomplete.number_piece import NormalTerms
from dagora.network.model import Model

# Steps to a peak, at most, and the squared distance from it, in units of the density's width, that will do.
MOST_STEPS, CLOSE = 60, 1e-4


@dataclass(frozen=True, eq=False)
class Judge:
    """A discrete node in each of some cases: exponents of its levels, their slopes, and the level it has."""

    intercepts: Floats
    slopes: Floats
    level: NDArray[np.int64]

    def take(self, cases: NDArray[np.int64]) -> Judge:
        """The judge in some of the cases."""
        return Judge(self.intercepts[cases], self.slopes[cases], self.level[cases])

    def at(self, points: Floats) -> tuple[Floats, Floats, Floats]:
        """Ln of the probability of the level at a point for each case, its gradient, and minus its curvature.

        >>> judge = Judge(np.zeros((1, 2)), np.array([[[0.0], [2.0]]]), np.array([1]))
        >>> [part.round(4).tolist() for part in judge.at(np.zeros((1, 1)))]
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
class JudgedNumbers:
    """The judges of a piece at the peak of each row and configuration: value, gradient, minus curvature."""

    piece: Piece
    scales: Mapping[str, tuple[float, float]]
    peak: Floats
    value: Floats
    gradient: Floats
    spread: Floats

    def by_tangent(self, lines: NormalTerms) -> NormalTerms:
        """The terms of lines and tangents together."""
        shift = self.value - (self.gradient * self.peak).sum(axis=-1)
        return NormalTerms(lines.precision, lines.linear + self.gradient, lines.total + shift)

    def by_curvature(self, lines: NormalTerms) -> NormalTerms:
        """The terms of lines, tangents and curvatures together."""
        tangent = self.by_tangent(lines)
        pull = np.einsum("...ij,...j->...i", self.spread, self.peak)
        return NormalTerms(
            lines.precision + self.spread,
            tangent.linear + pull,
            tangent.total - 0.5 * (pull * self.peak).sum(axis=-1),
        )

    def approximations(self, drawn: Mapping[str, NDArray[Any]]) -> tuple[Floats, Floats]:
        """J by tangent, and by curvature, of what was drawn: arrays of draws × rows."""
        rows = np.arange(len(self.peak))[None, :]
        chosen = (rows, *(drawn[name] for name in self.piece.levels))
        points = [(drawn[name] - self.scales[name][0]) / self.scales[name][1] for name in self.piece.numbers]
        off = np.stack(points, axis=-1) - self.peak[chosen]
        tangent = self.value[chosen] + (self.gradient[chosen] * off).sum(axis=-1)
        return tangent, tangent - 0.5 * np.einsum("...i,...ij,...j->...", off, self.spread[chosen], off)


def judge_numbers(
    model: Model,
    piece: Piece,
    lines: NormalTerms,
    columns: Mapping[str, NDArray[Any]],
    scales: Mapping[str, tuple[float, float]],
) -> JudgedNumbers:
    """Find the peak of every row and configuration, and what the judges are there."""
    shape, size = lines.total.shape, len(piece.numbers)
    judges = [judge_in(model, node, piece, columns, shape, scales) for node in piece.judges]
    peak = find_peaks(lines.precision.reshape(-1, size, size), lines.linear.reshape(-1, size), judges)
    value, gradient, spread = judged_at(judges, peak)
    return JudgedNumbers(
        piece,
        scales,
        peak.reshape(*shape, size),
        value.reshape(shape),
        gradient.reshape(*shape, size),
        spread.reshape(*shape, size, size),
    )


def judge_in(
    model: Model,
    node: str,
    piece: Piece,
    columns: Mapping[str, NDArray[Any]],
    shape: tuple[int, ...],
    scales: Mapping[str, tuple[float, float]],
) -> Judge:
    """A judge in every row and configuration, for the missing numbers in units of their spread."""
    softmax, chosen = model.choices[node], configurations(model, node, columns)
    levels = softmax.intercepts.shape[-1]
    intercepts = np.broadcast_to(softmax.intercepts[chosen], (*shape, levels)).copy()
    slopes = np.zeros((*shape, levels, len(piece.numbers)))
    for position, parent in enumerate(model.continuous_parents(node)):
        slope = softmax.slopes[chosen][..., position]
        if parent in piece.numbers:
            intercepts += slope * scales[parent][0]
            slopes[..., piece.numbers.index(parent)] = slope * scales[parent][1]
        else:
            intercepts += slope * columns[parent][..., None]
    level = np.broadcast_to(columns[node], shape).reshape(-1).astype(np.int64)
    return Judge(intercepts.reshape(-1, levels), slopes.reshape(-1, levels, len(piece.numbers)), level)


def judged_at(judges: list[Judge], points: Floats) -> tuple[Floats, Floats, Floats]:
    """J at a point for each case, its gradient, and minus its curvature."""
    value, gradient, spread = judges[0].at(points)
    for judge in judges[1:]:
        more = judge.at(points)
        value, gradient, spread = value + more[0], gradient + more[1], spread + more[2]
    return value, gradient, spread


def find_peaks(precision: Floats, linear: Floats, judges: list[Judge]) -> Floats:
    """The point of each case at which −½ zᵀ Λ z + hᵀ z + J(z) is largest, about.

    Newton's steps are shortened where they do not climb. What is left to go after `MOST_STEPS` costs draws,
    not correctness.

    >>> judge = Judge(np.zeros((1, 2)), np.array([[[0.0], [2.0]]]), np.array([1]))
    >>> find_peaks(np.ones((1, 1, 1)), np.zeros((1, 1)), [judge]).round(3)
    array([[0.521]])
    """
    points: Floats = np.linalg.solve(precision, linear[..., None])[..., 0].astype(np.float64)
    active = np.arange(len(points))
    value, gradient, spread = judged_at(judges, points)
    height = height_of(precision, linear, points, value)
    length = np.ones(len(points))
    for _ in range(MOST_STEPS):
        quadratic, own = precision[active], linear[active]
        slope = own - np.einsum("cij,cj->ci", quadratic, points[active]) + gradient
        step = np.linalg.solve(quadratic + spread, slope[..., None])[..., 0]
        to_go = (slope * step).sum(axis=1)
        on = to_go > CLOSE
        if not on.any():
            break
        active, step, to_go = active[on], step[on], to_go[on]
        value, gradient, spread, height, length = (
            part[on] for part in (value, gradient, spread, height, length)
        )
        judges = [judge.take(np.flatnonzero(on)) for judge in judges]
        tried = points[active] + length[:, None] * step
        found = judged_at(judges, tried)
        reached = height_of(precision[active], linear[active], tried, found[0])
        climbs = reached >= height + 1e-4 * length * to_go
        points[active[climbs]] = tried[climbs]
        for old, new in zip((value, gradient, spread, height), (*found, reached), strict=True):
            old[climbs] = new[climbs]
        length = np.where(climbs, np.minimum(1.0, 4 * length), length / 4)
    return points


def height_of(precision: Floats, linear: Floats, points: Floats, judged: Floats) -> Floats:
    """−½ zᵀ Λ z + hᵀ z + J(z) of each case."""
    bent = np.einsum("ci,cij,cj->c", points, precision, points)
    return np.asarray((linear * points).sum(axis=1) - 0.5 * bent + judged)
