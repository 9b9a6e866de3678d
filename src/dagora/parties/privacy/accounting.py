"""The cost of noise: concentrated differential privacy (zCDP) with parameter ρ, reported as (ε, δ).

Gaussian noise of variance σ² on each of several numbers, which one person can move by at most Δ in all
(Euclidean length), costs ρ = Δ² / 2σ² (Bun & Steinke 2016). Several releases cost the sum of their ρ, which
implies (ε, δ) for every δ (Canonne, Kamath & Steinke 2020, proposition 12):

    δ = min over α > 1 of  exp((α − 1)(αρ − ε)) (1 − 1/α)^α / (α − 1)

A sum of discrete Gaussians of several sites is not itself one; this costs at most `excess` per number
(Kairouz, Liu & Steinke 2021), which is below 10⁻¹⁴ where every site's σ is 2 or more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache

from dagora.base.errors import OptionError

SMALLEST_SITE_VARIANCE = 4  # the excess is then below 10⁻¹⁴
# Twice as many bisections are made, more than a double has bits.
HALVINGS = 60
LARGEST_RHO = 1e4  # far above the ρ of the largest ε (100) and δ (10⁻³) allowed


def total_rho(parts: Iterable[float]) -> float:
    """The cost of several releases of the same rows.

    >>> total_rho([0.0244, 0.0244])
    0.0488
    """
    return math.fsum(parts)


def delta_of(rho: float, epsilon: float) -> float:
    """The δ that goes with ρ and ε.

    >>> round(delta_of(0.0244, 1.0), 8)
    1.02e-06
    """
    if rho <= 0:
        return 0.0

    def log_delta(log_excess: float) -> float:
        excess = math.exp(log_excess)  # α − 1
        alpha = 1 + excess
        return excess * (alpha * rho - epsilon) + alpha * math.log(excess / alpha) - log_excess

    return math.exp(min(0.0, smallest(log_delta, -30.0, 30.0)))


def smallest(function: Callable[[float], float], low: float, high: float) -> float:
    """The smallest value of a function that falls and then rises; any other value is a valid δ too."""
    golden = (math.sqrt(5) - 1) / 2
    for _ in range(2 * HALVINGS):
        left, right = high - golden * (high - low), low + golden * (high - low)
        if function(left) <= function(right):
            high = right
        else:
            low = left
    return function((low + high) / 2)


@cache
def rho_of(epsilon: float, delta: float) -> float:
    """The largest ρ that implies (ε, δ).

    >>> [round(rho_of(epsilon, 1e-6), 4) for epsilon in (0.5, 1, 2, 4, 8)]
    [0.0066, 0.0244, 0.0882, 0.3111, 1.0524]
    """
    low, high = 1e-30, LARGEST_RHO
    for _ in range(2 * HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if delta_of(middle, epsilon) <= delta else (low, middle)
    return low


def excess(site_variance: Fraction, sites: int) -> float:
    """τ: the most that the sum of the sites' discrete Gaussians costs beyond one Gaussian, for each number.

    >>> excess(Fraction(4), 64) < 1e-14, excess(Fraction(1), 1)
    (True, 0.0)
    """
    variance = float(site_variance)
    return 10 * math.fsum(math.exp(-2 * math.pi**2 * variance * k / (k + 1)) for k in range(1, sites))


def require_wide_noise(site_variance: Fraction) -> None:
    """Refuse noise so narrow that a sum of it is not close to Gaussian."""
    if site_variance < SMALLEST_SITE_VARIANCE:
        raise OptionError(
            f"each site would add noise of standard deviation {math.sqrt(site_variance):.2g}, less than 2, "
            "which is too narrow to be summed safely: choose a smaller epsilon"
        )
