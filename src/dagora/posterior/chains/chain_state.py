"""The state of one chain, the draws it keeps, and when: plain arrays that kernels change in place.

A chain's future depends only on its places and on the state of its random numbers. So a run that is cut into
pieces of any length, or saved and continued, gives the same draws to the last bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.graph.bits import Rows, words_for
from dagora.kernels.decorators import kernel

# Positions in `ChainState.counters`.
STEPS, ACCEPTED, KEPT = 0, 1, 2


class ChainState(NamedTuple):
    """The state of a chain.

    `places[i]` is the position of node i in the order, or its block in the partition; `values[i]` the log of
    the total weight of the families that this permits to node i. `random` is the state of the random numbers.
    `counters` holds the steps made, the proposals accepted and the draws kept.
    """

    places: NDArray[np.int64]
    values: NDArray[np.float64]
    random: NDArray[np.uint64]
    counters: NDArray[np.int64]


class KeptDraws(NamedTuple):
    """The draws of a chain: parents as bit rows, [draw, node, word], and the log score of each graph."""

    parents: Rows
    log_scores: NDArray[np.float64]


class Schedule(NamedTuple):
    """The steps at which a draw is kept: after `warmup` steps, every `thin` steps."""

    warmup: int
    thin: int


def new_chain(nodes: int, random: NDArray[np.uint64]) -> ChainState:
    """A chain that has not started; `random` is the state of its random numbers."""
    return ChainState(
        np.arange(nodes, dtype=np.int64), np.zeros(nodes), random.copy(), np.zeros(3, dtype=np.int64)
    )


def room_for(draws: int, nodes: int) -> KeptDraws:
    """Room for the draws of one chain."""
    return KeptDraws(np.zeros((draws, nodes, words_for(nodes)), dtype=np.uint64), np.zeros(draws))


@kernel
def steps_to_draw(done: int, plan: Schedule) -> int:
    """The number of steps until the next draw is kept.

    >>> plan = Schedule(warmup=10, thin=5)
    >>> steps_to_draw(0, plan), steps_to_draw(12, plan), steps_to_draw(15, plan)
    (15, 3, 5)
    """
    since = done - plan.warmup
    return plan.thin - (since % plan.thin if since >= 0 else since)


@kernel
def is_kept(chain: ChainState, kept: KeptDraws, plan: Schedule) -> bool:
    """Return True if a draw is kept now."""
    since = chain.counters[STEPS] - plan.warmup
    return bool(since > 0 and since % plan.thin == 0 and chain.counters[KEPT] < len(kept.log_scores))
