"""Sums of numbers that are known by their logarithms."""

from __future__ import annotations

import numpy as np

from dagora.compiled import kernel


@kernel
def add_logs(one: float, other: float) -> float:
    """ln(e^one + e^other), also where one of them or both are −∞."""
    low, high = min(one, other), max(one, other)
    if low == -np.inf:
        return high
    return float(high + np.log1p(np.exp(low - high)))
