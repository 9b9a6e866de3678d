"""The constants of `log_factorial`, as whole numbers in units of the words that hold them.

They are computed in decimal arithmetic with fifty digits: a double is not precise enough, and two parties on
different machines must build the same circuit, bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from dagora.parties.vertical.widths import PRECISION, SEGMENTS, BitWidths

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")

DIGITS = 50  # far more than the mantissas of a circuit, so that tables are rounded once
PI = Decimal("3.14159265358979323846264338327950288419716939937511")
ROUNDED_OFF = 4  # mean loss of the products, which round down, in units of the mantissa


def in_decimals(function: Callable[P, T]) -> Callable[P, T]:
    """Compute with `DIGITS` digits."""

    @wraps(function)
    def wrapper(*arguments: P.args, **options: P.kwargs) -> T:
        with localcontext(prec=DIGITS):
            return function(*arguments, **options)

    return wrapper


def units(value: Decimal, bits: int) -> int:
    """The whole number nearest to value · 2^bits.

    >>> units(Decimal("0.7"), 3)
    6
    """
    return int((value * (1 << bits)).to_integral_value())


@in_decimals
def log_two() -> Fraction:
    """Return ln 2."""
    return Fraction(Decimal(2).ln())


@in_decimals
def constant_term(widths: BitWidths) -> Decimal:
    """The constant of Stirling's series, ½ ln 2π; the paper's g leaves it out."""
    return (2 * PI).ln() / 2 if widths.score == "f" else Decimal(0)


@in_decimals
def mean_exponent(widths: BitWidths) -> Decimal:
    """The middle of the exponents' range, in nats; the rest is half the shift in digits ±1."""
    most = (1 << widths.places) - 1
    return (widths.bits - 1 - Decimal(most) / 2) * Decimal(2).ln()


@lru_cache(maxsize=32)
@in_decimals
def slope(widths: BitWidths) -> int:
    """The c of c (x + 1) in units of 2^-fraction; it makes Stirling's constant term n/2, n whole."""
    if widths.complete:
        return 0
    twice = 2 * constant_term(widths)
    centre = Decimal("0.35") + mean_exponent(widths)
    return units((twice - centre).to_integral_value() - twice, widths.fraction)


@dataclass(frozen=True, eq=False)
class Segments:
    """On segment i, m (ln m + κ) = a + p (b + q (c + q (d + q e))), and the correction is r + s p.

    q has the digits ±1 of the count's lowest bits, from −1 to 1, and p = q − 2^-k with k of them.
    """

    polynomial: tuple[list[int], ...]  # a, b, c, d, e
    r: list[int]
    s: list[int]
    level: int  # the constant term, in units of 2^-PRECISION

    @property
    def inner_widths(self) -> list[int]:
        """Bits of c + q (d + q e), d + q e and e, with a sign; the products err by a few units."""
        inner = self.polynomial[2:]
        return [
            (sum(max(map(abs, row)) for row in inner[first:]) + 16).bit_length() + 1
            for first in range(len(inner))
        ]

    @property
    def r_width(self) -> int:
        """Bits of the correction, which is never negative."""
        return (max(self.r) + max(map(abs, self.s)) + 2).bit_length()

    @property
    def s_width(self) -> int:
        """Bits of the correction's slope, with a sign."""
        return max(map(abs, self.s)).bit_length() + 1


@lru_cache(maxsize=32)
@in_decimals
def segments(widths: BitWidths) -> Segments:
    """Taylor's series about the centres; Chebyshev's polynomial T₅ replaces the fifth power by lower ones."""
    count = 1 << SEGMENTS
    half = Decimal(1) / (2 * count)
    step = Decimal(1) / (1 << (widths.bits - SEGMENTS))
    c = Decimal(slope(widths)) / (1 << widths.fraction)
    kappa = c - 1 + mean_exponent(widths)
    series = Decimal(1) / (24 if widths.score == "f" else 8)
    most = (1 << widths.places) - 1
    scale = PRECISION - (widths.bits - 1) + most
    rows, r, s = [], [], []
    for segment in range(count):
        centre = 1 + (2 * segment + 1) * half
        rows.append([units(x, widths.mantissa) for x in around(centre, half, kappa, step)])
        r.append(units(series / centre, scale))
        s.append(units(-series * half / centre**2, scale))
    polynomial = tuple(list(column) for column in zip(*rows, strict=True))
    polynomial[0][:] = [a + ROUNDED_OFF for a in polynomial[0]]
    # A multiple of ½ but for the rounding of c.
    level = units((2 * constant_term(widths) + c).to_integral_value(), PRECISION - 1)
    return Segments(polynomial, r, s, level)


def around(centre: Decimal, half: Decimal, kappa: Decimal, step: Decimal) -> Sequence[Decimal]:
    """Coefficients a to e of m (ln m + κ) with m = centre + half · p and p = q − step."""
    log = centre.ln()
    a, b = centre * (log + kappa), half * (log + 1 + kappa)
    # The powers of p from the second to the fifth have (−1)^k half^k / (k (k − 1) centre^(k − 1)).
    power = [(-1) ** k * half**k / (k * (k - 1) * centre ** (k - 1)) for k in range(2, 6)]
    # p⁵ = (20 p³ − 5 p) / 16 + T₅(p) / 16
    c, d, e = power[0], power[1] + power[3] * 20 / 16, power[2]
    b -= power[3] * 5 / 16
    # b + p (c + p (d + p e)) in powers of q = p + step, one factor after the other
    inner = [b, c, d, e]
    for first in range(3):
        for k in range(2, first - 1, -1):
            inner[k] -= step * inner[k + 1]
    return [a, *inner]


@lru_cache(maxsize=32)
@in_decimals
def table_values(widths: BitWidths) -> list[int]:
    """The values of small counts in units of 2^-fraction, from whole logarithms of primes."""
    size = widths.rows + widths.levels if widths.complete else 1 << widths.small
    logs = [0] * (size + 1)
    for number in range(2, size):
        divisor = next((p for p in range(2, math.isqrt(number) + 1) if number % p == 0), number)
        if divisor == number:
            logs[number] = 2 * units(Decimal(number).ln(), widths.fraction - 1)
        else:
            logs[number] = logs[divisor] + logs[number // divisor]
    unit, c = 1 << widths.fraction, slope(widths)
    if widths.score == "g":
        return [((2 * x + 1) * logs[x] // 2 - x * unit if x > 0 else 0) + c * (x + 1) for x in range(size)]
    values = [0]
    for x in range(1, size):
        values.append(values[-1] + logs[x])
    return [value + c * (x + 1) for x, value in enumerate(values)]


def log_factorial_of_levels(widths: BitWidths, levels: int) -> int:
    """Return ln(levels − 1)! in units of 2^-fraction, as the table has it without c (x + 1).

    >>> log_factorial_of_levels(BitWidths(100, 2), 2)
    0
    """
    if widths.score == "g" and levels > 2:
        raise ValueError("the score g is of two levels")
    if levels == 2:
        return 0
    return table_values(widths)[levels - 1] - slope(widths) * levels
