"""Arithmetic on words of bits with few ANDs: k − 1 for a sum of k bits, k for a comparison or a choice.

Words are little-endian and arithmetic is modulo 2^k (two's complement where signed). A full adder takes one
AND: carry' = carry ⊕ (a ⊕ carry)(b ⊕ carry) (Boyar & Peralta). Because XOR is free, so is negation under a
secret sign: a product with a number written in digits ±1 needs only the ANDs of its additions
(`times_digits`).
"""

from __future__ import annotations

from collections.abc import Sequence

from dagora.parties.crypto.garbling.builder import Bit, Builder, Word


def constant(value: int, width: int) -> Word:
    """The bits of a number, modulo 2^width.

    >>> constant(-3, 4)
    [True, False, True, True]
    """
    return [bool(value >> k & 1) for k in range(width)]


def extend(word: Sequence[Bit], width: int, *, signed: bool = False) -> Word:
    """The same number in `width` bits (fewer bits: modulo 2^width)."""
    fill: Bit = word[-1] if signed and len(word) > 0 else False
    return [*word[:width], *[fill] * (width - len(word))]


def add_with_carry(
    build: Builder, a: Sequence[Bit], b: Sequence[Bit], carry: Bit = False
) -> tuple[Word, Bit]:
    """Sum of two words of equal width, and the carry out of it."""
    total: Word = []
    for x, y in zip(a, b, strict=True):
        with_carry = build.xor(x, carry)
        total.append(build.xor(with_carry, y))
        carry = build.xor(carry, build.conjunction(with_carry, build.xor(y, carry)))
    return total, carry


def add(build: Builder, a: Sequence[Bit], b: Sequence[Bit], carry: Bit = False) -> Word:
    """Sum modulo 2^k of two words of k bits, plus a bit; the carry out is not built."""
    return add_with_carry(build, a, b, carry)[0]


def subtract(build: Builder, a: Sequence[Bit], b: Sequence[Bit]) -> Word:
    """Difference modulo 2^k."""
    return add(build, a, [build.invert(bit) for bit in b], True)


def less(build: Builder, a: Sequence[Bit], b: Sequence[Bit], *, signed: bool = False) -> Bit:
    """The bit a < b."""
    if signed:
        a = [*a[:-1], build.invert(a[-1])]
        b = [*b[:-1], build.invert(b[-1])]
    return build.invert(add_with_carry(build, a, [build.invert(bit) for bit in b], True)[1])


def mux(build: Builder, choice: Bit, a: Sequence[Bit], b: Sequence[Bit]) -> Word:
    """The word a where the choice is set, b where it is not."""
    return [build.xor(y, build.conjunction(choice, build.xor(x, y))) for x, y in zip(a, b, strict=True)]


def mask(build: Builder, keep: Bit, word: Sequence[Bit]) -> Word:
    """The word where `keep` is set, 0 where it is not."""
    return [build.conjunction(keep, bit) for bit in word]


def flip(build: Builder, flag: Bit, word: Sequence[Bit]) -> Word:
    """The word, or its complement −word − 1 where the flag is set; free."""
    return [build.xor(flag, bit) for bit in word]


def multiply(build: Builder, a: Sequence[Bit], b: Sequence[Bit]) -> Word:
    """Product of two unsigned words, as wide as both; a constant costs an addition for each bit set."""
    if sum(isinstance(bit, bool) for bit in a) > sum(isinstance(bit, bool) for bit in b):
        a, b = b, a
    width = len(a)
    done: Word = []
    rest: Word = [False] * width
    for bit in b:
        total, carry = add_with_carry(build, rest, mask(build, bit, a))
        done.append(total[0] if total else False)
        rest = [*total[1:], carry] if total else []
    return [*done, *rest]


def times_digits(
    build: Builder, a: Sequence[Bit], bits: Sequence[Bit], *, from_minus_one: bool = False
) -> Word:
    """A signed word times Σ_j ±2^(j − k), digit j being + where bit j of k is set; as wide as the word.

    Each halving of the running sum rounds down, so the result is at most 2 units below and at most 1 unit
    above the exact product. With `from_minus_one` the lowest digit is 0 or −2 instead of ±1: the factor is
    then bits · 2^(1 − k) − 1, the bits as a plain fraction that begins at −1.
    """
    low = build.invert(bits[0])
    first = flip(build, low, a)
    acc = mask(build, low, first) if from_minus_one else [*first[1:], first[-1]]
    for bit in bits[1:]:
        sign = build.invert(bit)
        term = flip(build, sign, a)
        total = add(build, [*acc, acc[-1]], [*term, term[-1]], sign)
        acc = total[1:]
    return acc


def shift_right(build: Builder, word: Sequence[Bit], by: Sequence[Bit], *, signed: bool = False) -> Word:
    """The word shifted right by a secret number of places."""
    shifted = list(word)
    for k, bit in enumerate(by):
        far = extend(shifted[1 << k :], len(word), signed=signed)
        if len(shifted) <= 1 << k:
            far = [shifted[-1] if signed else False] * len(word)
        shifted = mux(build, bit, far, shifted)
    return shifted


def normalise(build: Builder, word: Sequence[Bit], places: int) -> tuple[Word, Word]:
    """The word shifted left until its highest bit is set, by at most 2^places − 1, and by how much."""
    shifted = list(word)
    amount: Word = []
    for k in range(places - 1, -1, -1):
        empty = build.invert(build.any(shifted[len(shifted) - (1 << k) :]))
        shifted = mux(build, empty, [*[False] * (1 << k), *shifted][: len(word)], shifted)
        amount.append(empty)
    return shifted, amount[::-1]


def maximum(build: Builder, values: Sequence[Sequence[Bit]]) -> tuple[Word, Word]:
    """The largest of some signed words and its position; of equal words the first."""
    places = (len(values) - 1).bit_length()
    entries = [(list(value), constant(k, places)) for k, value in enumerate(values)]
    while len(entries) > 1:
        following = []
        for (a, i), (b, j) in zip(entries[::2], entries[1::2], strict=False):
            later = less(build, a, b, signed=True)
            following.append((mux(build, later, b, a), mux(build, later, j, i)))
        entries = following + (entries[-1:] if len(entries) % 2 else [])
    return entries[0]


def first_set(build: Builder, flags: Sequence[Bit]) -> Word:
    """The same flags with all but the first that is set cleared."""
    before: Bit = False
    only: Word = []
    for flag in flags:
        only.append(build.conjunction(flag, build.invert(before)))
        before = build.xor(before, only[-1])
    return only
