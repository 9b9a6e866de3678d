"""Kernels that move one variable along an order and update what changes.

The best parents of x in an order are the first of its rows that contains only variables before x. Moving x
changes the parents of x; a variable that x passes changes its parents only if x enters or leaves them. For
every child and parent, the first row of the child that holds the parent is indexed. So variables that have
nothing to do with each other pass without a look at their rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.graph.bit_kernels import ONE, first_subset, flip_bit, has_bit, is_subset
from dagora.kernels.decorators import borrowing
from dagora.kernels.rows import copy_row
from dagora.learners.candidates.candidates import FlatCandidates


class IndexedSets(NamedTuple):
    """Flat candidates with an index: `first[x, p]` is the first row of x that holds p.

    It is `offsets[x + 1]` where no row does. The last set of every variable must be the empty one, as in
    `LocalProblem`, so that every order permits a network.
    """

    masks: NDArray[np.uint64]
    scores: NDArray[np.float64]
    offsets: NDArray[np.int64]
    first: NDArray[np.int64]


class Standing(NamedTuple):
    """An order with what follows from it.

    `where[x]` is the place of x, `prefixes[p]` the bit row of the variables before place p, and `choice[x]`
    the best row of x that the order permits.
    """

    order: NDArray[np.int64]
    where: NDArray[np.int64]
    prefixes: NDArray[np.uint64]
    choice: NDArray[np.int64]


class Pool(NamedTuple):
    """Variables that may have gaining moves: the first `size[0]` of `members`, flagged in `waits`.

    `tried[0]` counts the variables that were taken out of the pool to be tried. `allowed` is working memory
    for one bit row.
    """

    members: NDArray[np.int64]
    waits: NDArray[np.bool_]
    size: NDArray[np.int64]
    tried: NDArray[np.int64]
    allowed: NDArray[np.uint64]


def index_sets(flat: FlatCandidates) -> IndexedSets:
    """Find the first row of every child that holds each parent.

    >>> from dagora.learners.candidates.candidates import Candidates
    >>> pair = Candidates.of("ab", [[((1,), -1.0), ((), -3.0)], [((), -2.0)]])
    >>> index_sets(pair.flat).first  # row 0, the first of a, holds b; row 3 is behind the last of b
    array([[2, 0], [3, 3]])
    """
    d = len(flat.offsets) - 1
    sets = IndexedSets(*flat, np.empty((d, d), dtype=np.int64))
    fill_index(sets)
    return sets


def stand(sets: IndexedSets, order: NDArray[np.int64]) -> Standing:
    """The standing of an order; the array `order` becomes part of it and changes with it."""
    standing = lie(sets, order)
    fill_standing(sets, standing)
    return standing


def lie(sets: IndexedSets, order: NDArray[np.int64]) -> Standing:
    """Memory for the standing of an order, to be filled."""
    where, choice = np.empty_like(order), np.empty_like(order)
    return Standing(order, where, np.zeros((len(order) + 1, sets.masks.shape[1]), dtype=np.uint64), choice)


@borrowing
def fill_index(sets: IndexedSets) -> None:
    """Find the first row of every child that holds each parent."""
    masks, _, offsets, first = sets
    d = len(offsets) - 1
    for x in range(d):
        for p in range(d):
            first[x, p] = offsets[x + 1]
        for row in range(offsets[x + 1] - 1, offsets[x] - 1, -1):
            for word in range(masks.shape[1]):
                left = masks[row, word]
                p = word << 6
                while left:
                    while not left & np.uint64(255):
                        left >>= np.uint64(8)
                        p += 8
                    if left & np.uint64(1):
                        first[x, p] = row
                    left >>= np.uint64(1)
                    p += 1


@borrowing
def fill_standing(sets: IndexedSets, standing: Standing) -> None:
    """Find what follows from the order of a standing."""
    order, where, prefixes, choice = standing
    fill_prefixes(order, prefixes, 0, len(order) - 1)
    for p in range(len(order)):
        x = order[p]
        where[x] = p
        choice[x] = first_subset(sets.masks, sets.offsets[x], sets.offsets[x + 1], prefixes[p])


@borrowing
def copy_standing(source: Standing, target: Standing) -> None:
    """Copy a standing into the arrays of another."""
    for x in range(len(source.order)):
        target.order[x] = source.order[x]
        target.where[x] = source.where[x]
        target.choice[x] = source.choice[x]
        copy_row(source.prefixes[x + 1], target.prefixes[x + 1])


@borrowing
def worth(sets: IndexedSets, standing: Standing) -> float:
    """Score of the best network that the order permits."""
    total = 0.0
    for row in standing.choice:
        total += sets.scores[row]
    return total


@borrowing
def fill_prefixes(order: NDArray[np.int64], prefixes: NDArray[np.uint64], low: int, high: int) -> None:
    """Update the prefixes of places low + 1 … high + 1."""
    for p in range(low, high + 1):
        copy_row(prefixes[p], prefixes[p + 1])
        flip_bit(prefixes[p + 1], order[p])


@borrowing
def row_with(sets: IndexedSets, child: int, parent: int, stop: int, allowed: NDArray[np.uint64]) -> int:
    """First row of a child before `stop` that holds a parent and is a subset of `allowed`; else `stop`."""
    masks = sets.masks
    if masks.shape[1] == 1:  # as in `first_subset`
        member = ONE << np.uint64(parent)
        looked_at = ~allowed[0] | member
        for row in range(sets.first[child, parent], stop):
            if masks[row, 0] & looked_at == member:
                return row
        return stop
    for row in range(sets.first[child, parent], stop):
        if has_bit(masks[row], parent) and is_subset(masks[row], allowed):
            return row
    return stop


@borrowing
def best_insertion(
    sets: IndexedSets, standing: Standing, x: int, allowed: NDArray[np.uint64]
) -> tuple[float, int]:
    """Largest gain of moving x, and its new place; `allowed` is working memory for one bit row."""
    masks, scores, offsets, first = sets
    order, where, prefixes, choice = standing
    position = where[x]
    own = scores[choice[x]]
    best_gain, best_place = 0.0, position
    # Leftwards: x loses the variables it passes as parents, and each of them may now take x as a parent.
    passed = 0.0
    row = choice[x]
    for place in range(position - 1, -1, -1):
        y = order[place]
        if has_bit(masks[row], y):
            row = first_subset(masks, row + 1, offsets[x + 1], prefixes[place])
            # Never true, as the empty set is always there; but without this check the search is 15 % slower.
            if row == offsets[x + 1]:
                break
        if first[y, x] < choice[y]:
            copy_row(prefixes[place], allowed)
            flip_bit(allowed, x)
            passed += scores[row_with(sets, y, x, choice[y], allowed)] - scores[choice[y]]
        gain = passed + scores[row] - own
        if gain > best_gain:
            best_gain, best_place = gain, place
    # Rightwards: each variable that x passes loses x as a parent, and x may now take it as a parent.
    passed = 0.0
    row = choice[x]
    for place in range(position + 1, len(order)):
        y = order[place]
        if has_bit(masks[choice[y]], x):
            copy_row(prefixes[place], allowed)
            flip_bit(allowed, x)
            fallback = first_subset(masks, choice[y] + 1, offsets[y + 1], allowed)
            if fallback == offsets[y + 1]:  # never, as above
                break
            passed += scores[fallback] - scores[choice[y]]
        if first[x, y] < row:
            copy_row(prefixes[place + 1], allowed)
            flip_bit(allowed, x)
            row = row_with(sets, x, y, row, allowed)
        gain = passed + scores[row] - own
        if gain > best_gain:
            best_gain, best_place = gain, place
    return best_gain, best_place


@borrowing
def insert(order: NDArray[np.int64], position: int, place: int) -> None:
    """Move the variable at `position` to `place`; those between shift by one."""
    x = order[position]
    step = 1 if place > position else -1
    for p in range(position, place, step):
        order[p] = order[p + step]
    order[place] = x


@borrowing
def relocate(sets: IndexedSets, standing: Standing, x: int, place: int, pool: Pool) -> None:
    """Move x to a place and put all variables that this affects into the pool.

    These are x, the variables whose parents change, and their old and new parents.
    """
    masks, _, offsets, first = sets
    order, where, prefixes, choice = standing
    position = where[x]
    insert(order, position, place)
    low, high = min(position, place), max(position, place)
    fill_prefixes(order, prefixes, low, high)
    for p in range(low, high + 1):
        y = order[p]
        where[y] = p
        row = choice[y]
        if y == x:
            row = first_subset(masks, offsets[x], offsets[x + 1], prefixes[p])
        elif place < position:
            if first[y, x] < row:
                row = row_with(sets, y, x, row, prefixes[p])
        elif has_bit(masks[row], x):
            row = first_subset(masks, row + 1, offsets[y + 1], prefixes[p])
        if row != choice[y]:
            wake_members(masks[choice[y]], pool)
            wake_members(masks[row], pool)
            wake(y, pool)
            choice[y] = row
    wake(x, pool)


@borrowing
def wake(x: int, pool: Pool) -> None:
    """Put a variable into the pool, if it is not there already."""
    if not pool.waits[x]:
        pool.waits[x] = True
        pool.members[pool.size[0]] = x
        pool.size[0] += 1


@borrowing
def wake_members(mask: NDArray[np.uint64], pool: Pool) -> None:
    """Put all members of a set into the pool."""
    for word in range(len(mask)):
        left = mask[word]
        x = word << 6
        while left:
            if left & np.uint64(1):
                wake(x, pool)
            left >>= np.uint64(1)
            x += 1
