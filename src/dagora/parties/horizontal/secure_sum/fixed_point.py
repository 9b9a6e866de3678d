"""Numbers as integers modulo 2⁶⁴, so that sums are exact, associative, and can be hidden by random masks.

Integers are themselves, negative ones as two's complement. A real number x becomes the nearest multiple of
the unit 2⁻ᶠ, where f is the largest integer with K·largest·2ᶠ ≤ 2⁶² for K parties (K rounded up to a power
of two): then no sum of K parts, each at most `largest`, can wrap, and the sum is off by at most K/2 units.
A party checks its own part before it encodes it, and its errors never quote the value.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dagora.errors import ProtocolError

REAL_BITS = 62


class OutOfRangeError(ProtocolError):
    """A party's own part does not fit; the message does not contain the value."""


def largest_integer(parties: int) -> int:
    """The largest part that K parties may add without reaching 2⁶³.

    >>> largest_integer(2) == 2**62 - 1
    True
    """
    return ((1 << 63) - 1) // parties


def encode_integers(values: ArrayLike, parties: int) -> NDArray[np.uint64]:
    """Encode a party's integers, or refuse.

    >>> encode_integers([3, -1], 3).tolist() == [3, 2**64 - 1]
    True
    """
    array = np.asarray(values)
    if array.dtype.kind not in "iub":
        raise OutOfRangeError(f"a count needs integers, not {array.dtype}")
    limit = largest_integer(parties)
    if array.size and (int(array.max()) > limit or int(array.min()) < -limit):
        raise OutOfRangeError(f"an integer is too large to be summed over {parties} sites without wrapping")
    return array.astype(np.int64).view(np.uint64)


def decode_integers(sums: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return sums of encoded integers.

    >>> decode_integers(encode_integers([3, -1], 2) + encode_integers([1, -4], 2))
    array([ 4, -5])
    """
    return sums.view(np.int64)


def fraction_bits(largest: float, parties: int) -> int:
    """The number f of binary digits after the point.

    >>> fraction_bits(1.0, 4), fraction_bits(1000.0, 4)
    (60, 50)
    """
    if parties < 1 or not (largest > 0.0 and math.isfinite(largest)):
        raise ProtocolError(f"'largest' must be a positive number, not {largest}")
    mantissa, exponent = math.frexp(largest)
    # largest ≤ 2^exponent, and a power of two is its own bound.
    exponent -= mantissa == 0.5
    return REAL_BITS - (parties - 1).bit_length() - exponent


def rounding(largest: float, parties: int) -> float:
    """The largest rounding error of a sum: half a unit for each party.

    >>> rounding(1.0, 4) == 2 * 2.0**-60
    True
    """
    return math.ldexp(parties / 2, -fraction_bits(largest, parties))


def encode_reals(values: ArrayLike, largest: float, parties: int) -> NDArray[np.uint64]:
    """Encode a party's real numbers, none above `largest` in size, or refuse.

    >>> encode_reals([1.5], 2.0, 1).tolist() == [3 * 2**60]
    True
    """
    bits = fraction_bits(largest, parties)
    raw = np.asarray(values)
    if raw.dtype.kind not in "iubf":
        raise OutOfRangeError(f"a total needs real numbers, not {raw.dtype}")
    array: NDArray[np.float64] = raw.astype(np.float64)
    # Written so that NaN is refused too.
    if not bool((np.abs(array) <= largest).all()):
        raise OutOfRangeError("a number is beyond the largest that was agreed on")
    integers: NDArray[Any] = np.rint(np.ldexp(array, bits)).astype(np.int64)
    return integers.view(np.uint64)


def decode_reals(sums: NDArray[np.uint64], largest: float, parties: int) -> NDArray[np.float64]:
    """Return sums of encoded real numbers; refuses a sum above `largest`, the bound that was promised.

    >>> decode_reals(encode_reals([0.5], 2.0, 2) + encode_reals([-1.75], 2.0, 2), 2.0, 2)
    array([-1.25])
    """
    bits = fraction_bits(largest, parties)
    numbers: NDArray[np.float64] = np.ldexp(sums.view(np.int64).astype(np.float64), -bits)
    if numbers.size and float(np.abs(numbers).max()) > largest + rounding(largest, parties):
        raise ProtocolError(
            f"a sum exceeds the largest that was agreed on ({largest:.6g}); give a larger one"
        )
    return numbers
