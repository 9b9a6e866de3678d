"""Counts of many sets over coded columns in memory: by blocks, and by sorting where cells are too many."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dagora.stats.blocks.block_kernel import BlockRows
from dagora.stats.blocks.cover import Set
from dagora.stats.blocks.rounds import CountingRound
from dagora.stats.coded_columns import CodedColumns
from dagora.stats.counting import count_sets
from dagora.stats.row_labels import SMALL_TABLE
from dagora.stats.statistics import running_sum

Integers = NDArray[np.int64]

# A set has a dense table if its cells are not more than the rows, and not more than this: 64 MiB of counts.
DENSE_CELLS = 1 << 24
# The most cells of all tables that are held at a time: 128 MiB of counts, and as much for the twins of small
# tables.
ROUND_CELLS = 1 << 25


def count_in_blocks(
    data: CodedColumns, columns: Integers, offsets: Integers, jobs: int = 1
) -> tuple[Integers, Integers]:
    """Occupied counts of the sets `columns[offsets[k]:offsets[k + 1]]`, and how many each has.

    >>> from dagora.stats.coded_columns import coded_columns
    >>> data = coded_columns(np.array([[0, 0, 1, 1], [0, 1, 1, 1]], dtype=np.uint8), np.array([2, 2]))
    >>> count_in_blocks(data, np.array([0, 0, 1]), np.array([0, 1, 3]))
    (array([2, 2, 1, 1, 2]), array([2, 3]))
    """
    rows = data.codes.shape[1]
    flat, bounds = columns.tolist(), offsets.tolist()
    sets: list[Set] = [tuple(flat[a:b]) for a, b in pairwise(bounds)]
    cells = cells_of(columns, offsets, data.cardinalities)
    dense = cells <= most_dense_cells(rows)
    places, found = [], []
    with_bits = np.diff(data.bit_offsets) > 0
    for some in rounds_of(cells, np.flatnonzero(dense)):
        together = CountingRound([sets[k] for k in some.tolist()], data.cardinalities, with_bits, rows, jobs)
        together.add(BlockRows(*data))
        places.append(some)
        found.append(together.occupied_counts())
    others = np.flatnonzero(~dense)
    if len(others):
        places.append(others)
        found.append(count_sparse(data, [sets[k] for k in others.tolist()]))
    return found[0] if len(found) == 1 else in_asked_order(places, found)


def cells_of(columns: Integers, offsets: Integers, cardinalities: Integers) -> NDArray[np.float64]:
    """Number of cells of each set; where it is too large for a table, nearly."""
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.maximum(1, cardinalities[columns])))])
    cells: NDArray[np.float64] = np.exp(np.minimum(logs[offsets[1:]] - logs[offsets[:-1]], 60.0))
    return np.rint(cells)


def most_dense_cells(rows: int) -> int:
    """The most cells of a dense table: with more, most would be empty, and their memory wasted."""
    return max(SMALL_TABLE, min(rows, DENSE_CELLS))


def rounds_of(cells: NDArray[np.float64], chosen: Integers) -> Iterator[Integers]:
    """Sets in rounds, each of which has room for its tables; one set at least."""
    taken, first = 0.0, 0
    for place, size in enumerate(cells[chosen].tolist()):
        if taken + size > ROUND_CELLS and place > first:
            yield chosen[first:place]
            taken, first = 0.0, place
        taken += size
    if first < len(chosen):
        yield chosen[first:]


def count_sparse(data: CodedColumns, sets: list[Set]) -> tuple[Integers, Integers]:
    """Occupied counts of sets with more cells than a table may have, one by one."""
    offsets = running_sum(np.array([len(columns) for columns in sets], dtype=np.int64))
    columns = np.array([column for each in sets for column in each], dtype=np.int64)
    numbers = np.empty(len(sets), dtype=np.int64)
    out = np.empty(len(sets) * data.codes.shape[1], dtype=np.int64)
    written = count_sets(data, columns, offsets, out, numbers)
    return out[:written], numbers


def in_asked_order(
    places: list[Integers], found: list[tuple[Integers, Integers]]
) -> tuple[Integers, Integers]:
    """Counts of several rounds, in the order in which the sets were asked for.

    >>> one, two = (np.array([7, 8, 9]), np.array([2, 1])), (np.array([5]), np.array([1]))
    >>> in_asked_order([np.array([0, 2]), np.array([1])], [one, two])
    (array([7, 8, 5, 9]), array([2, 1, 1]))
    """
    numbers = np.empty(sum(map(len, places)), dtype=np.int64)
    for some, (_, own) in zip(places, found, strict=True):
        numbers[some] = own
    starts = running_sum(numbers)
    values = np.empty(starts[-1], dtype=np.int64)
    for some, (counts, own) in zip(places, found, strict=True):
        values[np.repeat(starts[some] - running_sum(own)[:-1], own) + np.arange(len(counts))] = counts
    return values, numbers
