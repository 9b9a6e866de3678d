"""Kernels that search orders by swaps of neighbours, and kernels that choose parents beyond an order.

In all of them the last set of every variable must be the empty one, as in `LocalProblem`: then every order
permits a network.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.graph.bit_kernels import first_subset, flip_bit
from dagora.kernels.decorators import kernel
from dagora.kernels.random import shuffle
from dagora.kernels.rows import copy_row
from dagora.learners.candidates.candidates import FlatCandidates
from dagora.learners.search.best_parents import choose_after
from dagora.learners.search.order.insertions import fill_prefixes


@kernel
def swap_gain(
    sets: FlatCandidates,
    order: NDArray[np.int64],
    before: NDArray[np.uint64],
    choice: NDArray[np.int64],
    place: int,
) -> tuple[float, int, int]:
    """Gain of swapping the variables at `place` and `place + 1`, and the new row of either.

    `before` holds the variables before `place`, `choice` the current row of every variable. The row of the
    variable that moves to the front comes first.
    """
    x, y = order[place], order[place + 1]
    first_y = first_subset(sets.masks, sets.offsets[y], sets.offsets[y + 1], before)
    allowed = before.copy()
    flip_bit(allowed, y)
    second_x = first_subset(sets.masks, sets.offsets[x], sets.offsets[x + 1], allowed)
    gain = sets.scores[first_y] - sets.scores[choice[y]] + sets.scores[second_x] - sets.scores[choice[x]]
    return gain, first_y, second_x


@kernel
def swap_search(
    sets: FlatCandidates,
    order: NDArray[np.int64],
    best_order: NDArray[np.int64],
    length: int,
    patience: int,
    tolerance: float,
    stop: NDArray[np.bool_],
) -> float:
    """Make the best swap of neighbours that is not tabu, until `patience` swaps in a row bring nothing.

    Two variables that were swapped may not be swapped back for `length` swaps, unless that gives the best
    order so far. Returns the best score. The best order goes to `best_order`; `order` ends where the search
    does, which is at once when `stop[0]` is true.

    >>> from dagora.learners.candidates.candidates import Candidates
    >>> pair = Candidates.of("ab", [[((1,), -1.0), ((), -3.0)], [((0,), -1.0), ((), -2.0)]])
    >>> order, best_order = np.array([0, 1]), np.empty(2, dtype=np.int64)
    >>> never = np.zeros(1, dtype=np.bool_)
    >>> swap_search(pair.flat, order, best_order, 10, 5, 1e-9, never), best_order  # a → b scores −4, b → a −3
    (-3.0, array([1, 0]))
    """
    d = len(order)
    choice = np.empty(d, dtype=np.int64)
    current = choose_after(sets, order, choice, np.zeros(sets.masks.shape[1], dtype=np.uint64))
    best = current
    copy_row(order, best_order)
    if d < 2:
        return best
    prefixes = np.zeros((d, sets.masks.shape[1]), dtype=np.uint64)
    fill_prefixes(order, prefixes, 0, d - 2)
    gains = np.empty(d - 1)
    rows = np.empty((d - 1, 2), dtype=np.int64)
    tabu_until = np.zeros((d, d), dtype=np.int64)
    # Places whose gains must be computed: at first all, then those around the last swap.
    low, high = 0, d - 1
    idle = 0
    step = 0
    while idle < patience and not stop[0]:
        for p in range(low, high):
            gains[p], rows[p, 0], rows[p, 1] = swap_gain(sets, order, prefixes[p], choice, p)
        step += 1
        place = -1
        for p in range(d - 1):
            free = tabu_until[order[p], order[p + 1]] < step or current + gains[p] > best + tolerance
            if free and (place < 0 or gains[p] > gains[place]):
                place = p
        if place < 0:
            break
        x, y = order[place], order[place + 1]
        choice[y], choice[x] = rows[place, 0], rows[place, 1]
        order[place], order[place + 1] = y, x
        current += gains[place]
        tabu_until[y, x] = step + length
        fill_prefixes(order, prefixes, place, place)
        low, high = max(0, place - 1), min(d - 1, place + 2)
        if current > best + tolerance:
            best = current
            copy_row(order, best_order)
            idle = 0
        else:
            idle += 1
    return best


@kernel
def select_acyclic(sets: FlatCandidates, order: NDArray[np.int64], choice: NDArray[np.int64]) -> float:
    """Give each variable, from the last of the order to the first, its best parents that close no cycle.

    Variables before it in the order are not yet its descendants at that time, so it can always have the
    parents that the order permits: the network scores at least as high as the best one that agrees with the
    order. Returns the score.
    """
    masks, scores, offsets = sets
    d = len(order)
    words = masks.shape[1]
    everything = np.zeros(words, dtype=np.uint64)
    # descendants[x]: bit row of all that a path from x leads to, x itself included.
    descendants = np.zeros((d, words), dtype=np.uint64)
    for x in range(d):
        flip_bit(everything, x)
        flip_bit(descendants[x], x)
    total = 0.0
    allowed = np.empty(words, dtype=np.uint64)
    for position in range(d - 1, -1, -1):
        x = order[position]
        for w in range(words):
            allowed[w] = everything[w] & ~descendants[x, w]
        row = first_subset(masks, offsets[x], offsets[x + 1], allowed)
        choice[x] = row
        total += scores[row]
        # Every node that reaches a parent of x (or is one) now reaches x and what x reaches.
        for a in range(d):
            for w in range(words):
                if descendants[a, w] & masks[row, w]:
                    for v in range(words):
                        descendants[a, v] |= descendants[x, v]
                    break
    return total


@kernel
def sample_acyclic(
    sets: FlatCandidates,
    order: NDArray[np.int64],
    state: NDArray[np.uint64],
    samples: int,
    best: float,
    best_choice: NDArray[np.int64],
    tolerance: float,
) -> float:
    """Select parents for `samples` random orders, shuffled from `order` on.

    Returns the best score seen; its rows are in `best_choice`.
    """
    choice = np.empty(len(order), dtype=np.int64)
    for _ in range(samples):
        shuffle(order, state)
        total = select_acyclic(sets, order, choice)
        if total > best + tolerance:
            best = total
            copy_row(choice, best_choice)
    return best
