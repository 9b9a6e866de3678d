"""A parent's kernel in its basis, C(ρ), and its derivatives in log ρ, from Chebyshev series: for kernels.

`compression.covariances` computes the same for many points at once.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import borrowing
from dagora.scores.gp.points.compression import LONG, NODES
from dagora.scores.gp.points.placing import LOG_2, LOG_LONG
from dagora.scores.gp.points.room import ONCE, PLAIN, TWICE
from dagora.scores.gp.points.row_steps import clear, combine

Array = NDArray[np.float64]


@borrowing
def chebyshev(cell: int, log_scale: float, rows: Array) -> None:
    """Chebyshev polynomials of a length-scale's position in its cell, and derivatives in log ρ, in `rows`."""
    plain, once, twice = rows[PLAIN], rows[ONCE], rows[TWICE]
    if cell == 0:
        position = 2 * LONG * LONG * math.exp(-2 * log_scale) - 1
    else:
        position = (log_scale - LOG_LONG + (cell - 0.5) * LOG_2) * (2 / LOG_2)
    position = min(max(position, -1.0), 1.0)
    plain[0], plain[1] = 1.0, position
    once[0], once[1] = 0.0, 1.0
    twice[0], twice[1] = 0.0, 0.0
    for k in range(2, NODES):
        plain[k] = 2 * position * plain[k - 1] - plain[k - 2]
        once[k] = 2 * plain[k - 1] + 2 * position * once[k - 1] - once[k - 2]
        twice[k] = 4 * once[k - 1] + 2 * position * twice[k - 1] - twice[k - 2]
    # The position of a long length-scale is 2 LONG²/ρ² − 1, and its derivative in log ρ is −2 (position + 1).
    slope = -2 * (position + 1) if cell == 0 else 2 / LOG_2
    bend = 4 * (position + 1) if cell == 0 else 0.0
    for k in range(NODES):
        twice[k] = twice[k] * slope * slope + once[k] * bend
        once[k] *= slope


@borrowing
def kernel_matrix(
    pool: Array, at: int, rank: int, weights: Array, into: Array, start: int, width: int
) -> None:
    """The upper triangle of C(ρ), or of a derivative, from its Chebyshev series."""
    for a in range(rank):
        clear(into, start + a * width + a, rank - a)
        combine(
            into,
            start + a * width + a,
            rank - a,
            1.0,
            weights,
            0,
            1,
            pool,
            at + a * rank + a,
            rank * rank,
            NODES,
        )
