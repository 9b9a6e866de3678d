"""The circuit that opens the parameters of a family, if enough rows have every configuration of its parents.

For a child with r levels and counts N_jk, θ_jk = (N_jk + 1) / (N_j + r) is rounded to thousandths inside of
the circuit: floor((2000 (N_jk + 1) + N_j + r) / 2 (N_j + r)), by long division. If one N_j is below `FEWEST`,
only that comes out: the bit is 0, and so is every digit.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod

from dagora.parties.crypto.garbling.builder import Builder, Word
from dagora.parties.crypto.garbling.circuit import Circuit
from dagora.parties.crypto.garbling.words import add, constant, extend, less, mask, multiply, mux, subtract
from dagora.parties.vertical.score_circuits import sum_words

FEWEST = 10  # rows of every configuration of the parents
THOUSAND = 1000  # parameters are opened in thousandths
DIGITS = THOUSAND.bit_length()


@lru_cache(maxsize=64)
def opening(bits: int, levels: tuple[int, ...]) -> Circuit:
    """Inputs: the counts of a family in the sequence of `family_counts`. Outputs: is it opened, and θ.

    θ of each count is a word of 10 bits, in thousandths.
    """
    build = Builder()
    own, configurations = levels[-1], prod(levels[:-1])
    counts = build.words(own * configurations, bits)
    by_configuration = [counts[place::configurations] for place in range(configurations)]
    sums = [sum_words(build, some) for some in by_configuration]
    few = constant(FEWEST, max(bits, FEWEST.bit_length()))
    enough = build.all(build.invert(less(build, extend(total, len(few)), few)) for total in sums)
    outputs: Word = [enough]
    for place, count in enumerate(counts):
        outputs += mask(build, enough, thousandths(build, count, sums[place % configurations], own))
    return build.circuit(outputs)


def thousandths(build: Builder, count: Word, total: Word, levels: int) -> Word:
    """The word of (count + 1) / (total + levels) in thousandths, rounded; a half is rounded up."""
    # Below 2001 (rows + levels), which is what the left side of the division begins with.
    width = len(count) + 13
    below = add(build, extend(total, width), constant(levels, width))
    above = add(build, extend(count, width), constant(1, width))
    rest = extend(multiply(build, above[: len(count) + 1], constant(2 * THOUSAND, 11)), width)
    rest = add(build, rest, below)
    twice: Word = [False, *below]
    digits: Word = []
    for place in range(DIGITS - 1, -1, -1):
        shifted = extend([*[False] * place, *twice], width)
        smaller = less(build, rest, shifted)
        digits.append(build.invert(smaller))
        if place:
            rest = mux(build, smaller, rest, subtract(build, rest, shifted))
    return digits[::-1]
