"""The loops of lattice encryption (`rlwe`): encrypt, sum products, re-randomise results, and open them.

Only c₁ is multiplied by the transform. Of c₀ only one coefficient per result is needed, and since b has only
bits, that coefficient is a sum of coefficients of c₀, with signs from x^N = −1. Nothing here branches on a
private bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.parties.crypto.encryption.ring import (
    PRIMES,
    RingTables,
    Wide,
    Words,
    back,
    below,
    forward,
    montgomery,
    scale,
    tables,
)

# The sum of this many products of residues stays below 2⁶³.
LAZY = 8

# Values of a slice: short slices stay in the cache while all pairs are added, long ones keep the loop busy.
_BLOCK = 1024
_LOW = np.uint64(0xFFFFFFFF)
TWO_32 = 4294967296.0


def encrypt_blocks(
    uniform: Words, secret: Words, error: NDArray[np.int8], bits: NDArray[np.uint8], delta: Wide
) -> Words:
    """Return c₀ = −c₁s + e + Δa by coefficients; c₁ by values, s by values in Montgomery form."""
    c0 = np.empty_like(uniform)
    _encrypt(uniform, secret, error, bits, delta, c0, tables())
    return c0


@kernel
def _encrypt(
    uniform: Words,
    secret: Words,
    error: NDArray[np.int8],
    bits: NDArray[np.uint8],
    delta: Wide,
    c0: Words,
    t: RingTables,
) -> None:
    for k in range(t.primes.size):
        p, row = t.primes[k], c0[k]
        multiply(uniform[k], secret[k], row, p, t.inverses[k])
        back(row, k, t)
        for j in range(row.size):
            row[j] = below(np.uint64(np.int64(p) + error[j]) + p - row[j], p + p)
            row[j] = below(np.uint64(row[j]), p)
        for j in range(bits.size):
            row[j] = below(row[j] + delta[k] * np.uint64(bits[j]), p)


@kernel
def multiply(x: Words, y: Words, product: Words, p: np.uint64, inverse: np.uint64) -> None:
    """Multiply values by values in Montgomery form."""
    p, inverse = p & _LOW, inverse & _LOW
    for j in range(x.size):
        product[j] = np.uint32(montgomery(np.uint64(x[j]) * np.uint64(y[j]), p, inverse))


def add_products(uniform: Words, plain: Words, products: NDArray[np.int64], totals: Words) -> None:
    """Add Σ_g uniform[g, i] · plain[g, j] to the totals of every product (i, j), for at most `LAZY` blocks g.

    uniform is uint32[G, columns, 3, N] by values, plain uint32[G, columns, 3, N] by values in Montgomery
    form, totals uint32[products, 3, N].
    """
    _add_products(uniform, plain, products, totals, tables())


@kernel
def _add_products(
    uniform: Words, plain: Words, products: NDArray[np.int64], totals: Words, t: RingTables
) -> None:
    sums = np.empty(_BLOCK, dtype=np.uint64)
    for k in range(t.primes.size):
        p, inverse = t.primes[k] & _LOW, t.inverses[k] & _LOW
        for start in range(0, uniform.shape[3], _BLOCK):
            for n in range(products.shape[0]):
                i, j = products[n, 0], products[n, 1]
                sums[:] = 0
                for g in range(uniform.shape[0]):
                    x = uniform[g, i, k, start : start + _BLOCK]
                    y = plain[g, j, k, start : start + _BLOCK]
                    for v in range(_BLOCK):
                        sums[v] += np.uint64(x[v]) * np.uint64(y[v])
                total = totals[n, k, start : start + _BLOCK]
                for v in range(_BLOCK):
                    total[v] = np.uint32(below(montgomery(sums[v], p, inverse) + np.uint64(total[v]), p))


@kernel
def add_coefficients(c0: Words, masks: Words, results: NDArray[np.int64], primes: Wide, totals: Wide) -> None:
    """Add to totals uint64[results, 3] the coefficient `position` of c₀[i]·b[j] of each (i, j, position).

    masks[j, v] is all ones where the coefficient of x^{N−1−v} in b is 1, and zero elsewhere.
    """
    degree = c0.shape[2]
    extended = np.empty(2 * degree, dtype=np.uint32)
    for k in range(primes.size):
        last = -1
        for n in range(results.shape[0]):
            i, j, position = results[n, 0], results[n, 1], results[n, 2]
            if i != last:
                extend(c0[i, k], primes[k], extended)
                last = i
            window, mask = extended[position + 1 : position + 1 + degree], masks[j]
            total = np.uint64(0)
            for v in range(degree):
                total += np.uint64(window[v] & mask[v])
            totals[n, k] = (totals[n, k] + total) % primes[k]


@kernel
def extend(row: Words, p: np.uint64, extended: Words) -> None:
    """Write the coefficients of x^{−N}·a and of a side by side: x^{N−1−v} picks a window of these."""
    for v in range(row.size):
        extended[v] = below(p - row[v], p)
        extended[row.size + v] = row[v]


def freshen(totals: Words, public: Words, choice: NDArray[np.int8], error: NDArray[np.int8]) -> Words:
    """Return c₁ = totals + p₁u + e₂, scaled to 2³², for every product.

    For x given by its residues, x/q = Σ (x·(q/p)⁻¹ mod p)/p modulo 1; the numerators overwrite the totals.
    totals uint32[products, 3, N] by values, public p₁ by values in Montgomery form.
    """
    linear = np.empty((totals.shape[0], totals.shape[2]), dtype=np.uint32)
    _freshen(totals, public, choice, error, linear, tables())
    return linear


@kernel
def _freshen(
    totals: Words,
    public: Words,
    choice: NDArray[np.int8],
    error: NDArray[np.int8],
    linear: Words,
    t: RingTables,
) -> None:
    work = np.empty(totals.shape[2], dtype=np.uint32)
    share = np.empty(totals.shape[2], dtype=np.float64)
    for n in range(totals.shape[0]):
        share[:] = 0.5 / TWO_32
        for k in range(t.primes.size):
            p, row = t.primes[k], totals[n, k]
            for v in range(work.size):
                work[v] = np.uint32(np.int64(p) + choice[n, v])
            forward(work, p, t.roots[k], t.root_quotients[k])
            multiply(work, public[k], work, p, t.inverses[k])
            for v in range(work.size):
                row[v] = np.uint32(below(np.uint64(row[v]) + np.uint64(work[v]), p))
            back(row, k, t)
            for v in range(work.size):
                row[v] = np.uint32(np.int64(row[v]) + np.int64(p) + error[n, v])
            scale(row, t.fractions[k], p, t.inverses[k])
            for v in range(work.size):
                share[v] += np.float64(row[v]) / np.float64(p)
        for v in range(work.size):
            linear[n, v] = np.uint32(np.int64((share[v] - np.floor(share[v])) * TWO_32))


class FreshZero(NamedTuple):
    """The constant part p₀u of a fresh encryption of zero for each product."""

    public: Words  # [3, N]: p₀ by coefficients
    choice: NDArray[np.int8]  # [products, N]: u, ternary


class Blinding(NamedTuple):
    """Masks of the plaintexts and floods of noise that hide the results, modulo each prime."""

    masks: Wide  # [results], below t
    delta: Wide  # [3]: Δ = ⌊q/t⌋, by which a mask is multiplied
    flood: Words  # [results, 3]: a uniform number, as three words
    flood_offset: Wide  # [3]: takes the middle of the flood's range to zero
    word_powers: Wide  # [3, 3]: 1, 2³², 2⁶⁴, the values of the flood's words


def blinding(masks: Wide, delta: Wide, flood: Words, flood_bits: int) -> Blinding:
    """Complete masks and flood by the constants that go with a flood of `flood_bits` + 1 bits."""
    offset = np.array([-(1 << flood_bits) % p for p in PRIMES], dtype=np.uint64)
    powers = np.array([[1, (1 << 32) % p, (1 << 64) % p] for p in PRIMES], dtype=np.uint64)
    return Blinding(masks, delta, flood, offset, powers)


def finish_constants(totals: Wide, zero: FreshZero, results: NDArray[np.int64], blind: Blinding) -> Words:
    """Return coefficients of c₀ + p₀u + Δ·mask + flood, scaled to 2³²; overwrites totals as `freshen` does.

    `totals` uint64[results, 3] are the coefficients of c₀, `results` holds (product, position). Of the mask 3
    alone, with t = 2²¹ and everything else zero, what is sent is 3Δ scaled from q to 2³², 3·2¹¹:

    >>> from dagora.parties.crypto.encryption.ring import DEGREE, MODULUS
    >>> nothing = np.zeros((3, DEGREE), dtype=np.uint32), np.zeros((1, DEGREE), dtype=np.int8)
    >>> delta = np.array([(MODULUS >> 21) % p for p in PRIMES], dtype=np.uint64)
    >>> middle = np.array([[0, 0, 1 << (66 - 64)]], dtype=np.uint32)  # of a flood of 66 + 1 bits
    >>> blind = blinding(np.array([3], dtype=np.uint64), delta, middle, 66)
    >>> totals, first = np.zeros((1, 3), dtype=np.uint64), np.zeros((1, 2), dtype=np.int64)
    >>> finish_constants(totals, FreshZero(*nothing), first, blind).tolist()
    [6144]
    """
    constants = np.empty(len(totals), dtype=np.uint32)
    _finish(totals, zero, results, blind, constants, tables())
    return constants


@kernel
def _finish(
    totals: Wide,
    zero: FreshZero,
    results: NDArray[np.int64],
    blind: Blinding,
    constants: Words,
    t: RingTables,
) -> None:
    degree, primes = zero.public.shape[1], t.primes
    extended = np.empty((primes.size, 2 * degree), dtype=np.uint32)
    for k in range(primes.size):
        extend(zero.public[k], primes[k], extended[k])
    added, taken = np.empty(degree, dtype=np.uint32), np.empty(degree, dtype=np.uint32)
    for n in range(totals.shape[0]):
        u, position = zero.choice[results[n, 0]], results[n, 1]
        # All ones where u is 1 and where u is −1: its products are sums without a branch.
        for v in range(degree):
            sign = np.int64(u[degree - 1 - v])
            added[v] = np.uint32(-(sign & (sign > 0)) & 0xFFFFFFFF)
            taken[v] = np.uint32((sign >> 1) & 0xFFFFFFFF)
        share = 0.5 / TWO_32
        for k in range(primes.size):
            p, window = primes[k], extended[k, position + 1 : position + 1 + degree]
            plus, minus = np.uint64(0), np.uint64(0)
            for v in range(degree):
                plus += np.uint64(window[v] & added[v])
                minus += np.uint64(window[v] & taken[v])
            mask = blind.masks[n] * blind.delta[k] % p
            total = totals[n, k] + plus % p + p - minus % p + mask + blind.flood_offset[k]
            for w in range(3):
                total += np.uint64(blind.flood[n, w]) * blind.word_powers[k, w] % p
            totals[n, k] = montgomery(total % p * t.fractions[k], p, t.inverses[k])
            share += float(totals[n, k]) / float(p)
        constants[n] = np.uint32(np.int64((share - np.floor(share)) * TWO_32))


@kernel
def open_coefficients(
    constants: Words,
    linear: Words,
    product: NDArray[np.int64],
    position: NDArray[np.int64],
    secret: NDArray[np.int8],
) -> Words:
    """Return coefficient `position` of c₀ + c₁s modulo 2³² of each result."""
    degree = secret.size
    # s as the window that the coefficient's position cuts out, as in `extend`.
    extended = np.empty(2 * degree, dtype=np.int64)
    for v in range(degree):
        extended[v] = -secret[v]
        extended[degree + v] = secret[v]
    phases = np.empty(constants.size, dtype=np.uint32)
    for n in range(constants.size):
        c1, window = linear[product[n]], extended[position[n] + 1 : position[n] + 1 + degree]
        total = np.int64(constants[n])
        for v in range(degree):
            total += np.int64(c1[degree - 1 - v]) * window[v]
        phases[n] = total & np.int64(0xFFFFFFFF)
    return phases
