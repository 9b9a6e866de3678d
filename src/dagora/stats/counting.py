"""Kernels that count joint cells of discrete columns.

A set of columns is counted in two steps. First the rows are labelled by their cell over the set's prefix, all
columns but the last. Then each label is split by the last column. Consecutive sets that begin with the same
columns share the labels of those: a greedy step asks for one family extended by every possible parent, an
exhaustive search for all sets in lexicographic order.

The split is a histogram. Where labels and levels are few, it is a population count of the bits that a label
and a level have in common: 64 rows per instruction. The table of a set has at most SHORT_CELLS cells; rows of
larger sets are labelled one by one (`row_labels`). All counts are exact.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from dagora.kernels.decorators import borrowing, inlined, kernel, patient
from dagora.stats.coded_columns import CodedColumns
from dagora.stats.histograms import SHORT_CELLS, split_by_histogram
from dagora.stats.plain_counts import count_plainly, seconds_to_count
from dagora.stats.row_labels import extend_labels, parents_of_labels

# Up to this many labels × (levels − 1), counting bits is faster than a histogram (measured on both sides of
# the limit at 10 000 and 1 000 000 rows).
BIT_CELLS = 48
# Up to this many cells of a prefix are kept as bit rows; beyond it rows are only labelled. BIT_CELLS needs
# 48.
BIT_ROWS = 64
# Bit rows are walked in blocks of this many words: 2 KiB, so that the blocks of a label and of eight levels
# stay in the first-level cache together.
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
    """Fill `cells[label, level]`.

    `level_bits` has bit rows for all levels but the last, which gets what remains of each label's total.
    """
    size, words = label_rows.shape
    levels = level_bits.shape[0]
    for label in range(size):
        for level in range(levels):
            cells[label, level] = 0
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
def extend_bits(
    rows: NDArray[np.uint64],
    size: int,
    level_rows: NDArray[np.uint64],
    out: NDArray[np.uint64],
    totals: NDArray[np.int64],
    parents: NDArray[np.int32],
) -> int:
    """Split the first `size` bit rows by one more column, whose levels but the last have `level_rows`.

    The occupied cells go to `out` in lexicographic order, with their counts in `totals` and the row that each
    was split from in `parents`. Returns how many there are.
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


@borrowing
def write_occupied(table: NDArray[np.int64], out: NDArray[np.int64], start: int) -> int:
    """Write the counts of a table's occupied cells to `out` from `start` on; return where they end."""
    for row in range(table.shape[0]):
        for level in range(table.shape[1]):
            # An empty cell is written too, where there is room, and overwritten by the next: no processor
            # can foresee which cells are empty.
            if start < len(out):
                out[start] = table[row, level]
            start += table[row, level] != 0
    return start


@borrowing
def copy_cells(histogram: NDArray[np.int32], table: NDArray[np.int64]) -> None:
    """Copy the counts of cells, label by label, into a table."""
    cell = 0
    for label in range(table.shape[0]):
        for level in range(table.shape[1]):
            table[label, level] = histogram[cell]
            cell += 1


@kernel
def sum_out(table: NDArray[np.int64], parents: NDArray[np.int32], size: int, out: NDArray[np.int64]) -> int:
    """Add up the rows of a table that have the same parent; write the occupied counts, return how many."""
    marginal = np.empty((size, table.shape[1]), dtype=np.int64)
    for row in range(size):
        for level in range(table.shape[1]):
            marginal[row, level] = 0
    for row in range(table.shape[0]):
        for level in range(table.shape[1]):
            marginal[parents[row], level] += table[row, level]
    return write_occupied(marginal, out, 0)


class Prefixes(NamedTuple):
    """Occupied cells of the first t columns of the current set, for every depth t.

    At depth t there are `occupied[t]` cells, and column `path[t]` splits them into those of depth t + 1.
    Where `has_bits[t]`, cell k has the bit row `bit_rows[t, k]`, holds `totals[t, k]` rows and was split from
    cell `parents[t, k]` of depth t − 1. Otherwise `labels[t, i]` is the cell of row i. `cells` has room for
    the cells of the whole set, four of which are a word of `packed_cells`, the same memory.
    """

    path: NDArray[np.int64]
    occupied: NDArray[np.int64]
    has_bits: NDArray[np.bool_]
    bit_rows: NDArray[np.uint64]
    totals: NDArray[np.int64]
    parents: NDArray[np.int32]
    labels: NDArray[np.int32]
    cells: NDArray[np.uint16]
    packed_cells: NDArray[np.uint64]


