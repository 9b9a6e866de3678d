"""Counts and moments of a stream of rows: every round of questions is one pass over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dagora.data.schema import Schema
from dagora.stats.blocks.block_kernel import BlockRows
from dagora.stats.blocks.cover import Set, worth_bits
from dagora.stats.blocks.in_memory import cells_of, most_dense_cells, rounds_of
from dagora.stats.blocks.rounds import CountingRound
from dagora.stats.coded_columns import coded_columns
from dagora.stats.indicators import Scales, add_features, feature_starts, no_features
from dagora.stats.moments import block_moments
from dagora.stats.scan.kept_counts import OccupiedCells
from dagora.stats.scan.row_stream import RowStream
from dagora.stats.scan.sparse import SparseCounts
from dagora.stats.statistics import Moments, flatten


class Counter(Protocol):
    """A counter of rows that are not in memory."""

    @property
    def title(self) -> str:
        """The name of the source in messages."""

    @property
    def effort(self) -> dict[str, float]:
        """The work so far, by name."""

    @property
    def message(self) -> str:
        """The message about it in a result; may be empty."""

    @property
    def passes(self) -> int:
        """The number of passes over the rows."""

    @property
    def transaction(self) -> int:
        """The number of the transaction in which will be counted next."""

    def count(self, sets: list[Set]) -> dict[Set, OccupiedCells]:
        """Occupied cells of sets of ascending columns."""

    def moments(self, columns: Sequence[int]) -> Moments:
        """Moments of some columns, at least one."""

    def feature_moments(self, schema: Schema, scales: Scales) -> Moments:
        """Moments of the features of all columns, where there are columns of both kinds."""


class StreamCounts:
    """Counts sets of columns by our own kernel, in one pass over a stream for all of them."""

    def __init__(self, stream: RowStream, cardinalities: NDArray[np.int64], rows: int, jobs: int = 1) -> None:
        self._stream, self._cardinalities, self._rows, self._jobs = stream, cardinalities, rows, jobs

    @property
    def title(self) -> str:
        """The name of the source in messages."""
        return self._stream.title

    @property
    def passes(self) -> int:
        """Passes over the rows so far."""
        return self._stream.passes

    @property
    def transaction(self) -> int:
        """The number of the transaction of the next pass."""
        return self._stream.transaction

    @property
    def effort(self) -> dict[str, float]:
        """The passes."""
        return {"passes": float(self.passes)}

    @property
    def message(self) -> str:
        """Nothing: passes are a number of the result."""
        return ""

    def moments(self, columns: Sequence[int]) -> Moments:
        """Moments of some columns, in one pass."""
        total = Moments(0, np.zeros(len(columns)), np.zeros((len(columns), len(columns))))
        for piece in self._stream.pieces(columns):
            total = block_moments(total, piece)
        return total

    def feature_moments(self, schema: Schema, scales: Scales) -> Moments:
        """Moments of the features of all columns, in one pass."""
        total = no_features(feature_starts(schema))
        for piece in self._stream.pieces(range(len(schema))):
            total = add_features(total, schema, scales, piece)
        return total

    def count(self, sets: list[Set]) -> dict[Set, OccupiedCells]:
        """Count sets: in one pass, or in several where there is no room for all tables at a time."""
        sizes = cells_of(*flatten(sets), self._cardinalities)
        dense = sizes <= most_dense_cells(self._rows)
        rounds = [some.tolist() for some in rounds_of(sizes, np.flatnonzero(dense))]
        others = [sets[k] for k in np.flatnonzero(~dense).tolist()]
        found: dict[Set, OccupiedCells] = {}
        for some in rounds or ([[]] if others else []):
            # The first pass also counts what has no table.
            found |= self._pass_over([sets[k] for k in some], others)
            others = []
        return found

    def _pass_over(self, dense: list[Set], sparse: list[Set]) -> dict[Set, OccupiedCells]:
        """Count some sets in one pass, with tables or without."""
        columns = sorted({column for each in (*dense, *sparse) for column in each})
        place = {column: k for k, column in enumerate(columns)}
        levels = self._cardinalities[columns]
        kind = np.uint8 if levels.max(initial=0) <= 256 else np.uint16
        own = [tuple(place[column] for column in each) for each in dense]
        with_bits = worth_bits(own, levels, self._rows)
        together = CountingRound(own, levels, with_bits, self._rows, self._jobs)
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
            each: OccupiedCells(counts.cells().astype(np.uint16), counts.counts)
            for each, counts in zip(sparse, others, strict=True)
        }
        for k, each in enumerate(dense):
            table = together.table(k)
            occupied = np.flatnonzero(table)
            found[each] = OccupiedCells(cells_at(occupied, self._cardinalities[list(each)]), table[occupied])
        return found


def cells_at(places: NDArray[np.int64], levels: NDArray[np.int64]) -> NDArray[np.uint16]:
    """The levels of cells by their places in a table, a row for each.

    >>> cells_at(np.array([1, 5]), np.array([2, 3]))
    array([[0, 1], [1, 2]], dtype=uint16)
    """
    if not len(levels):
        return np.empty((len(places), 0), dtype=np.uint16)
    return np.column_stack(np.unravel_index(places, levels)).astype(np.uint16)
