"""The group of Ed25519 by libsodium, whose arithmetic takes the same time for all scalars and points.

A point is 32 bytes as in RFC 8032: y, and the sign of x in the top bit. A scalar is 32 bytes, little-endian,
below the order of the group. Points from a peer must be in canonical encoding and on the curve.

PyNaCl 1.6.2 is the first with a libsodium that refuses every point outside the group of prime order: earlier
ones accept the sum of a point of the group and the point of order 2 (CVE-2025-69277).
"""

from __future__ import annotations

from collections.abc import Callable

from nacl import bindings

from dagora.base.errors import ProtocolError

POINT_BYTES = bindings.crypto_core_ed25519_BYTES
ZERO = bytes([1]) + bytes(POINT_BYTES - 1)
COFACTOR_BITS = 3  # the curve has 8 times as many points as the group of prime order

add = bindings.crypto_core_ed25519_add
subtract = bindings.crypto_core_ed25519_sub
multiply_base = bindings.crypto_scalarmult_ed25519_base_noclamp


def multiply(scalar: bytes, point: bytes) -> bytes:
    """Return scalar · point for a point of the group of prime order and a scalar other than 0.

    >>> multiply((2).to_bytes(32, "little"), ZERO) == ZERO
    True
    """
    return ZERO if point == ZERO else bindings.crypto_scalarmult_ed25519_noclamp(scalar, point)


def clear_cofactor(point: bytes) -> bytes:
    """Return 8 · point, which is in the group of prime order for every point of the curve."""
    for _ in range(COFACTOR_BITS):
        point = add(point, point)
    return point


def check_on_curve(content: bytes) -> bytes:
    """Return the content if it is the canonical encoding of a point of the curve; anything else is refused.

    >>> check_on_curve(bytes([2]) + bytes(31))
    Traceback (most recent call last):
    dagora.ProtocolError: is not a point of the curve
    """
    if len(content) != POINT_BYTES:
        raise ProtocolError(f"is not a point of {POINT_BYTES} bytes")
    try:
        canonical = add(content, ZERO)
    except RuntimeError:
        raise ProtocolError("is not a point of the curve") from None
    if canonical != content:
        raise ProtocolError("is a point in a non-canonical encoding")
    return content


def check_in_group(content: bytes) -> bytes:
    """Return the content if it is the canonical encoding of a point of the group of prime order (or zero)."""
    if check_on_curve(content) != ZERO and not bindings.crypto_core_ed25519_is_valid_point(content):
        raise ProtocolError("is a point outside the group of prime order")
    return content


def random_scalar(random: Callable[[int], bytes]) -> bytes:
    """Draw a scalar: 512 bits modulo the order, so the bias is below 2⁻²⁵⁰ (0 has probability 2⁻²⁵²)."""
    return bindings.crypto_core_ed25519_scalar_reduce(random(64))
