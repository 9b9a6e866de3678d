"""Sums of products of up to four columns, which give robust standard errors of any regression among them.

Σ e² (x − x̄)(x − x̄)ᵀ is linear in these sums, whatever the coefficients are. So the question has no parameter
besides its columns: a coordinator cannot choose coefficients for which one row stands out.

With z the integers of `coded_rows` and 1 as 2ᵇ, the product of two has at most 2b bits; it is split into two
halves of b bits, and the product of four is three integers of at most 2b + 1 bits. All of it is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, permutations
from math import comb

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import ProtocolError
from dagora.parties.horizontal.plan.coded_rows import CodedRows
from dagora.stats.statistics import Moments

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

LIMBS = 3
BLOCK = 1 << 14
IMPOSSIBLE = "the sums are not those of rows: a site was told something else, or sent a wrong answer"
MOST_COLUMNS = 20
"""Columns of a regression over sites: 10,626 sums."""


def number_of_sums(columns: int) -> int:
    """Products of up to four of so many columns.

    >>> number_of_sums(3), number_of_sums(20)
    (35, 10626)
    """
    return comb(columns + 4, 4)


def fourth_sums(rows: CodedRows, sets: Sequence[tuple[int, ...]]) -> Integers:
    """Sums of products of up to four columns of each set; columns are counted among the continuous ones."""
    parts = [_sums_of(rows.numbers[list(columns)], rows.bits) for columns in sets]
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


def _sums_of(numbers: Integers, bits: int) -> Integers:
    listed = list(combinations_with_replacement(range(len(numbers) + 1), 4))
    total = np.zeros((len(listed), LIMBS), dtype=np.int64)
    for start in range(0, numbers.shape[1], BLOCK):
        block = numbers[:, start : start + BLOCK]
        columns = np.concatenate([np.full((1, block.shape[1]), 1 << bits), block])
        halves = {}
        for first, second in combinations_with_replacement(range(len(columns)), 2):
            product = columns[first] * columns[second]
            halves[first, second] = product >> bits, product & ((1 << bits) - 1)
        for place, (a, b, c, d) in enumerate(listed):
            (high, low), (other_high, other_low) = halves[a, b], halves[c, d]
            total[place, 0] += high @ other_high
            total[place, 1] += high @ other_low + low @ other_high
            total[place, 2] += low @ other_low
    return total.ravel()


def rows_of_fourth(sums: Integers, bits: int) -> int:
    """The number of rows, which the first sum has: that of 1⁴."""
    return int(sums[0]) >> 2 * bits


@dataclass(frozen=True, eq=False)
class FourthSums:
    """The sums of the coded integers, exactly, `[a, b, c, d]`; index 0 stands for the number 1.

    >>> columns = np.array([[3, 1], [2, 2]])
    >>> FourthSums.read(_sums_of(columns, bits=2), 2, bits=2).lower().tolist()
    [2, 4, 4, 10, 8, 8]
    """

    sums: NDArray[np.object_]
    bits: int

    @classmethod
    def read(cls, sums: Integers, columns: int, bits: int) -> FourthSums:
        """Put the integers of a sum over all sites together."""
        whole = np.zeros((columns + 1,) * 4, dtype=object)
        limbs = sums.reshape(-1, LIMBS).tolist()
        for place, (first, second, third) in zip(
            combinations_with_replacement(range(columns + 1), 4), limbs, strict=True
        ):
            value = (first << 2 * bits) + (second << bits) + third
            for order in set(permutations(place)):
                whole[order] = value
        return cls(whole, bits)

    def lower(self) -> Integers:
        """The number of rows, the sums, and the products of two, as the question `moments` has them."""
        first = self.sums[0, 0, 0]
        second = self.sums[0, 0][np.triu_indices(len(first))][len(first) :]
        one = [int(first[0]) >> 4 * self.bits, *(int(value) >> 3 * self.bits for value in first[1:])]
        numbers = [*one, *(int(value) >> 2 * self.bits for value in second)]
        if any(not -(1 << 63) <= number < 1 << 63 for number in numbers):
            raise ProtocolError(IMPOSSIBLE)
        return np.array(numbers, dtype=np.int64)

    def check_range(self) -> None:
        """Refuse sums that no numbers up to 2ᵇ in size have: Σ z²w² is at least 0 and at most Σ (2ᵇw)²."""
        squares = np.einsum("aabb->ab", self.sums)
        if not ((squares >= 0) & (squares <= squares[0])).all():
            raise ProtocolError(IMPOSSIBLE)

    def central(self) -> Array:
        """Sums of products of four deviations from the means, where z is in [−1, 1]; index 0 stands for 1."""
        lower = self.lower()
        n, columns = int(lower[0]), len(self.sums) - 1
        first = [int(value) for value in lower[1 : columns + 1]]
        near = [round(value / n) for value in first]  # exact sums of small deviations, then the rest
        moved = self.sums
        for axis in range(4):
            moved = np.moveaxis(moved, axis, 0).copy()
            for place, value in enumerate(near):
                moved[place + 1] = moved[place + 1] - value * (moved[0] >> self.bits)
            moved = np.moveaxis(moved, 0, axis)
        found = np.array([int(value) / (1 << 4 * self.bits) for value in moved.ravel()]).reshape(moved.shape)
        rest = [(value / n - whole) / (1 << self.bits) for value, whole in zip(first, near, strict=True)]
        for axis in range(4):
            found = np.moveaxis(found, axis, 0).copy()
            for place, left in enumerate(rest):
                found[place + 1] -= left * found[0]
            found = np.moveaxis(found, 0, axis)
        return found


@dataclass(frozen=True, eq=False)
class FourthMoments:
    """Moments of some columns in their own units, and sums of products of four deviations from the means."""

    moments: Moments
    fourth: Array
