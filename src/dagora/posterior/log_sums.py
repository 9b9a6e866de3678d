"""Sums of weights that are known by their logarithms: of two weights, and over all subsets of a set."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel


@kernel
def add_logs(one: float, other: float) -> float:
    """ln(e^one + e^other), also where one of them or both are −∞."""
    low, high = min(one, other), max(one, other)
    if low == -np.inf:
        return high
    return float(high + np.log1p(np.exp(low - high)))


@kernel
def sum_over_subsets(logs: NDArray[np.float64]) -> None:
    """Replace the log weight at every mask by the log of the sum over all its submasks (zeta transform).

    With the weights a, b, c, d at the masks 00, 01, 10, 11 the first bit leaves a, a + b, c, c + d, and the
    second a, a + b, a + c, a + b + c + d.

    >>> logs = np.log([1.0, 2.0, 4.0, 8.0])
    >>> sum_over_subsets(logs)
    >>> np.exp(logs).round(6)
    array([ 1.,  3.,  5., 15.])
    """
    bit = 1
    while bit < len(logs):
        for mask in range(len(logs)):
            if mask & bit:
                logs[mask] = add_logs(logs[mask], logs[mask ^ bit])
        bit <<= 1
