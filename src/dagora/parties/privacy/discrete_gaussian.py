"""Exact draws from the discrete Gaussian, P(x) ∝ exp(−x² / 2σ²) on the whole numbers, for rational σ².

A discrete Laplace of scale t = ⌊σ⌋ + 1 is drawn and kept with probability exp(−(|y| − σ²/t)² / 2σ²); that
leaves the discrete Gaussian (Canonne, Kamath & Steinke 2020, algorithms 1 to 3). Every decision compares a
uniform integer with a rational number in integers of any length: there is no rounding that could tell what
noise hides. Many draws are made side by side.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dagora.parties.privacy.key_stream import Integers, KeyStream


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
        found = np.concatenate([found, kept_draws(stream, variance, 2 * (size - len(found)))])
    return found[:size].astype(np.int64)


def kept_draws(source: Uniform, variance: Fraction, tries: int) -> Integers:
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
    γ^(k−1)/(k−1)! − γ^k/k!; over odd k this adds up to exp(−γ).
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
