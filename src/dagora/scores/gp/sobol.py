"""Scrambled Sobol nets: points that fill the unit cube more evenly than random ones.

Direction numbers are those of Joe & Kuo 2008, "Constructing Sobol sequences with better two-dimensional
projections". A net is scrambled by random lower triangles that multiply its bits, and by a random shift
(Matoušek 1998). The points are those of `scipy.stats.qmc.Sobol`, to the last bit; for few dimensions they are
made here, because loading `scipy.stats` takes longer than scoring a small table.
"""

from __future__ import annotations

from functools import lru_cache
from math import log2

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Bits = NDArray[np.uint32]

BITS = 30  # as in scipy
SEED = 2023  # any would do; a fixed one makes the score deterministic
# Per dimension after the first a primitive polynomial, as bits, and as many first direction numbers as its
# degree.
DIRECTIONS = (
    (3, (1,)),
    (7, (1, 3)),
    (11, (1, 3, 1)),
    (13, (1, 1, 1)),
    (19, (1, 1, 3, 3)),
    (25, (1, 3, 5, 13)),
    (37, (1, 1, 5, 5, 17)),
    (41, (1, 1, 5, 5, 5)),
    (47, (1, 1, 7, 11, 19)),
    (55, (1, 1, 5, 1, 1)),
    (59, (1, 1, 1, 3, 11)),
    (61, (1, 3, 5, 5, 31)),
    (67, (1, 3, 3, 9, 7, 49)),
    (91, (1, 1, 1, 15, 21, 21)),
    (97, (1, 3, 1, 13, 27, 49)),
    (103, (1, 1, 1, 15, 7, 5)),
)


@lru_cache(maxsize=64)
def sobol_net(size: int, points: int, draw: int) -> Array:
    """A scrambled net of so many points, a power of two, in [0, 1)^size; another one for each `draw`."""
    rng = np.random.default_rng([SEED, draw])
    if size > 1 + len(DIRECTIONS):
        from scipy.stats.qmc import Sobol

        far: Array = Sobol(size, scramble=True, rng=rng).random_base2(int(log2(points)))
        return far
    return scrambled_net(size, points, rng)


def scrambled_net(size: int, points: int, rng: np.random.Generator) -> Array:
    """A scrambled net of at most 17 dimensions.

    >>> scrambled_net(2, 4, np.random.default_rng(0)).round(3).tolist()
    [[0.41, 0.964], [0.722, 0.108], [0.905, 0.529], [0.217, 0.414]]
    """
    rng = rng.spawn(1)[0]  # as scipy does
    powers = np.uint32(1) << np.arange(BITS, dtype=np.uint32)
    shift = rng.integers(2, size=(size, BITS), dtype=np.uint32) @ powers
    triangles = np.tril(rng.integers(2, size=(size, BITS, BITS), dtype=np.uint32))
    triangles[:, np.arange(BITS), np.arange(BITS)] = 1
    # The highest bit first, as the triangles are; direction numbers are columns.
    down = np.arange(BITS - 1, -1, -1, dtype=np.uint32)
    bits = (directions(size)[:, None, :] >> down[:, None]) & 1
    scrambled = (((triangles @ bits) & 1) << down[:, None]).sum(axis=1, dtype=np.uint32)
    numbers = np.arange(points, dtype=np.uint32)
    codes = numbers ^ (numbers >> np.uint32(1))
    net = np.tile(shift, (points, 1))
    for bit in range(int(log2(points))):
        net[(codes >> np.uint32(bit)) & 1 == 1] ^= scrambled[:, bit]
    filled: Array = net * 2.0**-BITS
    return filled


def directions(size: int) -> Bits:
    """Direction numbers of each dimension, by the recurrences of their polynomials."""
    found = np.ones((size, BITS), dtype=np.uint32)
    for numbers, (polynomial, first) in zip(found[1:], DIRECTIONS, strict=False):
        degree = len(first)
        numbers[:degree] = first
        for k in range(degree, BITS):
            new = int(numbers[k - degree])
            for back in range(1, degree + 1):
                if polynomial >> (degree - back) & 1:
                    new ^= int(numbers[k - back]) << back
            numbers[k] = new
    found <<= np.arange(BITS - 1, -1, -1, dtype=np.uint32)
    return found
