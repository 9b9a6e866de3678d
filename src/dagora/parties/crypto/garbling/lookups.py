"""Look-up of a secret position in a public table: 2^k − k − 1 ANDs for 2^k entries of any width.

One wire per entry is set if it is the entry at the secret position; a bit of the answer is the exclusive or
of the wires of all entries that have this bit, which is free. The wires are made bit by bit: if h says that
the higher bits match, h ∧ b and h ⊕ (h ∧ b) say so for both values of the next bit b. The sum of all h ∧ b is
b, so one of them is free.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dagora.parties.crypto.garbling.builder import Bit, Builder, Word

BLOCK = 6  # wires whose exclusive ors are shared between output bits: 2^6 of them for each block


def one_hot(build: Builder, word: Sequence[Bit], entries: int | None = None) -> Word:
    """A bit for each number below `entries`, set if the word equals it; larger numbers must not occur.

    >>> build = Builder()
    >>> build.circuit(one_hot(build, build.inputs(4))).n_and
    11
    """
    entries = 1 << len(word) if entries is None else entries
    wires: Word = [True]
    for place in range(len(word) - 1, -1, -1):
        bit = word[place]
        last = (entries - 1) >> place  # the highest prefix that occurs
        halves: Word = []
        rest = bit
        count = len([prefix for prefix in range(len(wires)) if 2 * prefix + 1 <= last])
        for prefix, wire in enumerate(wires):
            if prefix >= count:
                halves.append(wire)
                continue
            upper = rest if prefix == count - 1 else build.conjunction(wire, bit)
            rest = build.xor(rest, upper)
            halves += [build.xor(wire, upper), upper]
        wires = halves
    return wires


def lookup(build: Builder, wires: Sequence[Bit], table: Sequence[int], width: int) -> Word:
    """The entry whose wire is set, modulo 2^width; the wires are those of `one_hot`."""
    sums = [shared_sums(build, wires[start : start + BLOCK]) for start in range(0, len(wires), BLOCK)]
    answer: Word = []
    for place in range(width):
        ones = [entry >> place & 1 for entry in table]
        # Exactly one wire is set, so the complement of the table, negated, gives the same bit.
        opposite = 2 * sum(ones) > len(ones)
        total: Bit = opposite
        for block, known in enumerate(sums):
            chosen = ones[block * BLOCK : (block + 1) * BLOCK]
            total = build.xor(total, known[sum((bit ^ opposite) << k for k, bit in enumerate(chosen))])
        answer.append(total)
    return answer


def shared_sums(build: Builder, wires: Sequence[Bit]) -> list[Bit]:
    """The exclusive or of every subset of some wires, by the subset's bits."""
    sums: list[Bit] = [False]
    for wire in wires:
        sums += [build.xor(wire, known) for known in sums]
    return sums


def odd_multiples(
    build: Builder, bits: Sequence[Bit], factor: Fraction, width: int, *, block: int = 5
) -> list[Word]:
    """Words whose sum is `factor` times Σ_j ±2^j (+ where bit j is set), each rounded, in two's complement.

    Blocks of digits are looked up; the sign of a block is that of its highest digit. A negative block is the
    complement of a word, which is 1 less than its negative, so the sum is too low by half a unit per block on
    average.
    """
    words: list[Word] = []
    for start in range(0, len(bits), block):
        part = bits[start : start + block]
        sign = build.invert(part[-1])
        # If the sign is minus, every digit is inverted, so that the same table applies.
        wires = one_hot(build, [build.xor(sign, bit) for bit in part[:-1]])
        table = [round(factor * (2 * rest + 1 << start)) for rest in range(1 << (len(part) - 1))]
        words.append([build.xor(sign, bit) for bit in lookup(build, wires, table, width)])
    return words
