"""The best network that agrees with an order: each variable takes its best parent set of those before it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.compiled import kernel
from dagora.graph.bit_kernels import first_subset, flip_bit


@kernel
def choose_parents(
    masks: NDArray[np.uint64],
    scores: NDArray[np.float64],
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    choice: NDArray[np.int64],
) -> float:
    """Best row of every variable given the order, written to `choice`; return the score of the network.

    A variable without a possible row gets `offsets[x + 1]` and the network −∞.
    """
    before = np.zeros(masks.shape[1], dtype=np.uint64)
    total = 0.0
    for x in order:
        choice[x] = first_subset(masks, offsets[x], offsets[x + 1], before)
        total += scores[choice[x]] if choice[x] < offsets[x + 1] else -np.inf
        flip_bit(before, x)
    return total
