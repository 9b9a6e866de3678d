"""Moments of continuous columns as integers that are additive over rows and that one row moves little.

A row comes quantised: whole numbers z, |z| ≤ 2^bits, where 2^bits is half the range of a column. Let
u = z / 2^bits. A row longer than R (‖u‖² > R², the `row_bound`) is shrunk towards the centre to this length.
It then adds to the sum, in units of 1 / 2^20 and rounded,

    1,   √0.1 R u_i,   u_i²,   √2 u_i u_j (i < j)

whose sum of squares is at most 1 + 0.1 R⁴ + R⁴, before rounding. With √2, equal noise on all numbers is
isotropic noise on the matrix of products. All steps but one are in integers; that one is checked in integers.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Range = tuple[float, float]

GRID_BITS = 20  # rounding by 2⁻²¹ is small beside the 1 that every row adds
GRID = 1 << GRID_BITS
BITS = 20  # of a quantised value
# √2 and √0.1 from below: the bound on the squares holds for them too.
ROOT_BITS = 7
ROOT_TWO = 181
MEAN_BITS = 10
# Numbers of rows that are worked on at a time.
BLOCK_NUMBERS = 1 << 22


def feature_count(columns: int) -> int:
    """The number of released sums.

    >>> feature_count(20)
    231
    """
    return 1 + columns + columns * (columns + 1) // 2


def mean_weight(row_bound: Fraction) -> int:
    """√0.1 R from below, in units of 1 / 2^10."""
    return max(1, math.isqrt(math.floor(row_bound / 10 * 4**MEAN_BITS)))


def moment_sensitivity(columns: int, row_bound: Fraction) -> int:
    """The most that one row can move the sum, in units of the grid: a whole number that is no less than Δ.

    >>> from math import sqrt
    >>> moment_sensitivity(20, Fraction(10, 3)) / GRID, sqrt(1 + 1.1 * (10 / 3) ** 2)
    (3.63..., 3.63...)
    """
    weight = Fraction(mean_weight(row_bound), 2**MEAN_BITS)
    exact = 4**GRID_BITS * (1 + weight**2 * row_bound + row_bound**2)
    rounding = math.isqrt(feature_count(columns)) // 2 + 1  # each number is rounded by at most one half
    return math.isqrt(math.floor(exact)) + 1 + rounding


def moment_features(z: Integers, row_bound: float, bits: int = BITS) -> Integers:
    """The sum over the rows of `z` of their terms.

    >>> moment_features(np.array([[2**20, 0], [-(2**19), 2**19]]), row_bound=2.0) / GRID
    array([ 2.        ,  0.22314453,  0.22314453,  1.25      , -0.35351562,
            0.25      ])
    """
    total = np.zeros(feature_count(z.shape[1]), dtype=np.int64)
    block = max(1, BLOCK_NUMBERS // len(total))
    for start in range(0, len(z), block):
        total += row_features(z[start : start + block], row_bound, bits).sum(axis=0)
    return total


def row_features(z: Integers, row_bound: float, bits: int = BITS) -> Integers:
    """The terms that each row adds to the sum."""
    if bits > BITS:
        raise ValueError(f"a row of more than {BITS} bits can overflow")
    exact = Fraction(row_bound)
    short = shorten(z.astype(np.int64), math.floor(exact * 4**bits))
    i, j = np.triu_indices(z.shape[1])
    weights = np.where(i == j, 1 << ROOT_BITS, ROOT_TWO)
    products = divide(short[:, i] * short[:, j] * weights, 2 * bits + ROOT_BITS - GRID_BITS)
    means = divide(short * mean_weight(exact), bits + MEAN_BITS - GRID_BITS)
    ones = np.full((len(z), 1), GRID, dtype=np.int64)
    return np.concatenate([ones, means, products], axis=1)


def shorten(z: Integers, square: int) -> Integers:
    """Shrink rows whose sum of squares is above `square` until it is not.

    >>> shorten(np.array([[3, 4], [6, -8]]), 25)
    array([[ 3,  4],
           [ 3, -4]])
    """
    lengths = (z * z).sum(axis=1)
    long = np.flatnonzero(lengths > square)
    short = z.copy()
    factors = np.sqrt(square / lengths[long].astype(np.float64))
    short[long] = np.trunc(z[long] * factors[:, None]).astype(np.int64)
    while len(long := np.flatnonzero((short * short).sum(axis=1) > square)):  # rounding of the factor
        short[long] -= np.sign(short[long])
    return short


def divide(values: Integers, bits: int) -> Integers:
    """Divide by 2^bits, rounded to the nearest whole number.

    >>> divide(np.array([5, 6, -6, 7]), 2)
    array([ 1,  2, -1,  2])
    """
    if bits <= 0:
        return values << -bits
    return (values + (1 << (bits - 1))) >> bits
