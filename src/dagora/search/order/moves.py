"""Kernels over orders: the best parents that an order permits, and moves of single variables along it.

Candidates are given flat: the sets of child x are rows `offsets[x]` to `offsets[x + 1]` of `masks` (bit
rows) and `scores`, best first. Given what stands before x in the order, its best parents are the first row
that is a subset of it. Moving one variable changes the choice of that variable, and of those it passes only
where it enters or leaves their parents; a step is therefore one or two short scans.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.compiled import kernel
from dagora.graph.bit_kernels import first_subset, flip_bit, has_bit, is_subset


def random_state(*entropy: int) -> NDArray[np.uint64]:
    """State of a kernel's own random numbers, from a seed and what tells several users of it apart."""
    return np.array([np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0]], dtype=np.uint64)


@kernel
def next_random(state: NDArray[np.uint64]) -> np.uint64:
    """Draw 64 random bits (splitmix64), so that a kernel's randomness depends on its own state alone."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint64(z ^ (z >> np.uint64(31)))


@kernel
def random_below(state: NDArray[np.uint64], bound: int) -> int:
    """Draw a number from 0 to bound − 1."""
    return int(next_random(state) >> np.uint64(11)) % bound


@kernel
def random_unit(state: NDArray[np.uint64]) -> float:
    """Draw a number above 0 and at most 1."""
    return (float(next_random(state) >> np.uint64(11)) + 1.0) / 9007199254740992.0


@kernel
def shuffle(order: NDArray[np.int64], state: NDArray[np.uint64]) -> None:
    """Bring an order into a random one."""
    for i in range(len(order) - 1, 0, -1):
        j = random_below(state, i + 1)
        order[i], order[j] = order[j], order[i]


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


@kernel
def best_insertion(
    masks: NDArray[np.uint64],
    scores: NDArray[np.float64],
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    prefixes: NDArray[np.uint64],
    choice: NDArray[np.int64],
    position: int,
) -> tuple[float, int]:
    """Largest gain of moving the variable at `position`, and its new place; `prefixes[p]` stands before p."""
    x = order[position]
    own = scores[choice[x]]
    best_gain, best_place = 0.0, position
    # Leftwards: x loses what it passes, and each passed variable may now take x as a parent.
    passed = 0.0
    row = choice[x]
    allowed = np.empty(masks.shape[1], dtype=np.uint64)
    for place in range(position - 1, -1, -1):
        y = order[place]
        allowed[:] = prefixes[place]
        row = first_subset(masks, row, offsets[x + 1], allowed)
        if row == offsets[x + 1]:
            break
        flip_bit(allowed, x)
        for candidate in range(offsets[y], choice[y]):
            if has_bit(masks[candidate], x) and is_subset(masks[candidate], allowed):
                passed += scores[candidate] - scores[choice[y]]
                break
        gain = passed + scores[row] - own
        if gain > best_gain:
            best_gain, best_place = gain, place
    # Rightwards: each passed variable loses x, and x may now take it as a parent.
    passed = 0.0
    row = choice[x]
    for place in range(position + 1, len(order)):
        y = order[place]
        if has_bit(masks[choice[y]], x):
            allowed[:] = prefixes[place]
            flip_bit(allowed, x)
            fallback = first_subset(masks, choice[y] + 1, offsets[y + 1], allowed)
            if fallback == offsets[y + 1]:
                break
            passed += scores[fallback] - scores[choice[y]]
        allowed[:] = prefixes[place + 1]
        flip_bit(allowed, x)
        row = first_subset(masks, offsets[x], row, allowed)
        gain = passed + scores[row] - own
        if gain > best_gain:
            best_gain, best_place = gain, place
    return best_gain, best_place


@kernel
def insert(order: NDArray[np.int64], position: int, place: int) -> None:
    """Move the variable at `position` to `place`; those between shift by one."""
    x = order[position]
    step = 1 if place > position else -1
    for p in range(position, place, step):
        order[p] = order[p + step]
    order[place] = x


@kernel
def fill_prefixes(order: NDArray[np.int64], prefixes: NDArray[np.uint64], low: int, high: int) -> None:
    """Bring the sets before places low + 1 … high + 1 up to date."""
    for p in range(low, high + 1):
        prefixes[p + 1] = prefixes[p]
        flip_bit(prefixes[p + 1], order[p])


@kernel
def choose_between(
    masks: NDArray[np.uint64],
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    prefixes: NDArray[np.uint64],
    choice: NDArray[np.int64],
    low: int,
    high: int,
) -> None:
    """Choose again for the variables at places low … high."""
    for p in range(low, high + 1):
        x = order[p]
        choice[x] = first_subset(masks, offsets[x], offsets[x + 1], prefixes[p])


@kernel
def descend(
    masks: NDArray[np.uint64],
    scores: NDArray[np.float64],
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    choice: NDArray[np.int64],
    state: NDArray[np.uint64],
    tolerance: float,
) -> float:
    """Insert variables, in random turn, at their best places until no insertion gains; return the score."""
    d = len(order)
    prefixes = np.zeros((d + 1, masks.shape[1]), dtype=np.uint64)
    fill_prefixes(order, prefixes, 0, d - 1)
    choose_between(masks, offsets, order, prefixes, choice, 0, d - 1)
    where = np.empty(d, dtype=np.int64)
    for p in range(d):
        where[order[p]] = p
    turn: NDArray[np.int64] = np.arange(d)
    waiting = d
    while waiting > 0:
        shuffle(turn, state)
        for x in turn:
            position = where[x]
            gain, place = best_insertion(masks, scores, offsets, order, prefixes, choice, position)
            waiting -= 1
            if gain > tolerance:
                insert(order, position, place)
                low, high = min(position, place), max(position, place)
                fill_prefixes(order, prefixes, low, high)
                choose_between(masks, offsets, order, prefixes, choice, low, high)
                for p in range(low, high + 1):
                    where[order[p]] = p
                waiting = d
            if waiting == 0:
                break
    total = 0.0
    for x in range(d):
        total += scores[choice[x]]
    return total


@kernel
def iterate(
    masks: NDArray[np.uint64],
    scores: NDArray[np.float64],
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    best_order: NDArray[np.int64],
    best: float,
    state: NDArray[np.uint64],
    tolerance: float,
    kicks: int,
) -> float:
    """Iterated local search: disturb and descend, `kicks` times. Return the best score.

    A disturbance moves a few variables, or a block of neighbours, to random places. A result that is worse by
    some loss is gone on from with probability exp(−loss / temperature), the temperature being half the usual
    loss. `order` is where the search stands, `best_order` the best seen.
    """
    d = len(order)
    choice = np.empty(d, dtype=np.int64)
    current = choose_parents(masks, scores, offsets, order, choice)
    trial = np.empty(d, dtype=np.int64)
    usual_loss = 0.0
    for _ in range(kicks):
        trial[:] = order
        if random_below(state, 4) == 0 and d > 3:
            length = 2 + random_below(state, min(d - 1, 8) - 1)
            start = random_below(state, d - length + 1)
            place = random_below(state, d - length + 1)
            for k in range(length):
                if place < start:
                    insert(trial, start + k, place + k)
                else:
                    insert(trial, start, place + length - 1)
        else:
            for _ in range(2 + random_below(state, 8)):
                insert(trial, random_below(state, d), random_below(state, d))
        score = descend(masks, scores, offsets, trial, choice, state, tolerance)
        loss = max(0.0, current - score)
        if loss > 0:
            usual_loss = 0.95 * usual_loss + 0.05 * loss if usual_loss > 0 else loss
        if loss <= tolerance or loss < -0.5 * usual_loss * np.log(random_unit(state)):
            order[:] = trial
            current = score
        if score > best + tolerance:
            best = score
            best_order[:] = trial
    return best
