"""What the coordinator makes of a sum of integers: moments of the columns in their own units."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dagora.errors import DataError
from dagora.parties.horizontal.plan.codebook import Codebook
from dagora.stats.statistics import Moments

# A standard deviation of fewer steps of the fixed point than this is not known well enough.
FEWEST_STEPS = 256


def read_moments(sums: NDArray[np.int64], codebook: Codebook, bits: int) -> Moments:
    """Means and scatter from the sums of `answers.moments`, in exact integers up to the last division."""
    columns = codebook.continuous
    d = len(columns)
    n = int(sums[0])
    if d == 0 or n == 0:
        return Moments(n, np.zeros(d), np.zeros((d, d)))
    first = sums[1 : d + 1].astype(object)
    second = np.zeros((d, d), dtype=object)
    second[np.triu_indices(d)] = sums[d + 1 :].astype(object)
    exact = second * n - np.triu(np.outer(first, first))
    steps = np.array([[math.sqrt(max(0, exact[i, i])) / n for i in range(d)]])[0]
    for coding, step in zip(columns, steps, strict=True):
        if 0 < step < FEWEST_STEPS:
            raise DataError(
                f"column '{coding.name}' varies by less than {FEWEST_STEPS / (1 << bits):.1g} of its range "
                f"from {coding.low:g} to {coding.high:g}: agree on a narrower range"
            )
    scatter = (exact / n).astype(np.float64)
    scatter = scatter + np.triu(scatter, 1).T
    unit = np.ldexp(np.array([coding.half_width for coding in columns]), -bits)
    centre = np.array([coding.centre for coding in columns])
    means = centre + unit * (first / n).astype(np.float64)
    with np.errstate(over="ignore"):  # the learner says which column is too large to be squared
        return Moments(n, means, scatter * unit[:, None] * unit)
