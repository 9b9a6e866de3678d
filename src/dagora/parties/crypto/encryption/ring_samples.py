"""Random polynomials for lattice encryption, from the keystream of AES in counter mode.

Secrets are ternary and uniform; errors are centred binomial, popcount(21 bits) − popcount(21 bits), of
standard deviation √10.5 ≈ 3.24 (the distributions of the Homomorphic Encryption Standard, Albrecht et al.
2018, and of Alkim et al. 2016). Public uniform polynomials come from a public seed of 128 bits, which is
sent in their place (as in FrodoKEM with AES): block i of polynomial k is AES(seed, k‖i), 30 bits per
residue, and draws that are too large are skipped, so that the residues are exactly uniform.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.parties.crypto.encryption.ring import BITS, DEGREE, PRIMES, Wide, Words, tables

RandomBytes = Callable[[int], bytes]

SEED_BYTES = 16  # of AES-128
ERROR_BITS = 21  # see above: a standard deviation of at least 3.2, as the standard asks for
ERROR_DEVIATION = (ERROR_BITS / 2) ** 0.5

_DRAW = DEGREE * len(PRIMES) * 4 * 5 // 4  # bytes: a quarter more, as some draws are skipped


def keystream(seed: bytes, nonce: bytes) -> RandomBytes:
    """Return a source of AES-CTR bytes; 128-bit seeds give AES-128, 256-bit seeds AES-256."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    stream = Cipher(algorithms.AES(seed), modes.CTR(nonce)).encryptor()
    return lambda size: stream.update(bytes(size))


def private_stream(random: RandomBytes = secrets.token_bytes) -> RandomBytes:
    """Return a fast source of private random bytes, seeded once from the system."""
    return keystream(random(32), bytes(16))


def public_values(seed: bytes, index: int) -> Words:
    """Return the uniform polynomial number `index` of a public seed, by its values at the roots."""
    stream = keystream(seed, index.to_bytes(8, "big") + bytes(8))
    words = np.frombuffer(stream(_DRAW), dtype="<u4")
    values = np.empty((len(PRIMES), DEGREE), dtype=np.uint32)
    while not _fill(words, values, tables().primes):
        # One draw hardly ever has too few; then everybody with the seed draws the same again.
        words = np.concatenate((words, np.frombuffer(stream(_DRAW), dtype="<u4")))
    return values


def ternary(stream: RandomBytes, count: int) -> NDArray[np.int8]:
    """Draw polynomials int8[count, N] with coefficients −1, 0, 1, each with probability 1/3."""
    drawn = np.empty(0, dtype=np.uint8)
    while drawn.size < count * DEGREE:
        more = np.frombuffer(stream(count * DEGREE + 1024), dtype=np.uint8)
        drawn = np.concatenate((drawn, more[more < 255]))
    return (drawn[: count * DEGREE].reshape(count, DEGREE) % np.uint8(3)).view(np.int8) - np.int8(1)


def errors(stream: RandomBytes, count: int) -> NDArray[np.int8]:
    """Draw polynomials int8[count, N] with centred binomial coefficients."""
    words = np.frombuffer(stream(8 * count * DEGREE), dtype="<u8").reshape(count, DEGREE)
    mask = np.uint64((1 << ERROR_BITS) - 1)
    ones: NDArray[np.int8] = np.bitwise_count(words & mask).view(np.int8)
    ones -= np.bitwise_count((words >> np.uint64(32)) & mask).view(np.int8)
    return ones


@kernel
def _fill(words: Words, values: Words, primes: Wide) -> bool:
    k = 0
    for i in range(values.shape[0]):
        p, row = primes[i], values[i]
        j = 0
        while j < row.size:
            if k == words.size:
                return False
            word = np.uint64(words[k]) & np.uint64((1 << BITS) - 1)
            k += 1
            if word < p:
                row[j] = word
                j += 1
    return True
