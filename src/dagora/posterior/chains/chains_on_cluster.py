"""Chains on the workers of a Dask cluster, a piece of each chain at a time.

The weights are sent once. A piece gets a chain's state and gives it back with the draws that it kept, so that
progress, time limits and checkpoints are as with threads, and a worker that is lost costs one piece of a
chain. How a chain is cut into pieces has no influence on its draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dagora.base.budget import Budget
from dagora.base.dask_cluster import Workers
from dagora.posterior.chains.chain_state import KEPT, STEPS, ChainState, KeptDraws, Schedule, room_for
from dagora.posterior.chains.walks import WALKS, Walk
from dagora.posterior.space.lookup import Lookup

Shared = tuple[str, Lookup, Schedule]


class ChainsOnCluster:
    """Advances chains by the workers of a cluster."""

    def __init__(
        self,
        workers: Workers,
        walk: Walk,
        lookup: Lookup,
        plan: Schedule,
        states: Sequence[ChainState],
        kept: Sequence[KeptDraws],
        budget: Budget,
    ) -> None:
        self._workers = workers
        self._shared = workers.share((walk.name, lookup, plan))
        self._thin = plan.thin
        self._states = states
        self._kept = kept
        self._budget = budget

    def advance(self, chosen: Sequence[int], target: int) -> None:
        """Bring some chains to a number of steps, as far as time allows."""

        def ask(k: int) -> tuple[Any, ...]:
            state = self._states[k]
            steps = target - int(state.counters[STEPS])
            room = min(steps // self._thin + 1, len(self._kept[k].log_scores) - int(state.counters[KEPT]))
            return advance_chain, self._shared, tuple(state), steps, max(0, room)

        for k, (state, new) in self._workers.answers(ask, chosen, self._budget):
            self._take(k, ChainState(*state), KeptDraws(*new))

    def _take(self, k: int, state: ChainState, new: KeptDraws) -> None:
        """Take over where a chain stands now, and its new draws."""
        before = int(self._states[k].counters[KEPT])
        for own, theirs in zip(self._states[k], state, strict=True):
            own[...] = theirs
        self._states[k].counters[KEPT] = before + len(new.log_scores)
        for own, theirs in zip(self._kept[k], new, strict=True):
            own[before : before + len(new.log_scores)] = theirs


def advance_chain(
    shared: Shared, state: tuple[Any, ...], steps: int, room: int
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """On a worker: a chain's state after some steps, and the draws that were kept, where there is room."""
    name, lookup, plan = shared
    chain = ChainState(*(np.array(part) for part in state))  # arrays that arrive may not be written to
    chain.counters[KEPT] = 0
    kept = room_for(room, len(chain.places))
    WALKS[name].steps(lookup, chain, kept, plan, steps)
    number = int(chain.counters[KEPT])
    return tuple(chain), tuple(part[:number] for part in kept)
