"""Minimise f(w) + λ‖w‖₁ for an expensive smooth f: proximal quasi-Newton with an active set.

Each step minimises the quadratic model gᵀd + ½ dᵀBd + λ‖w + d‖₁ with the L-BFGS matrix B (see `curvature`)
over the active set: weights that are not zero, or whose slope comes close to λ. A backtracking line search on
the whole objective follows. Zheng et al. (2018), section 4.2; Zhong et al. (2014). Without a penalty SciPy's
L-BFGS-B is used, unless it leaves the domain of f.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dagora.learners.optimise.curvature import Curvature, Vector
from dagora.learners.optimise.exponential_family import minimal_subgradient

Smooth = Callable[[Vector], tuple[float, Vector]]

# Share of the predicted decrease that a step must reach (Armijo), and the shortest step tried.
DECREASE = 1e-3
SHORTEST = 1e-10
# The minimisation has stalled when this many steps together lower the objective by less than this share of
# it.
STALL_STEPS = 10
STALL_SHARE = 1e-8
# A zero weight is active when its slope is within this share of λ.
MARGIN = 0.1


@dataclass(frozen=True)
class Minimum:
    """The last point of a minimisation, its objective with penalty, and the work done.

    `steepest` is the largest entry of the minimal subgradient there; at a minimum it is zero.
    """

    point: Vector
    value: float
    steepest: float
    steps: int
    evaluations: int


def no_stop(point: Vector) -> bool:  # noqa: ARG001 - the signature of a stopping rule
    """Do not stop early."""
    return False


def minimise(
    function: Smooth,
    start: Vector,
    free: NDArray[np.bool_],
    lambda1: float,
    *,
    tolerance: float = 1e-6,
    max_steps: int = 10_000,
    stop: Callable[[Vector], bool] = no_stop,
) -> Minimum:
    """Minimise f(w) + λ‖w‖₁ over the free entries of w; the others stay as they are.

    `function` returns f and its gradient, or infinity outside its domain, in which `start` must lie. The
    minimisation ends when no entry of the minimal subgradient exceeds `tolerance`, when it stalls, after
    `max_steps`, or when `stop(point)`, called before each step, returns True. The objective never increases.

    >>> bowl = lambda w: (0.5 * float(w @ w) - 3.0 * w[0], w - [3.0, 0.0])
    >>> found = minimise(bowl, np.zeros(2), np.array([True, True]), 1.0)
    >>> found.point.round(6), round(found.value, 6)
    (array([2., 0.]), -2.0)
    """
    begin = start.astype(np.float64)
    steps, evaluations = 0, 0
    if lambda1 == 0:
        smoothly, finished = minimise_smooth(function, begin, free, tolerance, max_steps, stop)
        if finished:
            return smoothly
        begin, steps, evaluations = smoothly.point, smoothly.steps, smoothly.evaluations
    found = minimise_composite(function, begin, free, lambda1, tolerance, max_steps - steps, stop)
    return replace(found, steps=found.steps + steps, evaluations=found.evaluations + evaluations)


def minimise_composite(
    function: Smooth,
    point: Vector,
    free: NDArray[np.bool_],
    lambda1: float,
    tolerance: float,
    max_steps: int,
    stop: Callable[[Vector], bool],
) -> Minimum:
    """The proximal quasi-Newton method, from a point of the domain."""
    smooth, gradient = function(point)
    value = smooth + lambda1 * float(np.abs(point).sum())
    curvature = Curvature()
    history = [value]
    steps, evaluations = 0, 1
    steepest = steepest_slope(point, gradient, free, lambda1)
    while steepest > tolerance and steps < max_steps and not stop(point):
        margin = min(MARGIN * lambda1, steepest)
        active = np.flatnonzero(free & ((point != 0) | (np.abs(gradient) > lambda1 - margin)))
        direction = curvature.direction(point, gradient, active, lambda1, steepest)
        promise = float(gradient @ direction) + lambda1 * float(
            np.abs(point + direction).sum() - np.abs(point).sum()
        )
        length, found = 1.0, False
        rounding = 4 * np.finfo(np.float64).eps * abs(value)
        while promise < 0 and length >= SHORTEST:
            trial = point + length * direction
            trial_smooth, trial_gradient = function(trial)
            evaluations += 1
            trial_value = trial_smooth + lambda1 * float(np.abs(trial).sum())
            found = trial_value <= value + DECREASE * length * promise
            # The difference is below rounding: shorter steps cannot show a decrease either.
            if found or (length < 1e-3 and trial_value <= value + rounding):
                break
            # The minimum of the parabola through both values and the predicted slope, within a tenth to a
            # half.
            excess = trial_value - value - length * promise
            shrink = -0.5 * length * promise / excess if np.isfinite(excess) and excess > 0 else 0.1
            length *= min(max(shrink, 0.1), 0.5)
        if not found:
            if curvature.is_empty:
                break
            # The model is wrong here (rounding, or curvature of early steps): restart from the gradient
            # alone.
            curvature = Curvature()
            continue
        curvature.add(trial - point, trial_gradient - gradient)
        point, value, gradient = trial, trial_value, trial_gradient
        steepest = steepest_slope(point, gradient, free, lambda1)
        steps += 1
        history.append(value)
        if steps >= STALL_STEPS and history[-1 - STALL_STEPS] - value <= STALL_SHARE * max(1.0, abs(value)):
            break
    return Minimum(point, float(value), steepest, steps, evaluations)


def steepest_slope(point: Vector, gradient: Vector, free: NDArray[np.bool_], lambda1: float) -> float:
    """The largest entry of the minimal subgradient over the free entries."""
    return float(np.abs(minimal_subgradient(point, gradient, lambda1)[free]).max(initial=0.0))


class LeftDomainError(ValueError):
    """L-BFGS-B stepped to where the function is infinite, which its line search cannot handle."""


def minimise_smooth(
    function: Smooth,
    start: Vector,
    free: NDArray[np.bool_],
    tolerance: float,
    max_steps: int,
    stop: Callable[[Vector], bool],
) -> tuple[Minimum, bool]:
    """L-BFGS-B over the free entries; the second value is False if it left the domain and was given up."""
    from scipy.optimize import minimize

    point = start.copy()
    best, best_value, best_gradient = start[free], np.inf, np.zeros(0)
    steps, evaluations, finished = 0, 0, True

    def function_of_free(entries: Vector) -> tuple[float, Vector]:
        nonlocal best, best_value, best_gradient, evaluations
        point[free] = entries
        value, gradient = function(point)
        evaluations += 1
        if not np.isfinite(value):
            raise LeftDomainError
        if value < best_value:
            best, best_value, best_gradient = entries.copy(), float(value), gradient[free]
        return value, gradient[free]

    def after_step(entries: Vector) -> None:
        nonlocal steps
        steps += 1
        point[free] = entries
        if stop(point):
            raise StopIteration

    if stop(point):
        value, gradient = function(point)
        return Minimum(point, float(value), steepest_slope(point, gradient, free, 0.0), 0, 1), True
    options = {"maxiter": max_steps, "maxfun": 20 * max_steps, "gtol": tolerance, "ftol": 1e-11}
    try:
        minimize(function_of_free, best, jac=True, method="L-BFGS-B", callback=after_step, options=options)
    except LeftDomainError:
        finished = False
    point[free] = best
    steepest = float(np.abs(best_gradient).max(initial=0.0))
    return Minimum(point, best_value, steepest, steps, evaluations), finished
