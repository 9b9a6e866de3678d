"""Kernels that search orders: descent by insertions, random disturbances, and iterated local search.

A descent tries to move the variables in a pool (see `insertions`); every move puts the variables that it
affects into the pool. After a disturbance only the variables it affected are tried. All variables are tried
only if the result is better than any before. So a disturbance costs about the same however many variables
there are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.graph.bit_kernels import has_bit
from dagora.kernels.decorators import borrowing
from dagora.kernels.random import random_below, random_unit
from dagora.kernels.rows import copy_row
from dagora.learners.candidates.candidates import FlatCandidates
from dagora.learners.search.order.insertions import (
    IndexedSets,
    Pool,
    Standing,
    best_insertion,
    copy_standing,
    fill_index,
    fill_standing,
    lie,
    relocate,
    wake,
    worth,
)

# More trials than any search makes.
ENDLESS = 1 << 62


def effort_of(trials: int = ENDLESS) -> NDArray[np.int64]:
    """The effort that `iterate` may make: trials of variables in other places; none of its kicks made yet."""
    return np.array([trials, 0])


def empty_pool(sets: IndexedSets) -> Pool:
    """A pool without variables."""
    d, words = len(sets.first), sets.masks.shape[1]
    return Pool(
        np.empty(d, dtype=np.int64),
        np.zeros(d, dtype=np.bool_),
        np.zeros(1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.empty(words, dtype=np.uint64),
    )


@borrowing
def settle(
    sets: IndexedSets,
    standing: Standing,
    pool: Pool,
    state: NDArray[np.uint64],
    tolerance: float,
    stop: NDArray[np.bool_],
) -> bool:
    """Move the variables of the pool, in random sequence, to their best places until the pool is empty.

    Returns whether any variable moved. As soon as `stop[0]` is true, all variables stay where they are.
    """
    moved = False
    while pool.size[0] > 0 and not stop[0]:
        turn = random_below(state, pool.size[0])
        pool.size[0] -= 1
        pool.tried[0] += 1
        x = pool.members[turn]
        pool.members[turn] = pool.members[pool.size[0]]
        pool.waits[x] = False
        gain, place = best_insertion(sets, standing, x, pool.allowed)
        if gain > tolerance:
            relocate(sets, standing, x, place, pool)
            moved = True
    return moved


@borrowing
def settle_all(
    sets: IndexedSets,
    standing: Standing,
    pool: Pool,
    state: NDArray[np.uint64],
    tolerance: float,
    stop: NDArray[np.bool_],
) -> None:
    """Move variables to their best places until no move of any variable gains."""
    moved = True
    while moved and not stop[0]:
        for x in range(len(standing.order)):
            wake(x, pool)
        moved = settle(sets, standing, pool, state, tolerance, stop)


def descend(
    flat: FlatCandidates,
    order: NDArray[np.int64],
    state: NDArray[np.uint64],
    tolerance: float,
    stop: NDArray[np.bool_],
) -> float:
    """Move variables, one at a time in random sequence, to their best places in `order` until no move gains.

    Returns the score of the best network that the new order permits. As soon as `stop[0]` is true, the
    descent ends where it is.

    >>> from dagora.learners.candidates.candidates import Candidates
    >>> pair = Candidates.of("ab", [[((1,), -1.0), ((), -3.0)], [((0,), -1.0), ((), -2.0)]])
    >>> order, state = np.array([0, 1]), np.array([7], dtype=np.uint64)
    >>> never = np.zeros(1, dtype=np.bool_)
    >>> descend(pair.flat, order, state, 1e-9, never), order  # a → b scores −4, b → a scores −3
    (-3.0, array([1, 0]))
    """
    return iterate(flat, order, order, 0.0, state, tolerance, 0, np.empty(1), effort_of(), stop)


@borrowing
def disturb(sets: IndexedSets, standing: Standing, pool: Pool, state: NDArray[np.uint64]) -> None:
    """Disturb an order: give variables parents they lack, or move a few variables or a block at random.

    Half of the disturbances are of the first kind (`grant_wish`), a quarter of each other kind.
    """
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


@borrowing
def grant_wish(sets: IndexedSets, standing: Standing, pool: Pool, state: NDArray[np.uint64]) -> None:
    """Give a random variable one of the rows that score more than its own but that the order does not permit.

    Either the variable moves behind all parents in that row, or the parents behind it move before it.
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


def iterate(
    flat: FlatCandidates,
    order: NDArray[np.int64],
    best_order: NDArray[np.int64],
    best: float,
    state: NDArray[np.uint64],
    tolerance: float,
    kicks: int,
    losses: NDArray[np.float64],
    effort: NDArray[np.int64],
    stop: NDArray[np.bool_],
) -> float:
    """Iterated local search: disturb the order and descend again, `kicks` times. Return the best score.

    A result that scores lower by some loss is accepted with probability exp(−loss / temperature); the
    temperature is half the running mean of the losses, which is kept in `losses[0]` (0: none yet). `order` is
    the current order, `best_order` the best one seen, and `best` its score. `effort[0]` says how often a
    variable may be tried in other places: as soon as it was more often, the search ends. `effort[1]` counts
    the disturbances made. As soon as `stop[0]` is true, the search ends where it is. Without kicks it is one
    descent, as in `descend`: that is a kernel less to compile.
    """
    # The kernel creates no arrays: to compile that takes as long as the search itself.
    sets = IndexedSets(*flat, np.empty((len(order), len(order)), dtype=np.int64))
    standing, trial = lie(sets, order), lie(sets, order.copy())
    pool = empty_pool(sets)
    return search(
        sets, standing, trial, pool, best_order, best, state, tolerance, kicks, losses, effort, stop
    )


@borrowing
def search(
    sets: IndexedSets,
    standing: Standing,
    trial: Standing,
    pool: Pool,
    best_order: NDArray[np.int64],
    best: float,
    state: NDArray[np.uint64],
    tolerance: float,
    kicks: int,
    losses: NDArray[np.float64],
    effort: NDArray[np.int64],
    stop: NDArray[np.bool_],
) -> float:
    """Search as `iterate` does, in memory that it gives."""
    fill_index(sets)
    fill_standing(sets, standing)
    if not kicks:
        settle_all(sets, standing, pool, state, tolerance, stop)
        return worth(sets, standing)
    copy_standing(standing, trial)
    current = worth(sets, standing)
    usual_loss = losses[0]
    for _ in range(kicks):
        if stop[0] or effort[0] < pool.tried[0]:
            break
        effort[1] += 1
        disturb(sets, trial, pool, state)
        settle(sets, trial, pool, state, tolerance, stop)
        score = worth(sets, trial)
        if score > best + tolerance:
            settle_all(sets, trial, pool, state, tolerance, stop)
            score = worth(sets, trial)
            best = score
            copy_row(trial.order, best_order)
        loss = max(0.0, current - score)
        if loss > 0:
            usual_loss = 0.95 * usual_loss + 0.05 * loss if usual_loss > 0 else loss
        if loss <= tolerance or loss < -0.5 * usual_loss * np.log(random_unit(state)):
            copy_standing(trial, standing)
            current = score
        else:
            copy_standing(standing, trial)
    losses[0] = usual_loss
    effort[0] -= pool.tried[0]
    return best
