"""Gradient and Hessian of a smooth function by central differences, all points in one call.

A point next to which the function is not finite counts as outside: −∞, with no slope.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Balances the cut-off error, step² times a fourth derivative, with rounding, 1e-9 over step².
STEP = 5e-3


def slopes(function: Callable[[Array], Array], point: Array) -> tuple[float, Array]:
    """Value and gradient.

    >>> value, gradient = slopes(lambda x: (x**2).sum(axis=1), np.array([1.0, 2.0]))
    >>> gradient.round(6)
    array([2., 4.])
    """
    size = len(point)
    steps = STEP * np.eye(size)
    values = function(point + np.vstack([np.zeros((1, size)), steps, -steps]))
    if not np.isfinite(values).all():
        return -np.inf, np.zeros(size)
    return float(values[0]), (values[1 : size + 1] - values[size + 1 :]) / (2 * STEP)


def differences(function: Callable[[Array], Array], point: Array) -> tuple[float, Array, Array]:
    """Value, gradient and Hessian.

    >>> _, _, hessian = differences(lambda x: x[:, 0] * x[:, 1] + x[:, 0] ** 2, np.array([1.0, 2.0]))
    >>> (hessian + 0.0).round(6)
    array([[2., 1.],
           [1., 0.]])
    """
    size = len(point)
    steps = STEP * np.eye(size)
    first, second = np.triu_indices(size, 1)
    both = steps[first] + steps[second]
    values = function(point + np.vstack([np.zeros((1, size)), steps, -steps, both, -both]))
    if not np.isfinite(values).all():
        return -np.inf, np.zeros(size), -np.eye(size)
    middle, up, down = values[0], values[1 : size + 1], values[size + 1 : 2 * size + 1]
    sums, pairs = up + down - 2 * middle, len(first)
    mixed = values[2 * size + 1 : 2 * size + 1 + pairs] + values[2 * size + 1 + pairs :] - 2 * middle
    hessian = np.diag(sums)
    hessian[first, second] = hessian[second, first] = (mixed - sums[first] - sums[second]) / 2
    return float(middle), (up - down) / (2 * STEP), hessian / STEP**2
