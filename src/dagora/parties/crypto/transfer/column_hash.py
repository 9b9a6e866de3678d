"""A universal hash of columns of bits in GF(2¹²⁸), linear in the column, for `checked_transfer`.

A column of bits, cut into blocks c_1, …, c_m, c_last of 128, is hashed under a key χ to

    c_1 χ^m + c_2 χ^(m − 1) + … + c_m χ + c_last

in GF(2)[x] / (x¹²⁸ + x⁷ + x² + x + 1), with bit k of a block the coefficient of x^k. A column that is not
zero hashes to zero for at most m of the 2¹²⁸ keys, and whoever does not know c_last learns nothing from a
hash.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel

Words = NDArray[np.uint64]

BLOCK_BITS = 128  # an element of GF(2¹²⁸)
BLOCK_WORDS = BLOCK_BITS // 64
REDUCTION = 0x87  # x⁷ + x² + x + 1, which is x¹²⁸


def padded_words(rows: int) -> int:
    """Words of a column of so many bits, filled up to whole blocks, and one block more.

    >>> padded_words(1), padded_words(128), padded_words(129)
    (4, 4, 6)
    """
    return BLOCK_WORDS * (-(-rows // BLOCK_BITS) + 1)


def hash_columns(columns: Words, key: bytes) -> Words:
    """Hashes [columns, 2] of columns of whole blocks, under a key of 16 bytes.

    >>> column = np.array([[3, 0, 5, 0]], dtype=np.uint64)  # (x + 1) χ + x² + 1
    >>> hash_columns(column, (2).to_bytes(16, "little")).tolist()  # χ = x
    [[3, 0]]
    """
    if columns.ndim != 2 or columns.shape[1] % BLOCK_WORDS or not columns.shape[1]:
        raise ValueError(f"columns of shape {columns.shape} are not whole blocks")
    return evaluate_blocks(np.ascontiguousarray(columns), multiples(int.from_bytes(key, "little")))


def multiples(element: int) -> Words:
    """The products of an element of the field with 1, x, …, x¹²⁷."""
    result = np.empty((BLOCK_BITS, BLOCK_WORDS), dtype=np.uint64)
    for power in range(BLOCK_BITS):
        result[power] = element & (2**64 - 1), element >> 64
        element <<= 1
        if element >> BLOCK_BITS:
            element ^= 1 << BLOCK_BITS | REDUCTION
    return result


@kernel
def evaluate_blocks(columns: Words, key_multiples: Words) -> Words:
    """Horner's rule for each column."""
    result = np.empty((columns.shape[0], 2), dtype=np.uint64)
    last = columns.shape[1] - 2
    one, zero = np.uint64(1), np.uint64(0)
    for i in range(columns.shape[0]):
        low, high = zero, zero
        for block in range(0, last, 2):
            a, b = low ^ columns[i, block], high ^ columns[i, block + 1]
            low, high = zero, zero
            for k in range(64):
                first = zero - (a >> np.uint64(k) & one)
                second = zero - (b >> np.uint64(k) & one)
                low ^= (key_multiples[k, 0] & first) ^ (key_multiples[64 + k, 0] & second)
                high ^= (key_multiples[k, 1] & first) ^ (key_multiples[64 + k, 1] & second)
        result[i, 0] = low ^ columns[i, last]
        result[i, 1] = high ^ columns[i, last + 1]
    return result
