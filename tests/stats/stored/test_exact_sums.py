"""Exact sums: fractions of Python say what they are, whatever the order and the parts of the rows."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from dagora import DataError
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.stats.indicators import table_indicator_moments
from dagora.stats.moments import table_moments
from dagora.stats.stored.exact_digits import digits_of, squares_of
from dagora.stats.stored.exact_sums import ExactSums, sums_of_rows
from dagora.stats.stored.widened_sums import widened_moments

NUMBERS = Schema([Variable("x", Kind.CONTINUOUS), Variable("y", Kind.CONTINUOUS)])
WILD = [0.1, -3.5e300, 1e-300, 5e-324, 2.0**-1000, 1e16, -1.0, 0.0, 3.3333, 7e5]


def exact(values: np.ndarray) -> list[Fraction]:
    return [Fraction(float(value)) for value in values]


def test_digits_are_the_number() -> None:
    values = np.array(WILD)
    digits = digits_of(values)
    for k, value in enumerate(exact(values)):
        assert (
            sum(Fraction(int(own[k])) * Fraction(2) ** (20 * place) for place, own in digits.items()) == value
        )
    assert all(np.abs(own).max() <= 2**19 for own in digits.values())


def test_squares_are_the_squares() -> None:
    values = np.array(WILD)
    digits = squares_of(digits_of(values))
    for k, value in enumerate(exact(values)):
        found = sum(Fraction(int(own[k])) * Fraction(2) ** (20 * place) for place, own in digits.items())
        assert found == value**2
    assert all(np.abs(own).max() <= 2**19 for own in digits.values())


@pytest.mark.parametrize("wild", [False, True])
def test_sums_are_those_of_fractions(wild: bool) -> None:
    rng = np.random.default_rng(1)
    x = np.array(WILD) if wild else rng.normal(120, 15, 50)
    y = rng.normal(size=len(x))
    sums = sums_of_rows(NUMBERS, [x, y], squares=False)
    a, b = exact(x), exact(y)
    unit = [Fraction(2) ** each for each in sums.units]
    assert int(sums.first[0]) * unit[0] == sum(a)
    assert int(sums.second[0, 1]) * unit[0] * unit[1] == sum(p * q for p, q in zip(a, b, strict=True))
    n, mean = len(x), sum(a) / len(x)
    spread = sum((p - mean) ** 2 for p in a)
    found = sums.moments(["x", "y"])
    assert found.mean[0] == float(mean)
    assert found.n == n
    if wild:
        assert found.scatter[0, 0] == np.inf
    else:
        assert found.scatter[0, 0] == float(spread)


def test_parts_in_any_order_are_the_whole_to_the_last_bit() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=40_000) * 1e-3 + 5, rng.standard_cauchy(40_000)
    whole = sums_of_rows(NUMBERS, [x, y], squares=True).moments(["x", "y"])
    cuts = [0, 13, 20_000, 33_333, 40_000]
    parts = [sums_of_rows(NUMBERS, [x[a:b], y[a:b]], squares=True) for a, b in pairwise(cuts)]
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        total = ExactSums.nothing(parts[0].features)
        for k in order:
            total = total.combine(parts[k])
        found = total.moments(["x", "y"])
        assert np.array_equal(found.mean, whole.mean)
        assert np.array_equal(found.scatter, whole.scatter)
        less = total.combine(parts[1], -1).combine(parts[2], -1)
        rest = parts[0].combine(parts[3])
        assert np.array_equal(less.moments(["x", "y"]).scatter, rest.moments(["x", "y"]).scatter)


def test_agrees_with_the_moments_of_tables_but_for_rounding() -> None:
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(30_000, 3)) @ rng.normal(size=(3, 3)) + 100
    table = Table.from_numpy(rows, names=["x", "y", "z"])
    ours = sums_of_rows(table.schema, table.columns, squares=False).moments(table.names)
    theirs = table_moments(table)
    assert np.allclose(ours.mean, theirs.mean, rtol=1e-13)
    assert np.allclose(ours.scatter, theirs.scatter, rtol=1e-11)


def test_widened_moments_are_those_of_the_features() -> None:
    rng = np.random.default_rng(4)
    n = 5000
    codes, x = rng.integers(0, 3, n), rng.normal(1e6, 2.5, n)
    table = Table.from_numpy(np.column_stack([codes, x]), names=["a", "x"], discrete=["a"])
    sums = sums_of_rows(table.schema, table.columns, squares=True)
    found, known = widened_moments(sums, table.schema), table_indicator_moments(table)
    assert np.array_equal(found.starts, known.starts)
    correlations = [
        each.moments.scatter / np.sqrt(np.outer(np.diag(each.moments.scatter), np.diag(each.moments.scatter)))
        for each in (found, known)
    ]
    # z² has another scale and, as centres differ by rounding, hardly another meaning.
    assert np.allclose(correlations[0], correlations[1], atol=1e-7)
    centre = exact(x)
    mean = found.moments.mean
    assert abs(mean[2]) < 1e-9  # z is centred
    assert len(centre) == n


def test_squares_are_centred_without_rounding() -> None:
    x = np.array([1e8 + 1, 1e8 + 2, 1e8 + 4, 1e8 + 9])
    table = Table.from_numpy(np.column_stack([[0, 1, 0, 1], x]), names=["a", "x"], discrete=["a"])
    sums = sums_of_rows(table.schema, table.columns, squares=True)
    moments = widened_moments(sums, table.schema).moments
    z = x - np.float64(np.mean(x))
    scale = np.sqrt(moments.scatter[1, 1] / (z @ z))
    assert np.isclose(moments.mean[2], np.mean((z * scale) ** 2), rtol=1e-14)
    square = (z * scale) ** 2
    assert np.isclose(moments.scatter[2, 2], ((square - square.mean()) ** 2).sum(), rtol=1e-13)


def test_refuses_what_is_not_finite() -> None:
    with pytest.raises(DataError, match="'x' has a value that is not finite"):
        sums_of_rows(NUMBERS, [np.array([1.0, np.inf]), np.zeros(2)], squares=False)
