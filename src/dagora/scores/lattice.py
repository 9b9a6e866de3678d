"""Levels of the lattice of parent sets: sets of one size are rows of an array and are looked up by a key.

A set {a < b < c} of columns is the row (a, b, c). Its key is the number with those digits in base d, so that
keys sort like rows. As in the search for frequent item sets, a set of size k is made only if all its subsets
of size k − 1 are alive: pruning a set prunes all its supersets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.graph.bits import Rows, words_for
from dagora.kernels.decorators import borrowing, kernel, patient
from dagora.stats.statistics import running_sum

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
    keys: NDArray[np.int64] = sets @ np.array([d**i for i in reversed(range(sets.shape[1]))], dtype=np.int64)
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
    different, place = ascending_keys(keys)
    return rows_of(different, size, d), place


def ascending_keys(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct keys in ascending order, and for each key its place among them."""
    different, place = number_keys(keys)
    order = np.argsort(different)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return different[order], rank[place]


def family_keys_plainly(children: NDArray[np.int64], parents: NDArray[np.int64], d: int) -> NDArray[np.int64]:
    """The same as `family_keys`, without a kernel."""
    return keys_of(np.sort(np.column_stack([parents, children]), axis=1), d)


@patient(family_keys_plainly, lambda _, parents, __: 1e-5 + 2e-8 * parents.size, 0.2)
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