def new_prefixes(n: int, depths: int) -> Prefixes:
    """Room for `depths` depths over n rows; at depth 0 a single cell holds all rows."""
    packed_cells = np.empty((n + 3) // 4, dtype=np.uint64)
    prefixes = Prefixes(
        np.full(depths, -1),
        np.ones(depths, dtype=np.int64),
        np.zeros(depths, dtype=np.bool_),
        np.empty((depths, BIT_ROWS + 1, (n + 63) // 64), dtype=np.uint64),
        np.zeros((depths, BIT_ROWS), dtype=np.int64),
        np.zeros((depths, BIT_ROWS), dtype=np.int32),
        np.empty((depths, n), dtype=np.int32),
        packed_cells.view(np.uint16),
        packed_cells,
    )
    prefixes.has_bits[0] = True
    prefixes.bit_rows[0, 0] = ~np.uint64(0)
    if n % 64:
        prefixes.bit_rows[0, 0, -1] = (1 << n % 64) - 1
    prefixes.totals[0, 0] = n
    prefixes.labels[0] = 0
    return prefixes


@kernel
def label_to(data: CodedColumns, prefixes: Prefixes, labelled: int, depth: int) -> int:
    """Label the rows at every depth up to `depth`; return the largest depth that has labels.

    Depths up to `labelled` have them already.
    """
    labels, occupied = prefixes.labels, prefixes.occupied
    for t in range(labelled, depth):
        column = prefixes.path[t]
        counts = extend_labels(
            labels[t], occupied[t], data.codes[column], data.cardinalities[column], labels[t + 1]
        )
        occupied[t + 1] = len(counts)
    return max(labelled, depth)


@kernel
def extend_prefixes(
    data: CodedColumns, prefixes: Prefixes, columns: NDArray[np.int64], shared: int, labelled: int
) -> int:
    """Make the cells of a set's prefix `columns`, whose first `shared` columns are there already.

    Cells become bit rows while they are few, labels beyond that. Returns the largest depth that has labels.
    """
    occupied, has_bits = prefixes.occupied, prefixes.has_bits
    for t in range(shared, len(columns)):
        column = columns[t]
        prefixes.path[t] = column
        low, high = data.bit_offsets[column], data.bit_offsets[column + 1]
        has_bits[t + 1] = has_bits[t] and high > low and occupied[t] * (high - low + 1) <= BIT_ROWS
        if has_bits[t + 1]:
            occupied[t + 1] = extend_bits(
                prefixes.bit_rows[t],
                occupied[t],
                data.bits[low:high],
                prefixes.bit_rows[t + 1],
                prefixes.totals[t + 1],
                prefixes.parents[t + 1],
            )
        else:
            labelled = label_to(data, prefixes, labelled, t + 1)
    return labelled


@kernel
def sources_of(prefixes: Prefixes, depth: int) -> NDArray[np.int32]:
    """For each cell at a depth, the cell one depth earlier that it was split from."""
    if prefixes.has_bits[depth]:
        return prefixes.parents[depth, : prefixes.occupied[depth]]
    return parents_of_labels(
        prefixes.labels[depth], prefixes.labels[depth - 1], int(prefixes.occupied[depth])
    )


@inlined
def shared_length(path: NDArray[np.int64], columns: NDArray[np.int64], first: int, most: int) -> int:
    """The number of leading columns, at most `most`, that a path shares with the set at `first`."""
    shared = 0
    while shared < most and path[shared] == columns[first + shared]:
        shared += 1
    return shared


def count_sets(
    data: CodedColumns,
    columns: NDArray[np.int64],
    set_offsets: NDArray[np.int64],
    out: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> int:
    """Count each set `columns[set_offsets[k]:set_offsets[k + 1]]`; return how many counts `out` has got.

    `sizes[k]` gets the number of occupied cells of set k. Leading columns that a set shares with the set
    before it are not labelled again. A set that equals the one before it without its second-last column is
    not counted but summed from that one's table.

    >>> codes = np.array([[0, 0, 1, 1], [0, 1, 1, 1]], dtype=np.uint8)
    >>> from dagora.stats.coded_columns import coded_columns
    >>> data = coded_columns(codes, np.array([2, 2]))
    >>> out, sizes = np.empty(5, dtype=np.int64), np.empty(2, dtype=np.int64)
    >>> count_sets(data, np.array([0, 0, 1]), np.array([0, 1, 3]), out, sizes)
    5
    >>> out, sizes  # the sets (0,) and (0, 1): two and three occupied cells
    (array([2, 2, 1, 1, 2]), array([2, 3]))
    """
    deepest = max(1, int(np.diff(set_offsets).max(initial=0)))
    prefixes = new_prefixes(data.codes.shape[1], deepest)
    return count_along(data, prefixes, columns, set_offsets, out, sizes)


def count_along_plainly(
    data: CodedColumns,
    _: Prefixes,
    columns: NDArray[np.int64],
    set_offsets: NDArray[np.int64],
    out: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> int:
    """The same as `count_along`, without its kernels."""
    sets = (columns[first:stop].tolist() for first, stop in pairwise(set_offsets.tolist()))
    return count_plainly(data.codes, data.cardinalities, sets, out, sizes)


@patient(
    count_along_plainly, lambda data, *others: seconds_to_count(data.codes.shape[1], len(others[-1])), 4.0
)
@kernel
def count_along(
    data: CodedColumns,
    prefixes: Prefixes,
    columns: NDArray[np.int64],
    set_offsets: NDArray[np.int64],
    out: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> int:
    """Count the sets one after the other, with `prefixes` as working memory (see `count_sets`)."""
    codes, cardinalities, bits, bit_offsets = data
    n = codes.shape[1]
    path, occupied, has_bits, bit_rows, totals, _, labels, cells, packed_cells = prefixes
    # Depths that have labels, depths that are valid, and the depth of the set counted last.
    labelled, valid, depth_before = 0, 0, -1
    histogram = np.empty(0, dtype=np.int32)
    # Cells (label, level) of the set counted last, and its last column (−1 where it has no table).
    table = np.empty((0, 0), dtype=np.int64)
    column_before = -1
    # What the cells of the set counted last were split from; sets with the same prefix share it.
    sources = np.empty(0, dtype=np.int32)
    sources_known = False
    written = 0
    for k in range(len(sizes)):
        first, stop = set_offsets[k], set_offsets[k + 1]
        if first == stop:
            out[written] = n
            written += 1
            sizes[k] = 1
            continue
        depth = stop - first - 1
        column = columns[stop - 1]
        if (
            column == column_before
            and depth == depth_before - 1
            and shared_length(path, columns, first, depth) == depth
        ):
            if not sources_known:
                sources = sources_of(prefixes, depth_before)
                sources_known = True
            sizes[k] = sum_out(table, sources, occupied[depth], out[written:])
            written += sizes[k]
            continue
        shared = shared_length(path, columns, first, min(depth, valid))
        labelled = min(labelled, shared)
        # Most sets share the whole prefix; then even a call that does nothing would cost too much.
        sources_known = sources_known and shared == depth == depth_before
        if shared < depth:
            labelled = extend_prefixes(data, prefixes, columns[first : stop - 1], shared, labelled)
        valid = depth_before = depth
        cardinality = cardinalities[column]
        groups = occupied[depth]
        low, high = bit_offsets[column], bit_offsets[column + 1]
        by_bits = has_bits[depth] and high > low and groups * (cardinality - 1) <= BIT_CELLS
        if not by_bits and labelled < depth:
            labelled = label_to(data, prefixes, labelled, depth)
        if groups * cardinality > SHORT_CELLS:
            column_before = -1
            split = np.empty(n, dtype=np.int32)
            counts = extend_labels(labels[depth], groups, codes[column], cardinality, split)
            sizes[k] = len(counts)
            for count in counts:
                out[written] = count
                written += 1
            continue
        column_before = column
        if table.shape[0] != groups or table.shape[1] != cardinality:
            table = np.empty((groups, cardinality), dtype=np.int64)
        if by_bits:
            split_by_bits(bit_rows[depth, :groups], bits[low:high], totals[depth], table)
        else:
            size = groups * cardinality
            if len(histogram) < 2 * size:
                histogram = np.empty(2 * size, dtype=np.int32)
            split_by_histogram(
                labels[depth], codes[column], cardinality, cells, packed_cells, histogram[: 2 * size]
            )
            copy_cells(histogram, table)
        start = written
        written = write_occupied(table, out, start)
        sizes[k] = written - start
    return written
