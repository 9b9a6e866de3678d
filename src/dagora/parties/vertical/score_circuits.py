"""The circuits of private K2: sums of shares, counts, logarithms, scores, a search step.

A family of a child with r levels adds for each configuration j of its parents

    ln(r − 1)! − ln(α_j + r − 1)! + Σ_k ln α_jk!        α_j = Σ_k α_jk

to its score f (Cooper & Herskovits 1992), and nothing for a configuration without rows: so a parent can be
given more levels than it has. With two levels this is ln α_j0! + ln α_j1! − ln(α_j + 1)!. Counts come from
moments (how many rows have given levels, other than the first, of some variables) by inclusion and exclusion.
A step equals that of the central search, including its tolerance: the first candidate within 1e-9 (relative)
of the best wins, if the best beats the present score by more than that.

When the graph equals the central one: a configuration of n rows contributes −ln N with the whole number N =
C(n + r − 1, r − 1) n! / (α_1! … α_r!), so |score| ≥ Σ_j ln(n_j + 1).

* Counts in tables (all of them up to 1024 − r rows): N has at most log₂ N prime factors, each off by a unit
  of the last bit, so its relative error is at most 1e-12, and scores that are equal as rational numbers are
  equal to the last bit. For any number of rows, families with the same counts in other cells have equal
  scores.
* Larger counts: where one α is 2^8 or more, it and the sum lie outside of tables, and err by less than ¼ 1e-9
  ln(n + r) each (`log_factorial`), beside ln N ≥ ln C(n + r − 1, r − 1) ≥ ln(n + 1); where two or more are,
  at most six values err by less than ¼ 1e-9 · 14.6, but ln N ≥ ln C(512, 256) > 350. The relative error of a
  score is less than half of 1e-9, so two scores that are equal as rational numbers are within the tolerance:
  ties are found for any number of rows and parents. With the errors measured for two levels, it is 1.1e-10.

So the two searches can differ only where scores differ by nearly the tolerance itself, 0.7 to 1.3 times
1e-9 of their size: then rounding decides, here as in floating point.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod

from dagora.parties.crypto.garbling.builder import Bit, Builder, Word
from dagora.parties.crypto.garbling.circuit import Circuit
from dagora.parties.crypto.garbling.words import (
    add,
    constant,
    extend,
    first_set,
    flip,
    less,
    mask,
    maximum,
    multiply,
    mux,
    subtract,
)
from dagora.parties.vertical.log_factorial import log_factorial
from dagora.parties.vertical.widths import BitWidths
from dagora.scores.local_score import TIE

TIE_DROPPED = 20  # bits of a score that do not matter for its tolerance
TIE_PLACES = 30  # fraction bits of the tolerance after them


@lru_cache(maxsize=64)
def share_sum(bits: int) -> Circuit:
    """The sum of two shares of `bits` bits, the garbler's first."""
    build = Builder()
    a, b = build.words(2, bits)
    return build.circuit(add(build, a, b))


@lru_cache(maxsize=64)
def family_counts(bits: int, levels: tuple[int, ...]) -> Circuit:
    """Counts of a family from its moments; `levels` are those of its members, the child the last.

    Word Σ_m l_m Π_(m' < m) levels_m' of the input counts the rows in which every member m with l_m > 0 has
    its level l_m. Out come in the same sequence the counts of rows with exactly these levels, then the sum
    α_j + r − 1 for each configuration j of the parents.

    >>> family_counts(8, (2, 3)).n_inputs
    48
    """
    build = Builder()
    *parents, own = levels
    configurations = prod(parents)
    counts = build.words(configurations * own, bits)
    stride = 1
    for count in parents:
        exclude(build, counts, stride, count)
        stride *= count
    sums = [add(build, word, constant(own - 1, bits)) for word in counts[:configurations]]
    exclude(build, counts, stride, own)
    return build.circuit([bit for word in [*counts, *sums] for bit in word])


def exclude(build: Builder, counts: list[Word], stride: int, levels: int) -> None:
    """Turn counts of rows with any level of a member into counts of rows with its level 0."""
    for place in range(len(counts)):
        if place // stride % levels == 0:
            for level in range(1, levels):
                counts[place] = subtract(build, counts[place], counts[place + level * stride])


@lru_cache(maxsize=16)
def log_factorial_circuit(widths: BitWidths) -> Circuit:
    """The word of ln x! of one count (`log_factorial`)."""
    build = Builder()
    return build.circuit(log_factorial(build, widths, build.inputs(widths.bits)))


