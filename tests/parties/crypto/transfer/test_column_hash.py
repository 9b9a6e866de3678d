"""The hash of columns is that of its formula, linear, and zero for nothing but zero."""

import numpy as np
import pytest

from dagora.parties.crypto.transfer.column_hash import hash_columns


def product(a, b):
    """In GF(2)[x] modulo x¹²⁸ + x⁷ + x² + x + 1, by long multiplication and long division."""
    total = 0
    for k in range(128):
        if b >> k & 1:
            total ^= a << k
    for k in range(254, 127, -1):
        if total >> k & 1:
            total ^= (1 << 128 | 0x87) << (k - 128)
    return total


def integer(words):
    return int(words[0]) | int(words[1]) << 64


@pytest.mark.parametrize("blocks", [1, 2, 7])
def test_it_is_the_formula(blocks):
    rng = np.random.default_rng(blocks)
    columns = rng.integers(0, 2**64, (5, 2 * blocks), dtype=np.uint64)
    key = rng.bytes(16)
    chi = int.from_bytes(key, "little")
    for column, found in zip(columns, hash_columns(columns, key), strict=True):
        total = 0
        for block in column.reshape(-1, 2):
            total = product(total, chi) ^ integer(block)
        assert integer(found) == total


def test_known_products():
    """x · x¹²⁷ = x⁷ + x² + x + 1, and (x + 1)² = x² + 1."""
    assert product(2, 1 << 127) == 0x87
    column = np.array([[0, 1 << 63, 0, 0], [3, 0, 0, 0]], dtype=np.uint64)
    assert hash_columns(column, (2).to_bytes(16, "little"))[0].tolist() == [0x87, 0]
    assert hash_columns(column, (3).to_bytes(16, "little"))[1].tolist() == [5, 0]


def test_it_is_linear_and_sees_every_bit():
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 2**64, (2, 3, 8), dtype=np.uint64)
    key = rng.bytes(16)
    np.testing.assert_array_equal(hash_columns(a ^ b, key), hash_columns(a, key) ^ hash_columns(b, key))
    every_bit = np.zeros((512, 8), dtype=np.uint64)
    for bit in range(512):
        every_bit[bit, bit // 64] = np.uint64(1) << np.uint64(bit % 64)
    hashes = {tuple(row) for row in hash_columns(every_bit, key).tolist()}
    assert len(hashes) == 512
    assert (0, 0) not in hashes


def test_whole_blocks_only():
    with pytest.raises(ValueError, match="whole blocks"):
        hash_columns(np.zeros((1, 3), dtype=np.uint64), bytes(16))
