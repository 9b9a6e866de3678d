"""The other party's side of lattice dot products: ciphertexts times plain columns, masked results out.

It works on one block of rows after the other, so that memory holds the sums of the products (48 kB each) and
eight blocks of columns, whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.parties.crypto.encryption.ring import DEGREE, PRIMES, Words, tables, to_values
from dagora.parties.crypto.encryption.ring_samples import RandomBytes, errors, public_values, ternary
from dagora.parties.crypto.encryption.rlwe import RlwePublicKey, flood_bits, scaling, unpack_polynomial
from dagora.parties.crypto.encryption.rlwe_kernels import (
    LAZY,
    FreshZero,
    add_coefficients,
    add_products,
    blinding,
    finish_constants,
    freshen,
)

FRESH_AT_ONCE = 64  # products of one message: 1 MB of c₁


@dataclass(frozen=True, slots=True)
class ProductLayout:
    """The products to form, and the positions of the results in them.

    A plain polynomial carries up to N/rows columns, the j-th from x^{j·rows} on; −1 leaves a place empty. A
    result (product, position) is coefficient `position` of that product. Both are sorted by product.
    """

    rows: int
    columns: int  # encrypted ones
    groups: NDArray[np.int64]  # [polynomials, N/rows]: plain columns
    products: NDArray[np.int64]  # [products, 2]: encrypted column, plain polynomial
    results: NDArray[np.int64]  # [results, 2]: product, position

    def messages(self) -> Iterator[tuple[slice, slice]]:
        """Products whose results go back in one message, and these results."""
        for first in range(0, len(self.products), FRESH_AT_ONCE):
            last = min(first + FRESH_AT_ONCE, len(self.products))
            low, high = np.searchsorted(self.results[:, 0], (first, last)).tolist()
            yield slice(first, last), slice(low, high)


@dataclass(frozen=True, slots=True)
class Fresh:
    """Results for the key holder: the linear part c₁ of each product, and one constant per result."""

    constants: Words
    linear: Words


class ProductSums:
    """Sums of products over blocks of rows, and their masked, re-randomised, flooded results.

    `first` is the number, counted from 1, of the first block that the key holder encrypts for it. Raises
    `ValueError` if the public key is invalid.
    """

    def __init__(
        self,
        public: RlwePublicKey,
        layout: ProductLayout,
        plain_bits: int,
        stream: RandomBytes,
        *,
        first: int = 1,
    ) -> None:
        self._public = public
        self._zero = public.zero()
        self._layout = layout
        self._plain_bits = plain_bits
        self._stream = stream
        self._next = first
        self._linear = np.zeros((len(layout.products), len(PRIMES), DEGREE), dtype=np.uint32)
        self._constants = np.zeros((len(layout.results), len(PRIMES)), dtype=np.uint64)
        self._where = np.concatenate((layout.products[layout.results[:, 0]], layout.results[:, 1:]), axis=1)
        self._uniform = np.empty((LAZY, layout.columns, len(PRIMES), DEGREE), dtype=np.uint32)
        self._plain = np.empty((LAZY, len(layout.groups), len(PRIMES), DEGREE), dtype=np.uint32)
        self._waiting = 0

    def add(self, packed: Words, bits: NDArray[np.uint8]) -> None:
        """Add one block: encrypted columns uint32[columns, 11520] and plain bits uint8[columns, ≤ rows].

        Raises `ValueError` if these are not ciphertexts.
        """
        constants = np.stack([unpack_polynomial(row) for row in packed])
        for i in range(len(packed)):
            self._uniform[self._waiting, i] = public_values(self._public.seed, self._next + i)
        self._next += len(packed)
        plain = self._place(bits)
        masks = np.ascontiguousarray(-plain[:, ::-1].astype(np.int32)).view(np.uint32)
        add_coefficients(constants, masks, self._where, tables().primes, self._constants)
        thrice = np.repeat(plain[:, None].astype(np.uint32), len(PRIMES), axis=1)
        self._plain[self._waiting] = to_values(thrice, in_montgomery_form=True)
        self._waiting += 1
        if self._waiting == LAZY:
            self._multiply()

    def _place(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        layout = self._layout
        room = np.zeros((*layout.groups.shape, layout.rows), dtype=np.uint8)
        reversed_rows = room[:, :, ::-1]
        filled = layout.groups >= 0
        reversed_rows[filled, : bits.shape[1]] = bits[layout.groups[filled]]
        return room.reshape(len(layout.groups), DEGREE)

    def _multiply(self) -> None:
        uniform, plain = self._uniform[: self._waiting], self._plain[: self._waiting]
        add_products(uniform, plain, self._layout.products, self._linear)
        self._waiting = 0

    def finish(
        self, shares: NDArray[np.uint64], *, flood: bool = True, fresh: bool = True
    ) -> Iterator[Fresh]:
        """Yield the results, a few products at a time, and write this party's shares, in the results' order.

        Without `flood` or `fresh` the key holder could compute the plain bits; only tests of that leave them
        out.
        """
        self._multiply()
        layout = self._layout
        public = to_montgomery(self._public.values())
        for products, results in layout.messages():
            number, count = products.stop - products.start, results.stop - results.start
            choice, error = ternary(self._stream, number), errors(self._stream, number)
            if not fresh:
                choice[:], error[:] = 0, 0
            masks = self._words(count, 1, self._plain_bits)[:, 0].astype(np.uint64)
            shares[results] = -masks & np.uint64((1 << self._plain_bits) - 1)
            flooded = flood_bits(self._plain_bits)
            noise = self._words(count, 3, flooded + 1 - 64)
            if not flood:
                # The middle of the range, which the offset takes to zero.
                noise[:] = (0, 0, 1 << (flooded - 64))
            constants = finish_constants(
                self._constants[results],
                FreshZero(self._zero, choice),
                layout.results[results] - (products.start, 0),
                blinding(masks, scaling(self._plain_bits), noise, flooded),
            )
            yield Fresh(constants, freshen(self._linear[products], public, choice, error))

    def _words(self, count: int, words: int, last_bits: int) -> Words:
        """Draw numbers of `words` words; only the lowest `last_bits` bits of the last word are used."""
        drawn = np.frombuffer(self._stream(4 * words * count), dtype="<u4").reshape(count, words).copy()
        drawn[:, -1] &= np.uint32((1 << last_bits) - 1)
        return drawn


def to_montgomery(values: Words) -> Words:
    """Return residues uint32[3, N] times 2³²."""
    primes = tables().primes[:, None]
    return ((values.astype(np.uint64) << np.uint64(32)) % primes).astype(np.uint32)
