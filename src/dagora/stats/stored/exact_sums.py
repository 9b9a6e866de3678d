"""Sums over rows of features and of their products, without rounding.

Features are a column itself, its square, and indicators of levels. Their sums are whole numbers times powers
of two, kept as Python's integers: sums of parts are added and subtracted exactly, in any order. Moments that
are rounded from them once, at the end, are those of all rows together, to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.data.schema import Kind, Schema
from dagora.stats.moments import BLOCK_ROWS
from dagora.stats.statistics import Moments
from dagora.stats.stored.exact_digits import BITS, Digits, digits_of, squares_of

Integers = NDArray[Any]  # of objects: Python's integers, of any length
# A column and its power (1 or 2), or a column and one of its levels.
Feature = tuple[str, int | str]
# Products of digits are below 2^52, so so many of them can be added in 64 bits.
ADDITIONS = 1 << 10
# Cells of features that are held at a time.
CELLS_AT_ONCE = 1 << 24


@dataclass(frozen=True, eq=False)
class ExactSums:
    """Sums of features and of products of two: `first[i]` · 2^`units[i]`, `second[i, j]` · 2^(both units)."""

    n: int
    features: tuple[Feature, ...]
    units: tuple[int, ...]
    first: Integers
    second: Integers

    @classmethod
    def nothing(cls, features: Sequence[Feature]) -> ExactSums:
        """Sums over no rows."""
        size = len(features)
        zeros = np.zeros((size, size), dtype=object)
        return cls(0, tuple(features), (0,) * size, np.zeros(size, dtype=object), zeros)

    def combine(self, other: ExactSums, sign: int = 1) -> ExactSums:
        """These sums and others, or with `sign` −1 these without others; features that one lacks are 0.

        >>> from dagora.data.schema import Variable
        >>> schema = Schema([Variable("x", Kind.CONTINUOUS)])
        >>> one = sums_of_rows(schema, [np.array([0.1, 0.2])], squares=False)
        >>> both = one.combine(sums_of_rows(schema, [np.array([1e-30])], squares=False))
        >>> both.n, both.combine(one, -1).moments(["x"]).mean
        (3, array([1.e-30]))
        """
        features = (*self.features, *(each for each in other.features if each not in set(self.features)))
        ours, theirs = self.over(features), other.over(features)
        units = tuple(map(min, ours.units, theirs.units))
        ours, theirs = ours.in_units(units), theirs.in_units(units)
        return ExactSums(
            self.n + sign * other.n,
            features,
            units,
            ours.first + sign * theirs.first,
            ours.second + sign * theirs.second,
        )

    def over(self, features: Sequence[Feature]) -> ExactSums:
        """The sums of these features, in this order; one that is not among them is 0 in all rows."""
        if tuple(features) == self.features:
            return self
        place = {feature: k for k, feature in enumerate(self.features)}
        kept = [k for k, feature in enumerate(features) if feature in place]
        own = [place[features[k]] for k in kept]
        wider = ExactSums.nothing(features)
        units = [0] * len(features)
        for new, old in zip(kept, own, strict=True):
            units[new] = self.units[old]
        wider.first[kept] = self.first[own]
        wider.second[np.ix_(kept, kept)] = self.second[np.ix_(own, own)]
        return ExactSums(self.n, tuple(features), tuple(units), wider.first, wider.second)

    def in_units(self, units: tuple[int, ...]) -> ExactSums:
        """The same sums in smaller units."""
        if units == self.units:
            return self
        factors = np.array([1 << (a - b) for a, b in zip(self.units, units, strict=True)], dtype=object)
        second = self.second * factors[:, None] * factors
        return ExactSums(self.n, self.features, units, self.first * factors, second)

    def centred(self) -> Integers:
        """N times the scatter of the features, in their units."""
        return self.n * self.second - np.multiply.outer(self.first, self.first)

    def moments(self, columns: Sequence[str]) -> Moments:
        """Moments of some columns, each number rounded once; not finite where it is beyond all floats."""
        chosen = self.over([(name, 1) for name in columns])
        return rounded_moments(chosen.n, chosen.units, chosen.first, chosen.centred())


def rounded_moments(n: int, units: Sequence[int], first: Integers, centred: Integers) -> Moments:
    """Moments from n, sums of features, and n times their scatter."""
    size = len(units)
    mean, scatter = np.zeros(size), np.zeros((size, size))
    for i in range(size if n else 0):
        mean[i] = quotient(first[i], units[i], n)
        for j in range(i, size):
            scatter[i, j] = scatter[j, i] = quotient(centred[i, j], units[i] + units[j], n)
    return Moments(n, mean, scatter)


def quotient(number: int, unit: int, divisor: int) -> float:
    """Number · 2^unit / divisor, rounded once.

    >>> quotient(1, 0, 3) == 1 / 3, quotient(3, 2000, 1), quotient(1, -3, 1)
    (True, inf, 0.125)
    """
    try:
        return (number << unit) / divisor if unit >= 0 else number / (divisor << -unit)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def features_of(schema: Schema, *, squares: bool) -> tuple[Feature, ...]:
    """The features of columns: numbers themselves; with `squares` also these, and an indicator of each level.

    >>> from dagora.data.schema import Variable
    >>> dose = Variable("dose", Kind.DISCRETE, ("low", "high"))
    >>> features_of(Schema([dose, Variable("x", Kind.CONTINUOUS)]), squares=True)
    (('dose', 'low'), ('dose', 'high'), ('x', 1), ('x', 2))
    """
    found: list[Feature] = []
    for variable in schema:
        if variable.kind is Kind.CONTINUOUS:
            found += [(variable.name, 1), (variable.name, 2)] if squares else [(variable.name, 1)]
        elif squares:
            found += [(variable.name, level) for level in variable.levels]
    return tuple(found)


def sums_of_rows(schema: Schema, columns: Sequence[NDArray[Any]], *, squares: bool) -> ExactSums:
    """Exact sums over rows, of which `columns` holds the cells, by blocks."""
    features = features_of(schema, squares=squares)
    sums = DigitSums(len(features))
    rows = len(columns[0]) if columns else 0
    step = max(1, min(BLOCK_ROWS, CELLS_AT_ONCE // max(1, len(features))))
    for start in range(0, rows, step):
        block = [column[start : start + step] for column in columns]
        sums.add(digits_of_features(schema, block, squares=squares))
    return sums.total(rows, features)


def digits_of_features(
    schema: Schema, columns: Sequence[NDArray[Any]], *, squares: bool
) -> Mapping[int, tuple[list[int], NDArray[np.float64]]]:
    """Digits of all features of a block: by position, the features that have one there, and their digits."""
    found: dict[int, list[tuple[int, NDArray[np.float64]]]] = {}
    place = 0

    def keep(digits: Digits) -> None:
        nonlocal place
        for position, own in digits.items():
            found.setdefault(position, []).append((place, own))
        place += 1

    for variable, column in zip(schema, columns, strict=True):
        if variable.kind is Kind.CONTINUOUS:
            try:
                digits = digits_of(np.asarray(column, dtype=np.float64))
            except DataError:
                raise DataError(f"column '{variable.name}' has a value that is not finite") from None
            keep(digits)
            if squares:
                keep(squares_of(digits))
        elif squares:
            for code in range(variable.cardinality):
                keep({0: (column == code).astype(np.float64)})
    return {
        position: ([feature for feature, _ in own], np.stack([digits for _, digits in own]))
        for position, own in found.items()
    }


class DigitSums:
    """Sums of digits and of products of digits, by position."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._first: dict[int, NDArray[np.int64]] = {}
        self._second: dict[int, NDArray[np.int64]] = {}
        self._added: dict[int, int] = {}
        self._long: dict[int, Integers] = {}
        self._lowest: dict[int, int] = {}  # of each feature

    def add(self, block: Mapping[int, tuple[list[int], NDArray[np.float64]]]) -> None:
        """Add the rows of a block."""
        positions = sorted(block)
        for position in positions:
            features, digits = block[position]
            for feature in features:
                self._lowest[feature] = min(position, self._lowest.get(feature, position))
            own = self._first.setdefault(position, np.zeros(self._size, dtype=np.int64))
            own[features] += digits.sum(axis=1).astype(np.int64)
        for k, one in enumerate(positions):
            left, of_left = block[one]
            for other in positions[k:]:
                right, of_right = block[other]
                product = (of_left @ of_right.T).astype(np.int64)
                total = self._room(one + other)
                total[np.ix_(left, right)] += product
                if other != one:
                    total[np.ix_(right, left)] += product.T

    def _room(self, position: int) -> NDArray[np.int64]:
        """The sums at a position, with room for two more additions."""
        if self._added.get(position, ADDITIONS) + 2 > ADDITIONS:
            if position in self._second:
                long = self._second[position].astype(object)
                self._long[position] = self._long.get(position, 0) + long
            self._second[position] = np.zeros((self._size, self._size), dtype=np.int64)
            self._added[position] = 0
        self._added[position] += 2
        return self._second[position]

    def total(self, rows: int, features: tuple[Feature, ...]) -> ExactSums:
        """All that was added."""
        units = [BITS * self._lowest.get(k, 0) for k in range(self._size)]
        lows = np.array(units, dtype=object)
        first = np.zeros(self._size, dtype=object)
        for position, own in self._first.items():
            first += shifted(own.astype(object), BITS * position - lows)
        second = np.zeros((self._size, self._size), dtype=object)
        for position, own in self._second.items():
            whole = own.astype(object) + self._long.get(position, 0)
            second += shifted(whole, BITS * position - (lows[:, None] + lows))
        return ExactSums(rows, features, tuple(units), first, second)


def shifted(numbers: Integers, by: Integers) -> Integers:
    """Integers times powers of two; where a power is negative, the number is 0."""
    found: Integers = numbers * np.frompyfunc(lambda shift: 1 << max(0, int(shift)), 1, 1)(by)
    return found
