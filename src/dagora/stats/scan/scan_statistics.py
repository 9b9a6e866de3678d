"""Statistics of rows that do not fit into memory: every round of questions is one pass over them.

All sets of columns that are asked for in one call are counted together, by the same kernel that counts tables
in memory, so counts are equal to the last bit; so are moments, whose blocks are the same. What was counted is
kept, and a set that was counted before costs no pass. Memory is that of what the source reads ahead, a piece
of `PIECE_ROWS` coded rows, the tables of a round (`ROUND_CELLS`), and the counts that are kept. Sets of so
many cells that they have no table take memory for every cell that occurs, which may grow with the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NoReturn

import numpy as np

from dagora.data.columns.overview import Overview
from dagora.data.schema import Kind, Schema
from dagora.errors import DataError, RowsUnavailableError
from dagora.stats.blocks.cover import Set
from dagora.stats.indicators import IndicatorMoments, feature_starts, moment_scales
from dagora.stats.scan.kept_counts import KeptCounts, Occupied, ascending, in_order
from dagora.stats.scan.stream_counts import Counter
from dagora.stats.statistics import CellCounts, ColumnSets, Contingency, Moments, flatten, running_sum
from dagora.wording import option

# Rows of the sample that is suggested where rows are needed.
SAMPLE = 100_000


class ScanStatistics:
    """Counts and moments of the rows of a source, one pass over them per call; `open_rows` makes it.

    `passes` says how many passes there were, the first ones included, which find the levels.
    """

    def __init__(self, counter: Counter, schema: Schema, rows: int, overview: Overview) -> None:
        self._counter, self._schema, self._rows = counter, schema, rows
        self._cardinalities = schema.cardinalities
        self._kept = KeptCounts()
        self._moments: Moments | None = None
        self._indicators: IndicatorMoments | None = None
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
        return self._counter.passes

    @property
    def effort(self) -> dict[str, float]:
        """What it took so far: passes, or queries where the database counts."""
        return self._counter.effort

    def rows(self) -> NoReturn:
        """Refuse the rows: they may be too many for memory."""
        raise RowsUnavailableError(
            f"this needs the rows themselves, and {self._counter.title} is scanned ({self._rows:,} rows): "
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
        counted = self._counter.count(fresh) if fresh else {}
        self._kept.keep(counted)
        have = {columns: found for columns, found in known.items() if found is not None} | counted
        return [in_order(have[ascending(columns)], columns) for columns in sets]

    def moments(self) -> Moments:
        """Moments of the continuous columns, in one pass."""
        if self._moments is None:
            columns = [k for k, variable in enumerate(self._schema) if variable.kind is Kind.CONTINUOUS]
            d = len(columns)
            total = Moments(self._rows, np.zeros(d), np.zeros((d, d)))
            self._moments = self._counter.moments(columns) if d else total
        return self._moments

    def indicator_moments(self) -> IndicatorMoments:
        """Moments of the columns, the squares of the continuous ones, and indicators of levels: one pass."""
        if self._indicators is None:
            scales = moment_scales(self._schema, self.moments())
            found = self._counter.feature_moments(self._schema, scales)
            self._indicators = IndicatorMoments(found, feature_starts(self._schema))
        return self._indicators

    def _checked(self, column_sets: ColumnSets) -> list[Set]:
        columns, offsets = flatten(column_sets)
        continuous = np.flatnonzero(self._cardinalities[columns] == 0)
        if len(continuous):
            name = self._schema[int(columns[continuous[0]])].name
            raise DataError(f"column '{name}' is continuous, so it cannot be counted: discretise it first")
        flat, bounds = columns.tolist(), offsets.tolist()
        return [tuple(flat[a:b]) for a, b in pairwise(bounds)]
