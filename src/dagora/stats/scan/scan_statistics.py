"""Statistics of rows that do not fit into memory: every round of questions is one pass over them.

All sets of columns that are asked for in one call are counted together, by the same kernel that counts tables
in memory, so counts are equal to the last bit; so are moments, whose blocks are the same. What was counted is
kept, and a set that was counted before costs no pass. Memory does not grow with the rows: it is that of a few
record batches, a piece of `PIECE_ROWS` coded rows, and the tables of a round (`ROUND_CELLS`). Only sets of so
many cells that they have no table take memory for every cell that occurs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dagora.data.columns.overview import Overview
from dagora.data.schema import Kind, Schema
from dagora.errors import DataError, RowsUnavailableError
from dagora.stats.blocks.block_kernel import BlockRows
from dagora.stats.blocks.cover import Set
from dagora.stats.blocks.in_memory import cells_of, most_dense_cells, rounds_of
from dagora.stats.blocks.rounds import Round
from dagora.stats.counting import coded_columns, few_levels
from dagora.stats.moments import block_moments
from dagora.stats.scan.kept_counts import KeptCounts, Occupied, ascending, in_order
from dagora.stats.scan.row_stream import RowStream
from dagora.stats.scan.sparse import SparseCounts
from dagora.stats.statistics import CellCounts, ColumnSets, Contingency, Moments, flatten, running_sum
from dagora.wording import option

# Bit rows have to be made anew in every pass: that pays with so many sets for each column.
SETS_PER_COLUMN = 8
# Rows of the sample that is suggested where rows are needed.
SAMPLE = 100_000


class ScanStatistics:
    """Counts and moments of the rows of a source, one pass over them per call; `open_rows` makes it.

    `passes` says how many passes there were, the first ones included, which find the levels.
    """

    def __init__(
        self, stream: RowStream, schema: Schema, rows: int, overview: Overview, jobs: int = 1
    ) -> None:
        self._stream, self._schema, self._rows = stream, schema, rows
        self._cardinalities = schema.cardinalities
        self._jobs = jobs
        self._kept = KeptCounts()
        self._moments: Moments | None = None
        self.overview = overview

    @property
    def schema(self) -> Schema:
        """The variables."""
        return self._schema

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._rows

    @property
    def passes(self) -> int:
        """Passes over the rows so far."""
        return self._stream.passes

    def rows(self) -> NoReturn:
        """Refuse the rows: they may be too many for memory."""
        raise RowsUnavailableError(
            f"this needs the rows themselves, and {self._stream.title} is scanned ({self._rows:,} rows): "
            f"learn from a sample of them, {option('sample', SAMPLE)} (one pass, and about "
            f"{self._sample_size} of memory)"
        )

    @property
    def _sample_size(self) -> str:
        """What a sample takes in memory, in words."""
        cell = sum(8 if variable.kind is Kind.CONTINUOUS else 2 for variable in self._schema)
        return f"{max(1, round(min(SAMPLE, self._rows) * cell / 1e6))} MB"

    def counts(self, column_sets: ColumnSets) -> CellCounts:
        """Occupied joint counts of many sets; those that were not counted before take one pass."""
        values = [found.counts for found in self._found(column_sets)]
        sizes = np.array([len(counts) for counts in values], dtype=np.int64)
        return CellCounts(np.concatenate([np.empty(0, dtype=np.int64), *values]), running_sum(sizes))

    def contingency(self, columns: Sequence[int]) -> Contingency:
        """Occupied cells of one set in lexicographic order, with their counts."""
        return self.contingencies([columns])[0]

    def contingencies(self, column_sets: Sequence[Sequence[int]]) -> list[Contingency]:
        """Occupied cells of many sets, with their counts, in one pass."""
        return [Contingency(found.cells.astype(np.int64), found.counts) for found in self._found(column_sets)]

    def _found(self, column_sets: ColumnSets) -> list[Occupied]:
        """The occupied cells of sets, from earlier passes or from one more."""
        sets = self._checked(column_sets)
        known = {columns: self._kept.get(columns) for columns in map(ascending, sets)}
        fresh = [columns for columns, found in known.items() if found is None]
        counted = self._count(fresh)
        self._kept.keep(counted)
        have = {columns: found for columns, found in known.items() if found is not None} | counted
        return [in_order(have[ascending(columns)], columns) for columns in sets]

    def moments(self) -> Moments:
        """Moments of the continuous columns, in one pass."""
        if self._moments is None:
            columns = [k for k, variable in enumerate(self._schema) if variable.kind is Kind.CONTINUOUS]
            d = len(columns)
            total = Moments(0 if d else self._rows, np.zeros(d), np.zeros((d, d)))
            for piece in self._stream.pieces(columns) if d else ():
                total = block_moments(total, piece)
            self._moments = total
        return self._moments

    def _checked(self, column_sets: ColumnSets) -> list[Set]:
        columns, offsets = flatten(column_sets)
        continuous = np.flatnonzero(self._cardinalities[columns] == 0)
        if len(continuous):
            name = self._schema[int(columns[continuous[0]])].name
            raise DataError(f"column '{name}' is continuous, so it cannot be counted: discretise it first")
        flat, bounds = columns.tolist(), offsets.tolist()
        return [tuple(flat[a:b]) for a, b in pairwise(bounds)]

    def _count(self, sets: list[Set]) -> dict[Set, Occupied]:
        """Count sets: in one pass, or in several where there is no room for all tables at a time."""
        sizes = cells_of(*flatten(sets), self._cardinalities)
        dense = sizes <= most_dense_cells(self._rows)
        rounds = [some.tolist() for some in rounds_of(sizes, np.flatnonzero(dense))]
        others = [sets[k] for k in np.flatnonzero(~dense).tolist()]
        found: dict[Set, Occupied] = {}
        for some in rounds or ([[]] if others else []):
            # The first pass also counts what has no table.
            found |= self._pass_over([sets[k] for k in some], others)
            others = []
        return found

    def _pass_over(self, dense: list[Set], sparse: list[Set]) -> dict[Set, Occupied]:
        """Count some sets in one pass, with tables or without."""
        columns = sorted({column for each in (*dense, *sparse) for column in each})
        place = {column: k for k, column in enumerate(columns)}
        levels = self._cardinalities[columns]
        kind = np.uint8 if levels.max(initial=0) <= 256 else np.uint16
        with_bits = few_levels(levels) & (len(dense) >= SETS_PER_COLUMN * len(columns))
        own = [tuple(place[column] for column in each) for each in dense]
        together = Round(own, levels, with_bits, self._rows, self._jobs)
        others = [
            SparseCounts([place[column] for column in each], self._cardinalities[list(each)].tolist())
            for each in sparse
        ]
        for piece in self._stream.pieces(columns) if columns else ():
            codes: NDArray[Any] = np.stack(piece).astype(kind)
            if dense:
                together.add(BlockRows(*coded_columns(codes, levels, with_bits)))
            for counts in others:
                counts.add(codes)
        found = {
            each: Occupied(counts.cells().astype(np.uint16), counts.counts)
            for each, counts in zip(sparse, others, strict=True)
        }
        for k, each in enumerate(dense):
            table = together.table(k)
            occupied = np.flatnonzero(table)
            found[each] = Occupied(cells_at(occupied, self._cardinalities[list(each)]), table[occupied])
        return found


def cells_at(places: NDArray[np.int64], levels: NDArray[np.int64]) -> NDArray[np.uint16]:
    """The levels of cells by their places in a table, a row for each.

    >>> cells_at(np.array([1, 5]), np.array([2, 3]))
    array([[0, 1], [1, 2]], dtype=uint16)
    """
    if not len(levels):
        return np.empty((len(places), 0), dtype=np.uint16)
    return np.column_stack(np.unravel_index(places, levels)).astype(np.uint16)
