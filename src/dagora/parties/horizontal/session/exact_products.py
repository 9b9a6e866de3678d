"""Sums of integers and of their products, with weights or without, exactly.

A weight times a value has up to 2b bits; it is split into two halves of b bits, so that sums of its products
with values fit into 64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Rows that are multiplied at a time: sums of products of halves, of at most 16 bits each, stay below 2⁵³.
BLOCK = 1 << 16


def numbers_in(columns: int, *, weighed: bool) -> int:
    """The length of the answer of `first_and_second` for so many columns."""
    return 1 + columns + (1 + weighed) * (columns * (columns + 1) // 2)


def first_and_second(
    numbers: NDArray[np.int64], bits: int, weights: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """The number of rows, the sums of columns of integers up to 2ᵇ, and of all products of two columns.

    With weights, each sum is weighed, and the products have an upper and a lower half.
    """
    d, n = numbers.shape
    if weights is not None:
        return _weighed(numbers, bits, weights)
    products = np.zeros((d, d), dtype=np.int64)
    for start in range(0, n, BLOCK):
        products += exact_products(numbers[:, start : start + BLOCK], bits)
    return np.concatenate([[n], numbers.sum(axis=1), products[np.triu_indices(d)]]).astype(np.int64)


def _weighed(numbers: NDArray[np.int64], bits: int, weights: NDArray[np.int64]) -> NDArray[np.int64]:
    d, n = numbers.shape
    first = np.zeros(d, dtype=np.int64)
    upper, lower = np.zeros((2, d, d), dtype=np.int64)
    for start in range(0, n, BLOCK):
        block = numbers[:, start : start + BLOCK]
        heavy = block * weights[start : start + BLOCK]
        first += heavy.sum(axis=1)
        high = heavy >> bits
        upper += exact_products(high, bits, block)
        lower += exact_products(heavy - (high << bits), bits, block)
    above = np.triu_indices(d)
    return np.concatenate([[weights.sum()], first, upper[above], lower[above]]).astype(np.int64)


def exact_products(
    numbers: NDArray[np.int64], bits: int, others: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Z Zᵀ (or Z Yᵀ) of integers up to 2ᵇ in size, exactly, by products of doubles.

    Each integer is split into two halves; the sum of their products over a block of rows is below 2⁵³.
    """
    half = bits // 2
    upper, lower = _halves(numbers, half)
    own_upper, own_lower = (upper, lower) if others is None else _halves(others, half)
    mixed = (upper @ own_lower.T).astype(np.int64)
    turned = mixed.T if others is None else (lower @ own_upper.T).astype(np.int64)
    whole = (upper @ own_upper.T).astype(np.int64) << (2 * half)
    result: NDArray[np.int64] = whole + ((mixed + turned) << half) + (lower @ own_lower.T).astype(np.int64)
    return result


def _halves(numbers: NDArray[np.int64], half: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    high = numbers >> half
    return high.astype(np.float64), (numbers - (high << half)).astype(np.float64)
