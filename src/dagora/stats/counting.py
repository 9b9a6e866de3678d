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
# Cells of the columns before the last that are kept as bit rows; more are labels only.
BIT_ROWS = 64
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
def split_by_bits(
    label_rows: NDArray[np.uint64],
    level_bits: NDArray[np.uint64],
    totals: NDArray[np.int64],
    cells: NDArray[np.int64],
) -> None:
    """Fill `cells[label, level]`; `level_bits` holds all levels but the last, which is what remains."""
    size, words = label_rows.shape
    levels = level_bits.shape[0]
    cells[:] = 0
    for start in range(0, words, BLOCK_WORDS):
        stop = min(words, start + BLOCK_WORDS)
        for label in range(size):
            for level in range(levels):
                count = np.uint64(0)
                for w in range(start, stop):
                    count += population_count(label_rows[label, w] & level_bits[level, w])
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
def parents_of_labels(labels: NDArray[np.int32], earlier: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    """For each of `size` labels the label that it was split from, one column earlier."""
    found = np.empty(size, dtype=np.int32)
    for i in range(len(labels)):
        found[labels[i]] = earlier[i]
    return found


@kernel
def extend_bits(
    rows: NDArray[np.uint64],
    size: int,
    level_rows: NDArray[np.uint64],
    out: NDArray[np.uint64],
    totals: NDArray[np.int64],
    parents: NDArray[np.int32],
) -> int:
    """Split bit rows of labels by one more column, whose levels but the last have `level_rows`.

    Occupied cells get the next rows of `out`, in lexicographic order, with their counts and the row they were
    split from; return how many there are.
    """
    words = rows.shape[1]
    levels = len(level_rows)
    made = 0
    for row in range(size):
        for level in range(levels + 1):
            count = np.uint64(0)
            for w in range(words):
                word = rows[row, w]
                if level < levels:
                    word &= level_rows[level, w]
                else:
                    for other in range(levels):
                        word &= ~level_rows[other, w]
                out[made, w] = word
                count += population_count(word)
            if count:
                totals[made] = np.int64(count)
                parents[made] = row
                made += 1
    return made


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
def label_to(
    codes: Codes,
    cardinalities: NDArray[np.int64],
    path: NDArray[np.int64],
    labels: NDArray[np.int32],
    occupied: NDArray[np.int64],
    labelled: int,
    depth: int,
) -> int:
    """Label the rows at every depth up to `depth`; return up to where they are labelled."""
    for t in range(labelled, depth):
        column = path[t]
        counts = extend_labels(labels[t], occupied[t], codes[column], cardinalities[column], labels[t + 1])
        occupied[t + 1] = len(counts)
    return max(labelled, depth)


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
    words = (n + 63) // 64
    limit = max(SMALL_TABLE, CELLS_PER_ROW * n)
    deepest = 1
    for k in range(len(sizes)):
        deepest = max(deepest, set_offsets[k + 1] - set_offsets[k])
    # At depth t stand the cells of the first t columns of the current set, `occupied[t]` of them: as bit rows
    # where they are few (`has_bits`), and as a label per row where those are asked for (up to `labelled`).
    path = np.full(deepest, -1, dtype=np.int64)
    occupied = np.ones(deepest, dtype=np.int64)
    totals = np.zeros((deepest, BIT_ROWS), dtype=np.int64)
    parents = np.zeros((deepest, BIT_ROWS), dtype=np.int32)
    rows = np.empty((deepest, BIT_ROWS + 1, words), dtype=np.uint64)
    rows[0, 0] = 0
    has_bits = np.zeros(deepest, dtype=np.bool_)
    labels = np.empty((deepest, n), dtype=np.int32)
    labels[0] = 0
    labelled = 0
    totals[0, 0] = n
    for i in range(n):
        rows[0, 0, i >> 6] |= np.uint64(1) << np.uint64(i & 63)
    has_bits[0] = True
    valid = 0
    base = -1
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
                if has_bits[base]:
                    sources = parents[base, : occupied[base]]
                else:
                    sources = parents_of_labels(labels[base], labels[base - 1], occupied[base])
                written += sum_out(table, sources, occupied[depth], out[written:])
                sizes[k] = written - start
                continue
        shared = 0
        while shared < min(depth, valid) and path[shared] == columns[first + shared]:
            shared += 1
        labelled = min(labelled, shared)
        for t in range(shared, depth):
            added = columns[first + t]
            path[t] = added
            low, high = bit_offsets[added], bit_offsets[added + 1]
            has_bits[t + 1] = has_bits[t] and high > low and occupied[t] * (high - low + 1) <= BIT_ROWS
            if has_bits[t + 1]:
                occupied[t + 1] = extend_bits(
                    rows[t], occupied[t], bits[low:high], rows[t + 1], totals[t + 1], parents[t + 1]
                )
            else:
                labelled = label_to(codes, cardinalities, path, labels, occupied, labelled, t + 1)
        valid = base = depth
        cardinality = cardinalities[column]
        groups = occupied[depth]
        low, high = bit_offsets[column], bit_offsets[column + 1]
        by_bits = has_bits[depth] and high > low and groups * (cardinality - 1) <= BIT_CELLS
        if not by_bits:
            labelled = label_to(codes, cardinalities, path, labels, occupied, labelled, depth)
        if groups * cardinality > limit:
            last = -1
            written += count_by_sorting(labels[depth], codes[column], cardinality, out[written:])
            sizes[k] = written - start
            continue
        last = column
        if table.shape[0] != groups or table.shape[1] != cardinality:
            table = np.empty((groups, cardinality), dtype=np.int64)
        if by_bits:
            split_by_bits(rows[depth, :groups], bits[low:high], totals[depth], table)
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
