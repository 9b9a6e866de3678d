"""Fixed-point ln x! of a secret count as a circuit, precise enough that scores compare as in floating point.

If all counts are below 2^10, all values come from one table. Otherwise counts below 2^8 come from a table,
and the rest from Stirling's series about z = x + ½, ln x! = z ln z − z + ½ ln 2π − 1/(24 z) + 7/(2880 z³) −
…: with z = m 2^e and 1 ≤ m < 2, z ln z = 2^e [m ln m + e m ln 2], where m ln m is a quartic on each of 256
segments and products with secret digits ±1 cost additions only (`times_digits`). Two tricks:

* Σ_j [L(α_j0) + L(α_j1) − L(α_j0 + α_j1 + 1)] does not change when c (x + 1) is added to L(x), so c is chosen
  to make the exponent's digits symmetric and the constant term a whole number.
* Tables are sums of whole logarithms of primes, ln x! = Σ_p v_p(x!) round(2^F ln p): scores that are equal as
  rational numbers, such as 5! 0!/6! = 1! 1!/3!, are equal to the last bit.

The error of a value outside of tables, in units of 2^-PRECISION (5.8e-11). The bracket has five coefficients
(½ each), four products (2 each, and what went in), at most four words of `odd_multiples` (1½ each), and the
quartic's remainder 2^-45/320 (below 1.7): at most 19, halved with each place of the shift. Shifts and
the correction's roundings add 6. Neglected are 7/(2880 z³) < 1.5e-10 and the curve of 1/(24 z) within a
segment < 9e-11, and from z = 2^13 on, where its slope is multiplied by five digits only, 1/(24 · 2^13 · 2^9 ·
2^4) = 6.2e-10. Together this is less than ¼ 1e-9 ln(x + 1) for every x, which is what ties need
(`score_circuits`). Run for all counts of all widths, the circuits err by at most 5.0e-10, and by at most
5.1e-11 ln(x + 2).

The score g has ½ ln x + x ln x − x in the place of ln x!, and 0 for x = 0 (Wright & Yang 2004; their equation
is missing from the text at hand and was rebuilt from its words); it differs by the constant and by 1/(12 x),
so that only tables change; its series ends before 1/(24 z²), 1.6e-7 at the worst.
"""

from __future__ import annotations

from dagora.parties.crypto.garbling.builder import Builder, Word
from dagora.parties.crypto.garbling.lookups import lookup, odd_multiples, one_hot
from dagora.parties.crypto.garbling.words import (
    add,
    constant,
    extend,
    flip,
    mux,
    normalise,
    shift_right,
    times_digits,
)
from dagora.parties.vertical.stirling_tables import log_two, segments, table_values
from dagora.parties.vertical.widths import PRECISION, SEGMENTS, BitWidths

CORRECTION_DIGITS = 5  # of the mantissa within its segment, for 1/(24 z)


def log_factorial(build: Builder, widths: BitWidths, count: Word) -> Word:
    """The word of ln count! + c (count + 1), modulo 2^width."""
    table = table_values(widths)
    if widths.complete:
        return lookup(build, one_hot(build, count, len(table)), table, widths.width)
    low = lookup(build, one_hot(build, count[: widths.small]), table, widths.width)
    high = stirling(build, widths, count)
    return mux(build, build.any(count[widths.small :]), high, low)


def stirling(build: Builder, widths: BitWidths, count: Word) -> Word:
    """The value for counts from 2^small on."""
    scaled, shift = normalise(build, [True, *count], widths.places)
    split = widths.bits - SEGMENTS
    low, high = scaled[:split], scaled[split : widths.bits]
    wires = one_hot(build, high)
    total = z_log_z(build, widths, low, high, wires, shift)
    value = shift_right(build, total, shift, signed=True)
    value = add(build, value, corrected_constant(build, widths, low, wires, shift, len(value)))
    return extend([*[False] * (widths.fraction - PRECISION), *value], widths.width, signed=True)


def z_log_z(build: Builder, widths: BitWidths, low: Word, high: Word, wires: Word, shift: Word) -> Word:
    """2^-e [z ln z + (c − 1) z]: Horner's rule with the exponent's part in the constant and linear terms."""
    fit = segments(widths)
    a, b, *inner = fit.polynomial
    width = widths.mantissa + 5
    linear_width = widths.mantissa - SEGMENTS + 3
    total: Word = []
    for row, bits in zip(inner[::-1], fit.inner_widths[::-1], strict=True):
        entry = lookup(build, wires, row, bits)
        total = signed_sum(build, entry, times_digits(build, total, low), bits) if total else entry
    total = times_digits(build, total, low)
    total = signed_sum(build, lookup(build, wires, b, linear_width), total, linear_width)
    exponent = -log_two() * (1 << (widths.mantissa - SEGMENTS)) / 4
    for word in odd_multiples(build, shift, exponent, linear_width):
        total = add(build, total, word)
    total = times_digits(build, total, low, from_minus_one=True)
    total = signed_sum(build, lookup(build, wires, a, width), total, width)
    for word in odd_multiples(build, odd_product(build, high, shift), exponent, width):
        total = add(build, total, word)
    return total


def corrected_constant(
    build: Builder, widths: BitWidths, low: Word, wires: Word, shift: Word, width: int
) -> Word:
    """The constant term less 1/(24 z), which grows with the shift.

    Written as a complement it is always below 0, so that the bits above it are constant.
    """
    fit = segments(widths)
    steep = lookup(build, wires, fit.s, fit.s_width)
    steep = times_digits(build, steep, low[-CORRECTION_DIGITS:], from_minus_one=True)
    small = signed_sum(build, lookup(build, wires, fit.r, fit.r_width), steep, fit.r_width)
    small = flip(build, True, shift_right(build, small, flip(build, True, shift)))
    return [*small, *constant((fit.level >> len(small)) - 1, width - len(small))]


def signed_sum(build: Builder, a: Word, b: Word, width: int) -> Word:
    """Sum of two signed words in `width` bits."""
    return add(build, extend(a, width, signed=True), extend(b, width, signed=True))


def odd_product(build: Builder, segment: Word, shift: Word) -> Word:
    """Digits ±1 of (2^(k + 1) + 2 segment + 1) · Σ_j ±2^j for a segment of k bits, signs by the shift's bits.

    Both factors are odd, so the product is, and an odd number v = Σ_j ±2^j has the digits of (v − 1)/2, the
    sign bit inverted. The complement of a number is 1 less than its negative; for an odd number this concerns
    only the lowest bit.
    """
    width = len(segment) + 2 + len(shift)
    centre: Word = [True, *segment, True]
    total = [True, *extend([*flip(build, build.invert(shift[0]), [*centre[1:], False])], width, signed=True)]
    for j, bit in enumerate(shift[1:], 1):
        sign = build.invert(bit)
        term = extend(flip(build, sign, [*centre, False]), width + 1 - j, signed=True)
        total = [*total[:j], *add(build, total[j:], term, sign)]
    return [*total[1:-1], build.invert(total[-1])]
