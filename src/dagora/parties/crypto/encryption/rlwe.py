"""Encryption of bits under Ring-LWE, and the dot products of encrypted with plain bits that it allows.

The key holder's secret s is a ternary polynomial. A column's block of bits a is encrypted as (c₀, c₁) with
c₁ uniform and c₀ = −c₁s + e + Δ·Σ aᵢxⁱ, Δ = ⌊q/t⌋ (the scheme of Brakerski 2012 and Fan & Vercauteren 2012,
without products of ciphertexts). Multiplying both parts by Σ bᵢx^{r−1−i} puts Δ⟨a, b⟩ into coefficient r −
1 of c₀ + c₁s (packing by coefficients, Yasuda et al. 2013); sums over blocks are sums of ciphertexts.

The key holder gets back one coefficient of c₀ per result and all of c₁. It knows what it sent, so before
that (1) a fresh encryption of zero under its public key, (p₀u, p₁u + e₂), makes c₁ a new Ring-LWE
sample whose secret u it does not know; (2) Δ times a uniform mask hides the result: the masks are the other
party's share; (3) a uniform number below F = 2⁸⁷ / t in absolute value floods the noise Σ eᵢbᵢ, which
would reveal which of its errors are in the sum. Over all K results the noise is within statistical distance
K·E|Σ eᵢbᵢ| / 2F of one that does not depend on b. Finally both parts are scaled from q to 2³²
(modulus switching), which divides the size of the answer by three.

Security: N = 4096 and log₂ q = 89.7 with a ternary secret and errors of deviation 3.24, where the Homomorphic
Encryption Standard (Albrecht et al. 2018, table 1) allows log₂ q ≤ 109 for 128 bits.

We implement the scheme ourselves: Microsoft SEAL, through its Python interface, has no call for (3), returns
coefficients one by one, and took twelve times as long per product (143 against 12 µs). In the tests SEAL
accepts these parameters at 128 bits and decrypts our ciphertexts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.parties.crypto.encryption.ring import (
    DEGREE,
    MAX_PLAIN_BITS,
    MODULUS,
    PACKED,
    PRIMES,
    Words,
    pack,
    residues,
    tables,
    to_values,
    unpack,
)
from dagora.parties.crypto.encryption.ring_samples import (
    ERROR_DEVIATION,
    SEED_BYTES,
    RandomBytes,
    errors,
    public_values,
    ternary,
)
from dagora.parties.crypto.encryption.rlwe_kernels import encrypt_blocks, open_coefficients

STATISTICAL_BITS = 40  # usual for distances that no computation can reduce, as in `agreement`


def flood_bits(plain_bits: int) -> int:
    """Return log₂ F; F is the same fraction of a plaintext's step q/t for every modulus t = 2^plain_bits.

    >>> flood_bits(MAX_PLAIN_BITS)
    66
    """
    return 66 + MAX_PLAIN_BITS - plain_bits


def statistical_bits(blocks: int, results: int, plain_bits: int = MAX_PLAIN_BITS) -> float:
    """Return −log₂ of the statistical distance of all results' noise from one independent of the plain bits.

    `blocks` is the number of ciphertexts in the sum of one result. The bits are fixed before the errors are
    drawn, so the standard deviation of their sum is at most that of all errors together; the errors of the
    fresh zero are added.

    >>> round(statistical_bits(245, 5425), 1)
    43.3
    """
    # u·e, e₂·s: products of a ternary polynomial (variance 2/3) with an error polynomial.
    variance = ERROR_DEVIATION**2 * DEGREE * (blocks + 4 / 3)
    return flood_bits(plain_bits) + 1 - math.log2(results * math.sqrt(2 * variance / math.pi) + results)


@dataclass(frozen=True, slots=True)
class RlwePublicKey:
    """The public key (p₀, p₁ from the seed) with p₀ + p₁s = e, and the seed of all c₁."""

    seed: bytes
    packed: Words  # p₀ by coefficients

    def zero(self) -> Words:
        """Return p₀ by coefficients."""
        return unpack_polynomial(self.packed)

    def values(self) -> Words:
        """Return p₁ by its values at the roots."""
        return public_values(self.seed, 0)


class RlweSecretKey:
    """The key holder's side: encrypts blocks of bits and opens what comes back."""

    def __init__(self, stream: RandomBytes) -> None:
        self._stream = stream
        self._secret = ternary(stream, 1)[0]
        self._values = to_values(residues(self._secret), in_montgomery_form=True)
        self.seed = stream(SEED_BYTES)
        self._next = 1
        nothing = np.zeros((1, DEGREE), dtype=np.uint8)
        self.public = RlwePublicKey(self.seed, self._encrypt(nothing, 0, 1)[0])

    def encrypt(self, bits: NDArray[np.uint8], plain_bits: int) -> Words:
        """Encrypt blocks uint8[count, ≤ N] of bits as the constant parts c₀, packed: uint32[count, 11520].

        The uniform part of the k-th block ever encrypted is `public_values(seed, k)`, counting from 1.
        """
        packed = self._encrypt(bits, self._next, plain_bits)
        self._next += len(bits)
        return packed

    def _encrypt(self, bits: NDArray[np.uint8], first: int, plain_bits: int) -> Words:
        packed = np.empty((len(bits), PACKED), dtype=np.uint32)
        for i, block in enumerate(bits):
            uniform = public_values(self.seed, first + i)
            error = errors(self._stream, 1)[0]
            c0 = encrypt_blocks(uniform, self._values, error, block, scaling(plain_bits))
            pack(c0.reshape(-1), packed[i])
        return packed

    def open(
        self,
        constants: Words,
        linear: Words,
        product: NDArray[np.int64],
        position: NDArray[np.int64],
        plain_bits: int,
    ) -> NDArray[np.uint64]:
        """Open results scaled to 2³².

        `constants[i]` is coefficient `position[i]` of c₀ of product `product[i]`.
        """
        phases = open_coefficients(constants, linear, product, position, self._secret)
        shift = 32 - plain_bits
        return ((phases.astype(np.uint64) + np.uint64(1 << (shift - 1))) >> np.uint64(shift)) % np.uint64(
            1 << plain_bits
        )


def scaling(plain_bits: int) -> NDArray[np.uint64]:
    """Return Δ = ⌊q/t⌋ modulo each prime, for t = 2^plain_bits."""
    if not 1 <= plain_bits <= MAX_PLAIN_BITS:
        raise ValueError(f"plain modulus 2^{plain_bits}")
    return np.array([(MODULUS >> plain_bits) % p for p in PRIMES], dtype=np.uint64)


def unpack_polynomial(packed: Words) -> Words:
    """Return a polynomial from its packed words; raises `ValueError` if a residue is too large."""
    values = np.empty((len(PRIMES), DEGREE), dtype=np.uint32)
    unpack(packed, values.reshape(-1))
    if (values >= tables().primes[:, None]).any():
        raise ValueError("a residue is not below its prime")
    return values
