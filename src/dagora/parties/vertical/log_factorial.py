"""Fixed-point ln x! of a secret count as a circuit, so fine that scores compare as in floating point.

Up to 2^10 all values come from one table. Beyond, counts below 2^7 do, and the rest from Stirling's series
about z = x + ½, ln x! = z ln z − z + ½ ln 2π − 1/(24 z) + O(z⁻³): with z = m 2^e and 1 ≤ m < 2, z ln z = 2^e
[m ln m + e m ln 2], where m ln m is a cubic on each of 256 segments and products with secret digits ±1 cost
additions only (`times_digits`). The numbers:

* Σ_j [L(α_j0) + L(α_j1) − L(α_j0 + α_j1 + 1)] does not change when c (x + 1) is added to L(x), so c is chosen
  to make the exponent's digits symmetric and the constant term a whole number.
* Tables add up whole logarithms of primes, ln x! = Σ_p v_p(x!) round(2^F ln p): scores that are equal as
  rational numbers, such as 5! 0!/6! = 1! 1!/3!, are equal to the last bit.
* A value outside of tables errs by less than 2^(w − 42) + 8e-9 for counts of w bits: 2.5e-7 at a million
  rows.

The paper's score g has ½ ln x + x ln x − x in the place of ln x!, and 0 for x = 0; it differs by the constant
and by 1/(12 x), so that only tables change.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dagora.errors import OptionError
from dagora.parties.crypto.builder import Builder, Word
from dagora.parties.crypto.lookups import lookup, odd_multiples, one_hot
from dagora.parties.crypto.words import (
    add,
    constant,
    extend,
    flip,
    mux,
    normalise,
    shift_right,
    times_digits,
)

ScoreName = Literal["f", "g"]
COMPLETE = 10  # bits of a count up to which all values are in a table
SEGMENTS = 8  # bits of the mantissa that choose a cubic
MANTISSA = 44  # fraction bits of 2^-e ln x!
EXTRA = 10  # further fraction bits in tables, where many rounded logarithms are added
MOST_BITS = 24
ROUNDED_OFF = 3  # what products that round down lack on average, in units of the mantissa
HALF_LOG_TAU = 0.5 * math.log(2.0 * math.pi)


@dataclass(frozen=True)
class Numbers:
    """Widths of counts and scores for a number of rows, a limit on parents and a score."""

    rows: int
    max_parents: int
    score: ScoreName = "f"

    def __post_init__(self) -> None:
        if self.score not in ("f", "g"):
            raise OptionError(f"option 'score' must be f or g, not '{self.score}'")
        if not 1 <= self.rows < (1 << MOST_BITS) - 1:
            raise OptionError(
                f"private K2 takes 1 to {(1 << MOST_BITS) - 2} common rows, not {self.rows}: take a sample"
            )

    @property
    def bits(self) -> int:
        """Bits of a count: those of rows + 1; shares of counts are modulo 2^bits."""
        return (self.rows + 1).bit_length()

    @property
    def complete(self) -> bool:
        """Whether every value comes from a table."""
        return self.bits <= COMPLETE

    @property
    def fraction(self) -> int:
        """Fraction bits of a score."""
        return MANTISSA + EXTRA + 1 - max(self.bits, COMPLETE + 1)

    @property
    def width(self) -> int:
        """Bits of a score: |score| < 2^(width − 2 − fraction), so that sums with a tolerance fit."""
        configurations = 1 << self.max_parents
        largest = self.rows * math.log(2.0) + 2.0 * configurations * math.log(self.rows + 2.0) + 1.0
        return self.fraction + math.ceil(math.log2(largest)) + 2

    @property
    def small(self) -> int:
        """Bits of a count below which its value comes from a table; g's series needs larger counts."""
        return self.bits if self.complete else max(7 if self.score == "f" else 9, self.bits - 16)

    @property
    def places(self) -> int:
        """Bits of the number of places that a count is shifted by."""
        return (self.bits - self.small - 1).bit_length()

    @property
    def error(self) -> float:
        """Bound on the error of one value, in nats."""
        if self.complete:
            return self.rows * self.bits * 2.0 ** (-self.fraction)
        return 2.0 ** (self.bits - MANTISSA + 2) + (8e-9 if self.score == "f" else 1.7e-7)

    @property
    def slope(self) -> int:
        """The c of c (x + 1) in units of 2^-fraction; it makes Stirling's constant term n/2, n whole."""
        if self.complete:
            return 0
        centre = 0.35 + (self.bits - 1 - ((1 << self.places) - 1) / 2) * math.log(2.0)
        offset = HALF_LOG_TAU if self.score == "f" else 0.0
        return round((round(2.0 * offset - centre) - 2.0 * offset) * 2.0**self.fraction)


