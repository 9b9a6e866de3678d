"""Kernels of A* over subsets: bounds, which variables must be tried next, and the search (see `astar`).

A small search, step by step: a would score −1 with parent b and −3 alone, b −1 with parent a and −2 alone.
The bound of ∅ is −2, and neither variable can be placed for its best score. `examine` finds that a could wait
for b and b for a, so `closed_component` returns both. Placing a earns −3, then b has its best set: {a, b}
with −4. Placing b earns −2, then a has its best set: {a, b} with −3, the goal with a better score. No state
that waits has a larger g + h, so the order (b, a) is proved best.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.learners.search.exact.pattern_database import PatternDatabase
from dagora.learners.search.exact.state_store import StateStore, find_slot, pop, push

ONE = np.uint64(1)
NONE = np.uint64(0)

# How a call of `advance` ended.
PROVED, PAUSED, FULL = 0, 1, 2

# Places in the array of counts; GOAL is the number of the goal state, −1 before it is reached.
STATES, WAITING, EXPANDED, GENERATED, GOAL = 0, 1, 2, 3, 4


class WordSets(NamedTuple):
    """Sets of at most 64 variables, one word each: rows `offsets[x]` to `offsets[x + 1]` are those of x.

    They are sorted best first; the last set of every variable is the empty one.
    """

    masks: NDArray[np.uint64]
    scores: NDArray[np.float64]
    offsets: NDArray[np.int64]


class Search(NamedTuple):
    """The inputs and the changing state of a search.

    `store` and `counts` hold its states, `best[0]` is the score of the best network known. Only networks that
    score more than `best[0] + tie` are looked for.
    """

    sets: WordSets
    patterns: PatternDatabase
    store: StateStore
    counts: NDArray[np.int64]
    best: NDArray[np.float64]
    tie: float


@kernel
def group_bound(patterns: PatternDatabase, placed: np.uint64, k: int) -> float:
    """The most that the remaining variables of group k can add."""
    low, high = patterns.starts[k], patterns.starts[k + 1]
    within = (placed >> np.uint64(low)) & ((ONE << np.uint64(high - low)) - ONE)
    value: float = patterns.tables[patterns.offsets[k] + np.int64(within)]
    return value


@kernel
def bound_of(patterns: PatternDatabase, placed: np.uint64) -> float:
    """The most that the remaining variables can add: h."""
    total = 0.0
    for k in range(len(patterns.starts) - 1):
        total += group_bound(patterns, placed, k)
    return total


@kernel
def extend(
    sets: WordSets, placed: np.uint64, gain: float, order: NDArray[np.int64], count: int
) -> tuple[np.uint64, float, int]:
    """Place every variable whose best set of all lies within the placed ones, and append it to the order."""
    size = len(sets.offsets) - 1
    again = True
    while again:
        again = False
        for x in range(size):
            bit = ONE << np.uint64(x)
            if placed & bit == NONE and sets.masks[sets.offsets[x]] & ~placed == NONE:
                placed |= bit
                gain += sets.scores[sets.offsets[x]]
                order[count] = x
                count += 1
                again = True
    return placed, gain, count


@kernel
def examine(
    sets: WordSets,
    patterns: PatternDatabase,
    placed: np.uint64,
    spare: float,
    above: NDArray[np.uint64],
    own: NDArray[np.float64],
) -> int:
    """Find what each remaining variable could still wait for, and what it scores if placed now.

    `spare` is the amount by which the state's g + h exceeds the best network known. `own[x]` becomes the
    score of the best set of x among the placed variables, or −∞ where it is too low to beat the best network.
    `above[x]` becomes the union of the sets that score more than that one, without the placed variables. Sets
    too low to beat the best network are left out: if x takes such a set, its group adds at most the sum of
    its best scores minus what x loses by that set. Returns the work done: the sets looked at.
    """
    work = 0
    for k in range(len(patterns.starts) - 1):
        low, high = patterns.starts[k], patterns.starts[k + 1]
        best = 0.0
        for x in range(low, high):
            if placed >> np.uint64(x) & ONE == NONE:
                best += sets.scores[sets.offsets[x]]
        # By how much a set of this group may be worse than the variable's best.
        slack = spare + best - group_bound(patterns, placed, k)
        for x in range(low, high):
            if placed >> np.uint64(x) & ONE == NONE:
                first = sets.offsets[x]
                row = first
                union = NONE
                own[x] = -np.inf
                while sets.scores[first] - sets.scores[row] < slack:
                    missing = sets.masks[row] & ~placed
                    if missing == NONE:
                        own[x] = sets.scores[row]
                        break
                    union |= missing
                    row += 1
                above[x] = union
                work += row - first + 2
    return work


@kernel
def closed_component(above: NDArray[np.uint64], remaining: np.uint64, size: int) -> np.uint64:
    """Members of a strongly connected component of the remaining variables that no arc from outside enters.

    The parents of x in this graph are the bits of `above[x]`.
    """
    start = ONE
    while start & remaining == NONE:
        start <<= ONE
    while True:
        ancestors = start
        grown = NONE
        while grown != ancestors:
            grown = ancestors
            for x in range(size):
                if ancestors >> np.uint64(x) & ONE:
                    ancestors |= above[x]
        reached = start
        grown = NONE
        while grown != reached:
            grown = reached
            for x in range(size):
                if ancestors >> np.uint64(x) & ONE and above[x] & reached:
                    reached |= ONE << np.uint64(x)
        others = ancestors & ~reached
        if others == NONE:
            return ancestors
        start = others & (~others + ONE)


@kernel
def reach(
    search: Search, goal: np.uint64, placed: np.uint64, gain: float, came_from: int, variable: int
) -> None:
    """Enter a state, or a better way to it, unless it cannot beat the best network known."""
    _, patterns, store, counts, best, tie = search
    key = gain + bound_of(patterns, placed)
    if key <= best[0] + tie:
        return
    slot = find_slot(store.placed, store.slots, placed)
    number = int(store.slots[slot])
    if number < 0:
        number = int(counts[STATES])
        counts[STATES] += 1
        store.slots[slot] = number
        store.placed[number] = placed
    elif gain <= store.gains[number]:
        return
    store.gains[number] = gain
    store.came_from[number] = came_from
    store.variable[number] = variable
    if placed == goal:
        best[0] = gain
        counts[GOAL] = number
    else:
        push(store.keys, store.heap, counts[WAITING], key, number)
        counts[WAITING] += 1


@kernel
def begin(search: Search) -> None:
    """Enter the first state."""
    sets = search.sets
    size = len(sets.offsets) - 1
    goal = ~NONE >> np.uint64(64 - size)
    placed, gain, _ = extend(sets, NONE, 0.0, np.empty(size, dtype=np.int64), 0)
    reach(search, goal, placed, gain, -1, -1)


@kernel
def advance(search: Search, work: int) -> int:
    """Expand states, best first, until the best network is proved, the work is done or the store is full."""
    sets, patterns, store, counts, best, tie = search
    size = len(sets.offsets) - 1
    goal = ~NONE >> np.uint64(64 - size)
    above = np.empty(size, dtype=np.uint64)
    own = np.empty(size, dtype=np.float64)
    order = np.empty(size, dtype=np.int64)
    room = len(store.placed) - size
    while work > 0:
        if counts[WAITING] == 0 or store.keys[0] <= best[0] + tie:
            return PROVED
        if counts[STATES] > room or counts[WAITING] > room:
            return FULL
        key, number = store.keys[0], store.heap[0]
        pop(store.keys, store.heap, counts[WAITING])
        counts[WAITING] -= 1
        placed, gain = store.placed[number], store.gains[number]
        # A key that no longer fits is from before the state was reached by a better way.
        if gain + bound_of(patterns, placed) != key:
            continue
        counts[EXPANDED] += 1
        work -= examine(sets, patterns, placed, key - best[0] - tie, above, own)
        component = closed_component(above, goal & ~placed, size)
        for x in range(size):
            if component >> np.uint64(x) & ONE and own[x] > -np.inf:
                counts[GENERATED] += 1
                after, total, added = extend(sets, placed | ONE << np.uint64(x), gain + own[x], order, 0)
                work -= size * (added + 1)
                reach(search, goal, after, total, number, x)
    return PAUSED


@kernel
def trace_order(sets: WordSets, store: StateStore, number: int) -> NDArray[np.int64]:
    """The order in which the variables of a state were placed."""
    size = len(sets.offsets) - 1
    path = np.empty(size + 1, dtype=np.int64)
    length = 0
    while number >= 0:
        path[length] = number
        length += 1
        number = int(store.came_from[number])
    order = np.empty(size, dtype=np.int64)
    placed, _, count = extend(sets, NONE, 0.0, order, 0)
    for step in range(length - 2, -1, -1):
        x = store.variable[path[step]]
        order[count] = x
        placed, _, count = extend(sets, placed | ONE << np.uint64(x), 0.0, order, count + 1)
    return order
