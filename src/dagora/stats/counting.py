"""Kernels that count joint cells of discrete columns.

A set of columns is counted in two moves: the rows are labelled by their cell over all columns but the last,
then each label is split by the last column. Neighbouring sets that begin with the same columns share the
labelling of those: a greedy step asks for one family extended by every possible parent, an exhaustive
search for all sets in lexicographic order.

The split is a histogram, or, where labels and levels are few, a population count of the bits that a label
and a level have in common: 64 rows per instruction. Labels are renumbered to the occupied cells, and
tables too large for a histogram are counted by sorting, so memory follows the rows, never the product of
the cardinalities. All counts are exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from dagora.compiled import kernel

Codes = NDArray[np.uint8] | NDArray[np.uint16]

# Where labels × (levels − 1) stay below this, counting bits is faster than a histogram (measured on both
# sides of the line at 10 000 and 1 000 000 rows).
BIT_CELLS = 48
# Columns with more levels than this get no bit rows.
BIT_LEVELS = 8
# A histogram may have this many cells per row before sorting takes over.
CELLS_PER_ROW = 4
SMALL_TABLE = 1 << 16
# Bit rows are walked in blocks of this many words, so that all of a label's block stays in the first cache.
BLOCK_WORDS = 256


@intrinsic  # type: ignore[untyped-decorator]
def population_count(typing_context: Any, word: Any) -> Any:  # noqa: ANN401, ARG001 - numba's own signature
    """Count the set bits of a 64-bit word (one machine instruction, vectorised by the compiler)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401, ARG001
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@kernel
def label_bits(labels: NDArray[np.int32], size: int) -> NDArray[np.uint64]:
    """Bit rows of the labels: bit i of row c is set where row i has label c."""
    n = len(labels)
    bits = np.zeros((size, (n + 63) // 64), dtype=np.uint64)
    for i in range(n):
        bits[labels[i], i >> 6] |= np.uint64(1) << np.uint64(i & 63)
    return bits


@kernel
def split_by_bits(
    label_rows_bits: NDArray[np.uint64],
    level_bits: NDArray[np.uint64],
    totals: NDArray[np.int64],
    cells: NDArray[np.int64],
) -> None:
    """Fill `cells[label, level]`; `level_bits` holds all levels but the last, which is what remains."""
    size, words = label_rows_bits.shape
    levels = level_bits.shape[0]
    cells[:] = 0
    for start in range(0, words, BLOCK_WORDS):
        stop = min(words, start + BLOCK_WORDS)
        for label in range(size):
            for level in range(levels):
                count = np.uint64(0)
                for w in range(start, stop):
                    count += population_count(label_rows_bits[label, w] & level_bits[level, w])
                cells[label, level] += np.int64(count)
    for label in range(size):
        rest = totals[label]
        for level in range(levels):
            rest -= cells[label, level]
        cells[label, levels] = rest


@kernel
def split_by_histogram(
    labels: NDArray[np.int32], column: NDArray[Any], cardinality: int, histogram: NDArray[np.int32]
) -> None:
    """Count the cells (label, code) into a flat histogram of two lanes, for even and for odd rows.

    Two lanes keep an increment from waiting for the one before it when both hit the same cell.
    """
    histogram[:] = 0
    half = len(histogram) // 2
    n = len(labels)
    for i in range(0, n - 1, 2):
        histogram[labels[i] * cardinality + column[i]] += 1
        histogram[half + labels[i + 1] * cardinality + column[i + 1]] += 1
    if n % 2:
        histogram[labels[n - 1] * cardinality + column[n - 1]] += 1
    for cell in range(half):
        histogram[cell] += histogram[half + cell]


@kernel
def count_by_sorting(
    labels: NDArray[np.int32], column: NDArray[Any], cardinality: int, out: NDArray[np.int64]
) -> int:
    """Write the counts of the occupied cells (label, code) to `out`; return how many there are."""
    keys = np.empty(len(labels), dtype=np.int64)
    for i in range(len(labels)):
        keys[i] = np.int64(labels[i]) * cardinality + column[i]
    keys.sort()
    written = 0
    run = 1
    for i in range(1, len(keys)):
        if keys[i] == keys[i - 1]:
            run += 1
        else:
            out[written] = run
            written += 1
            run = 1
    out[written] = run
    return written + 1


@kernel
def extend_labels(
    labels: NDArray[np.int32], size: int, column: NDArray[Any], cardinality: int, out: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Split labels by one more column; number occupied cells in lexicographic order, return their counts."""
    n = len(labels)
    cells = size * cardinality
    if cells <= max(SMALL_TABLE, CELLS_PER_ROW * n):
        rank = np.zeros(cells, dtype=np.int32)
        for i in range(n):
            out[i] = labels[i] * cardinality + column[i]
            rank[out[i]] += 1
        counts = np.empty(min(cells, n), dtype=np.int64)
        occupied = 0
        for cell in range(cells):
            if rank[cell]:
                counts[occupied] = rank[cell]
                rank[cell] = occupied
                occupied += 1
        if occupied < cells:
            for i in range(n):
                out[i] = rank[out[i]]
        return counts[:occupied]
    keys = np.empty(n, dtype=np.int64)
    for i in range(n):
        keys[i] = np.int64(labels[i]) * cardinality + column[i]
    order = np.argsort(keys)
    counts = np.zeros(n, dtype=np.int64)
    occupied = 0
    previous = keys[order[0]]
    for i in order:
        if keys[i] != previous:
            previous = keys[i]
            occupied += 1
        out[i] = occupied
        counts[occupied] += 1
    return counts[: occupied + 1]


@kernel
def occupied_parents(labels: NDArray[np.int32], parents: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    """For each of `size` labels the label that it was split from, one column earlier."""
    found = np.empty(size, dtype=np.int32)
    for i in range(len(labels)):
        found[labels[i]] = parents[i]
    return found


@kernel
def sum_out(table: NDArray[np.int64], parents: NDArray[np.int32], size: int, out: NDArray[np.int64]) -> int:
    """Write the occupied counts of a table whose rows are summed by their parent; return how many."""
    marginal = np.zeros((size, table.shape[1]), dtype=np.int64)
    for row in range(table.shape[0]):
        for level in range(table.shape[1]):
            marginal[parents[row], level] += table[row, level]
    written = 0
    for row in range(size):
        for level in range(table.shape[1]):
            if marginal[row, level]:
                out[written] = marginal[row, level]
                written += 1
    return written


@kernel
def count_sets(
    codes: Codes,
    bits: NDArray[np.uint64],
    bit_offsets: NDArray[np.int64],
    cardinalities: NDArray[np.int64],
    columns: NDArray[np.int64],
    set_offsets: NDArray[np.int64],
    out: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> int:
    """Count each set `columns[set_offsets[k]:set_offsets[k + 1]]`; return how many counts `out` has got.

    The columns that a set shares with the set before it, from the first on, are not labelled again, and a
    set that is the one before it less its second-last column is summed from it. Bit row
    `bit_offsets[c] + level` of `bits` marks the rows where column c has that level, for all levels but the
    last; equal offsets mean that the column has none. `sizes[k]` gets the number of occupied cells of set k.
    """
    n = codes.shape[1]
    limit = max(SMALL_TABLE, CELLS_PER_ROW * n)
    deepest = 1
    for k in range(len(sizes)):
        deepest = max(deepest, set_offsets[k + 1] - set_offsets[k])
    # labels[t] numbers the rows' cells over the first t columns of the current set; at first all are one.
    labels = np.zeros((deepest, n), dtype=np.int32)
    occupied = np.ones(deepest, dtype=np.int64)
    path = np.full(deepest, -1, dtype=np.int64)
    valid = 0
    base = -1
    totals = np.empty(0, dtype=np.int64)
    base_bits = np.empty((0, 0), dtype=np.uint64)
    base_parents = np.empty(0, dtype=np.int32)
    histogram = np.empty(0, dtype=np.int32)
    # Cells (label, level) of the set counted last, and its last column; none where it was counted by sorting.
    table = np.empty((0, 0), dtype=np.int64)
    last = -1
    written = 0
    for k in range(len(sizes)):
        first, stop = set_offsets[k], set_offsets[k + 1]
        start = written
        if first == stop:
            out[written] = n
            written += 1
            sizes[k] = 1
            continue
        depth = stop - first - 1
        column = columns[stop - 1]
        if column == last and depth == base - 1:
            whole = True
            for t in range(depth):
                whole &= path[t] == columns[first + t]
            if whole:
                if len(base_parents) == 0:
                    base_parents = occupied_parents(labels[base], labels[base - 1], occupied[base])
                written += sum_out(table, base_parents, occupied[depth], out[written:])
                sizes[k] = written - start
                continue
        shared = 0
        while shared < min(depth, valid) and path[shared] == columns[first + shared]:
            shared += 1
        for t in range(shared, depth):
            added = columns[first + t]
            totals = extend_labels(labels[t], occupied[t], codes[added], cardinalities[added], labels[t + 1])
            occupied[t + 1] = len(totals)
            path[t] = added
        if shared == depth and base != depth:
            totals = np.zeros(occupied[depth], dtype=np.int64)
            for i in range(n):
                totals[labels[depth, i]] += 1
        if shared < depth or base != depth:
            base_bits = np.empty((0, 0), dtype=np.uint64)
            base_parents = np.empty(0, dtype=np.int32)
        valid = base = depth
        cardinality = cardinalities[column]
        groups = occupied[depth]
        if groups * cardinality > limit:
            last = -1
            written += count_by_sorting(labels[depth], codes[column], cardinality, out[written:])
            sizes[k] = written - start
            continue
        last = column
        if table.shape[0] != groups or table.shape[1] != cardinality:
            table = np.empty((groups, cardinality), dtype=np.int64)
        if cardinality == 1:
            table[:, 0] = totals
        elif bit_offsets[column + 1] > bit_offsets[column] and groups * (cardinality - 1) <= BIT_CELLS:
            if base_bits.shape[0] == 0:
                base_bits = label_bits(labels[depth], groups)
            split_by_bits(base_bits, bits[bit_offsets[column] : bit_offsets[column + 1]], totals, table)
        else:
            size = groups * cardinality
            if len(histogram) < 2 * size:
                histogram = np.empty(2 * size, dtype=np.int32)
            split_by_histogram(labels[depth], codes[column], cardinality, histogram[: 2 * size])
            cell = 0
            for label in range(groups):
                for level in range(cardinality):
                    table[label, level] = histogram[cell]
                    cell += 1
        for label in range(groups):
            for level in range(cardinality):
                if table[label, level]:
                    out[written] = table[label, level]
                    written += 1
        sizes[k] = written - start
    return written


@kernel
def level_bits(codes: Codes, offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Bit rows of all levels but the last of every column that has bit rows (see `count_sets`)."""
    columns, n = codes.shape
    bits = np.zeros((offsets[columns], (n + 63) // 64), dtype=np.uint64)
    for column in range(columns):
        first, last = offsets[column], offsets[column + 1]
        for i in range(n):
            if codes[column, i] < last - first:
                bits[first + codes[column, i], i >> 6] |= np.uint64(1) << np.uint64(i & 63)
    return bits
