"""The method of multipliers: minimise F(W) subject to h(W) = 0 by a sequence of unconstrained problems.

Each problem is the augmented Lagrangian F(W) + α h(W) + (ρ/2) h(W)², minimised from the last W. It starts
with ρ = 1 and α = 0. While h has not fallen to a quarter of its value in the round before, ρ is multiplied by
10 and the problem is solved again; then α ← α + ρh ends the round. The method ends when h is at most its
tolerance, when ρ reaches its limit, or when time is up. After algorithm 1 of Zheng et al. (2018), with the
constants of its authors' code. It saves work where that does not: a problem starts where the last one ended,
and h within its tolerance is enough. The published algorithm is in `published`.

This is the outer loop alone. The caller chooses W and how to minimise: a weight matrix by a proximal
quasi-Newton method (`augmented_lagrangian`), neural networks by L-BFGS-B (`mlp.program`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

import numpy as np

# Where to stop: the tolerance is named in section 4.3 of the paper, both are in its authors' code.
H_TOLERANCE, RHO_MAX = 1e-8, 1e16
# The share of its last value to which h must fall before ρ stays as it is, and the factor by which ρ grows.
PROGRESS, GROWTH = 0.25, 10.0

Point = TypeVar("Point")


class Multipliers(NamedTuple):
    """The weights α of h and ρ of h²/2 in one problem, and the number of rounds completed before it."""

    alpha: float
    rho: float
    rounds: int


class ProblemMinimum(NamedTuple, Generic[Point]):
    """The last point of one minimisation, its h, and False if time ran out."""

    point: Point
    h: float
    in_time: bool


class ConstrainedMinimum(NamedTuple, Generic[Point]):
    """The last point of the method, its h, the number of completed rounds, and False if time ran out."""

    point: Point
    h: float
    rounds: int
    in_time: bool


def method_of_multipliers(
    start: Point,
    minimise: Callable[[Point, Multipliers], ProblemMinimum[Point]],
    *,
    h_tolerance: float = H_TOLERANCE,
    rho_max: float = RHO_MAX,
) -> ConstrainedMinimum[Point]:
    """Follow α and ρ; `minimise(point, multipliers)` solves one problem, starting at `point`.

    The nearest number to 3 that is 1, that is with h(w) = (w − 1)². Each problem is solved by bisection:

    >>> def slope(w, alpha, rho):
    ...     return w - 3 + (alpha + rho * (w - 1) ** 2) * 2 * (w - 1)
    >>> def bisect(point, at):
    ...     low, high = 1.0, 3.0
    ...     for _ in range(60):
    ...         middle = (low + high) / 2
    ...         low, high = (middle, high) if slope(middle, at.alpha, at.rho) < 0 else (low, middle)
    ...     return ProblemMinimum(low, (low - 1) ** 2, in_time=True)
    >>> ended = method_of_multipliers(0.0, bisect)
    >>> round(ended.point, 3), ended.h <= 1e-8
    (1.0, True)
    """
    point, h = start, np.inf
    alpha, rho, rounds = 0.0, 1.0, 0
    while h > h_tolerance and rho < rho_max:
        before = h
        while True:
            point, h, in_time = minimise(point, Multipliers(alpha, rho, rounds))
            if not in_time:
                return ConstrainedMinimum(point, h, rounds, in_time=False)
            if h <= max(PROGRESS * before, h_tolerance) or rho >= rho_max:
                break
            rho *= GROWTH
        alpha += rho * h
        rounds += 1
    return ConstrainedMinimum(point, h, rounds, in_time=True)
