"""Which sets of columns are counted so that the counts of many others follow from them.

The counts of a set are sums of those of any set that contains it, and adding up the cells of a table takes
far less than another walk through the rows. So of the sets that are asked for, only those are counted that no
other contains. A histogram takes the same time for any table that stays in the first-level cache; so sets
that differ only in their last column are counted as one where that costs less than each by itself.
"""

from __future__ import annotations

from itertools import chain, combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.stats.blocks.block_kernel import BIT_ROWS, CountedSets
from dagora.stats.counting import few_levels
from dagora.stats.statistics import running_sum

# What it takes to count a row: a histogram, a label over one more column, and a bit row of one cell and level
# (nanoseconds on one core; only their ratios matter).
HISTOGRAM, LABEL, BIT_ROW = 0.85, 0.15, 0.016
# A set made of several has at most this many cells (16 KiB of counts), and at most one for so many rows.
MERGED_CELLS, ROWS_PER_CELL = 4096, 64
# Other sets are summed from the table of a larger one if that has at most one cell for so many rows.
ROWS_PER_SUMMED_CELL = 4
# Of a set of up to so many columns, all subsets are looked for; of larger ones, those with one column less.
ALL_SUBSETS = 6
# Bit rows that are made for one walk pay where so many sets for each of their columns are counted by them.
SETS_PER_COLUMN = 8
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
    strides, sizes = asked_tables(sets, chosen, sources, levels)
    counted_sets, cells, grid = tables_of(chosen, levels, bits)
    costs = np.array([cost(columns, levels, bits) for columns in chosen], dtype=np.float64)
    return Cover(counted_sets, cells, grid, sources, sizes, strides, costs)


def worth_bits(sets: list[Set], cardinalities: NDArray[np.int64], rows: int) -> NDArray[np.bool_]:
    """The columns of which bit rows should be made where they serve one walk through the rows only."""
    counted = cover_sets(sets, cardinalities, few_levels(cardinalities), rows).counted
    columns = np.zeros(len(cardinalities), dtype=np.bool_)
    columns[counted.columns[np.repeat(counted.by_bits, np.diff(counted.offsets))]] = True
    enough = counted.by_bits.sum() >= SETS_PER_COLUMN * columns.sum()
    return columns if enough else np.zeros_like(columns)


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
        for following in range(place + 1, len(ordered)):
            key = ordered[following]
            if key[:-1] != first[:-1] or cells * levels[key[-1]] > most:
                break
            if key not in source_of:
                union, cells = (*union, key[-1]), cells * levels[key[-1]]
                alone += cost(key, levels, with_bits)
        if union != first and alone <= HISTOGRAM + LABEL * (len(union) - len(first)):
            union, cells = first, product(first, levels)
        source_of[first] = len(counted)
        if len(union) > smallest and cells * ROWS_PER_SUMMED_CELL <= rows:
            for part in subsets(union):
                if part in wanted:
                    source_of.setdefault(part, len(counted))
        counted.append(union)
    return counted, source_of


def subsets(columns: Set) -> chain[Set]:
    """Subsets in which the other sets are looked for."""
    size = len(columns)
    sizes = range(1, size) if size <= ALL_SUBSETS else range(size - 1, size)
    return chain.from_iterable(combinations(columns, some) for some in sizes)


def product(columns: Set, levels: list[int]) -> int:
    """Number of cells."""
    cells = 1
    for column in columns:
        cells *= levels[column]
    return cells


def bit_cost(columns: Set, levels: list[int], with_bits: list[bool]) -> float:
    """What it takes to count a set by bits; infinite where that cannot be done."""
    before = product(columns[:-1], levels)
    if before > BIT_ROWS or not all(with_bits[column] for column in columns):
        return float("inf")
    return BIT_ROW * before * (levels[columns[-1]] - 1)


def cost(columns: Set, levels: list[int], with_bits: list[bool]) -> float:
    """What it takes to count a set."""
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


def asked_tables(
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
