"""Statistics of rows that do not fit into memory: every round of questions is one pass over them.

All sets of columns that are asked for in one call are counted together, by the same kernel that counts tables
in memory, so counts are equal to the last bit; so are moments, whose blocks are the same. What was counted is
kept, and a set that was counted before costs no pass. Memory is that of what the source reads ahead, a piece
of `PIECE_ROWS` coded rows, the tables of a round (`ROUND_CELLS`), and the counts that are kept. Sets of so
many cells that they have no table take memory for every cell that occurs, which may grow with the rows.

A database shows the same rows within one transaction only. Where the connection was lost and another one is
made, all that is kept is counted again, in the pass that counts what is new, and must be the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NoReturn

import numpy as np

from dagora.base.errors import DataError, RowsUnavailableError
from dagora.base.wording import option
from dagora.data.columns.overview import Overview
from dagora.data.schema import Kind, Schema
from dagora.data.table import Table
from dagora.stats.blocks.cover import Set
from dagora.stats.blocks.in_memory import cells_of
from dagora.stats.capabilities import StatisticsCapabilities
from dagora.stats.effective_rows import EffectiveRows
from dagora.stats.indicators import IndicatorMoments, feature_starts, moment_scales
from dagora.stats.scan.kept_counts import (
    KEPT_NUMBERS,
    KeptCounts,
    OccupiedCells,
    ascending,
    in_order,
    single_columns,
)
from dagora.stats.scan.stream_counts import Counter
from dagora.stats.statistics import (
    CellCounts,
    ColumnSets,
    Contingency,
    Moments,
    flatten,
    refuse_continuous,
    running_sum,
)

# Rows of the sample that is suggested where rows are needed.
SAMPLE = 100_000
# The most numbers of counts that are made early, half of what is kept; a set has at most one of so many.
EARLY_NUMBERS, LARGEST_EARLY = KEPT_NUMBERS // 2, 16
# Moments of the same rows differ by rounding up to this, relative to the spread of their columns.
SAME_MOMENTS = 1e-9


class ScanStatistics:
    """Counts and moments of the rows of a source, one pass over them per call; `open_rows` makes it.

    `passes` says how many passes there were, the first ones included, which find the levels. `sample` is a
    table of some of the rows, where one was drawn on the way; it only tells what to count early.
    """

    def __init__(
        self,
        counter: Counter,
        schema: Schema,
        rows: int,
        overview: Overview,
        sample: Table | None = None,
        effective: EffectiveRows | None = None,
    ) -> None:
        self.sample, self._effective = sample, effective
        self._counter, self._schema, self._rows = counter, schema, rows
        self._cardinalities = schema.cardinalities
        self._kept = KeptCounts()
        self._moments: Moments | None = None
        self._transaction = counter.transaction
        self._indicators: IndicatorMoments | None = None
        self.overview = overview

    @property
    def schema(self) -> Schema:
        """The variables."""
        return self._schema

    @property
    def n_rows(self) -> int:
        """Number of rows; the effective one where they have weights."""
        return self._rows if self._effective is None else self._effective.effective

    @property
    def passes(self) -> int:
        """Passes over the rows so far."""
        return self._counter.passes

    @property
    def effort(self) -> dict[str, float]:
        """The work so far: passes, or queries if the database counts."""
        return self._counter.effort

    @property
    def message(self) -> str:
        """The message about it in a result: the queries, if the database counts."""
        return self._counter.message

    def rows(self) -> NoReturn:
        """Refuse the rows: they may be too many for memory."""
        raise RowsUnavailableError(
            f"this needs the rows themselves, and {self._counter.title} is scanned ({self._rows:,} rows): "
            f"learn from a sample of them, {option('sample', SAMPLE)} (one pass, and about "
            f"{self._sample_size} of memory)"
        )

    @property
    def _sample_size(self) -> str:
        """The memory that a sample takes, in words."""
        cell = sum(8 if variable.kind is Kind.CONTINUOUS else 2 for variable in self._schema)
        return f"{max(1, round(min(SAMPLE, self._rows) * cell / 1e6))} MB"

    def counts(self, column_sets: ColumnSets) -> CellCounts:
        """Occupied joint counts of many sets; those that were not counted before take one pass."""
        values = [found.counts for found in self._find_cells(column_sets)]
        sizes = np.array([len(counts) for counts in values], dtype=np.int64)
        return CellCounts(np.concatenate([np.empty(0, dtype=np.int64), *values]), running_sum(sizes))

    @property
    def capabilities(self) -> StatisticsCapabilities:
        """Counts of many sets in one pass, those that are kept, and moments of indicators."""
        return StatisticsCapabilities(
            overview=self.overview,
            contingencies=self.contingencies,
            knows=self.knows,
            indicator_moments=self.indicator_moments,
            design=self._effective,
        )

    def contingency(self, columns: Sequence[int]) -> Contingency:
        """Occupied cells of one set in lexicographic order, with their counts."""
        return self.contingencies([columns])[0]

    def contingencies(self, column_sets: Sequence[Sequence[int]]) -> list[Contingency]:
        """Occupied cells of many sets, with their counts, in one pass."""
        return [
            Contingency(found.cells.astype(np.int64), found.counts) for found in self._find_cells(column_sets)
        ]

    def knows(self, column_sets: Sequence[Sequence[int]]) -> bool:
        """Return True if the counts of some sets are kept, so that they take no pass."""
        return all(ascending(tuple(columns)) in self._kept for columns in column_sets)

    def count_early(self, column_sets: Sequence[Set]) -> bool:
        """Count sets that are likely to be asked for, in one pass, as far as there is room to keep them.

        Returns whether there was anything to count.
        """
        fresh = [columns for columns in map(ascending, column_sets) if columns not in self._kept]
        if not fresh:
            return False
        numbers = np.minimum(cells_of(*flatten(fresh), self._cardinalities), self._rows)
        numbers *= [len(columns) + 1 for columns in fresh]
        small = numbers <= EARLY_NUMBERS / LARGEST_EARLY
        chosen = small & (np.cumsum(np.where(small, numbers, 0)) <= EARLY_NUMBERS)
        self._keep(self._count([fresh[k] for k in np.flatnonzero(chosen).tolist()]))
        return True

    def _find_cells(self, column_sets: ColumnSets) -> list[OccupiedCells]:
        """The occupied cells of sets, from earlier passes or from one more."""
        sets = self._check_sets(column_sets)
        known = {columns: self._kept.get(columns) for columns in map(ascending, sets)}
        fresh = [columns for columns, found in known.items() if found is None]
        counted = self._count(fresh) if fresh else {}
        self._keep(counted)
        have = {columns: found for columns, found in known.items() if found is not None} | counted
        return [in_order(have[ascending(columns)], columns) for columns in sets]

    def _keep(self, counted: dict[Set, OccupiedCells]) -> None:
        """Keep counts, and those of the single columns that they are about, which need no pass any more."""
        singles = single_columns(counted)
        self._kept.keep({each: found for each, found in singles.items() if each not in self._kept} | counted)

    def moments(self) -> Moments:
        """Moments of the continuous columns, in one pass."""
        if self._moments is None:
            self._count([])
            self._moments = self._measure()
        return self._moments

    def _measure(self) -> Moments:
        columns = [k for k, variable in enumerate(self._schema) if variable.kind is Kind.CONTINUOUS]
        d = len(columns)
        return self._counter.moments(columns) if d else Moments(self.n_rows, np.zeros(d), np.zeros((d, d)))

    def _count(self, fresh: list[Set]) -> dict[Set, OccupiedCells]:
        """Count sets; in a new transaction also all that is kept, which must be as it was."""
        now = self._counter.transaction
        again = self._kept.sets if now != self._transaction else []
        sets = [*fresh, *again]
        counted = self._counter.count(sets) if sets else {}
        for columns in sorted(again, key=len):
            if not same_counts(counted.pop(columns), self._kept.get(columns)):
                names = ", ".join(f"'{self._schema[column].name}'" for column in columns)
                what = f"column {names} is" if len(columns) == 1 else f"the columns {names} are"
                raise self._change_error(f"{what} counted otherwise")
        if now != self._transaction:
            if self._moments is not None and not same_moments(self._measure(), self._moments):
                raise self._change_error("moments differ")
            known = self._indicators
            if known is not None and not same_moments(self._widen(), known.moments):
                raise self._change_error("moments of levels differ")
        self._transaction = now
        return counted

    def _change_error(self, how: str) -> DataError:
        return DataError(
            f"{self._counter.title} changed while the connection was lost ({how}): open the rows anew"
        )

    def indicator_moments(self) -> IndicatorMoments:
        """Moments of the columns, the squares of the continuous ones, and indicators of levels: one pass."""
        if self._indicators is None:
            self._count([])
            self._indicators = IndicatorMoments(self._widen(), feature_starts(self._schema))
        return self._indicators

    def _widen(self) -> Moments:
        return self._counter.feature_moments(self._schema, moment_scales(self._schema, self.moments()))

    def _check_sets(self, column_sets: ColumnSets) -> list[Set]:
        columns, offsets = flatten(column_sets)
        refuse_continuous(self._schema, self._cardinalities, columns)
        flat, bounds = columns.tolist(), offsets.tolist()
        return [tuple(flat[a:b]) for a, b in pairwise(bounds)]


def same_counts(one: OccupiedCells, other: OccupiedCells | None) -> bool:
    """Return True if two tables of a set have the same cells and counts; sums of weights but for rounding."""
    return (
        other is not None
        and np.array_equal(one.cells, other.cells)
        and (
            np.array_equal(one.counts, other.counts)
            if one.counts.dtype.kind == "i"
            else np.allclose(one.counts, other.counts, rtol=SAME_MOMENTS, atol=0.0)
        )
    )


def same_moments(one: Moments, other: Moments) -> bool:
    """Return True if moments are equal but for rounding: a database may sum rows in any order."""
    spread = np.sqrt(np.diag(other.scatter))
    # Differences from a mean are known to the last digits of the mean itself.
    digits = 4 * np.finfo(np.float64).eps * np.abs(other.mean) * np.sqrt(other.n)
    noise = SAME_MOMENTS * spread + digits
    room = np.outer(spread + noise, spread + noise) - np.outer(spread, spread)
    return bool(
        one.n == other.n
        and (np.abs(one.mean - other.mean) <= noise).all()
        and (np.abs(one.scatter - other.scatter) <= room).all()
    )