def log_factorial(build: Builder, numbers: Numbers, count: Word) -> Word:
    """The word of ln count! + c (count + 1), modulo 2^width."""
    table = table_values(numbers)
    if numbers.complete:
        return lookup(build, one_hot(build, count, len(table)), table, numbers.width)
    low = lookup(build, one_hot(build, count[: numbers.small]), table, numbers.width)
    high = stirling(build, numbers, count)
    return mux(build, build.any(count[numbers.small :]), high, low)


def stirling(build: Builder, numbers: Numbers, count: Word) -> Word:
    """The value for counts from 2^small on."""
    fit = segments(numbers)
    scaled, shift = normalise(build, [True, *count], numbers.places)
    low, high = scaled[: numbers.bits - SEGMENTS], scaled[numbers.bits - SEGMENTS : numbers.bits]
    wires = one_hot(build, high)

    def entry(values: NDArray[np.int64], width: int) -> Word:
        return lookup(build, wires, values.tolist(), width)

    # q(C + q D), then B with the exponent's part of the slope, and A with its part at the segment's centre.
    inner = times_digits(build, entry(fit.d, fit.d_width), low)
    inner = signed_sum(build, entry(fit.c, fit.c_width), inner, fit.c_width)
    inner = times_digits(build, inner, low)
    exponent = -math.log(2.0) / 2.0 * 2.0 ** (MANTISSA - SEGMENTS - 1)
    inner = signed_sum(build, entry(fit.b, fit.b_width), inner, fit.b_width + 3)
    for word in odd_multiples(build, shift, exponent, fit.b_width + 3):
        inner = add(build, inner, word)
    inner = times_digits(build, inner, low, from_minus_one=True)
    total = signed_sum(build, entry(fit.a, fit.a_width), inner, fit.a_width)
    for word in odd_multiples(build, odd_product(build, high, shift), exponent, fit.a_width):
        total = add(build, total, word)
    value = shift_right(build, total, shift, signed=True)
    # −1/(24 z) grows with the shift; as a complement it is below 0 everywhere, so the rest is constant.
    slope = times_digits(build, entry(fit.s, fit.s_width), low[-3:], from_minus_one=True)
    small = signed_sum(build, entry(fit.r, fit.r_width), slope, fit.r_width)
    small = flip(build, True, shift_right(build, small, flip(build, True, shift)))
    rest = constant((fit.level >> len(small)) - 1, fit.a_width - len(small))
    value = add(build, value, [*small, *rest])
    return extend([*[False] * EXTRA, *value], numbers.width, signed=True)


def signed_sum(build: Builder, a: Word, b: Word, width: int) -> Word:
    """Sum of two signed words in `width` bits."""
    return add(build, extend(a, width, signed=True), extend(b, width, signed=True))


def odd_product(build: Builder, segment: Word, shift: Word) -> Word:
    """Digits ±1 of (2 segment + 1 + 2^(SEGMENTS + 1)) · Σ_j ±2^j, with signs by the bits of the shift.

    Both factors are odd, so the product is, and an odd number v = Σ_j ±2^j has the digits of (v − 1)/2, the
    sign bit turned round. The complement of an odd number lacks 1 to its negative, and that is its lowest
    bit.
    """
    width = SEGMENTS + 2 + len(shift)
    centre: Word = [True, *segment, True]
    total = [True, *extend([*flip(build, build.invert(shift[0]), [*centre[1:], False])], width, signed=True)]
    for j, bit in enumerate(shift[1:], 1):
        sign = build.invert(bit)
        term = extend(flip(build, sign, [*centre, False]), width + 1 - j, signed=True)
        total = [*total[:j], *add(build, total[j:], term, sign)]
    return [*total[1:-1], build.invert(total[-1])]


