import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagora.graph.bits import pack, unpack, words_for


@pytest.mark.every_case
@pytest.mark.parametrize(("size", "words"), [(0, 1), (1, 1), (63, 1), (64, 1), (65, 2), (128, 2), (129, 3)])
def test_words(size, words):
    assert words_for(size) == words


@given(st.integers(0, 5), st.integers(0, 140), st.integers(0, 2**32))
def test_bit_i_of_the_row_is_entry_i(rows, size, seed):
    matrix = np.random.default_rng(seed).random((rows, size)) < 0.5
    packed = pack(matrix)
    assert packed.shape == (rows, words_for(size))
    assert packed.dtype == np.uint64
    for row, words in zip(matrix, packed, strict=True):
        value = sum(int(word) << (64 * k) for k, word in enumerate(words))
        assert value == sum(1 << int(i) for i in np.flatnonzero(row))
    assert np.array_equal(unpack(packed, size), matrix)