def number_keys_plainly(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The same as `number_keys`, without a kernel."""
    different, first, place = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return different[order], rank[place]


@patient(number_keys_plainly, lambda keys: 3e-5 + 1.5e-7 * len(keys), 0.3)
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


def rows_of_plainly(keys: NDArray[np.int64], size: int, d: int) -> NDArray[np.int64]:
    """The same as `rows_of`, without a kernel."""
    places = np.array([d**i for i in reversed(range(size))], dtype=np.int64)
    return keys[:, None] // places % d


@patient(rows_of_plainly, lambda keys, size, _: 1e-5 + 2e-8 * size * len(keys), 0.15)
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
def find_from(keys: NDArray[np.int64], key: int, low: int) -> int:
    """The first place, from `low` on, with a key that is not smaller; fast if it is not far from there."""
    high, step = low, 1
    while high < len(keys) and keys[high] < key:
        low = high + 1
        high += step
        step *= 2
    high = min(high, len(keys))
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


class Cutting(NamedTuple):
    """The bounds that cut sets of a child while they grow, by the rules of `candidates.pruning`.

    `entropy` is m · H(child | set) of each set alive, empty where no rule holds; `levels` are the columns'
    numbers of levels; a set with q joint configurations costs `price` · q, and its required parents have
    `configurations` of their own. No set has more than `most`.
    """

    entropy: NDArray[np.float64]
    levels: NDArray[np.float64]
    price: float
    configurations: float
    most: float


NOTHING_CUT = Cutting(np.empty(0), np.empty(0), 0.0, 1.0, 1.0)


class Larger(NamedTuple):
    """Sets with one more column than those alive.

    Entry [r, i] of `subsets` is the place, among the sets alive, of set r without its i-th column. `below` is
    the best score among all proper subsets of each set, `price` its penalty where a rule asks for it, else 0.
    """

    sets: NDArray[np.int64]
    subsets: NDArray[np.int64]
    below: NDArray[np.float64]
    price: NDArray[np.float64]

    def first(self, count: int) -> Larger:
        """The first of the sets."""
        return Larger(self.sets[:count], self.subsets[:count], self.below[:count], self.price[:count])


def grow(
    sets: NDArray[np.int64],
    keys: NDArray[np.int64],
    best: NDArray[np.float64],
    allowed: NDArray[np.bool_],
    cutting: Cutting = NOTHING_CUT,
    part: slice | None = None,
) -> Larger:
    """All sets with one more allowed column whose subsets of the present size are all alive, and uncut.

    `sets` and their sorted `keys` are alive; `best` is the best score of each set and its subsets. With
    `part`, only those that begin with some of the sets.
    """
    if not sets.shape[1]:
        return single_columns(best, allowed, cutting)
    size = sets.shape[1] + 1
    done, stop = (0, len(sets)) if part is None else (part.start, part.stop)
    room = min(stop - done, MOST_GROWN) + len(allowed)
    blocks: list[Larger] = []
    while done < stop or not blocks:
        larger = Larger(*np.empty((2, room, size), dtype=np.int64), *np.empty((2, room)))
        work = np.empty((3, size), dtype=np.int64)
        count, done = grow_from(done, stop, sets, keys, best, allowed, cutting, larger, work)
        blocks.append(larger.first(count))
    if len(blocks) == 1 and 2 * len(blocks[0].sets) > room:
        return blocks[0]
    return Larger(*map(np.concatenate, zip(*blocks, strict=True)))


def single_columns(best: NDArray[np.float64], allowed: NDArray[np.bool_], cutting: Cutting) -> Larger:
    """The sets that the empty set grows to if it is alive: every single column that is allowed and uncut."""
    columns = np.flatnonzero(allowed & (len(best) > 0))
    price = np.zeros(len(columns))
    if len(cutting.entropy) and len(columns):
        levels = cutting.levels[columns]
        price = cutting.price * np.minimum(cutting.configurations * levels, cutting.most)
        uncut = (best[0] + price < 0) & (cutting.entropy[0] > (levels - 1) * price / levels)
        columns, price = columns[uncut], price[uncut]
    sets = columns[:, None]
    return Larger(sets, np.zeros_like(sets), np.repeat(best, len(columns)), price)


def grow_from_plainly(
    start: int,
    stop: int,
    sets: NDArray[np.int64],
    keys: NDArray[np.int64],
    best: NDArray[np.float64],
    allowed: NDArray[np.bool_],
    cutting: Cutting,
    larger: Larger,
    _: NDArray[np.int64],
) -> tuple[int, int]:
    """The same as `grow_from`, without a kernel."""
    entropy, levels, price_of_one, configurations, most = cutting
    size, d, ruled = sets.shape[1], len(allowed), len(entropy) > 0
    # All pairs (a, b), a before b, of sets that differ in their last column only.
    firsts = np.arange(start, stop)
    followers = np.searchsorted(keys // d, keys[start:stop] // d, side="right") - firsts - 1
    a = np.repeat(firsts, followers)
    b = np.arange(len(a)) - np.repeat(running_sum(followers)[:-1], followers) + a + 1
    kept = allowed[sets[b, -1]]
    a, b = a[kept], b[kept]
    new, top, price = sets[b, -1], np.maximum(best[a], best[b]), np.zeros(len(a))
    places = np.empty((len(a), size + 1), dtype=np.int64)
    places[:, -1], places[:, -2] = a, b
    whole = np.ones(len(a), dtype=np.bool_)
    if ruled:
        cells = np.full(len(a), configurations)
        for column in sets[a].T:
            cells *= levels[column]
        price = price_of_one * np.minimum(cells * levels[new], most)
        last = levels[sets[a, -1]]
        whole &= (top + price < 0) & (entropy[a] > (levels[new] - 1) * price / levels[new])
        whole &= entropy[b] > (last - 1) * price / last
    for i in range(size - 1):
        sought = keys_of(np.column_stack([np.delete(sets[a], i, axis=1), new]), d)
        place = np.minimum(np.searchsorted(keys, sought), len(keys) - 1)
        whole &= keys[place] == sought
        if ruled:
            share = levels[sets[a, i]]
            whole &= entropy[place] > (share - 1) * price / share
        places[:, i] = place
        top = np.maximum(top, best[place])
    if ruled:
        whole &= top + price < 0
    made = running_sum(np.bincount(a[whole] - start, minlength=stop - start))
    full = np.flatnonzero(made[:-1] + d > len(larger.below))
    end = start + int(full[0]) if len(full) else stop
    rows = np.flatnonzero(whole & (a < end))
    larger.sets[: len(rows), :size], larger.sets[: len(rows), size] = sets[a[rows]], new[rows]
    larger.subsets[: len(rows)] = places[rows]
    larger.below[: len(rows)], larger.price[: len(rows)] = top[rows], price[rows]
    return len(rows), end


@patient(
    grow_from_plainly,
    lambda start, stop, sets, _, __, allowed, *___: (
        2e-4 + 3e-8 * (stop - start) * sets.shape[1] * len(allowed)
    ),
    1.0,
)
@borrowing
def grow_from(
    start: int,
    stop: int,
    sets: NDArray[np.int64],
    keys: NDArray[np.int64],
    best: NDArray[np.float64],
    allowed: NDArray[np.bool_],
    cutting: Cutting,
    larger: Larger,
    work: NDArray[np.int64],
) -> tuple[int, int]:
    """Grow the sets from `start` on while there is room; return how many were made and where to go on.

    For each column i of a set but the last, there are sets that have all its columns but i, and one more
    after them. `work[0, i]` is where they begin, `work[1, i]` where the one was that was looked at last, and
    `work[2, i]` is the key of those columns, with a zero in place of the one more.
    """
    grown, subsets, below, prices = larger
    entropy, levels, price_of_one, configurations, most = cutting
    size = sets.shape[1]
    d = len(allowed)
    ruled = len(entropy) > 0
    count = 0
    price, share = 0.0, 0.0
    for a in range(start, stop):
        if count + d > len(below):
            return count, a
        # Where a set shares its columns up to i with the one before it, what it is without i comes later.
        changed = 0
        while a > start and changed < size and sets[a, changed] == sets[a - 1, changed]:
            changed += 1
        for i in range(changed, size):
            work[0, i] = 0
        looked_up = False
        cells = configurations
        if ruled:
            for i in range(size):
                cells *= levels[sets[a, i]]
        # Sets that differ from this one in their last column only follow it; the others cannot be subsets.
        for b in range(a + 1, len(sets)):
            same = 0
            while same < size - 1 and sets[b, same] == sets[a, same]:
                same += 1
            if same < size - 1:
                break
            j = sets[b, size - 1]
            if not allowed[j]:
                continue
            top = max(best[a], best[b])
            if ruled:
                price = price_of_one * min(cells * levels[j], most)
                last = levels[sets[a, size - 1]]
                if (
                    not top + price < 0
                    or not entropy[a] > (levels[j] - 1) * price / levels[j]
                    or not entropy[b] > (last - 1) * price / last
                ):
                    continue
            if not looked_up:
                looked_up = True
                for i in range(size - 1):
                    stem = 0
                    for t in range(size):
                        if t != i:
                            stem = stem * d + sets[a, t]
                    work[2, i] = stem * d
                    work[0, i] = work[1, i] = find_from(keys, work[2, i], work[0, i])
            # The next row is written in place; it stays only if all its subsets are alive, and none cuts it.
            whole = True
            for i in range(size - 1):
                place, key = work[1, i], work[2, i] + j
                while place < len(keys) and keys[place] < key:
                    place += 1
                work[1, i] = place
                if place == len(keys) or keys[place] != key:
                    whole = False
                    break
                if ruled:
                    share = levels[sets[a, i]]
                    if not entropy[place] > (share - 1) * price / share:
                        whole = False
                        break
                subsets[count, i] = place
                top = max(top, best[place])
            if whole and (not ruled or top + price < 0):
                for i in range(size):
                    grown[count, i] = sets[a, i]
                grown[count, size] = j
                subsets[count, size], subsets[count, size - 1] = a, b
                below[count], prices[count] = top, price
                count += 1
    return count, stop
