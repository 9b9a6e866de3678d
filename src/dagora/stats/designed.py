"""Statistics of rows that have weights or belong to groups.

Sums run over weights that sum to the effective number of rows (`effective_rows`), which `n_rows` is. So a
likelihood, a penalty and a test all take the rows for as many as they are worth. The rows themselves are
refused: what looks at them would count all alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, RowsUnavailableError
from dagora.data.columns.overview import Overview
from dagora.data.designed import DesignedTable
from dagora.data.schema import Kind, Schema
from dagora.data.table import Table
from dagora.kernels.threads import Threads
from dagora.stats.basis import BasisMoments, basis_blocks, scaled_columns
from dagora.stats.capabilities import StatisticsCapabilities
from dagora.stats.coded_columns import Codes, codes_of
from dagora.stats.effective_rows import FEWEST, EffectiveRows, effective_rows
from dagora.stats.indicators import IndicatorMoments, feature_blocks, feature_starts, table_scales
from dagora.stats.moments import column_blocks
from dagora.stats.row_labels import extend_labels
from dagora.stats.statistics import (
    CellCounts,
    ColumnSets,
    Contingency,
    Moments,
    Statistics,
    flatten,
    refuse_continuous,
    running_sum,
)
from dagora.stats.table import cell_bounds
from dagora.stats.weighted_sums import count_with_weights, weighted_moments

Floats = NDArray[np.float64]

# A thread counts at least so many sets times rows of a call.
WORTH_A_THREAD = 4_000_000


class DesignStatistics:
    """Sums over the rows of a table, each with its weight.

    >>> from dagora.data.columns.row_design import RowDesign
    >>> table = Table.from_numpy([[0, 0], [0, 1], [1, 1]], names=["a", "b"], discrete=["a", "b"])
    >>> design = RowDesign(np.array([1.0, 1.0, 4.0]), by_weight="w")
    >>> statistics = DesignStatistics(DesignedTable(table, design))
    >>> statistics.n_rows, statistics.counts([(0,), (0, 1)]).values.round(3).tolist()
    (2, [0.667, 1.333, 0.333, 0.333, 1.333])
    """

    def __init__(self, designed: DesignedTable, jobs: int = 1, known: EffectiveRows | None = None) -> None:
        self.designed = designed
        self.effective = effective_rows(designed) if known is None else known
        if self.effective.effective < FEWEST:
            raise DataError(f"{self.effective.message}: at least {FEWEST} are needed")
        self._jobs = jobs
        weights = designed.design.weights
        given = np.ones(designed.n_rows) if weights is None else weights
        self.weights: Floats = given * (self.effective.effective / given.sum())
        self._cardinalities = designed.schema.cardinalities

    def in_order(self, names: Sequence[str]) -> DesignStatistics:
        """The same statistics with the columns in another order."""
        return DesignStatistics(self.designed.select(names), self._jobs, self.effective)

    @property
    def schema(self) -> Schema:
        """The table's variables."""
        return self.designed.schema

    @property
    def n_rows(self) -> int:
        """The effective number of rows."""
        return self.effective.effective

    @property
    def overview(self) -> Overview | None:
        """The overview of the table's source."""
        return self.designed.overview

    @property
    def capabilities(self) -> StatisticsCapabilities:
        """Rows in memory, their effective number, and moments of functions and indicators."""
        return StatisticsCapabilities(
            in_memory=True,
            jobs=self._jobs,
            overview=self.overview,
            basis_moments=self.basis_moments,
            indicator_moments=self.indicator_moments,
            design=self.effective,
        )

    def rows(self) -> NoReturn:
        """Refuse the rows, which whoever looks at them would take for independent and all alike."""
        raise RowsUnavailableError(
            f"this looks at single rows, and knows of no {self.designed.design.asked}: choose a method and a "
            "score that need sums only, such as auto, tabu or ges with their default scores, or pc"
        )

    @cached_property
    def _codes(self) -> Codes:
        return codes_of(self.designed.table)

    def counts(self, column_sets: ColumnSets) -> CellCounts:
        """Sums of weights in the occupied cells of many sets; those that begin alike are cheapest."""
        columns, offsets = flatten(column_sets)
        if len(offsets) == 1:
            return CellCounts(np.empty(0), offsets)
        refuse_continuous(self.schema, self._cardinalities, columns)
        bounds = cell_bounds(self._cardinalities, self.designed.n_rows, columns, offsets)
        codes = self._codes  # made once, before the threads ask for it

        def count(piece: slice) -> tuple[Floats, NDArray[np.int64]]:
            own = offsets[piece.start : piece.stop + 1]
            labels = np.empty((int(np.diff(own).max(initial=0)) + 1, codes.shape[1]), dtype=np.int32)
            out, sizes = np.empty(int(bounds[piece].sum())), np.empty(len(own) - 1, dtype=np.int64)
            written = count_with_weights(
                codes, self._cardinalities, self.weights, columns, own, labels, out, sizes
            )
            return out[:written], sizes

        with Threads(self._jobs) as threads:
            pieces = threads.pieces(len(bounds), max(1, WORTH_A_THREAD // max(1, codes.shape[1])))
            parts = threads.map(count, pieces)
        return CellCounts(
            np.concatenate([values for values, _ in parts]),
            running_sum(np.concatenate([sizes for _, sizes in parts])),
        )

    def contingency(self, columns: Sequence[int]) -> Contingency:
        """Sums of weights in the occupied cells of one set, in lexicographic order."""
        chosen = np.array(columns, dtype=np.int64)
        refuse_continuous(self.schema, self._cardinalities, chosen)
        labels, occupied = np.zeros(self.designed.n_rows, dtype=np.int32), 1
        for column in columns:
            split = np.empty_like(labels)
            code = self._codes[column]
            occupied = len(extend_labels(labels, occupied, code, int(self._cardinalities[column]), split))
            labels = split
        example = np.empty(occupied, dtype=np.int64)
        example[labels] = np.arange(len(labels))
        cells = self._codes[chosen][:, example].T.astype(np.int64)
        return Contingency(cells, np.bincount(labels, self.weights, occupied))

    def moments(self) -> Moments:
        """Moments of the continuous columns, with weights."""
        return self._moments

    @cached_property
    def _moments(self) -> Moments:
        table = self.designed.table
        columns = [
            column
            for variable, column in zip(table.schema, table.columns, strict=True)
            if variable.kind is Kind.CONTINUOUS
        ]
        return weighted_moments(lambda: column_blocks(columns), self.weights, self.n_rows)

    def basis_moments(self, functions: int) -> BasisMoments:
        """Moments of that many basis functions of each continuous column, with weights."""
        columns, centre, half_width = scaled_columns(self.designed.table)
        moments = weighted_moments(
            lambda: basis_blocks(columns, centre, half_width, functions), self.weights, self.n_rows
        )
        return BasisMoments(functions, centre, half_width, moments)

    def indicator_moments(self) -> IndicatorMoments:
        """Moments of the columns, the squares of the continuous ones, and indicators of levels."""
        table = self.designed.table
        scales = table_scales(table)
        moments = weighted_moments(
            lambda: feature_blocks(table.schema, scales, table.columns), self.weights, self.n_rows
        )
        return IndicatorMoments(moments, feature_starts(table.schema))


def rows_with_weights(statistics: Statistics) -> tuple[Table, Floats | None]:
    """The rows, and their weights where they have any: for what gives each row its weight."""
    if isinstance(statistics, DesignStatistics):
        return statistics.designed.table, statistics.weights
    return statistics.rows(), None
