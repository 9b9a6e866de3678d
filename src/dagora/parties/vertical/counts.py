"""Counts of families from moments or from shares of moments, and scores that one party computes alone.

The moment of a set of variables is the number of rows with ones in all of them. The count of a pattern is Σ_S
± moment(ones ∪ S) over the subsets S of its zeros: linear, so that each party applies it to its own shares.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.parties.crypto.garbling.circuit import evaluate_plain
from dagora.parties.vertical.score_circuits import family_score, log_factorial_circuit
from dagora.parties.vertical.widths import BitWidths

Words = NDArray[np.uint64]


def counts_from_moments(moments: Words, bits: int, *, plus_one: bool = True) -> Words:
    """For each family (column): its 2^k counts, then the 2^(k − 1) sums α_j0 + α_j1 + 1, modulo 2^bits.

    Row `mask` is the moment of the members in the mask; the child is the last member. Of two parties with
    shares, only one passes `plus_one`.

    >>> moments = np.array([[10], [4], [3], [2]], dtype=np.uint64)  # all rows, parent, child, both
    >>> counts_from_moments(moments, 4).ravel().tolist()
    [5, 2, 1, 2, 7, 5]
    """
    counts = moments.copy()
    members = (len(moments) - 1).bit_length()
    patterns = np.arange(len(moments))
    for member in range(members):
        without = patterns[patterns >> member & 1 == 0]
        counts[without] -= counts[without | 1 << member]
    half = len(moments) // 2
    sums = counts[:half] + counts[half:] + np.uint64(plus_one)
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


def known_scores(widths: BitWidths, counts: Words) -> Words:
    """Scores of families whose counts one party knows, bit for bit as the circuits compute them."""
    words, families = counts.shape
    logs = evaluate_plain(log_factorial_circuit(widths), to_bits(counts.ravel(), widths.bits))
    bits = logs.reshape(widths.width, words, families).swapaxes(0, 1).reshape(-1, families)
    parents = (words // 3).bit_length() - 1
    return from_bits(evaluate_plain(family_score(widths.width, parents), bits))
