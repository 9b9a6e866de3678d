"""Circuits that count: products of columns as numpy has them, tallies of any number of bits, gates by formula."""

import numpy as np
import pytest

from dagora.parties.crypto.garbling.circuit import evaluate_plain
from dagora.parties.vertical.columns import indicator_sets, indicators
from dagora.parties.vertical.counting_circuits import (
    KEY_BITS,
    accumulation,
    blocks_of_rows,
    counting_gates,
    outputs_if_same_keys,
    product_gates,
    row_products,
    tally,
)
from dagora.parties.vertical.counts import from_bits, to_bits


@pytest.mark.parametrize("levels", [(2, 2, 2, 2), (3, 2, 5), (4, 4)])
def test_products_are_those_of_the_columns(levels):
    rng = np.random.default_rng(0)
    sets = indicator_sets(indicators(levels), 3)
    codes = np.stack([rng.integers(0, count, 200) for count in levels])
    bits = np.concatenate(
        [[codes[column] == level for level in range(1, count)] for column, count in enumerate(levels)]
    ).astype(np.uint8)
    circuit = row_products(levels, sets)
    expected = np.stack([bits[list(members)].all(axis=0) for members in sets])
    np.testing.assert_array_equal(evaluate_plain(circuit, bits), expected)
    assert circuit.n_and == product_gates(levels, 3)


def test_of_several_indicators_in_a_row_the_first_counts():
    """So no cheater can have a person with two levels at once, whose moments would be those of no table."""
    bits = np.array([[0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 1, 1]], dtype=np.uint8)
    found = evaluate_plain(row_products((4,), [(0,), (1,), (2,)]), bits)
    assert found.tolist() == [[0, 1, 0, 1], [0, 0, 1, 0], [1, 0, 0, 0]]
    assert found.sum(axis=0).max() == 1


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 15, 20, 100, 255])
def test_tallies(count):
    rng = np.random.default_rng(count)
    bits = (rng.random((count, 60)) < rng.random(60)).astype(np.uint8)
    bits[:, 0], bits[:, 1] = 0, 1
    circuit = tally(count)
    np.testing.assert_array_equal(from_bits(evaluate_plain(circuit, bits)), bits.sum(axis=0))
    assert circuit.n_and == count - count.bit_count()


def test_sums():
    total, more = np.array([9, 200, 0], dtype=np.uint64), np.array([7, 3, 0], dtype=np.uint64)
    bits = np.concatenate([to_bits(total, 8), to_bits(more, 3)])
    assert from_bits(evaluate_plain(accumulation(8, 3), bits)).tolist() == [16, 203, 0]


def test_marks_only_for_the_same_keys():
    rng = np.random.default_rng(3)
    keys = rng.integers(0, 2, (KEY_BITS, 130), dtype=np.uint8)
    other = keys.copy()
    other[np.arange(KEY_BITS), np.arange(KEY_BITS)] ^= 1  # in one bit each, and the last two are the same
    marks = np.ones((3, 130), dtype=np.uint8)
    found = evaluate_plain(outputs_if_same_keys(3), np.concatenate([keys, other, marks]))
    assert not found[:, :KEY_BITS].any()
    assert found[:, KEY_BITS:].all()


@pytest.mark.parametrize(("rows", "sets"), [(1, 3), (1023, 10), (5000, 700), (40, 200_000)])
def test_blocks_cover_all_rows_in_bounded_memory(rows, sets):
    blocks = blocks_of_rows(rows, sets)
    assert [row for block in blocks for row in block] == list(range(rows))
    assert max(map(len, blocks)) * sets * 16 <= 1 << 26
    assert all(len(block) == len(blocks[0]) for block in blocks[:-1])
    gates = counting_gates((2, 2), 2, rows, 14)
    assert gates >= rows
