"""The replay buffer: the most recent transitions, from which minibatches are drawn uniformly."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Transitions(NamedTuple):
    """Transitions (s, a, r, s′), one per row; s′ is terminal if no action is legal in it."""

    states: NDArray[np.bool_]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float32]
    next_states: NDArray[np.bool_]
    next_legal: NDArray[np.bool_]


class Replay:
    """A ring of transitions: the newest replace the oldest once it is full."""

    def __init__(self, capacity: int, size: int) -> None:
        self._content = Transitions(
            np.zeros((capacity, size), dtype=np.bool_),
            np.zeros(capacity, dtype=np.int64),
            np.zeros(capacity, dtype=np.float32),
            np.zeros((capacity, size), dtype=np.bool_),
            np.zeros((capacity, size), dtype=np.bool_),
        )
        self._capacity = capacity
        self._stored = 0

    def __len__(self) -> int:
        return min(self._stored, self._capacity)

    def store(self, transitions: Transitions) -> None:
        """Add transitions, row by row."""
        rows = (self._stored + np.arange(len(transitions.actions))) % self._capacity
        kept: tuple[NDArray[Any], ...] = self._content
        for own, new in zip(kept, transitions, strict=True):
            own[rows] = new
        self._stored += len(rows)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Transitions:
        """Draw transitions uniformly, with replacement."""
        rows = rng.integers(0, len(self), size=shape)
        own = self._content
        return Transitions(
            own.states[rows],
            own.actions[rows],
            own.rewards[rows],
            own.next_states[rows],
            own.next_legal[rows],
        )
