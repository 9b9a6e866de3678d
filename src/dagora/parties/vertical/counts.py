"""Counts of families from moments or from shares of moments, and scores that one party computes alone.

A moment is the number of rows in which some variables have given levels, other than their first. The count of
a pattern is a sum of moments with signs, over the levels that its first levels stand for: linear, so that
each party applies it to its own shares.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.parties.crypto.garbling.circuit import Circuit, evaluate_plain
from dagora.parties.vertical.score_circuits import family_score, log_factorial_circuit
from dagora.parties.vertical.stirling_tables import log_factorial_of_levels
from dagora.parties.vertical.widths import BitWidths

Words = NDArray[np.uint64]


def counts_from_moments(
    moments: Words, bits: int, levels: Sequence[int] | None = None, *, plus: bool = True
) -> Words:
    """For each family (column): its counts, then the sums α_j + r − 1 of each configuration, modulo 2^bits.

    Rows are in the sequence of `score_circuits.family_counts`, the child the last member; without `levels`
    every member has two. Of two parties with shares, only one passes `plus`.

    >>> moments = np.array([[10], [4], [3], [2]], dtype=np.uint64)  # all rows, parent, child, both
    >>> counts_from_moments(moments, 4).ravel().tolist()
    [5, 2, 1, 2, 7, 5]
    """
    if levels is None:
        levels = [2] * (len(moments) - 1).bit_length()
    own = levels[-1]
    # The first member's levels alternate fastest: it is the last axis of all but the families.
    counts = moments.reshape(*levels[::-1], -1).copy()
    for axis in range(len(levels)):
        by_level = np.moveaxis(counts, axis, 0)
        by_level[0] -= by_level[1:].sum(axis=0, dtype=np.uint64)
    counts = counts.reshape(len(moments), -1)
    sums = counts.reshape(own, len(moments) // own, -1).sum(axis=0, dtype=np.uint64)
    sums += np.uint64((own - 1) * plus)
    return np.concatenate([counts, sums]) & np.uint64((1 << bits) - 1)


def to_bits(words: Words, width: int) -> NDArray[np.uint8]:
    """Bits of words, the lowest first, along a new first axis."""
    places = np.arange(width, dtype=np.uint64).reshape(-1, *[1] * words.ndim)
    return ((words[None] >> places) & np.uint64(1)).astype(np.uint8)


def from_bits(bits: NDArray[np.uint8]) -> Words:
    """Words of bits, the lowest first, along the first axis."""
    words = np.zeros(bits.shape[1:], dtype=np.uint64)
    for place, plane in enumerate(bits):
        words |= plane.astype(np.uint64) << np.uint64(place)
    return words


def known_scores(widths: BitWidths, counts: Words, levels: int = 2) -> Words:
    """Scores of families whose counts one party knows, bit for bit as the circuits compute them.

    `levels` are the child's.
    """
    words, families = counts.shape
    logs = evaluate_plain(log_factorial_circuit(widths), to_bits(counts.ravel(), widths.bits))
    bits = logs.reshape(widths.width, words, families).swapaxes(0, 1).reshape(-1, families)
    return from_bits(evaluate_plain(score_circuit(widths, words, levels), bits))


def score_circuit(widths: BitWidths, words: int, levels: int) -> Circuit:
    """The circuit of `family_score` for families of so many words, whose child has so many levels."""
    return family_score(widths.width, words // (levels + 1), levels, log_factorial_of_levels(widths, levels))
