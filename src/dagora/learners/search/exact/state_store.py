"""Storage for the states of A*: arrays that grow, an open-addressing hash table and a binary heap.

A state is a set of placed variables as 64 bits. States are numbered in the order they are made. The heap
holds numbers by their keys g + h. After its g has risen, a state is in the heap twice; the older key no
longer equals g + h, and `advance` skips it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel


class StateStore(NamedTuple):
    """States with their g, the state and variable that each was reached by; the hash table; the heap."""

    placed: NDArray[np.uint64]
    gains: NDArray[np.float64]
    came_from: NDArray[np.int32]
    variable: NDArray[np.int8]
    slots: NDArray[np.int32]
    keys: NDArray[np.float64]
    heap: NDArray[np.int32]


# 8 + 8 + 4 + 1 for the state, 2 × 4 in the hash table, 8 + 4 in the heap: 41; the rest is for copies on
# growth.
BYTES_PER_STATE = 50


def make_store(capacity: int, old: StateStore | None = None, count: int = 0, waiting: int = 0) -> StateStore:
    """A store for `capacity` states (a power of two), with the contents of an older store."""
    store = StateStore(
        np.empty(capacity, dtype=np.uint64),
        np.empty(capacity, dtype=np.float64),
        np.empty(capacity, dtype=np.int32),
        np.empty(capacity, dtype=np.int8),
        np.full(2 * capacity, -1, dtype=np.int32),
        np.empty(capacity, dtype=np.float64),
        np.empty(capacity, dtype=np.int32),
    )
    if old is not None:
        for name in ("placed", "gains", "came_from", "variable"):
            getattr(store, name)[:count] = getattr(old, name)[:count]
        for name in ("keys", "heap"):
            getattr(store, name)[:waiting] = getattr(old, name)[:waiting]
        rehash(store.placed, store.slots, count)
    return store


@kernel
def find_slot(states: NDArray[np.uint64], slots: NDArray[np.int32], placed: np.uint64) -> np.int64:
    """The hash slot of a state, or the free slot where it belongs."""
    last = len(slots) - 1
    mixed = placed * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(last))
    while slots[slot] >= 0 and states[slots[slot]] != placed:
        slot = (slot + 1) & last
    return slot


@kernel
def rehash(states: NDArray[np.uint64], slots: NDArray[np.int32], count: int) -> None:
    """Enter the first `count` states into an empty hash table."""
    for number in range(count):
        slots[find_slot(states, slots, states[number])] = number


@kernel
def push(keys: NDArray[np.float64], heap: NDArray[np.int32], size: int, key: float, number: int) -> None:
    """Add a state to a heap of that size, largest key on top."""
    hole = size
    while hole > 0:
        above = (hole - 1) >> 1
        if keys[above] >= key:
            break
        keys[hole] = keys[above]
        heap[hole] = heap[above]
        hole = above
    keys[hole] = key
    heap[hole] = number


@kernel
def pop(keys: NDArray[np.float64], heap: NDArray[np.int32], size: int) -> None:
    """Remove the top of a heap of that size."""
    key, number = keys[size - 1], heap[size - 1]
    hole = 0
    while True:
        below = 2 * hole + 1
        if below >= size - 1:
            break
        if below + 1 < size - 1 and keys[below + 1] > keys[below]:
            below += 1
        if keys[below] <= key:
            break
        keys[hole] = keys[below]
        heap[hole] = heap[below]
        hole = below
    keys[hole] = key
    heap[hole] = number
