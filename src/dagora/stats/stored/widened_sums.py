"""Moments of a widened table (`stats/indicators`) from exact sums of columns, squares and indicators.

A column x becomes z = (x − c) / s and z². With c its mean and s a power of two near its sd, the sums of z and
z² follow from those of x and x² without rounding: z² = (x² − 2 c x + c²) / s².
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dagora.data.schema import Kind, Schema
from dagora.stats.indicators import IndicatorMoments, feature_starts
from dagora.stats.statistics import Moments
from dagora.stats.stored.exact_sums import ExactSums, Feature, quotient


class Shift(NamedTuple):
    """A centre, as a whole number times 2^`unit`, and a scale, as the power of two that it is."""

    whole: int
    unit: int
    scale: int


def widened_moments(sums: ExactSums, schema: Schema) -> IndicatorMoments:
    """Moments of z, z² and the indicators of all levels but the first; each number is rounded once."""
    starts = feature_starts(schema)
    chosen: list[Feature] = []
    for variable in schema:
        if variable.kind is Kind.CONTINUOUS:
            chosen += [(variable.name, 1), (variable.name, 2)]
        else:
            chosen += [(variable.name, level) for level in variable.levels[1:]]
    own = sums.over(chosen)
    n, units, scatter = own.n, list(own.units), own.centred()
    means = np.array([quotient(total, unit, n) for total, unit in zip(own.first, own.units, strict=True)])
    scales = [0] * len(units)
    for place, variable in enumerate(schema):
        if variable.kind is not Kind.CONTINUOUS or not n:
            continue
        k = int(starts[place])
        shift = shift_of(means[k], int(scatter[k, k]), units[k], n)
        # The row of the square, in a unit in which both terms of x² − 2 c x are whole numbers.
        low = min(units[k + 1], units[k] + shift.unit + 1)
        of_square, of_column = 1 << (units[k + 1] - low), shift.whole << (units[k] + shift.unit + 1 - low)
        scatter[k + 1] = of_square * scatter[k + 1] - of_column * scatter[k]
        scatter[:, k + 1] = of_square * scatter[:, k + 1] - of_column * scatter[:, k]
        units[k + 1] = low
        scales[k], scales[k + 1] = shift.scale, 2 * shift.scale
        means[k], means[k + 1] = shifted_means(own, k, shift)
    spread = np.zeros((len(units), len(units)))
    for i in range(len(units) if n else 0):
        for j in range(i, len(units)):
            unit = units[i] + units[j] - scales[i] - scales[j]
            spread[i, j] = spread[j, i] = quotient(scatter[i, j], unit, n)
    return IndicatorMoments(Moments(n, means, spread), starts)


def shift_of(mean: float, centred: int, unit: int, n: int) -> Shift:
    """The centre and scale of a column, from its mean and n times its scatter; a huge mean is not centred."""
    if not math.isfinite(mean):
        return Shift(0, 0, 0)
    whole, divisor = mean.as_integer_ratio()
    # The variance is centred · 2^(2 unit) / n², whose square root is about two to half its length.
    scale = (centred.bit_length() - 2 * n.bit_length()) // 2 + unit if centred else 0
    return Shift(whole, 1 - divisor.bit_length(), scale)


def shifted_means(sums: ExactSums, k: int, shift: Shift) -> tuple[float, float]:
    """The means of z and z² of the column whose feature is the k-th."""
    centre = Fraction(shift.whole) * Fraction(2) ** shift.unit
    first = Fraction(int(sums.first[k])) * Fraction(2) ** sums.units[k] / sums.n
    second = Fraction(int(sums.first[k + 1])) * Fraction(2) ** sums.units[k + 1] / sums.n
    square = second - 2 * centre * first + centre * centre
    scale = Fraction(2) ** shift.scale
    return in_floats((first - centre) / scale), in_floats(square / scale**2)


def in_floats(number: Fraction) -> float:
    """A fraction as a float; infinite where it is beyond all floats.

    >>> in_floats(Fraction(1, 3)) == 1 / 3, in_floats(Fraction(10) ** 400)
    (True, inf)
    """
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
