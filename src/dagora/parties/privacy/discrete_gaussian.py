"""Exact draws from the discrete Gaussian, P(x) ∝ exp(−x² / 2σ²) on the whole numbers, for rational σ².

A discrete Laplace of scale t = ⌊σ⌋ + 1 is drawn and accepted with probability exp(−(|y| − σ²/t)² / 2σ²);
accepted draws have the discrete Gaussian (Canonne, Kamath & Steinke 2020, algorithms 1 to 3). Every decision
compares a uniform integer with a rational number in integers of any length: no rounding can reveal what the
noise hides. Many draws are made side by side.

The uniform integers are SHAKE-256 of a secret key and a block number: the same key gives the same draws on
any machine, and without the key they cannot be distinguished from random ones.
"""

from __future__ import annotations

import hashlib
from fractions import Fraction
from math import isqrt
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError

# Python's integers in an array: as long as they need to be, and never rounded.
Integers = NDArray[Any]

KEY_BYTES = 32  # 256 bits
PURPOSE = b"dagora noise 1"
BLOCK_BYTES = 1 << 16  # larger: more of the last block is unused; smaller: more calls


class KeyStream:
    """Random integers from a secret key of 32 bytes.

    >>> stream = KeyStream(bytes(32))
    >>> stream.below(6, 5), KeyStream(bytes(32)).below(6, 5)
    (array([5, 5, 5, 0, 2], dtype=object), array([5, 5, 5, 0, 2], dtype=object))
    """

    def __init__(self, key: bytes) -> None:
        if not isinstance(key, bytes) or len(key) != KEY_BYTES:
            raise OptionError(f"a noise key is {KEY_BYTES} bytes: make one with secrets.token_bytes(32)")
        self._key = key
        self._blocks = 0
        self._left = b""

    def take(self, size: int) -> bytes:
        """Return the next bytes of the stream."""
        parts, have = [self._left], len(self._left)
        while have < size:
            block = hashlib.shake_256(PURPOSE + self._key + self._blocks.to_bytes(8, "big"))
            parts.append(block.digest(BLOCK_BYTES))
            self._blocks += 1
            have += BLOCK_BYTES
        taken = b"".join(parts)
        self._left = taken[size:]
        return taken[:size]

    def below(self, bound: int, count: int) -> Integers:
        """So many independent integers, uniform on 0, 1, …, bound − 1 (values that are too large go)."""
        found = np.empty(0, dtype=object)
        while len(found) < count:
            drawn = self._bits((bound - 1).bit_length(), count - len(found))
            found = np.concatenate([found, drawn[drawn < bound]])
        return found

    def _bits(self, bits: int, count: int) -> Integers:
        """So many integers of so many random bits, each from whole words of 64."""
        width = max(1, (bits + 63) // 64)
        words = np.frombuffer(self.take(8 * width * count), dtype=">u8").reshape(count, width).astype(object)
        joined = words[:, 0]
        for column in range(1, width):
            joined = (joined << 64) | words[:, column]
        return joined >> (64 * width - bits)


class Uniform(Protocol):
    """A source of uniform integers."""

    def below(self, bound: int, count: int) -> Integers:
        """So many integers, uniform on 0, 1, …, bound − 1."""


def discrete_gaussian(key: bytes, variance: Fraction, size: int) -> NDArray[np.int64]:
    """Draw from the discrete Gaussian of parameter σ² = `variance`; the same key gives the same draws.

    >>> discrete_gaussian(bytes(32), Fraction(9), 8)
    array([-3,  4, -5, -3,  0,  1,  6,  3])
    """
    stream = KeyStream(key)
    found = np.empty(0, dtype=object)
    while len(found) < size:
        found = np.concatenate([found, accepted_draws(stream, variance, 2 * (size - len(found)))])
    return found[:size].astype(np.int64)


def accepted_draws(source: Uniform, variance: Fraction, tries: int) -> Integers:
    """Those of so many tries that are accepted."""
    a, b = variance.numerator, variance.denominator
    scale = isqrt(a // b) + 1
    drawn = discrete_laplace(source, scale, tries)
    # (|y| − σ²/t)² / 2σ² over a common denominator, with σ² = a/b.
    distances = (abs(drawn) * (scale * b) - a) ** 2
    return drawn[happens_exp(source, distances, 2 * a * b * scale**2)]


def discrete_laplace(source: Uniform, scale: int, tries: int) -> Integers:
    """P(y) ∝ exp(−|y| / scale); fewer than so many, as some tries fail."""
    rest = source.below(scale, tries)
    rest = rest[happens_exp(source, rest, scale)]
    size = rest + scale * count_successes(source, len(rest))
    negative = source.below(2, len(rest)) == 1
    twice_zero = negative & (size == 0)
    signed: Integers = np.where(negative, -size, size)[~twice_zero]
    return signed


def count_successes(source: Uniform, count: int) -> Integers:
    """For each, how often an event of probability 1/e happens before it fails for the first time."""
    successes = np.zeros(count, dtype=object)
    going = np.arange(count)
    while len(going):
        going = going[happens_exp(source, np.ones(len(going), dtype=object), 1)]
        successes[going] += 1
    return successes


def happens_exp(source: Uniform, numerators: Integers, denominator: int) -> NDArray[np.bool_]:
    """Events of probability exp(−p/q), for each numerator p ≥ 0 and the denominator q."""
    happens = np.ones(len(numerators), dtype=np.bool_)
    whole = numerators // denominator
    for times in range(1, int(whole.max(initial=0)) + 1):
        going = np.flatnonzero(happens & (whole >= times))
        happens[going] = happens_small_exp(
            source, np.full(len(going), denominator, dtype=object), denominator
        )
    going = np.flatnonzero(happens)
    happens[going] = happens_small_exp(source, numerators[going] % denominator, denominator)
    return happens


def happens_small_exp(source: Uniform, numerators: Integers, denominator: int) -> NDArray[np.bool_]:
    """Events of probability exp(−γ) for 0 ≤ γ = p/q ≤ 1.

    Events of probability γ/1, γ/2, γ/3, … are tried until one fails. That it is the k-th has probability
    γ^(k−1)/(k−1)! − γ^k/k!; over odd k this sums to exp(−γ).
    """
    happens = np.zeros(len(numerators), dtype=np.bool_)
    going = np.arange(len(numerators))
    k = 1
    while len(going):
        passed = source.below(denominator * k, len(going)) < numerators[going]
        happens[going[~passed.astype(np.bool_)]] = k % 2 == 1
        going = going[passed.astype(np.bool_)]
        k += 1
    return happens
