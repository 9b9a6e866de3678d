"""Floats as digits of base 2^20, so that sums of their products are exact whatever their order.

Every float is a sum of digits d_w · 2^(20 w) with whole numbers |d_w| ≤ 2^19; the positions w are the same
for all floats, so rows that are summed elsewhere have the same digits. A product of two digits is at most
2^38, and the sum of 2^14 of them is below 2^53: a product of matrices of digits is exact in floats, in any
order of its terms. (The idea is that of Ozaki, Ogita, Oishi & Rump 2012.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError

Floats = NDArray[np.float64]
# Digits of a row of features by position; a feature without a digit there has 0.
Digits = dict[int, Floats]

BITS = 20


def digits_of(values: Floats) -> Digits:
    """Digits of an array of floats.

    >>> found = digits_of(np.array([1.0, 2.0**20 + 0.5]))
    >>> {place: digits.tolist() for place, digits in found.items()}
    {1: [0.0, 1.0], 0: [1.0, 0.0], -1: [0.0, 524288.0]}
    """
    largest = float(np.abs(values).max(initial=0.0))
    if not np.isfinite(largest):
        raise DataError("a value is not finite: sums of it mean nothing")
    found: Digits = {}
    rest = values.copy()
    place = np.frexp(largest)[1] // BITS + 1
    while rest.any():
        digits = np.rint(np.ldexp(rest, -BITS * place))
        if digits.any():
            found[int(place)] = digits
            rest -= np.ldexp(digits, BITS * place)
        place -= 1
    return found


def squares_of(digits: Digits) -> Digits:
    """Digits of the squares of numbers with these digits.

    >>> {place: found.tolist() for place, found in squares_of({0: np.array([1025.0, 3.0])}).items()}
    {0: [2049.0, 9.0], 1: [1.0, 0.0]}
    """
    sums: dict[int, Floats] = {}
    for one, left in digits.items():
        for other, right in digits.items():
            sums[one + other] = sums.get(one + other, 0.0) + left * right  # below 2^53 for 2^15 pairs
    return carry(sums)


def carry(sums: dict[int, Floats]) -> Digits:
    """Digits of numbers of which too much stands at each position."""
    found: Digits = {}
    place, over = min(sums, default=0), np.zeros(())
    while place <= max(sums, default=-1) or np.any(over):
        total = sums.get(place, 0.0) + over
        over = np.rint(np.ldexp(total, -BITS))
        rest = np.asarray(total - np.ldexp(over, BITS))
        if rest.any():
            found[place] = rest
        place += 1
    return found
