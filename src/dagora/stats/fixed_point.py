"""Numbers of a known range as integers, so that sums of them are exact and do not depend on their order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def quantise(values: NDArray[np.float64], low: float, high: float, bits: int) -> NDArray[np.int64]:
    """Distances from the centre of the range in units of half its width / 2^bits, to the nearest integer.

    What lies outside of the range is moved to its edge.

    >>> quantise(np.array([-1.0, 0.0, 1.0, 7.0]), -2.0, 2.0, 20)
    array([-524288,       0,  524288, 1048576])
    """
    # Halved before they are added or subtracted, so that no range overflows.
    centre, half_width = low / 2 + high / 2, high / 2 - low / 2
    with np.errstate(over="ignore"):
        scaled = np.clip((values - centre) / half_width, -1.0, 1.0)
    return np.rint(np.ldexp(scaled, bits)).astype(np.int64)
