"""Counts of many sets of one size, from those rows only in which one column of the set has a rare level.

One column of each set is put aside: the one with most rows at its most common level. All rows are labelled by
their cell over the other columns and counted. Then only the rows in which the column aside has another level
are counted, level by level, and the most common level gets what remains of each cell. Sets that differ only
in the column aside follow each other (`counting_keys`), so that labels and cells of all rows serve them all.

Tables are dense: this is for sets with few cells. All counts are exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel, patient
from dagora.stats.coded_columns import Codes
from dagora.stats.histograms import extend_short_labels
from dagora.stats.plain_counts import count_plainly, seconds_to_count
from dagora.stats.row_labels import CELLS_PER_ROW
from dagora.stats.statistics import running_sum

# Numbers of rows and cells have 16 bits, so that what is read for a set stays in the first-level cache.
MOST = (1 << 16) - 1
# Sets of fewer columns are counted as fast by bits.
SMALLEST_SET = 3
# Calls of fewer sets times rows gain some milliseconds at most: no kernel need be compiled for them.
FROM_WORK = 5_000_000


class RareLevels(NamedTuple):
    """The rows of each column that do not have its most common level, `common[c]`.

    Those in which column c has level v are `rows[starts[first[c] + v]:starts[first[c] + v + 1]]`, none for
    the most common one. `rank[c]` is the place of column c among all if those with fewer rows at their most
    common level come first.
    """

    common: NDArray[np.int64]
    rank: NDArray[np.int64]
    rows: NDArray[np.uint16]
    starts: NDArray[np.int64]
    first: NDArray[np.int64]


def rare_levels(codes: Codes, cardinalities: NDArray[np.int64]) -> RareLevels:
    """Find the rows of rare levels.

    >>> rare = rare_levels(np.array([[0, 1, 1, 2], [1, 0, 1, 1]], dtype=np.uint8), np.array([3, 2]))
    >>> rare.common, rare.rank, rare.rows
    (array([1, 1]), array([0, 1]), array([0, 3, 1], dtype=uint16))
    >>> rare.starts, rare.first
    (array([0, 1, 1, 2, 3, 3]), array([0, 3]))
    """
    common, most, seen, rows = [], [], [], []
    for column, levels in zip(codes, cardinalities.tolist(), strict=True):
        counts = np.bincount(column, minlength=levels)
        level = int(counts.argmax())
        by_level = np.argsort(column, kind="stable")
        rows.append(by_level[column[by_level] != level].astype(np.uint16))
        common.append(level)
        most.append(int(counts[level]))
        counts[level] = 0
        seen.append(counts)
    rank = np.empty(len(codes), dtype=np.int64)
    rank[np.argsort(most, kind="stable")] = np.arange(len(codes))
    first = running_sum(np.array([len(counts) for counts in seen]))[:-1]
    return RareLevels(np.array(common), rank, np.concatenate(rows), running_sum(np.concatenate(seen)), first)


def places_aside(rare: RareLevels, sets: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each set the place of the column that is put aside."""
    places: NDArray[np.int64] = rare.rank[sets].argmax(axis=1)
    return places


