"""Statistics of a table in memory: counts by compiled kernels, moments by blocks of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from dagora.data.columns.overview import Overview
from dagora.data.table import Table
from dagora.stats.basis import BasisMoments, table_basis_moments
from dagora.stats.blocks.in_memory import count_in_blocks, in_asked_order
from dagora.stats.capabilities import StatisticsCapabilities
from dagora.stats.coded_columns import CodedColumns, Codes, coded_columns, codes_of
from dagora.stats.counting import count_sets
from dagora.stats.indicators import IndicatorMoments, table_indicator_moments
from dagora.stats.moments import table_moments
from dagora.stats.rare_levels import (
    FROM_WORK,
    MOST,
    SMALLEST_SET,
    RareLevels,
    count_rare,
    counting_keys,
    few_cells,
    rare_levels,
)
from dagora.stats.row_labels import extend_labels, rows_by_label
from dagora.stats.statistics import (
    CellCounts,
    ColumnSets,
    Contingency,
    Moments,
    flatten,
    refuse_continuous,
    running_sum,
)

# Occupied counts of sets, one after the other, and how many each has.
Counts = tuple[NDArray[np.int64], NDArray[np.int64]]

# A thread counts at least so many sets times rows of a call; fewer are counted before it has started.
WORTH_A_THREAD = 4_000_000
# With at least so many rows, all sets of a call are counted block by block (hill climbing on 30 columns takes
# as long either way at about 50 000 rows); with fewer, one set after the other, or by their rare levels where
# they are many of one size.
BLOCKS_FROM = 50_000
# Into at most so many parts a call is cut that is just worth rare levels.
PARTS = 5


class RowSlices(NamedTuple):
    """Rows that agree on some columns: those of slice s are `order[starts[s]:starts[s + 1]]`.

    `codes[c, i]` is the level of column c in row i.
    """

    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    codes: Codes


class TableStatistics:
    """Counts and moments of a table in memory; large calls are shared among `jobs` threads.

    >>> table = Table.from_numpy([[0, 0], [0, 1], [1, 1], [1, 1]], names=["a", "b"], discrete=["a", "b"])
    >>> statistics = TableStatistics(table)
    >>> statistics.counts([(0,), (0, 1)])
    CellCounts(values=array([2, 2, 1, 1, 2]), offsets=array([0, 2, 5]))
    >>> statistics.contingency((0, 1)).cells.tolist()
    [[0, 0], [0, 1], [1, 1]]
    """

    def __init__(self, table: Table, jobs: int = 1) -> None:
        self._table = table
        self.schema, self.n_rows = table.schema, table.n_rows
        self._jobs = jobs
        self._from_work: int | None = None
        self._cardinalities = table.schema.cardinalities

    def in_order(self, names: Sequence[str]) -> TableStatistics:
        """The same statistics with the columns in another order."""
        return TableStatistics(self._table.select(names), self._jobs)

    @property
    def jobs(self) -> int:
        """The number of threads that share large calls."""
        return self._jobs

    @property
    def overview(self) -> Overview | None:
        """The overview of the table's source."""
        return self._table.overview

    def rows(self) -> Table:
        """Return the table itself."""
        return self._table

    def moments(self) -> Moments:
        """Moments of the continuous columns."""
        return self._moments

    @cached_property
    def _moments(self) -> Moments:
        return table_moments(self._table)

    @property
    def capabilities(self) -> StatisticsCapabilities:
        """Rows in memory, and moments of functions and indicators."""
        return StatisticsCapabilities(
            in_memory=True,
            jobs=self._jobs,
            overview=self.overview,
            basis_moments=self.basis_moments,
            indicator_moments=self.indicator_moments,
        )

    def basis_moments(self, functions: int) -> BasisMoments:
        """Moments of that many basis functions of each continuous column."""
        return table_basis_moments(self._table, functions)

    def indicator_moments(self) -> IndicatorMoments:
        """Moments of the columns, the squares of the continuous ones, and indicators of levels."""
        return table_indicator_moments(self._table)

    @cached_property
    def _codes(self) -> Codes:
        return codes_of(self._table)

    @cached_property
    def _coded(self) -> CodedColumns:
        return coded_columns(self._codes, self._cardinalities)

    def counts(self, column_sets: ColumnSets) -> CellCounts:
        """Occupied joint counts of many sets; those that begin like the set before them are cheapest."""
        columns, offsets = flatten(column_sets)
        if len(offsets) == 1:  # no set: then no kernel need be compiled for it
            return CellCounts(np.empty(0, dtype=np.int64), offsets)
        refuse_continuous(self.schema, self._cardinalities, columns)
        if self.n_rows >= BLOCKS_FROM:
            values, sizes = count_in_blocks(self._coded, columns, offsets, self._jobs)
            return CellCounts(values, running_sum(sizes))
        if isinstance(column_sets, np.ndarray) and self.worth_ordering(column_sets):
            values, sizes = self._count_by_rare_levels(column_sets)
        else:
            values, sizes = self._count_each(columns, offsets)
        return CellCounts(values, running_sum(sizes))

    def calls_at_once(self, sets: int) -> int:
        """Into how many calls, made side by side, a call for so many sets is better split."""
        if self.n_rows >= BLOCKS_FROM:
            return 1  # blocks of rows are shared instead
        work = sets * self.n_rows
        return 1 if work < FROM_WORK else max(1, min(self._jobs, PARTS * work // max(1, FROM_WORK)))

    @property
    def fewest_at_once(self) -> int:
        """Calls for fewer sets than these, made side by side, are slower than they could be."""
        return max(1, -(-FROM_WORK // (PARTS * self.n_rows)))

    def in_one_thread(self) -> Self:
        """The same statistics, for a thread among others: calls are not shared further."""
        self._coded, self._rare  # noqa: B018 - made once, before the threads ask for them
        alone = copy(self)
        alone._jobs, alone._from_work = 1, FROM_WORK // PARTS  # noqa: SLF001 - a copy of ours
        return alone

    def worth_ordering(self, sets: NDArray[np.int64]) -> bool:
        """Return True if many sets of one size are counted faster in the order of their `counting_keys`.

        So many and so large they are that rare levels make a difference.
        """
        few_rows = self.n_rows < min(BLOCKS_FROM, MOST)
        least = FROM_WORK if self._from_work is None else self._from_work
        return few_rows and sets.shape[1] >= SMALLEST_SET and sets.shape[0] * self.n_rows >= least

    def counting_keys(self, sets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Numbers in whose order sets of one size are counted fastest, be it in several calls."""
        return counting_keys(self._rare, sets)

    @cached_property
    def _rare(self) -> RareLevels:
        return rare_levels(self._codes, self._cardinalities)

    def _count_by_rare_levels(self, sets: NDArray[np.int64]) -> Counts:
        """Counts of sets of one size: by rare levels where cells are few."""
        few = few_cells(self._cardinalities, sets, self.n_rows)
        small = sets if few.all() else sets[few]
        rare = self._rare  # made once, before the threads ask for it
        counted = self._in_pieces(
            lambda a, b: count_rare(self._codes, self._cardinalities, rare, small[a:b]), len(small)
        )
        if len(small) == len(sets):
            return counted
        others = self._count_each(*flatten(sets[~few]))
        return in_asked_order([np.flatnonzero(few), np.flatnonzero(~few)], [counted, others])

    def _count_each(self, columns: NDArray[np.int64], offsets: NDArray[np.int64]) -> Counts:
        """Counts of any sets, one after the other."""
        bounds = cell_bounds(self._cardinalities, self.n_rows, columns, offsets)
        self._coded  # noqa: B018 - made once, before the threads ask for it
        return self._in_pieces(
            lambda a, b: self._count(columns, offsets[a : b + 1], int(bounds[a:b].sum())), len(bounds)
        )

    def _in_pieces(self, count: Callable[[int, int], Counts], size: int) -> Counts:
        """Counts of so many sets, shared among threads; `count(a, b)` counts those from place a up to b."""
        pieces = max(1, min(self._jobs, size * self.n_rows // WORTH_A_THREAD))
        if pieces == 1:
            return count(0, size)
        cuts = [size * piece // pieces for piece in range(pieces + 1)]
        with ThreadPoolExecutor(pieces) as pool:
            parts = list(pool.map(count, cuts[:-1], cuts[1:]))
        return np.concatenate([values for values, _ in parts]), np.concatenate([sizes for _, sizes in parts])

    def _count(self, columns: NDArray[np.int64], offsets: NDArray[np.int64], most: int) -> Counts:
        out = np.empty(most, dtype=np.int64)
        sizes = np.empty(len(offsets) - 1, dtype=np.int64)
        written = count_sets(self._coded, columns, offsets, out, sizes)
        return out[:written], sizes

    def contingency(self, columns: Sequence[int]) -> Contingency:
        """Occupied cells of one set in lexicographic order, with their counts."""
        labels, counts = self._labels(columns)
        example = np.empty(len(counts), dtype=np.int64)
        example[labels] = np.arange(self.n_rows)
        chosen = np.array(columns, dtype=np.int64)
        return Contingency(self._codes[chosen][:, example].T.astype(np.int64), counts)

    def slices(self, columns: Sequence[int]) -> RowSlices:
        """The rows, put together where they agree on some columns."""
        labels, counts = self._labels(columns)
        return RowSlices(rows_by_label(labels, counts), running_sum(counts), self._codes)

    def _labels(self, columns: Sequence[int]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The occupied cell of every row, numbered in lexicographic order, and the counts of the cells."""
        refuse_continuous(self.schema, self._cardinalities, np.array(columns, dtype=np.int64))
        labels = np.zeros(self.n_rows, dtype=np.int32)
        counts = np.array([self.n_rows])
        for column in columns:
            split = np.empty_like(labels)
            counts = extend_labels(
                labels, len(counts), self._codes[column], int(self._cardinalities[column]), split
            )
            labels = split
        return labels, counts


def cell_bounds(
    cardinalities: NDArray[np.int64], rows: int, columns: NDArray[np.int64], offsets: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Upper bounds on the occupied cells of each set: the number of its cells, and that of the rows."""
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.maximum(1, cardinalities[columns])))])
    cells = np.exp(np.minimum(logs[offsets[1:]] - logs[offsets[:-1]], 40.0)) * (1 + 1e-6) + 1
    bounds: NDArray[np.int64] = np.minimum(cells, rows + 1).astype(np.int64)
    return bounds
