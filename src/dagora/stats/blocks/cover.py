"""A choice of sets of columns to count, such that the counts of many others follow from them.

The counts of a set are sums of those of any set that contains it, and adding up the cells of a table takes
far less than another walk through the rows. So of the sets that are asked for, only those are counted that no
other contains. A histogram takes the same time for any table that stays in the first-level cache; so sets
that differ only in their last column are counted as one where that costs less than each by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.stats.blocks.block_kernel import BIT_ROWS, CountedSets
from dagora.stats.coded_columns import few_levels
from dagora.stats.statistics import running_sum

# What it takes to count a row: a histogram, a label over one more column, and a bit row of one cell and level
# (nanoseconds on one core; only their ratios matter).
HISTOGRAM, LABEL, BIT_ROW = 0.85, 0.15, 0.016
# A set made of several has at most this many cells (16 KiB of counts), and at most one for so many rows.
MERGED_CELLS, ROWS_PER_CELL = 4096, 64
# Other sets are summed from the table of a larger one if that has at most one cell for so many rows.
ROWS_PER_SUMMED_CELL = 4
# So many subsets of a counted set are looked for among the sets that are asked for, the largest first.
LOOKED_FOR = 512
# What it takes to make the bit rows of a column for one walk, and to split cells by them.
MAKE_BITS = 8.0
# Tables up to this many cells have a twin (see `add_short_histogram`).
TWIN_CELLS = 4096

Set = tuple[int, ...]


class Cover(NamedTuple):
    """Sets that are counted, and how the sets that were asked for follow from them.

    The k-th counted set has `cells[k]` cells; its columns have `levels[k]` levels each (1 beyond its last
    column). The j-th set asked for is summed from the counted set `sources[j]` (−1: it is the empty set),
    into a table of `sizes[j]` cells, in which the i-th column of the counted set has the stride
    `strides[j, i]`. `costs` are what it takes to count each set, relative to each other.
    """

    counted: CountedSets
    cells: NDArray[np.int64]
    levels: NDArray[np.int64]
    sources: NDArray[np.int64]
    sizes: NDArray[np.int64]
    strides: NDArray[np.int64]
    costs: NDArray[np.float64]

    @property
    def room(self) -> int:
        """The length of the array of all tables."""
        ends = np.maximum(self.counted.tables, self.counted.twins) + self.cells
        return int(ends.max(initial=0))


def cover_sets(
    sets: list[Set], cardinalities: NDArray[np.int64], with_bits: NDArray[np.bool_], rows: int
) -> Cover:
    """Choose what to count; `with_bits` says which columns have bit rows.

    >>> cover = cover_sets([(0, 1), (1,), (0, 2)], np.array([3, 2, 9]), np.ones(3, dtype=bool), 10_000)
    >>> cover.counted.columns, cover.counted.offsets  # the sets (1, 0) and (0, 2)
    (array([1, 0, 0, 2]), array([0, 2, 4]))
    >>> cover.sources, cover.strides.tolist()
    (array([0, 0, 1]), [[1, 2], [1, 0], [9, 1]])
    """
    levels: list[int] = cardinalities.tolist()
    bits: list[bool] = with_bits.tolist()
    sets = [tuple(dict.fromkeys(columns)) for columns in sets]
    rank = ranks(sets, levels)
    own = [tuple(sorted(columns, key=rank.__getitem__)) for columns in sets]
    counted, source_of = choose_sets(set(own), rank, levels, bits, rows)
    order = sorted(range(len(counted)), key=lambda k: [rank[column] for column in counted[k]])
    turn = {k: place for place, k in enumerate(order)}
    chosen = [counted[k] for k in order]
    sources = np.array([turn[source_of[key]] if key else -1 for key in own], dtype=np.int64)
    strides, sizes = table_layout(sets, chosen, sources, levels)
    counted_sets, cells, grid = tables_of(chosen, levels, bits)
    costs = np.array([cost(columns, levels, bits) for columns in chosen], dtype=np.float64)
    return Cover(counted_sets, cells, grid, sources, sizes, strides, costs)


def worth_bits(sets: list[Set], cardinalities: NDArray[np.int64], rows: int) -> NDArray[np.bool_]:
    """The columns of which bit rows should be made where they serve one walk through the rows only."""
    columns = np.zeros(len(cardinalities), dtype=np.bool_)
    without = cover_sets(sets, cardinalities, columns, rows)
    counted, *_, costs = cover_sets(sets, cardinalities, few_levels(cardinalities), rows)
    columns[counted.columns[np.repeat(counted.by_bits, np.diff(counted.offsets))]] = True
    saved = without.costs.sum() - costs.sum()
    return columns if saved > MAKE_BITS * columns.sum() else np.zeros_like(columns)


def ranks(sets: list[Set], levels: list[int]) -> dict[int, int]:
    """The order of columns within counted sets: first those that are in most sets, to share prefixes."""
    columns, seen = np.unique(np.fromiter(chain.from_iterable(sets), dtype=np.int64), return_counts=True)
    often = dict(zip(columns.tolist(), seen.tolist(), strict=True))
    order = sorted(often, key=lambda column: (-often[column], levels[column], column))
    return {column: place for place, column in enumerate(order)}


def choose_sets(
    wanted: set[Set], rank: dict[int, int], levels: list[int], with_bits: list[bool], rows: int
) -> tuple[list[Set], dict[Set, int]]:
    """The sets to be counted, and for each wanted set the one that it is a part of."""
    most = min(MERGED_CELLS, rows // ROWS_PER_CELL)
    ordered = sorted(wanted - {()}, key=lambda key: (-len(key), [rank[column] for column in key]))
    counted: list[Set] = []
    source_of: dict[Set, int] = {}
    smallest = min(map(len, ordered), default=0)
    for place, first in enumerate(ordered):
        if first in source_of:
            continue
        union, cells, alone = first, product(first, levels), cost(first, levels, with_bits)
        merged = [first]
        for following in range(place + 1, len(ordered)):
            key = ordered[following]
            if key[:-1] != first[:-1] or cells * levels[key[-1]] > most:
                break
            if key not in source_of:
                union, cells = (*union, key[-1]), cells * levels[key[-1]]
                alone += cost(key, levels, with_bits)
                merged.append(key)
        if union != first and alone <= HISTOGRAM + LABEL * (len(union) - len(first)):
            union, cells, merged = first, product(first, levels), [first]
        source_of |= dict.fromkeys(merged, len(counted))
        if len(source_of) < len(ordered) and cells * ROWS_PER_SUMMED_CELL <= rows:
            # Sets that are larger than the first have their source already.
            for part in subsets(union, smallest, len(first)):
                if part in wanted:
                    source_of.setdefault(part, len(counted))
        counted.append(union)
    return counted, source_of


def subsets(columns: Set, fewest: int, most: int) -> Iterator[Set]:
    """Subsets of `fewest` to `most` columns in which the other sets are looked for: the largest first.

    Those of one size more are left out where they would be more than `LOOKED_FOR` in all.

    >>> list(subsets((4, 5, 6), 1, 2))
    [(4, 5), (4, 6), (5, 6), (4,), (5,), (6,)]
    """
    left = LOOKED_FOR
    for size in range(min(most, len(columns) - 1), fewest - 1, -1):
        left -= comb(len(columns), size)
        if left < 0:
            return
        yield from combinations(columns, size)


def product(columns: Set, levels: list[int]) -> int:
    """Number of cells."""
    cells = 1
    for column in columns:
        cells *= levels[column]
    return cells


def bit_cost(columns: Set, levels: list[int], with_bits: list[bool]) -> float:
    """The cost of counting a set by bits; infinite if that cannot be done."""
    before = product(columns[:-1], levels)
    if before > BIT_ROWS or not all(with_bits[column] for column in columns):
        return float("inf")
    return BIT_ROW * before * (levels[columns[-1]] - 1)


def cost(columns: Set, levels: list[int], with_bits: list[bool]) -> float:
    """The cost of counting a set."""
    return min(HISTOGRAM, bit_cost(columns, levels, with_bits))


def tables_of(
    sets: list[Set], levels: list[int], with_bits: list[bool]
) -> tuple[CountedSets, NDArray[np.int64], NDArray[np.int64]]:
    """Places for the tables of all sets, their numbers of cells, and the levels of their columns."""
    cells = np.array([product(columns, levels) for columns in sets], dtype=np.int64)
    by_bits = np.array(
        [bit_cost(columns, levels, with_bits) <= HISTOGRAM for columns in sets], dtype=np.bool_
    )
    twinned = ~by_bits & (cells <= TWIN_CELLS)
    starts = running_sum(np.where(twinned, 2 * cells, cells))[:-1]
    sizes = np.array([len(columns) for columns in sets], dtype=np.int64)
    offsets = running_sum(sizes)
    flat = np.fromiter(chain.from_iterable(sets), dtype=np.int64, count=int(offsets[-1]))
    grid = np.ones((len(sets), int(sizes.max(initial=0))), dtype=np.int64)
    for k, columns in enumerate(sets):
        grid[k, : len(columns)] = [levels[column] for column in columns]
    counted = CountedSets(flat, offsets, starts, np.where(twinned, starts + cells, starts), by_bits)
    return counted, cells, grid


def table_layout(
    sets: list[Set], counted: list[Set], sources: NDArray[np.int64], levels: list[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Strides and sizes of the tables of the sets that were asked for (see `Cover`)."""
    strides = np.zeros((len(sets), max(map(len, counted), default=0)), dtype=np.int64)
    sizes = np.ones(len(sets), dtype=np.int64)
    for j, columns in enumerate(sets):
        stride_of, stride = {}, 1
        for column in reversed(columns):
            stride_of[column] = stride
            stride *= levels[column]
        sizes[j] = stride
        if columns:
            source = counted[sources[j]]
            strides[j, : len(source)] = [stride_of.get(column, 0) for column in source]
    return strides, sizes