@lru_cache(maxsize=64)
def family_score(width: int, configurations: int, levels: int = 2, more: int = 0) -> Circuit:
    """The score, from the words of ln α! of all counts, then of the sums of each configuration.

    `more` is what each configuration adds, ln(levels − 1)!.
    """
    build = Builder()
    total = sum_words(build, build.words(levels * configurations, width))
    total = subtract(build, total, sum_words(build, build.words(configurations, width)))
    return build.circuit(add(build, total, constant(configurations * more, width)) if more else total)


def sum_words(build: Builder, words: Sequence[Word]) -> Word:
    """Sum of some words."""
    total = words[0]
    for word in words[1:]:
        total = add(build, total, word)
    return total


@lru_cache(maxsize=256)
def step(width: int, candidates: int, *, secret: bool = False) -> Circuit:
    """Inputs: the candidates' scores, then the present one. Outputs: a bit per candidate, set for the winner.

    With `secret` there is one more input, a bit set while the search goes on, and two more outputs: that bit
    after this step, and the score after this step.
    """
    build = Builder()
    values = build.words(candidates, width)
    own = build.inputs(width)
    alive: Bit = build.inputs(1)[0] if secret else True
    best = maximum(build, values)[0]
    gain = less(build, add(build, own, tolerance(build, own)), best, signed=True)
    threshold = subtract(build, best, tolerance(build, best))
    tied = [build.invert(less(build, value, threshold, signed=True)) for value in values]
    goes_on = build.conjunction(gain, alive)
    winner = mask(build, goes_on, first_set(build, tied))
    if not secret:
        return build.circuit(winner)
    chosen = select_word(build, winner, values)
    return build.circuit([*winner, goes_on, *mux(build, goes_on, chosen, own)])


def tolerance(build: Builder, score: Word) -> Word:
    """1e-9 times the absolute value of a score, to a unit of its last bit."""
    size = flip(build, score[-1], score)[TIE_DROPPED:-1]
    factor = round(TIE * 2.0 ** (TIE_DROPPED + TIE_PLACES))
    product = multiply(build, size, constant(factor, factor.bit_length()))
    return extend(product[TIE_PLACES:], len(score))


def select_word(build: Builder, choice: Sequence[Bit], words: Sequence[Word]) -> Word:
    """The word whose bit is set, 0 if none is."""
    masked = [mask(build, bit, word) for bit, word in zip(choice, words, strict=True)]
    return [build.parity(place) for place in zip(*masked, strict=True)]


@lru_cache(maxsize=256)
def selection(bits: int, choices: int) -> Circuit:
    """Inputs: a bit for each word, then the words. Output: the word whose bit is set, 0 if none is."""
    build = Builder()
    choice = build.inputs(choices)
    return build.circuit(select_word(build, choice, build.words(choices, bits)))


@lru_cache(maxsize=64)
def chain(bits: int, moved: int) -> Circuit:
    """Inputs: flags, of which the last k are set, then one word more. Output: word k."""
    build = Builder()
    flags = build.inputs(moved)
    words = build.words(moved + 1, bits)
    value = words[0]
    for flag, word in zip(flags[::-1], words[1:], strict=True):
        value = mux(build, flag, word, value)
    return build.circuit(value)


@lru_cache(maxsize=256)
def removal(places: int) -> Circuit:
    """From marks of a winner among places: for each place but the last, whether it is at or after it."""
    build = Builder()
    winner = build.inputs(places)
    return build.circuit([build.parity(winner[: place + 1]) for place in range(places - 1)])


@lru_cache(maxsize=64)
def insertion(places: int) -> Circuit:
    """Inverse of `removal`: marks of the places left and its flags give marks of all places."""
    build = Builder()
    marks = build.inputs(places - 1)
    moved = build.inputs(places - 1)
    upper = [build.conjunction(mark, flag) for mark, flag in zip(marks, moved, strict=True)]
    lower = [build.xor(mark, high) for mark, high in zip(marks, upper, strict=True)]
    return build.circuit([build.xor(a, b) for a, b in zip([*lower, False], [False, *upper], strict=True)])


@lru_cache(maxsize=64)
def union(places: int) -> Circuit:
    """The union of two sets of marks that have no place in common."""
    build = Builder()
    a, b = build.words(2, places)
    return build.circuit([build.xor(x, y) for x, y in zip(a, b, strict=True)])
