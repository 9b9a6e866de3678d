"""Bit matrices against NumPy's own bits and one-block AES."""

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.parties.crypto.transfer.bit_matrix import (
    ColumnStreams,
    pack_bits,
    transpose,
    unpack_bits,
    words_for,
)


@given(st.sampled_from([64, 128, 512]), st.integers(0, 1500), st.integers(0, 2**32))
@settings(max_examples=30)
def test_transposition(width, rows, seed):
    columns = np.random.default_rng(seed).integers(0, 2**64, (width, words_for(rows)), dtype=np.uint64)
    bits = np.unpackbits(columns.view(np.uint8), axis=1, bitorder="little")[:, :rows]
    expected = np.packbits(np.ascontiguousarray(bits.T), axis=1, bitorder="little").view(np.uint64)
    got = transpose(columns, rows)
    assert got.shape == (rows, width // 64)
    np.testing.assert_array_equal(got, expected.reshape(got.shape))


def test_shapes_that_cannot_be_transposed():
    with pytest.raises(ValueError, match="whole blocks"):
        transpose(np.zeros((65, 1), dtype=np.uint64), 10)
    with pytest.raises(ValueError, match="whole blocks"):
        transpose(np.zeros((64, 1), dtype=np.uint64), 65)


@given(st.lists(st.integers(0, 1), max_size=200))
@settings(max_examples=30)
def test_bits_come_back(bits):
    packed = pack_bits(np.array(bits, dtype=np.uint8))
    assert len(packed) == -(-len(bits) // 64)
    assert unpack_bits(packed).tolist() == bits + [0] * (64 * len(packed) - len(bits))
    assert sum(int(word) << 64 * i for i, word in enumerate(packed)) == sum(
        b << i for i, b in enumerate(bits)
    )


def test_streams_are_aes_of_a_counter():
    seeds = [bytes([i]) * 16 for i in range(3)]
    streams = ColumnStreams(seeds)
    pieces = [streams.take(words) for words in (1, 0, 3, 6)]
    assert [piece.shape for piece in pieces] == [(3, 1), (3, 0), (3, 3), (3, 6)]
    for i, seed in enumerate(seeds):
        counters = b"".join(k.to_bytes(16, "big") for k in range(5))
        expected = Cipher(AES(seed), ECB()).encryptor().update(counters)
        assert b"".join(piece[i].tobytes() for piece in pieces) == expected
