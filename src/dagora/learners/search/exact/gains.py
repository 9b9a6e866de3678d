"""The unit in which solvers see gains: scores less the best score of each child."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

# Gains are rescaled unless the largest one is in this range.
USUAL = (1.0, 1e9)


def unit_of(gains: NDArray[np.float64]) -> float:
    """A unit in which gains have a usual magnitude, as a solver's tolerances and its infinity are absolute.

    >>> unit_of(np.array([-3.5, -1000.0])), unit_of(np.array([-(2.0**100)])), unit_of(np.zeros(1))
    (1.0, 1.2379400392853803e+27, 1.0)
    """
    largest = float(np.abs(gains).max(initial=0.0))
    if largest == 0.0 or USUAL[0] <= largest <= USUAL[1]:
        return 1.0
    return 2.0 ** (math.floor(math.log2(largest)) - 10)
