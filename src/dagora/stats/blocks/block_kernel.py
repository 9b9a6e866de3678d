"""The kernel that counts many sets of discrete columns together, one block of rows after the other.

A block is small enough for the second-level cache: its codes are read from memory once, however many sets are
counted. Sets follow each other so that neighbours begin with the same columns, and what was made of those for
one set is used for the next. There are two ways to count a set, and a `Cover` says which is cheaper:

- by labels: each row is labelled by its cell over all columns but the last, then over all columns, and a
  histogram counts those. Labels have 16 bits where all cells of a set fit, 32 else;
- by bits: each cell over all columns but the last has a bit row, which says for 64 rows per word which of
  them are in it. Its rows that also have a level of the last column are a population count. The last level
  gets what remains of the cell.

Counts are added to a dense table per set, in the order of its cells (the first column varies slowest).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.stats.coded_columns import Codes
from dagora.stats.counting import population_count
from dagora.stats.histograms import SHORT_CELLS, add_short_histogram, extend_short_labels

# Rows of a block: with 16-bit labels, 32 KiB for each depth of a set.
BLOCK_ROWS = 1 << 14
BLOCK_WORDS = BLOCK_ROWS // 64
# Up to this many cells of a set without its last column are kept as bit rows.
BIT_ROWS = 64


class BlockRows(NamedTuple):
    """Rows to be counted: `codes[c, i]` is the level of column c in row i.

    Row `bit_offsets[c] + level` of `bits` has bit i set where column c has that level in row i, and no bit
    beyond the last row. The last level has no bit row. A column without bit rows has
    `bit_offsets[c] == bit_offsets[c + 1]`.
    """

    codes: Codes
    cardinalities: NDArray[np.int64]
    bits: NDArray[np.uint64]
    bit_offsets: NDArray[np.int64]


class CountedSets(NamedTuple):
    """Sets in the order in which they are counted.

    Set k has the columns `columns[offsets[k]:offsets[k + 1]]`, of which there is at least one. Its table
    begins at `tables[k]` of the array of all tables, a second one to the same purpose at `twins[k]`, which
    may be the same. `by_bits[k]` says how it is counted.
    """

    columns: NDArray[np.int64]
    offsets: NDArray[np.int64]
    tables: NDArray[np.int64]
    twins: NDArray[np.int64]
    by_bits: NDArray[np.bool_]


class BlockPrefixes(NamedTuple):
    """Working memory: rows of a block over the first t columns of the current set, for every depth t.

    `short_labels[t, i]` or `long_labels[t, i]` is the cell of row i, `bit_rows[t, k]` the rows of cell k, of
    which there are `totals[t, k]`. `path` are the columns. `cells` has room for the cells of the whole set,
    four of which are a word of `packed_cells`, the same memory.
    """

    path: NDArray[np.int64]
    short_labels: NDArray[np.uint16]
    long_labels: NDArray[np.uint32]
    cells: NDArray[np.uint16]
    packed_cells: NDArray[np.uint64]
    bit_rows: NDArray[np.uint64]
    totals: NDArray[np.int64]


def new_prefixes(sets: CountedSets) -> BlockPrefixes:
    """Working memory for some sets; at depth 0 a single cell holds all rows."""
    sizes = np.diff(sets.offsets)
    deepest = int(sizes.max(initial=1))
    bits = int(sizes[sets.by_bits].max(initial=1))
    cells = np.zeros(BLOCK_ROWS, dtype=np.uint16)
    return BlockPrefixes(
        np.full(deepest, -1, dtype=np.int64),
        np.zeros((deepest, BLOCK_ROWS), dtype=np.uint16),
        np.zeros((deepest, BLOCK_ROWS), dtype=np.uint32),
        cells,
        cells.view(np.uint64),
        np.empty((bits, BIT_ROWS, BLOCK_WORDS), dtype=np.uint64),
        np.zeros((bits, BIT_ROWS), dtype=np.int64),
    )


@kernel
def split_cells(
    rows: NDArray[np.uint64],
    totals: NDArray[np.int64],
    level_rows: NDArray[np.uint64],
    out: NDArray[np.uint64],
    out_totals: NDArray[np.int64],
    size: int,
) -> int:
    """Split `size` cells by one more column, whose levels but the last have `level_rows`; return how many."""
    levels, words = level_rows.shape
    made = 0
    for cell in range(size):
        rest = made + levels
        if totals[cell] == 0:
            for level in range(levels + 1):
                out_totals[made + level] = 0
            made += levels + 1
            continue
        for w in range(words):
            out[rest, w] = rows[cell, w]
        left = totals[cell]
        for level in range(levels):
            count = np.uint64(0)
            for w in range(words):
                both = rows[cell, w] & level_rows[level, w]
                out[made, w] = both
                out[rest, w] ^= both
                count += population_count(both)
            out_totals[made] = np.int64(count)
            left -= np.int64(count)
            made += 1
        out_totals[made] = left
        made += 1
    return made


@kernel
def add_bit_counts(
    rows: NDArray[np.uint64],
    totals: NDArray[np.int64],
    level_rows: NDArray[np.uint64],
    size: int,
    table: NDArray[Any],
) -> None:
    """Add the counts of `size` cells, split by one more column, to a table."""
    levels, words = level_rows.shape
    place = 0
    for cell in range(size):
        if totals[cell] == 0:
            place += levels + 1
            continue
        left = totals[cell]
        for level in range(levels):
            count = np.uint64(0)
            for w in range(words):
                count += population_count(rows[cell, w] & level_rows[level, w])
            table[place] += np.uint32(count)
            left -= np.int64(count)
            place += 1
        table[place] += np.uint32(left)
        place += 1


@kernel
def extend_long_labels(
    labels: NDArray[np.uint32], codes: NDArray[Any], cardinality: int, rows: int, out: NDArray[np.uint32]
) -> None:
    """Label the cells over one more column."""
    levels = np.uint32(cardinality)
    for i in range(rows):
        out[i] = np.uint32(labels[i] * levels) + np.uint32(codes[i])


@kernel
def add_long_histogram(
    labels: NDArray[np.uint32], codes: NDArray[Any], cardinality: int, rows: int, table: NDArray[Any]
) -> None:
    """Add the counts of label and code together to a table."""
    levels, one = np.uint32(cardinality), np.uint32(1)
    for i in range(rows):
        table[np.uint64(np.uint32(labels[i] * levels) + np.uint32(codes[i]))] += one


@kernel
def count_blocks(data: BlockRows, sets: CountedSets, prefixes: BlockPrefixes, tables: NDArray[Any]) -> None:
    """Add the counts of all rows to the tables of all sets."""
    codes, cardinalities, bits, bit_offsets = data
    columns, offsets, starts, twins, by_bits = sets
    path, short_labels, long_labels, cells, packed_cells, bit_rows, totals = prefixes
    n = codes.shape[1]
    for start in range(0, n, BLOCK_ROWS):
        rows = min(BLOCK_ROWS, n - start)
        first_word, words = start >> 6, (rows + 63) >> 6
        for w in range(words):
            bit_rows[0, 0, w] = ~np.uint64(0)  # beyond the last row, no level has a bit
        totals[0, 0] = rows
        # Up to which depth the path, its labels and its bit rows are those of the set counted last.
        known, short, long, bitten = 0, 0, 0, 0
        for k in range(len(starts)):
            first, depth = offsets[k], offsets[k + 1] - offsets[k] - 1
            shared = 0
            while shared < min(depth, known) and path[shared] == columns[first + shared]:
                shared += 1
            for t in range(shared, depth):
                path[t] = columns[first + t]
            known, bitten = depth, min(bitten, shared)
            short, long = min(short, shared), min(long, shared)
            column = columns[first + depth]
            table, twin = tables[starts[k] :], tables[twins[k] :]
            if by_bits[k]:
                size = 1
                for t in range(depth):
                    low, high = bit_offsets[path[t]], bit_offsets[path[t] + 1]
                    if t >= bitten:
                        split_cells(
                            bit_rows[t],
                            totals[t],
                            bits[low:high, first_word : first_word + words],
                            bit_rows[t + 1],
                            totals[t + 1],
                            size,
                        )
                    size *= high - low + 1
                bitten = depth
                low, high = bit_offsets[column], bit_offsets[column + 1]
                level_rows = bits[low:high, first_word : first_word + words]
                add_bit_counts(bit_rows[depth], totals[depth], level_rows, size, table)
                continue
            size = cardinalities[column]
            for t in range(depth):
                size *= cardinalities[path[t]]
            own, levels = codes[column, start:], cardinalities[column]
            if size <= SHORT_CELLS:
                for t in range(short, depth):
                    extend_short_labels(
                        short_labels[t],
                        codes[path[t], start:],
                        cardinalities[path[t]],
                        rows,
                        short_labels[t + 1],
                    )
                short = depth
                extend_short_labels(short_labels[depth], own, levels, rows, cells)
                add_short_histogram(cells, packed_cells, rows, table, twin)
            else:
                for t in range(long, depth):
                    extend_long_labels(
                        long_labels[t],
                        codes[path[t], start:],
                        cardinalities[path[t]],
                        rows,
                        long_labels[t + 1],
                    )
                long = depth
                add_long_histogram(long_labels[depth], own, levels, rows, table)
