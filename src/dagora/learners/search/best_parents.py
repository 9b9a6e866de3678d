"""The best network that agrees with an order: each variable takes its best parent set of those before it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.graph.bit_kernels import first_subset, flip_bit
from dagora.kernels.decorators import borrowing
from dagora.learners.candidates.candidates import FlatCandidates


def choose_parents(sets: FlatCandidates, order: NDArray[np.int64], choice: NDArray[np.int64]) -> float:
    """Write the best row of every variable that the order permits to `choice`; return the network's score.

    A variable x that has no such row gets `offsets[x + 1]`, and the score is −∞.

    >>> from dagora.learners.candidates.candidates import Candidates
    >>> pair = Candidates.of("ab", [[((1,), -1.0), ((), -3.0)], [((0,), -1.0), ((), -2.0)]])
    >>> choice = np.empty(2, dtype=np.int64)
    >>> choose_parents(pair.flat, np.array([1, 0]), choice), choice  # b first: a may have the parent b
    (-3.0, array([0, 3]))
    """
    return choose_after(sets, order, choice, np.zeros(sets.masks.shape[1], dtype=np.uint64))


@borrowing
def choose_after(
    sets: FlatCandidates, order: NDArray[np.int64], choice: NDArray[np.int64], before: NDArray[np.uint64]
) -> float:
    """Choose as `choose_parents` does, after the variables in the bit row `before`, which grows."""
    total = 0.0
    for x in order:
        stop = sets.offsets[x + 1]
        choice[x] = first_subset(sets.masks, sets.offsets[x], stop, before)
        total += sets.scores[choice[x]] if choice[x] < stop else -np.inf
        flip_bit(before, x)
    return total
