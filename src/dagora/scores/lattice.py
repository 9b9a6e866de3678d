"""Levels of the lattice of parent sets: sets of one size are rows of an array and are looked up by a key.

A set {a < b < c} of columns is the row (a, b, c). Its key is the number with those digits in base d, so that
keys sort like rows. As in the search for frequent item sets, a set of size k is made only if all its subsets
of size k − 1 are alive: pruning a set prunes all its supersets.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.compiled import kernel
from dagora.graph.bits import Rows, words_for

# Sets for which there is room in one call of the kernel that grows them.
MOST_GROWN = 1 << 16


def largest_size(d: int) -> int:
    """The largest size of a set of d columns whose key fits into 62 bits.

    >>> largest_size(37), largest_size(441)
    (11, 7)
    """
    return int(62 / np.log2(max(2, d)))


def keys_of(sets: NDArray[np.int64], d: int) -> NDArray[np.int64]:
    """Keys of sets given as sorted rows."""
    keys = np.zeros(len(sets), dtype=np.int64)
    for column in range(sets.shape[1]):
        keys = keys * d + sets[:, column]
    return keys


def masks_of(sets: NDArray[np.int64], d: int) -> Rows:
    """Bit rows of sets given as rows of positions.

    >>> masks_of(np.array([[0, 2], [1, 65]]), 70)
    array([[5, 0], [2, 2]], dtype=uint64)
    """
    masks = np.zeros((len(sets), words_for(d)), dtype=np.uint64)
    rows = np.arange(len(sets))
    for column in range(sets.shape[1]):
        masks[rows, sets[:, column] >> 6] |= np.uint64(1) << (sets[:, column] & 63).astype(np.uint64)
    return masks


def unique_sets(sets: NDArray[np.int64], d: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct rows in lexicographic order, and for each given row its place among them."""
    return unique_rows(keys_of(sets, d), sets.shape[1], d)


def unique_families(
    children: NDArray[np.int64], parents: NDArray[np.int64], d: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct sets of a child with its parents, as ascending rows, and each family's place among them.

    >>> unique_families(np.array([1, 0]), np.array([[0], [1]]), 3)
    (array([[0, 1]]), array([0, 0]))
    """
    return unique_rows(family_keys(children, parents, d), parents.shape[1] + 1, d)


def unique_rows(keys: NDArray[np.int64], size: int, d: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of the distinct keys in ascending order, and for each key the place of its row."""
    different, place = number_keys(keys)
    order = np.argsort(different)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rows_of(different[order], size, d), rank[place]


@kernel
def family_keys(children: NDArray[np.int64], parents: NDArray[np.int64], d: int) -> NDArray[np.int64]:
    """Key of each family: the child inserted into its ascending row of parents."""
    number, size = parents.shape
    keys = np.empty(number, dtype=np.int64)
    for k in range(number):
        key = 0
        waiting = True
        for i in range(size):
            if waiting and children[k] < parents[k, i]:
                key = key * d + children[k]
                waiting = False
            key = key * d + parents[k, i]
        keys[k] = key * d + children[k] if waiting else key
    return keys


@kernel
def number_keys(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct keys in order of first appearance, and each key's number among them (by hashing)."""
    bits = 4
    while (1 << bits) < 2 * len(keys):
        bits += 1
    slots = np.empty(1 << bits, dtype=np.int64)
    for free in range(len(slots)):
        slots[free] = -1
    mask = (1 << bits) - 1
    different = np.empty(len(keys), dtype=np.int64)
    place = np.empty(len(keys), dtype=np.int64)
    count = 0
    for k in range(len(keys)):
        spread = np.uint64(keys[k]) * np.uint64(0x9E3779B97F4A7C15)
        slot = np.int64(spread >> np.uint64(64 - bits))
        while slots[slot] >= 0 and different[slots[slot]] != keys[k]:
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot] = count
            different[count] = keys[k]
            count += 1
        place[k] = slots[slot]
    return different[:count], place


@kernel
def rows_of(keys: NDArray[np.int64], size: int, d: int) -> NDArray[np.int64]:
    """The rows of keys: the inverse of `keys_of`."""
    rows = np.empty((len(keys), size), dtype=np.int64)
    for k in range(len(keys)):
        key = keys[k]
        for i in range(size - 1, -1, -1):
            rows[k, i] = key % d
            key //= d
    return rows


@kernel
def find_key(keys: NDArray[np.int64], key: int) -> int:
    """Position of a key in a sorted array; −1 where it is not there."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < len(keys) and keys[low] == key else -1


@kernel
def key_without(row: NDArray[np.int64], skipped: int, d: int) -> int:
    """Key of a row without its `skipped`-th column."""
    key = 0
    for i in range(len(row)):
        if i != skipped:
            key = key * d + row[i]
    return key


def grow(
    sets: NDArray[np.int64], keys: NDArray[np.int64], best: NDArray[np.float64], allowed: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """All sets with one more allowed column whose subsets of the present size are all alive.

    `sets` and their sorted `keys` are alive; `best` is the best score of each set and its subsets. Returns
    the larger sets, the positions of their subsets (entry [r, i]: set r without its i-th column), and the
    best score among all proper subsets of each.
    """
    size = sets.shape[1] + 1
    room = min(len(sets), MOST_GROWN) + len(allowed)
    blocks: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]] = []
    done = 0
    while done < len(sets) or not blocks:
        grown, subsets = np.empty((2, room, size), dtype=np.int64)
        below = np.empty(room)
        count, done = grow_from(done, sets, keys, best, allowed, grown, subsets, below)
        blocks.append((grown[:count], subsets[:count], below[:count]))
    whole, places, tops = zip(*blocks, strict=True)
    return np.concatenate(whole), np.concatenate(places), np.concatenate(tops)


@kernel
def grow_from(
    start: int,
    sets: NDArray[np.int64],
    keys: NDArray[np.int64],
    best: NDArray[np.float64],
    allowed: NDArray[np.bool_],
    grown: NDArray[np.int64],
    subsets: NDArray[np.int64],
    below: NDArray[np.float64],
) -> tuple[int, int]:
    """Grow the sets from `start` on while there is room; return how many were made and where to go on."""
    number, size = sets.shape
    d = len(allowed)
    count = 0
    if number and not size:  # the empty set: every single column
        for j in range(d):
            if allowed[j]:
                grown[count, 0], subsets[count, 0], below[count] = j, 0, best[0]
                count += 1
        return count, number
    for a in range(start, number):
        if count + d > len(below):
            return count, a
        # Sets that differ from this one in their last column only follow it; the others cannot be subsets.
        for b in range(a + 1, number):
            same = 0
            while same < size - 1 and sets[b, same] == sets[a, same]:
                same += 1
            if same < size - 1:
                break
            j = sets[b, size - 1]
            if not allowed[j]:
                continue
            # The next row is written in place; it stays only if all its subsets are alive.
            for i in range(size):
                grown[count, i] = sets[a, i]
            grown[count, size] = j
            subsets[count, size], subsets[count, size - 1] = a, b
            below[count] = max(best[a], best[b])
            whole = True
            for skipped in range(size - 1):
                place = find_key(keys, key_without(grown[count], skipped, d))
                if place < 0:
                    whole = False
                    break
                subsets[count, skipped] = place
                below[count] = max(below[count], best[place])
            if whole:
                count += 1
    return count, number
