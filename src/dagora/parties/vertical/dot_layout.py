"""The layout of dot products in ciphertexts that sends the fewest bytes.

A ciphertext has N = 4096 coefficients. With blocks of r = N/m rows, m plain columns stand side by side in one
polynomial, and one product gives m dot products: the key holder sends m times as many ciphertexts and gets
back up to m times fewer. With many rows m = 1 is best, with few rows a larger m. Both parties compute the
same layout from the number of rows and the pairs.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.parties.crypto.encryption.ring import DEGREE, PACKED
from dagora.parties.crypto.encryption.rlwe_products import ProductLayout


@dataclass(frozen=True, slots=True)
class Arrangement:
    """A layout, the left columns that are encrypted, and the pair of each result."""

    layout: ProductLayout
    left: NDArray[np.int64]
    pair: NDArray[np.int64]  # [results]
    blocks: int
    payload: int  # bytes, both ways


def arrange(rows: int, pairs: NDArray[np.int32]) -> Arrangement:
    """Return the cheapest arrangement for the dot products of these pairs of columns.

    >>> pairs = np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32)
    >>> [arrange(rows, pairs).layout.rows for rows in (10, 3000, 100_000)]
    [2048, 4096, 4096]
    """
    choices = (_arrange(rows, pairs, 1 << k) for k in range(9))
    return min(choices, key=lambda choice: choice.payload)


def _arrange(rows: int, pairs: NDArray[np.int32], columns_per_polynomial: int) -> Arrangement:
    per_block = DEGREE // columns_per_polynomial
    partners: dict[int, list[int]] = defaultdict(list)
    for number in np.lexsort((pairs[:, 1], pairs[:, 0])):
        partners[int(pairs[number, 0])].append(int(number))
    groups: dict[tuple[int, ...], int] = {}
    products: list[tuple[int, int]] = []
    results: list[tuple[int, int]] = []
    order: list[int] = []
    for i, numbers in enumerate(partners.values()):
        for start in range(0, len(numbers), columns_per_polynomial):
            some = numbers[start : start + columns_per_polynomial]
            group = tuple(int(pairs[number, 1]) for number in some)
            results += [(len(products), per_block * (j + 1) - 1) for j in range(len(some))]
            products.append((i, groups.setdefault(group, len(groups))))
            order += some
    table = np.full((len(groups), columns_per_polynomial), -1, dtype=np.int64)
    for group, index in groups.items():
        table[index, : len(group)] = group
    layout = ProductLayout(
        rows=per_block,
        columns=len(partners),
        groups=table,
        products=np.array(products, dtype=np.int64).reshape(-1, 2),
        results=np.array(results, dtype=np.int64).reshape(-1, 2),
    )
    blocks = -(-rows // per_block)
    payload = 4 * (PACKED * blocks * len(partners) + DEGREE * len(products) + len(pairs))
    return Arrangement(
        layout, np.array(list(partners), dtype=np.int64), np.array(order, dtype=np.int64), blocks, payload
    )
