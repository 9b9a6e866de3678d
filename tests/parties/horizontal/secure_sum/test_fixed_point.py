from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.errors import ProtocolError
from dagora.parties.horizontal.secure_sum.fixed_point import (
    OutOfRangeError,
    decode_integers,
    decode_reals,
    encode_integers,
    encode_reals,
    fraction_bits,
    largest_integer,
)


@given(st.integers(1, 70), st.data())
@settings(max_examples=60, deadline=None)
def test_sums_of_integers_are_exact_up_to_the_very_limit(parties, data):
    limit = largest_integer(parties)
    part = st.integers(-limit, limit) | st.sampled_from([limit, -limit])
    parts = data.draw(st.lists(part, min_size=parties, max_size=parties))
    total = np.zeros(1, dtype=np.uint64)
    for value in parts:
        total += encode_integers(np.array([value], dtype=np.int64), parties)
    assert decode_integers(total).tolist() == [sum(parts)]


@pytest.mark.parametrize("parties", [2, 3, 64])
def test_an_integer_that_could_wrap_is_refused_without_telling_it(parties):
    limit = largest_integer(parties)
    assert parties * limit < 2**63 <= parties * (limit + 1)
    for value in (limit + 1, -limit - 1):
        with pytest.raises(OutOfRangeError) as caught:
            encode_integers(np.array([0, value]), parties)
        assert str(value) not in str(caught.value)
    with pytest.raises(OutOfRangeError):
        encode_integers(np.array([2**64 - 1], dtype=np.uint64), parties)
    with pytest.raises(OutOfRangeError, match="needs integers, not float64"):
        encode_integers([1.0], parties)


@given(st.integers(1, 70), st.floats(1e-300, 1e300), st.data())
@settings(max_examples=100, deadline=None)
def test_sums_of_reals_are_right_to_half_a_unit_per_party(parties, largest, data):
    share = st.floats(-1.0, 1.0) | st.sampled_from([1.0, -1.0])
    parts = [largest * x for x in data.draw(st.lists(share, min_size=parties, max_size=parties))]
    exact = sum((Fraction(part) for part in parts), Fraction(0))
    total = np.zeros(1, dtype=np.uint64)
    for value in parts:
        total += encode_reals([value], largest, parties)
    bits = fraction_bits(largest, parties)
    unit = Fraction(2) ** -bits
    # No wrap, whatever the parts are: the integer itself is near the exact sum.
    assert abs(int(total.view(np.int64)[0]) * unit - exact) <= parties * unit / 2
    if abs(exact) <= Fraction(largest):
        decoded = Fraction(float(decode_reals(total, largest, parties)[0]))
        assert abs(decoded - exact) <= parties * unit / 2 + abs(exact) / 2**52


@given(st.floats(1e-300, 1e300), st.integers(1, 100))
@settings(max_examples=60, deadline=None)
def test_the_unit_is_the_finest_that_cannot_wrap(largest, parties):
    bits = fraction_bits(largest, parties)
    rounded = 1 << (parties - 1).bit_length()
    assert rounded * Fraction(largest) * Fraction(2) ** bits <= 2**62
    assert rounded * Fraction(largest) * Fraction(2) ** (bits + 1) > 2**62


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1.0000001, -1.5])
def test_a_real_number_out_of_range_is_refused_without_telling_it(value):
    with pytest.raises(OutOfRangeError) as caught:
        encode_reals([0.0, value], 1.0, 3)
    assert str(value) not in str(caught.value)


@pytest.mark.parametrize("largest", [0.0, -1.0, np.inf, np.nan])
def test_largest_must_be_positive(largest):
    with pytest.raises(ProtocolError, match="'largest' must be a positive number"):
        encode_reals([0.0], largest, 3)


def test_a_sum_above_the_largest_is_refused_not_returned():
    total = encode_reals([0.9], 1.0, 3) * np.uint64(3)
    with pytest.raises(ProtocolError, match="a sum exceeds the largest that was agreed on"):
        decode_reals(total, 1.0, 3)
