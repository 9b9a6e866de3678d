"""Kernels for searches that swap neighbours in an order, and for selecting parents beyond an order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.compiled import kernel
from dagora.graph.bit_kernels import first_subset, flip_bit
from dagora.kernel_random import shuffle
from dagora.search.best_parents import choose_parents


@kernel
def swap_gain(
    masks: NDArray[np.uint64],
    scores: NDArray[np.float64],
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    before: NDArray[np.uint64],
    choice: NDArray[np.int64],
    place: int,
) -> tuple[float, int, int]:
    """Gain of swapping the variables at `place` and `place + 1`, and their new rows."""
    x, y = order[place], order[place + 1]
    first_y = first_subset(masks, offsets[y], offsets[y + 1], before)
    allowed = before.copy()
    flip_bit(allowed, y)
    second_x = first_subset(masks, offsets[x], offsets[x + 1], allowed)
    if first_y == offsets[y + 1] or second_x == offsets[x + 1]:
        return -np.inf, first_y, second_x
    gain = scores[first_y] - scores[choice[y]] + scores[second_x] - scores[choice[x]]
    return gain, first_y, second_x


@kernel
def swap_search(
    masks: NDArray[np.uint64],
    scores: NDArray[np.float64],
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    best_order: NDArray[np.int64],
    length: int,
    patience: int,
    tolerance: float,
) -> float:
    """Make the best swap of neighbours that is not tabu, until `patience` swaps brought no better order.

    A pair that was swapped may not be swapped back for `length` swaps. Returns the best score; the best order
    goes to `best_order`.
    """
    d = len(order)
    words = masks.shape[1]
    choice = np.empty(d, dtype=np.int64)
    current = choose_parents(masks, scores, offsets, order, choice)
    best = current
    best_order[:] = order
    if not np.isfinite(current) or d < 2:
        return best
    prefixes = np.zeros((d, words), dtype=np.uint64)
    for p in range(1, d):
        prefixes[p] = prefixes[p - 1]
        flip_bit(prefixes[p], order[p - 1])
    gains = np.empty(d - 1)
    rows = np.empty((d - 1, 2), dtype=np.int64)
    for p in range(d - 1):
        gains[p], rows[p, 0], rows[p, 1] = swap_gain(masks, scores, offsets, order, prefixes[p], choice, p)
    until = np.zeros((d, d), dtype=np.int64)
    idle = 0
    step = 0
    while idle < patience:
        step += 1
        place = -1
        for p in range(d - 1):
            free = until[order[p], order[p + 1]] < step or current + gains[p] > best + tolerance
            if free and gains[p] > -np.inf and (place < 0 or gains[p] > gains[place]):
                place = p
        if place < 0:
            break
        x, y = order[place], order[place + 1]
        choice[y], choice[x] = rows[place, 0], rows[place, 1]
        order[place], order[place + 1] = y, x
        current += gains[place]
        until[y, x] = step + length
        prefixes[place + 1] = prefixes[place]
        flip_bit(prefixes[place + 1], y)
        for p in range(max(0, place - 1), min(d - 1, place + 2)):
            gains[p], rows[p, 0], rows[p, 1] = swap_gain(
                masks, scores, offsets, order, prefixes[p], choice, p
            )
        if current > best + tolerance:
            best = current
            best_order[:] = order
            idle = 0
        else:
            idle += 1
    return best


@kernel
def select_acyclic(
    masks: NDArray[np.uint64],
    scores: NDArray[np.float64],
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    choice: NDArray[np.int64],
) -> float:
    """Give each variable, from the last of the order to the first, its best parents that close no cycle.

    Those before it in the order are never among its descendants then, so this is at least as good as what the
    order permits. Returns the score; −∞ where a variable has no possible row.
    """
    d = len(order)
    words = masks.shape[1]
    everything = np.zeros(words, dtype=np.uint64)
    for x in range(d):
        flip_bit(everything, x)
    # descendants[x]: bit row of all that a path from x leads to, x itself included.
    descendants = np.zeros((d, words), dtype=np.uint64)
    for x in range(d):
        flip_bit(descendants[x], x)
    total = 0.0
    allowed = np.empty(words, dtype=np.uint64)
    for position in range(d - 1, -1, -1):
        x = order[position]
        for w in range(words):
            allowed[w] = everything[w] & ~descendants[x, w]
        row = first_subset(masks, offsets[x], offsets[x + 1], allowed)
        choice[x] = row
        if row == offsets[x + 1]:
            return -np.inf
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
    masks: NDArray[np.uint64],
    scores: NDArray[np.float64],
    offsets: NDArray[np.int64],
    state: NDArray[np.uint64],
    samples: int,
    best: float,
    best_choice: NDArray[np.int64],
    tolerance: float,
) -> float:
    """Select parents for random orders; return the best score seen, its rows in `best_choice`."""
    d = len(best_choice)
    order = np.arange(d)
    choice = np.empty(d, dtype=np.int64)
    for _ in range(samples):
        shuffle(order, state)
        total = select_acyclic(masks, scores, offsets, order, choice)
        if total > best + tolerance:
            best = total
            best_choice[:] = choice
    return best
