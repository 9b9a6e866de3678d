"""Modes of many log densities at once: Newton's method in a trust region, from several starts.

A step is Newton's, in the eigenbasis of the Hessian and with the absolute values of its eigenvalues, cut to
the region's radius. The region grows if the quadratic model was right and shrinks if it was not, by the rule
of Nocedal & Wright 2006, algorithm 4.1 (there it doubles). A climb ends when the gain that the model predicts
is below `GAIN`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.scores.gp.additive import Derivatives

Array = NDArray[np.float64]
Positions = NDArray[np.int64]
# Derivatives of the densities whose numbers are given, one row of parameters each.
Ask = Callable[[Positions, Array], Derivatives]

# A climb ends when its predicted gain, in nats, is below this.
GAIN = 1e-5
# A bound against endless climbs: of 100 rows with up to three parents, the longest took 12.
ITERATIONS = 80
# Ratios of true to predicted gain below which the radius shrinks and above which it grows, and the factors.
POOR, GOOD, SHRINK, GROW = 0.25, 0.75, 0.25, 2.5
# A radius of steps in logarithms of parameters that no longer change them by anything that matters.
SMALLEST = 1e-7
# Curvatures below this are raised to it: a step along a flat direction would be too long.
FLATTEST = 1e-2


@dataclass(frozen=True)
class Modes:
    """Per density its mode, the log density there, and minus the Hessian."""

    points: Array
    values: Array
    precisions: Array


def climb(ask: Ask, starts: Array) -> Modes:
    """Climb from each start to the mode above it."""
    number = len(starts)
    points = starts.copy()
    everyone = np.arange(number)
    found = ask(everyone, points)
    values, gradients, hessians = found.values, found.gradients, found.hessians
    radii = np.ones(number)
    active = everyone
    for _ in range(ITERATIONS):
        curvatures, vectors = np.linalg.eigh(-hessians[active])
        slopes = np.einsum("bij,bi->bj", vectors, gradients[active])
        steps = slopes / np.maximum(np.abs(curvatures), FLATTEST)
        arrived = ((slopes * steps).sum(axis=1) < 2 * GAIN) & (curvatures[:, 0] > 0)
        arrived |= radii[active] < SMALLEST
        active, curvatures, vectors = active[~arrived], curvatures[~arrived], vectors[~arrived]
        slopes, steps = slopes[~arrived], steps[~arrived]
        if not len(active):
            break
        lengths = np.sqrt((steps * steps).sum(axis=1))
        steps *= np.minimum(1.0, radii[active] / lengths)[:, None]
        predicted = (slopes * steps - 0.5 * curvatures * steps * steps).sum(axis=1)
        trial = points[active] + np.einsum("bij,bj->bi", vectors, steps)
        found = ask(active, trial)
        gains = found.values - values[active]
        better = gains > 0
        ratio = gains / np.maximum(predicted, 1e-300)
        taken = np.minimum(lengths, radii[active])
        radii[active] = np.where(
            ratio < POOR,
            SHRINK * taken,
            np.where((ratio > GOOD) & (lengths >= radii[active]), GROW * radii[active], radii[active]),
        )
        moved = active[better]
        points[moved], values[moved] = trial[better], found.values[better]
        gradients[moved], hessians[moved] = found.gradients[better], found.hessians[better]
    return Modes(points, values, -hessians)
