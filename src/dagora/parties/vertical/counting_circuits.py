"""Circuits that count rows inside of a garbled computation: products of columns, tallies, and their sums.

Where nobody is trusted to bring shares of moments, they are counted from the columns themselves: in every
row, one AND for each set of two and more columns gives the product of its columns, and a tally of n bits
takes fewer than n ANDs (full adders, one AND each). Columns of r levels come as r − 1 indicators; of several
that a cheater sets in one row only the first counts, so that whatever is put in is a table of such columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from dagora.parties.crypto.garbling.builder import Bit, Builder, Word
from dagora.parties.crypto.garbling.circuit import Circuit
from dagora.parties.crypto.garbling.words import add, add_with_carry, extend, first_set, mask
from dagora.parties.vertical.columns import IndicatorSet, indicators, number_of_sets

KEY_BITS = 128  # of a hash of all keys
MOST_ROWS_AT_ONCE = 1023  # as many as a tally of 10 bits holds
MOST_LABELS_AT_ONCE = 1 << 22  # of products of a block of rows: 64 MB


def row_products(levels: Sequence[int], sets: Sequence[IndicatorSet]) -> Circuit:
    """From the indicators of a row, in their numbering: for each set, whether all of its indicators are set.

    >>> row_products([2, 2, 2], [(0,), (0, 1), (0, 1, 2)]).n_and
    2
    """
    build = Builder()
    given = [build.inputs(len(numbers)) for numbers in indicators(levels)]
    valid = [bit for variable in given for bit in first_set(build, variable)]
    return build.circuit([build.all(valid[number] for number in members) for members in sets])


def product_gates(levels: Sequence[int], largest: int) -> int:
    """AND gates of `row_products` with all sets of up to `largest` indicators.

    >>> product_gates([2, 3, 2], 3), row_products([2, 3], [(0,), (1,), (2,), (0, 1), (0, 2)]).n_and
    (8, 3)
    """
    alone = sum(count - 1 for count in levels)
    return number_of_sets(levels, largest) - alone + sum(count - 2 for count in levels)


@lru_cache(maxsize=64)
def tally(count: int) -> Circuit:
    """The number of bits that are set.

    >>> tally(1023).n_and, len(tally(1023).outputs)
    (1013, 10)
    """
    build = Builder()
    bits: Word = build.inputs(count)
    total: Word = []
    while bits:
        carries: Word = []
        left: Bit = bits[0]
        for place in range(1, len(bits), 2):
            more: Bit = bits[place + 1] if place + 1 < len(bits) else False
            (left,), carry = add_with_carry(build, [left], [bits[place]], more)
            carries.append(carry)
        total.append(left)
        bits = carries
    return build.circuit(total)


@lru_cache(maxsize=64)
def accumulation(bits: int, more: int) -> Circuit:
    """The sum, in `bits` bits, of a word of as many and one of `more` bits."""
    build = Builder()
    total, word = build.inputs(bits), build.inputs(more)
    return build.circuit(add(build, total, extend(word, bits)))


@lru_cache(maxsize=64)
def outputs_if_same_keys(marks: int) -> Circuit:
    """From two hashes of keys and marks: whether the hashes are equal, then the marks, 0 if they are not."""
    build = Builder()
    first, second = build.words(2, KEY_BITS)
    same = build.all(build.invert(build.xor(a, b)) for a, b in zip(first, second, strict=True))
    return build.circuit([same, *mask(build, same, build.inputs(marks))])


def blocks_of_rows(rows: int, sets: int) -> list[range]:
    """Rows that are counted together, so that the labels of their products fit into bounded memory.

    >>> blocks_of_rows(1500, 100), len(blocks_of_rows(1500, 200_000)[0])
    ([range(0, 1023), range(1023, 1500)], 15)
    """
    size = min(MOST_ROWS_AT_ONCE, max(MOST_LABELS_AT_ONCE // max(sets, 1), 15))
    size = (1 << (size + 1).bit_length() - 1) - 1  # 2^k − 1 bits make full use of k places
    return [range(first, min(first + size, rows)) for first in range(0, rows, size)]


def counting_gates(levels: Sequence[int], largest: int, rows: int, bits: int) -> int:
    """AND gates that count all moments of sets of up to `largest` indicators, in words of so many bits."""
    sets = number_of_sets(levels, largest)
    gates = rows * product_gates(levels, largest)
    for block in blocks_of_rows(rows, sets):
        circuit = tally(len(block))
        gates += sets * (circuit.n_and + accumulation(bits, len(circuit.outputs)).n_and)
    return gates
