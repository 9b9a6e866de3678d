"""What is left of the covariance of two columns when others are given."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import inlined
from dagora.scores.gaussian import COLLINEAR


@inlined
def eliminate_others(block: NDArray[np.float64], size: int) -> None:
    """Eliminate all rows but 0 and 1 from the lower triangle of the first `size` rows, the last one first.

    >>> block = np.array([[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.5, 1.0, 1.0]])
    >>> eliminate_others(block, 3)
    >>> block[1, 0], block[0, 0], block[1, 1]
    (np.float64(0.0), np.float64(0.75), np.float64(0.0))
    """
    for last in range(size - 1, 1, -1):
        pivot = block[last, last]
        # A column that depends on the others explains nothing further.
        if pivot <= COLLINEAR:
            continue
        for a in range(last):
            factor = block[last, a] / pivot
            for b in range(a + 1):
                block[a, b] -= factor * block[last, b]
