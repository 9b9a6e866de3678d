"""What the coordinator makes of a sum of integers: moments of the columns in their own units."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.parties.horizontal.plan.codebook import Codebook, Coding
from dagora.stats.basis import BasisMoments
from dagora.stats.indicators import IndicatorMoments, feature_starts
from dagora.stats.statistics import Moments

# A standard deviation of fewer steps of the fixed point than this is not known well enough.
FEWEST_STEPS = 256


def read_moments(sums: NDArray[np.int64], codebook: Codebook, bits: int) -> Moments:
    """Means and scatter of the columns in their own units, from the sums of `answers.moments`."""
    columns = codebook.continuous
    return in_own_units(scaled_moments(sums, len(columns), bits), columns, bits)


def in_own_units(scaled: Moments, columns: Sequence[Coding], bits: int) -> Moments:
    """Moments of columns in their units, from those of numbers in [−1, 1]."""
    check_ranges(scaled, columns, bits)
    width = np.array([coding.half_width for coding in columns])
    centre = np.array([coding.centre for coding in columns])
    with np.errstate(over="ignore", invalid="ignore"):  # callers refuse moments that are not finite
        return Moments(scaled.n, centre + width * scaled.mean, scaled.scatter * np.outer(width, width))


def read_lagged_moments(sums: NDArray[np.int64], codebook: Codebook, bits: int, lags: int) -> Moments:
    """Moments of windows of time in the columns' own units, from the sums of `answers.lagged`."""
    columns = codebook.continuous * (lags + 1)
    return in_own_units(scaled_moments(sums, len(columns), bits), columns, bits)


def read_basis_moments(
    sums: NDArray[np.int64], codebook: Codebook, bits: int, functions: int
) -> BasisMoments:
    """Moments of basis functions, from the sums of `answers.basis_moments`."""
    columns = codebook.continuous
    scaled = scaled_moments(sums, len(columns) * functions, bits)
    own = Moments(scaled.n, scaled.mean[::functions], scaled.scatter[::functions, ::functions])
    check_ranges(own, columns, bits)
    centre, width = (
        np.array([getattr(coding, part) for coding in columns]) for part in ("centre", "half_width")
    )
    return BasisMoments(functions, centre, width, scaled)


def read_indicator_moments(sums: NDArray[np.int64], codebook: Codebook, bits: int) -> IndicatorMoments:
    """Moments of the widened table, from the sums of `answers.indicator_moments`."""
    starts = feature_starts(codebook.schema)
    scaled = scaled_moments(sums, int(starts[-1]), bits)
    numbers = starts[:-1][codebook.schema.cardinalities == 0]
    own = Moments(scaled.n, scaled.mean[numbers], scaled.scatter[np.ix_(numbers, numbers)])
    check_ranges(own, codebook.continuous, bits)
    return IndicatorMoments(scaled, starts)


def scaled_moments(sums: NDArray[np.int64], size: int, bits: int) -> Moments:
    """Moments of numbers in [−1, 1] from sums of integers, exact up to the last division."""
    n = int(sums[0])
    if size == 0 or n == 0:
        return Moments(n, np.zeros(size), np.zeros((size, size)))
    first = sums[1 : size + 1].astype(object)
    second = np.zeros((size, size), dtype=object)
    second[np.triu_indices(size)] = sums[size + 1 :].astype(object)
    exact = second * n - np.triu(np.outer(first, first))
    scatter = (exact / n).astype(np.float64)
    scatter = np.ldexp(scatter + np.triu(scatter, 1).T, -2 * bits)
    return Moments(n, np.ldexp((first / n).astype(np.float64), -bits), scatter)


def check_ranges(scaled: Moments, columns: Sequence[Coding], bits: int) -> None:
    """Refuse columns that vary by only a few steps of the fixed point."""
    finest = FEWEST_STEPS / (1 << bits)
    spread = np.sqrt(np.maximum(np.diag(scaled.scatter), 0.0) / max(1, scaled.n))
    for coding, deviation in zip(columns, spread, strict=True):
        if 0 < deviation < finest:
            raise DataError(
                f"column '{coding.name}' varies by less than {finest:.1g} of its range from {coding.low:g} "
                f"to {coding.high:g}: agree on a narrower range"
            )
