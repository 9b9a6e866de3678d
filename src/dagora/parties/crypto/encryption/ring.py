"""The ring Z_q[x]/(x^N + 1) of lattice encryption: N = 4096, q = p₁p₂p₃, coefficients as three residues.

The primes have 30 bits and are 1 modulo 2²¹. So each has a root of unity of order 2N, and products of
polynomials become products of values by the number-theoretic transform (negacyclic, Harvey 2014: lazy
butterflies with a precomputed quotient per root); and q = 1 modulo every t = 2ᵏ up to 2²¹, so that ⌊q/t⌋
times a sum below t is off by less than one. With thirty bits the CPU multiplies several residues at once, and
the sum of eight products of residues fits into 64 bits. Values are kept modulo p in uint32; factors "in
Montgomery form" are multiplied by 2³², which `montgomery` divides out again.

A polynomial is uint32[3, N]: its coefficients, or its values at the roots, in bit-reversed order and
transposed into eight rows.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.kernels.rows import copy_row

Words = NDArray[np.uint32]
Wide = NDArray[np.uint64]

DEGREE = 4096  # with a modulus of 90 bits: 128 bits of security (Albrecht et al. 2018)
PRIMES = (1012924417, 1004535809, 998244353)  # below 2³⁰ and 1 modulo 2 · 4096
MODULUS = PRIMES[0] * PRIMES[1] * PRIMES[2]
BITS = 30  # of a residue
PACKED = DEGREE * len(PRIMES) * BITS // 32  # words of a packed polynomial
MAX_PLAIN_BITS = 21  # of a sum; the rest of the modulus is for noise (`rlwe.flood_bits`)

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_ROWS = 8  # the last three layers of the transform work on rows of so many


class RingTables(NamedTuple):
    """Roots of unity per prime with their quotients ⌊w·2³²/p⌋, and the constants of the arithmetic."""

    primes: Wide  # [3]
    inverses: Wide  # [3]: p⁻¹ modulo 2³²
    roots: Wide  # [3, N], bit-reversed, in the order in which they are used
    root_quotients: Wide
    back_roots: Wide
    back_quotients: Wide
    back_factors: Wide  # [3]: N⁻¹ in Montgomery form, the last factor of the inverse transform
    squares: Wide  # [3]: 2⁶⁴, which brings a value into Montgomery form
    fractions: Wide  # [3]: (q/p)⁻¹ modulo p in Montgomery form, to recover x/q from residues


@cache
def tables() -> RingTables:
    """Compute the tables, once."""
    order = np.array([int(f"{i:012b}"[::-1], 2) for i in range(DEGREE)])
    for k in (1, 2):
        # The layers that work on rows read their roots row by row.
        part = slice(DEGREE // _ROWS << k, DEGREE // _ROWS << (k + 1))
        order[part] = order[part].reshape(-1, 1 << k).T.reshape(-1)
    roots: list[Wide] = []
    back: list[Wide] = []
    for p in PRIMES:
        root = _least_root(p)
        for powers, base in ((roots, root), (back, pow(root, -1, p))):
            row = [1] * DEGREE
            for i in range(1, DEGREE):
                row[i] = row[i - 1] * base % p
            powers.append(np.array(row, dtype=np.uint64)[order])
    primes = np.array(PRIMES, dtype=np.uint64)
    forward, backward = np.array(roots), np.array(back)
    column = primes[:, None]
    return RingTables(
        primes=primes,
        inverses=np.array([pow(p, -1, 1 << 32) for p in PRIMES], dtype=np.uint64),
        roots=forward,
        root_quotients=(forward << _HALF) // column,
        back_roots=backward,
        back_quotients=(backward << _HALF) // column,
        back_factors=np.array([(pow(DEGREE, -1, p) << 32) % p for p in PRIMES], dtype=np.uint64),
        squares=np.array([(1 << 64) % p for p in PRIMES], dtype=np.uint64),
        fractions=np.array([(pow(MODULUS // p, -1, p) << 32) % p for p in PRIMES], dtype=np.uint64),
    )


def _least_root(p: int) -> int:
    """Return the least root of unity of order 2N, the choice other libraries make too."""
    base = 2
    while pow(pow(base, (p - 1) // (2 * DEGREE), p), DEGREE, p) != p - 1:
        base += 1
    root = pow(base, (p - 1) // (2 * DEGREE), p)
    square, power, least = root * root % p, root, root
    for _ in range(DEGREE):
        least = min(least, power)
        power = power * square % p
    return least


def residues(values: NDArray[np.int8]) -> Words:
    """Return small signed integers modulo each prime, along a new first axis."""
    return np.stack([values.astype(np.int64) % p for p in PRIMES]).astype(np.uint32)


def to_values(polynomial: Words, *, in_montgomery_form: bool = False) -> Words:
    """Transform polynomials uint32[..., 3, N] from coefficients to values at the roots."""
    t = tables()
    result = np.ascontiguousarray(polynomial).copy()
    factors = t.squares if in_montgomery_form else np.full_like(t.squares, 1 << 32) % t.primes
    _transform(result.reshape(-1, len(PRIMES), DEGREE), t, factors)
    return result


@kernel
def montgomery(product: np.uint64, p: np.uint64, inverse: np.uint64) -> np.uint64:
    """Return product · 2⁻³² modulo p, below p, for any product below 2⁶³."""
    m = ((product & _LOW) * inverse) & _LOW
    # Below 2³¹ + p, which is less than 4p.
    return below(below((product >> _HALF) + p - ((m * p) >> _HALF), p + p), p)


@kernel
def below(value: np.uint64, bound: np.uint64) -> np.uint64:
    """Subtract the bound once if the value is not below it."""
    return value - bound if value >= bound else value


# Loops over two rows of 32-bit words, with factors known to have 32 bits, compile to vector instructions. The
# last three layers pair neighbours: for them the polynomial is transposed into eight rows, and stays so.
@kernel
def forward(a: Words, p: np.uint64, roots: Wide, quotients: Wide) -> None:
    """Transform one polynomial (below 4p) modulo one prime in place; values stay below 4p."""
    length, count = a.size >> 1, 1
    while length >= _ROWS:
        for i in range(count):
            start = 2 * i * length
            left, right = a[start : start + length], a[start + length : start + 2 * length]
            _spread(left, right, p, roots[count + i], quotients[count + i])
        length >>= 1
        count <<= 1
    rows = a.copy().reshape(count, _ROWS).T.copy()
    for k in range(3):
        for i in range(_ROWS >> 1):
            left, right = rows[_left_row(i, k)], rows[_left_row(i, k) + (4 >> k)]
            start = ((1 << k) + (i >> (2 - k))) * count
            _spread_rows(left, right, p, roots[start : start + count], quotients[start : start + count])
    copy_row(rows.reshape(-1), a)


@kernel
def _left_row(i: int, k: int) -> int:
    """Return the left row of the i-th pair of rows, in the layer whose pairs are 4, 2 or 1 apart."""
    distance = 4 >> k
    return i // distance * 2 * distance + i % distance


@kernel
def _forward_butterfly(
    x: np.uint32, y: np.uint32, p: np.uint64, w: np.uint64, quotient: np.uint64
) -> tuple[np.uint32, np.uint32]:
    """Return x + wy and x − wy (Harvey 2014, algorithm 2): values below 4p in and out."""
    reduced, product = below(np.uint64(x), p + p), np.uint64(y)
    product = w * product - ((quotient * product) >> _HALF) * p
    return np.uint32(reduced + product), np.uint32(reduced + p + p - product)


@kernel
def _spread(left: Words, right: Words, p: np.uint64, w: np.uint64, quotient: np.uint64) -> None:
    """Apply the butterfly to two stretches of a polynomial that share one root."""
    w, quotient, p = w & _LOW, quotient & _LOW, p & _LOW
    for j in range(left.size):
        left[j], right[j] = _forward_butterfly(left[j], right[j], p, w, quotient)


@kernel
def _spread_rows(left: Words, right: Words, p: np.uint64, w: Wide, quotient: Wide) -> None:
    """Apply the butterfly to two rows with a root of its own for each column."""
    p = p & _LOW
    for j in range(left.size):
        left[j], right[j] = _forward_butterfly(left[j], right[j], p, w[j] & _LOW, quotient[j] & _LOW)


@kernel
def backward(a: Words, p: np.uint64, roots: Wide, quotients: Wide) -> None:
    """Invert `forward` up to the factor N; values are below 2p before and after."""
    count = a.size // _ROWS
    rows = a.copy().reshape(_ROWS, count)
    for k in range(2, -1, -1):
        for i in range(_ROWS >> 1):
            left, right = rows[_left_row(i, k)], rows[_left_row(i, k) + (4 >> k)]
            start = ((1 << k) + (i >> (2 - k))) * count
            _gather_rows(left, right, p, roots[start : start + count], quotients[start : start + count])
    copy_row(rows.T.copy().reshape(-1), a)
    length = _ROWS
    count >>= 1
    while count > 0:
        for i in range(count):
            start = 2 * i * length
            left, right = a[start : start + length], a[start + length : start + 2 * length]
            _gather(left, right, p, roots[count + i], quotients[count + i])
        length <<= 1
        count >>= 1


@kernel
def _backward_butterfly(
    x: np.uint32, y: np.uint32, p: np.uint64, w: np.uint64, quotient: np.uint64
) -> tuple[np.uint32, np.uint32]:
    """Return x + y and w(x − y) (Harvey 2014, algorithm 3): values below 2p in and out."""
    difference = (np.uint64(x) + p + p - np.uint64(y)) & _LOW
    product = w * difference - ((quotient * difference) >> _HALF) * p
    return np.uint32(below(np.uint64(x) + np.uint64(y), p + p)), np.uint32(product)


@kernel
def _gather(left: Words, right: Words, p: np.uint64, w: np.uint64, quotient: np.uint64) -> None:
    """Undo `_spread`, but for a factor 2."""
    w, quotient, p = w & _LOW, quotient & _LOW, p & _LOW
    for j in range(left.size):
        left[j], right[j] = _backward_butterfly(left[j], right[j], p, w, quotient)


@kernel
def _gather_rows(left: Words, right: Words, p: np.uint64, w: Wide, quotient: Wide) -> None:
    """Undo `_spread_rows`, but for a factor 2."""
    p = p & _LOW
    for j in range(left.size):
        left[j], right[j] = _backward_butterfly(left[j], right[j], p, w[j] & _LOW, quotient[j] & _LOW)


@kernel
def _transform(polynomials: Words, t: RingTables, factors: Wide) -> None:
    for i in range(polynomials.shape[0]):
        for k in range(t.primes.size):
            forward(polynomials[i, k], t.primes[k], t.roots[k], t.root_quotients[k])
            scale(polynomials[i, k], factors[k], t.primes[k], t.inverses[k])


@kernel
def back(row: Words, k: int, t: RingTables) -> None:
    """Transform values modulo the k-th prime to coefficients below it, in place."""
    backward(row, t.primes[k], t.back_roots[k], t.back_quotients[k])
    scale(row, t.back_factors[k], t.primes[k], t.inverses[k])


@kernel
def scale(row: Words, factor: np.uint64, p: np.uint64, inverse: np.uint64) -> None:
    """Multiply by a factor in Montgomery form; the results are below p."""
    factor, p, inverse = factor & _LOW, p & _LOW, inverse & _LOW
    for j in range(row.size):
        row[j] = np.uint32(montgomery(np.uint64(row[j]) * factor, p, inverse))


@kernel
def pack(values: Words, packed: Words) -> None:
    """Write residues of 30 bits one after the other, 16 of them into 15 words."""
    for i in range(values.size // 16):
        group, words = values[16 * i : 16 * i + 16], packed[15 * i : 15 * i + 15]
        for k in range(15):
            words[k] = (np.uint64(group[k]) >> np.uint64(2 * k)) | (
                np.uint64(group[k + 1]) << np.uint64(BITS - 2 * k)
            )


@kernel
def unpack(packed: Words, values: Words) -> None:
    """Undo `pack`."""
    mask = np.uint64((1 << BITS) - 1)
    for i in range(values.size // 16):
        group, words = values[16 * i : 16 * i + 16], packed[15 * i : 15 * i + 15]
        group[0], group[15] = words[0] & mask, np.uint64(words[14]) >> np.uint64(2)
        for k in range(1, 15):
            low = np.uint64(words[k - 1]) >> np.uint64(32 - 2 * k)
            group[k] = (low | (np.uint64(words[k]) << np.uint64(2 * k))) & mask
