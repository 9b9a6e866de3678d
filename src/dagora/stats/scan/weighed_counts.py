"""Sums over a stream of rows that have weights, brought to the effective number of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.base.wording import option
from dagora.stats.effective_rows import FEWEST, EffectiveRows
from dagora.stats.indicators import Scales, feature_blocks, feature_starts
from dagora.stats.moments import column_blocks
from dagora.stats.scan.kept_counts import OccupiedCells
from dagora.stats.scan.sparse import SparseCounts
from dagora.stats.scan.stream_counts import StreamCounts, cells_at
from dagora.stats.statistics import Moments
from dagora.stats.weighted_sums import RunningMoments

if TYPE_CHECKING:
    from dagora.data.schema import Schema
    from dagora.stats.blocks.cover import Set
    from dagora.stats.scan.row_stream import Piece, RowStream


class WeighedCounts(StreamCounts):
    """Sums of weights in cells, and moments with weights; every piece of the stream ends with its weights.

    Making it takes a pass, over the weights alone.
    """

    def __init__(
        self, stream: RowStream, cardinalities: NDArray[np.int64], rows: int, column: str, jobs: int = 1
    ) -> None:
        super().__init__(stream, cardinalities, rows, jobs)
        total = squares = 0.0
        with np.errstate(over="ignore"):
            for (weights,) in stream.pieces(()):
                total += float(weights.sum())
                squares += float(weights @ weights)
        if not np.isfinite(squares) or squares == 0:
            raise DataError(
                f"{option('weights', column)}: the squares of the weights are no numbers: scale them"
            )
        number = max(1, round(total**2 / squares))
        said = f"with the weights in '{column}' the {rows} rows count as {number}, the effective number"
        if number < FEWEST:
            raise DataError(f"{said}: at least {FEWEST} are needed")
        self.effective = EffectiveRows(rows, number, said)
        self._unit = number / total

    def moments(self, columns: Sequence[int]) -> Moments:
        """Moments of some columns, in one pass."""
        return self._over(self._stream.pieces(columns), len(columns), column_blocks)

    def feature_moments(self, schema: Schema, scales: Scales) -> Moments:
        """Moments of the features of all columns, in one pass."""
        size = int(feature_starts(schema)[-1])
        pieces = self._stream.pieces(range(len(schema)))
        return self._over(pieces, size, lambda columns: feature_blocks(schema, scales, columns))

    def _over(
        self, pieces: Iterable[Piece], size: int, blocks: Callable[[Piece], Iterable[NDArray[np.float64]]]
    ) -> Moments:
        total = RunningMoments(size)
        for *columns, weights in pieces:
            start = 0
            for block in blocks(columns):
                total.add(block, weights[start : start + block.shape[1]])
                start += block.shape[1]
        return total.moments(self.effective.effective)

    def _pass_over(self, dense: list[Set], sparse: list[Set]) -> dict[Set, OccupiedCells]:
        """Sum the weights in the cells of some sets in one pass, with tables or without."""
        columns = sorted({column for each in (*dense, *sparse) for column in each})
        place = {column: k for k, column in enumerate(columns)}
        levels = [self._cardinalities[list(each)] for each in dense]
        tables = [np.zeros(int(np.prod(each, dtype=np.int64))) for each in levels]
        others = [
            SparseCounts([place[column] for column in each], self._cardinalities[list(each)].tolist())
            for each in sparse
        ]
        for *piece, weights in self._stream.pieces(columns):
            codes: NDArray[Any] = np.stack(piece) if piece else np.empty((0, len(weights)), dtype=np.uint16)
            for k, (each, own) in enumerate(zip(dense, levels, strict=True)):
                cells = np.zeros(len(weights), dtype=np.int64)
                for column, level in zip(each, own.tolist(), strict=True):
                    cells = cells * level + codes[place[column]]
                tables[k] += np.bincount(cells, weights, len(tables[k]))
            for counts in others:
                counts.add(codes, weights)
        found = {
            each: OccupiedCells(counts.cells().astype(np.uint16), counts.counts * self._unit)
            for each, counts in zip(sparse, others, strict=True)
        }
        for each, own, table in zip(dense, levels, tables, strict=True):
            occupied = np.flatnonzero(table)
            found[each] = OccupiedCells(cells_at(occupied, own), table[occupied] * self._unit)
        return found