def counting_keys(rare: RareLevels, sets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers that are equal where sets have the same columns but the one aside: these follow each other.

    The numbers of very large sets do not fit into their bits; then they may be equal by chance, or in another
    order, which takes longer to count and changes no count.
    """
    aside = places_aside(rare, sets)[:, None]
    others = np.where(np.arange(sets.shape[1] - 1) < aside, sets[:, :-1], sets[:, 1:])
    keys = np.zeros(len(sets), dtype=np.int64)
    with np.errstate(over="ignore"):
        for column in others.T:
            keys = keys * len(rare.rank) + column
    return keys


def few_cells(cardinalities: NDArray[np.int64], sets: NDArray[np.int64], rows: int) -> NDArray[np.bool_]:
    """A mask of the sets whose tables are small enough."""
    few: NDArray[np.bool_] = cardinalities[sets].prod(axis=1, dtype=np.float64) <= min(
        MOST, CELLS_PER_ROW * rows
    )
    return few


def count_rare(
    codes: Codes, cardinalities: NDArray[np.int64], rare: RareLevels, sets: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Occupied counts of sets with few cells, and how many each has.

    >>> codes, levels = np.array([[0, 0, 1, 1], [0, 1, 1, 1]], dtype=np.uint8), np.array([2, 2])
    >>> count_rare(codes, levels, rare_levels(codes, levels), np.array([[0, 1]]))
    (array([1, 1, 2]), array([3]))
    """
    rows = codes.shape[1]
    cells = cardinalities[sets].prod(axis=1)
    # One more, as an empty cell is written too, and then overwritten by the next.
    out = np.empty(int(np.minimum(cells, rows).sum()) + 1, dtype=np.int64)
    sizes = np.empty(len(sets), dtype=np.int64)
    labels = np.zeros((sets.shape[1], rows), dtype=np.uint16)
    whole, table = np.empty((2, int(cells.max(initial=1))), dtype=np.uint32)
    aside = places_aside(rare, sets)
    written = count_around(codes, cardinalities, rare, sets, aside, labels, whole, table, out, sizes)
    return out[:written], sizes


@kernel
def write_cells(
    table: NDArray[np.uint32], cells: int, levels: int, inner: int, out: NDArray[np.int64], start: int
) -> int:
    """Write the occupied counts of a set to `out` from `start` on; return where they end.

    `table` has one level of the column aside after the other, with `cells` cells each. In the order of the
    set's columns, those before the column aside vary slowest; those after it, with `inner` cells, fastest.
    """
    for outer in range(0, cells, inner):
        for level in range(levels):
            first = level * cells + outer
            for cell in range(first, first + inner):
                out[start] = table[cell]
                start += table[cell] != 0
    return start


def count_around_plainly(
    codes: Codes,
    cardinalities: NDArray[np.int64],
    _rare: RareLevels,
    sets: NDArray[np.int64],
    *rest: NDArray[np.int64],
) -> int:
    """The same as `count_around`, without its kernels."""
    out, sizes = rest[-2:]
    return count_plainly(codes, cardinalities, sets.tolist(), out, sizes)


@patient(count_around_plainly, lambda codes, *others: seconds_to_count(codes.shape[1], len(others[-1])), 0.8)
@kernel
def count_around(
    codes: Codes,
    cardinalities: NDArray[np.int64],
    rare: RareLevels,
    sets: NDArray[np.int64],
    aside: NDArray[np.int64],
    labels: NDArray[np.uint16],
    whole: NDArray[np.uint32],
    table: NDArray[np.uint32],
    out: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> int:
    """Count the sets one after the other; return how many counts `out` has got.

    Column `sets[k, aside[k]]` of set k is put aside. `labels[t]` are the cells of all rows over the first t
    of its other columns, `whole` is how many rows each of those cells has, and `table` is working memory.
    """
    common, _, rows, starts, firsts = rare
    size, n = labels.shape
    one = np.uint32(1)
    path = np.empty(size, dtype=np.int64)
    for t in range(size):
        path[t] = -1
    own = labels[size - 1]
    cells = 1
    written = 0
    for k in range(len(sizes)):
        depth, shared = 0, 0
        for i in range(size):
            if i != aside[k]:
                if shared == depth and path[depth] == sets[k, i]:
                    shared += 1
                path[depth] = sets[k, i]
                depth += 1
        if shared < depth:
            cells = 1
            for t in range(depth):
                cells *= cardinalities[path[t]]
                if t >= shared:
                    extend_short_labels(labels[t], codes[path[t]], cardinalities[path[t]], n, labels[t + 1])
            for cell in range(cells):
                whole[cell] = 0
            for i in range(n):
                whole[own[i]] += one
        column = sets[k, aside[k]]
        levels, most = cardinalities[column], common[column]
        rest = table[most * cells : (most + 1) * cells]
        for cell in range(levels * cells):
            table[cell] = 0
        for cell in range(cells):
            rest[cell] = whole[cell]
        for level in range(levels):
            if level != most:
                part = table[level * cells : (level + 1) * cells]
                place = firsts[column] + level
                for row in rows[starts[place] : starts[place + 1]]:
                    part[own[row]] += one
                for cell in range(cells):
                    rest[cell] -= part[cell]
        inner = 1
        for i in range(aside[k] + 1, size):
            inner *= cardinalities[sets[k, i]]
        before = written
        written = write_cells(table, cells, levels, inner, out, written)
        sizes[k] = written - before
    return written
