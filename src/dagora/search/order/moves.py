"""Kernels over orders: the best parents that an order permits, descent by insertions, and disturbances.

Candidates are given flat: the sets of child x are rows `offsets[x]` to `offsets[x + 1]` of `masks` (bit
rows) and `scores`, best first. After a disturbance only the variables it woke (see `insertions`) are looked
at, and those that their moves wake; all are looked at where the result is better than any before. That makes
a disturbance cost about the same however many variables there are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.compiled import kernel
from dagora.graph.bit_kernels import has_bit
from dagora.kernel_random import random_below, random_unit
from dagora.search.order.insertions import (
    Pool,
    Sets,
    Standing,
    best_insertion,
    copy_standing,
    relocate,
    stand,
    wake,
    with_first_rows,
    worth,
)


@kernel
def empty_pool(d: int) -> Pool:
    """Nobody waits."""
    return Pool(np.empty(d, dtype=np.int64), np.zeros(d, dtype=np.bool_), np.zeros(1, dtype=np.int64))


@kernel
def settle(sets: Sets, standing: Standing, pool: Pool, state: NDArray[np.uint64], tolerance: float) -> bool:
    """Insert those who wait, in random turn, at their best places until nobody waits; say if any moved."""
    allowed = np.empty(sets.masks.shape[1], dtype=np.uint64)
    moved = False
    while pool.size[0] > 0:
        turn = random_below(state, pool.size[0])
        pool.size[0] -= 1
        x = pool.members[turn]
        pool.members[turn] = pool.members[pool.size[0]]
        pool.waits[x] = False
        gain, place = best_insertion(sets, standing, x, allowed)
        if gain > tolerance:
            relocate(sets, standing, x, place, pool)
            moved = True
    return moved


@kernel
def settle_all(
    sets: Sets, standing: Standing, pool: Pool, state: NDArray[np.uint64], tolerance: float
) -> None:
    """Insert variables until no insertion of any gains."""
    moved = True
    while moved:
        for x in range(len(standing.order)):
            wake(x, pool)
        moved = settle(sets, standing, pool, state, tolerance)


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
    sets = with_first_rows(masks, scores, offsets)
    standing = stand(sets, order)
    settle_all(sets, standing, empty_pool(len(order)), state, tolerance)
    choice[:] = standing.choice
    return worth(sets, standing)


@kernel
def disturb(sets: Sets, standing: Standing, pool: Pool, state: NDArray[np.uint64]) -> None:
    """Grant wishes, or move a few variables or a block of neighbours to random places."""
    order = standing.order
    d = len(order)
    kind = random_below(state, 4)
    if kind < 2:
        for _ in range(1 + random_below(state, 3)):
            grant_wish(sets, standing, pool, state)
    elif kind == 2 and d > 3:
        length = 2 + random_below(state, min(d - 1, 8) - 1)
        start = random_below(state, d - length + 1)
        place = random_below(state, d - length + 1)
        for k in range(length):
            if place < start:
                relocate(sets, standing, order[start + k], place + k, pool)
            else:
                relocate(sets, standing, order[start], place + length - 1, pool)
    else:
        for _ in range(2 + random_below(state, 8)):
            relocate(sets, standing, order[random_below(state, d)], random_below(state, d), pool)


@kernel
def grant_wish(sets: Sets, standing: Standing, pool: Pool, state: NDArray[np.uint64]) -> None:
    """Give a random variable one of the better rows that the order denies it.

    Either it moves behind all parents it wishes for, or those that stand behind it move before it.
    """
    d = len(standing.order)
    x = random_below(state, d)
    for _ in range(d):
        if standing.choice[x] > sets.offsets[x]:
            break
        x = (x + 1) % d
    if standing.choice[x] == sets.offsets[x]:
        return
    wish = sets.offsets[x] + random_below(state, standing.choice[x] - sets.offsets[x])
    behind = random_below(state, 2) == 0
    place = standing.where[x]
    for p in range(place + 1, d):
        y = standing.order[p]
        if has_bit(sets.masks[wish], y):
            if behind:
                place = p
            else:
                relocate(sets, standing, y, standing.where[x], pool)
    if behind:
        relocate(sets, standing, x, place, pool)


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

    A result that is worse by some loss is gone on from with probability exp(−loss / temperature), the
    temperature being half the usual loss. `order` is where the search stands, `best_order` the best seen.
    """
    sets = with_first_rows(masks, scores, offsets)
    standing = stand(sets, order)
    trial = stand(sets, order.copy())
    pool = empty_pool(len(order))
    current = worth(sets, standing)
    usual_loss = 0.0
    for _ in range(kicks):
        disturb(sets, trial, pool, state)
        settle(sets, trial, pool, state, tolerance)
        score = worth(sets, trial)
        if score > best + tolerance:
            settle_all(sets, trial, pool, state, tolerance)
            score = worth(sets, trial)
            best = score
            best_order[:] = trial.order
        loss = max(0.0, current - score)
        if loss > 0:
            usual_loss = 0.95 * usual_loss + 0.05 * loss if usual_loss > 0 else loss
        if loss <= tolerance or loss < -0.5 * usual_loss * np.log(random_unit(state)):
            copy_standing(trial, standing)
            current = score
        else:
            copy_standing(standing, trial)
    return best
