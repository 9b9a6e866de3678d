"""Secret sharing: any t shares determine the secret, any t − 1 reveal nothing about it (Shamir 1979).

A secret s is the value at 0 of a random polynomial of degree t − 1 over the integers modulo a prime p; the
share of holder x is its value at x = 1, 2, …. The prime is the least above 2²⁵⁶, so that 32 bytes are one
secret. The points are small, so Horner's rule without intermediate reductions is fast enough in Python's own
integers.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from functools import lru_cache

PRIME = (1 << 256) + 297
SECRET_BYTES = 32
SHARE_BYTES = 33
# 128 bits more than the prime has, so that the remainder is within 2⁻¹²⁸ of uniform.
_COIN_BYTES = 48


def evaluate(coefficients: Sequence[int], point: int, prime: int = PRIME) -> int:
    """Return the polynomial's value, the constant coefficient first.

    >>> evaluate([1, 2, 3], 2, 101)
    17
    """
    value = 0
    for coefficient in reversed(coefficients):
        value = value * point + coefficient
    return value % prime


def split(secret: int, threshold: int, holders: int, prime: int = PRIME) -> list[int]:
    """Return the shares of holders 1, 2, …, any `threshold` of which give the secret back."""
    if not (0 < threshold <= holders < prime and 0 <= secret < prime):
        raise ValueError("shares need a secret below the prime and 1 ≤ threshold ≤ holders")
    size = _COIN_BYTES * (threshold - 1)
    coins = secrets.token_bytes(size)
    parts = (coins[start : start + _COIN_BYTES] for start in range(0, size, _COIN_BYTES))
    coefficients = [secret, *(int.from_bytes(part, "little") % prime for part in parts)]
    return [evaluate(coefficients, point, prime) for point in range(1, holders + 1)]


def combine(shares: Mapping[int, int], prime: int = PRIME) -> int:
    """Return the secret from at least as many shares as the threshold, by holder.

    >>> shares = split(42, 2, 3)
    >>> combine({1: shares[0], 3: shares[2]})
    42
    """
    weights = lagrange_weights(tuple(shares), prime)
    return sum(weight * share for weight, share in zip(weights, shares.values(), strict=True)) % prime


@lru_cache(maxsize=256)
def lagrange_weights(points: tuple[int, ...], prime: int = PRIME) -> tuple[int, ...]:
    """Return the weights of values at these points in the value at 0: ∏ x_j / (x_j − x_i) over j ≠ i.

    >>> lagrange_weights((1, 2), 101)
    (2, 100)
    """
    weights = []
    for i, own in enumerate(points):
        above, below = 1, 1
        for j, other in enumerate(points):
            if i != j:
                above = above * other % prime
                below = below * (other - own) % prime
        weights.append(above * pow(below, -1, prime) % prime)
    return tuple(weights)


def pack(shares: Sequence[int]) -> bytes:
    """Write shares one after the other."""
    return b"".join(share.to_bytes(SHARE_BYTES, "little") for share in shares)


def unpack(content: bytes, count: int) -> list[int]:
    """Read this many shares; raises `ValueError` if they are invalid."""
    if len(content) != count * SHARE_BYTES:
        raise ValueError(f"{len(content)} bytes are not {count} shares")
    parts = range(0, len(content), SHARE_BYTES)
    shares = [int.from_bytes(content[start : start + SHARE_BYTES], "little") for start in parts]
    if any(share >= PRIME for share in shares):
        raise ValueError("a share is not below the prime")
    return shares