@dataclass(frozen=True, eq=False)
class Segments:
    """On segment i, m (ln m + κ) = a + (q − 2^-k)(b + q (c + q d)) and the correction r + s (q − 2^-k)."""

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    c: NDArray[np.int64]
    d: NDArray[np.int64]
    r: NDArray[np.int64]
    s: NDArray[np.int64]
    level: int  # the constant term

    a_width = MANTISSA + 5
    b_width = MANTISSA - SEGMENTS
    c_width = MANTISSA - 2 * SEGMENTS - 2
    d_width = MANTISSA - 3 * SEGMENTS - 4

    @property
    def r_width(self) -> int:
        """Bits of the correction, which is never negative."""
        return int(self.r.max() + np.abs(self.s).max()).bit_length()

    @property
    def s_width(self) -> int:
        """Bits of the correction's slope, with a sign."""
        return int(np.abs(self.s).max()).bit_length() + 1


@lru_cache(maxsize=8)
def segments(numbers: Numbers) -> Segments:
    """Coefficients in units of the words that hold them, from interpolation at Chebyshev's points."""
    w, places = numbers.bits, numbers.places
    tiny = 2.0 ** (SEGMENTS - w)
    q = np.cos(np.pi * (np.arange(4) + 0.5) / 4)
    centre = 1.0 + (np.arange(1 << SEGMENTS) + 0.5) / (1 << SEGMENTS)
    m = centre[:, None] + (q - tiny) / (2 << SEGMENTS)
    slope = numbers.slope / 2.0**numbers.fraction
    kappa = slope - 1.0 + (w - 1 - ((1 << places) - 1) / 2) * math.log(2.0)
    basis = np.stack([np.ones(4), q - tiny, (q - tiny) * q, (q - tiny) * q * q], axis=1)
    fitted = np.linalg.solve(basis, (m * (np.log(m) + kappa)).T) * 2.0**MANTISSA
    a, b, c, d = (np.rint(row).astype(np.int64) for row in fitted)
    most = (1 << places) - 1
    series = 1.0 / 24.0 if numbers.score == "f" else 1.0 / 8.0
    unit = 2.0 ** (MANTISSA - 2 * (w - 1) + most)
    r = np.rint(unit * series / centre).astype(np.int64)
    s = np.rint(-unit * series / centre**2 / (2 << SEGMENTS)).astype(np.int64)
    constant_term = slope / 2.0 + (HALF_LOG_TAU if numbers.score == "f" else 0.0)
    level = round(constant_term * 2.0) << (MANTISSA - w)  # halves, in units of 2^-(MANTISSA - w + 1)
    return Segments(a + ROUNDED_OFF, b, c, d, r, s, level)


@lru_cache(maxsize=8)
def table_values(numbers: Numbers) -> list[int]:
    """The values of small counts in units of 2^-fraction, from whole logarithms of primes."""
    size = numbers.rows + 2 if numbers.complete else 1 << numbers.small
    logs = [0] * (size + 1)
    for number in range(2, size):
        divisor = next((p for p in range(2, math.isqrt(number) + 1) if number % p == 0), number)
        if divisor == number:
            logs[number] = 2 * round(math.log(number) * 2.0 ** (numbers.fraction - 1))
        else:
            logs[number] = logs[divisor] + logs[number // divisor]
    unit, slope = 1 << numbers.fraction, numbers.slope
    if numbers.score == "g":
        return [
            ((2 * x + 1) * logs[x] // 2 - x * unit if x > 0 else 0) + slope * (x + 1) for x in range(size)
        ]
    values = [0]
    for x in range(1, size):
        values.append(values[-1] + logs[x])
    return [value + slope * (x + 1) for x, value in enumerate(values)]
