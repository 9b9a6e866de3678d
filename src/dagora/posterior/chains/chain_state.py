"""The state of one chain, what it keeps, and when: plain arrays that kernels change in place.

A chain's future depends on its places and its random numbers alone, so that a run cut into pieces of any
length, or saved and taken up again, gives the same draws to the last bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.compiled import kernel
from dagora.graph.bits import Rows, words_for

STEPS, ACCEPTED, KEPT = 0, 1, 2


class Chain(NamedTuple):
    """Where each node stands (position in an order, or block of a partition), and the log sum at each.

    `counters` holds the steps made, the proposals accepted and the draws kept.
    """

    places: NDArray[np.int64]
    values: NDArray[np.float64]
    random: NDArray[np.uint64]
    counters: NDArray[np.int64]


class Kept(NamedTuple):
    """The draws of a chain: bit rows of parents, log scores of the graphs."""

    parents: Rows
    log_scores: NDArray[np.float64]


class Plan(NamedTuple):
    """When a draw is kept: after `warmup` steps every `thin`-th."""

    warmup: int
    thin: int


def new_chain(nodes: int, random: NDArray[np.uint64]) -> Chain:
    """A chain that has not started; `random` is the state of its random numbers."""
    return Chain(
        np.arange(nodes, dtype=np.int64), np.zeros(nodes), random.copy(), np.zeros(3, dtype=np.int64)
    )


def room_for(draws: int, nodes: int) -> Kept:
    """Room for the draws of one chain."""
    return Kept(np.zeros((draws, nodes, words_for(nodes)), dtype=np.uint64), np.zeros(draws))


@kernel
def steps_to_draw(done: int, plan: Plan) -> int:
    """How many steps there are until the next draw is kept."""
    since = done - plan.warmup
    return plan.thin - (since % plan.thin if since >= 0 else since)


@kernel
def is_kept(chain: Chain, kept: Kept, plan: Plan) -> bool:
    """Whether a draw is kept now."""
    since = chain.counters[STEPS] - plan.warmup
    return bool(since > 0 and since % plan.thin == 0 and chain.counters[KEPT] < len(kept.log_scores))
