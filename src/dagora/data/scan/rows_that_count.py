"""Scanned rows of which a column says how they count: each is repeated, or has a weight.

A column of counts is read with the others, and the rows are handed out as often as it says, a slice at a
time. So every type, count and moment is that of a table with as many equal rows. Of rows with weights those
of weight 0 are left out; whoever asks for the column of weights gets it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dagora.base.errors import DataError
from dagora.base.wording import option
from dagora.data.columns.column_names import check_about_rows, check_names
from dagora.data.columns.counted_rows import read_counts
from dagora.data.columns.decimal_mark import numbers_by_mark
from dagora.data.columns.row_design import checked_weights
from dagora.data.scan.row_source import InTransactions, SaysMore, SplitsCells

if TYPE_CHECKING:
    import pyarrow as pa

    from dagora.data.columns.reading_options import ReadingOptions
    from dagora.data.scan.row_source import RowSource

# Repeated rows that are handed out at a time.
SLICE = 1 << 16
# A pass takes 20 CPU seconds per 10⁹ rows of two columns for repeating them alone.
MOST_REPEATED = 1 << 29


class RowsThatCount(ABC):
    """A source without the column that says how its rows count."""

    def __init__(self, source: RowSource, column: str, reading: ReadingOptions) -> None:
        self._source, self.column, self._reading = source, column, reading
        self.title, self.text_cells = source.title, source.text_cells
        self.separator = source.separator if isinstance(source, SplitsCells) else ""

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of the reader of the source."""
        return self._source.notes if isinstance(self._source, SaysMore) else ()

    @property
    def transaction(self) -> int:
        """The number of the transaction of the next pass; 0 where the source knows none."""
        return self._source.transaction if isinstance(self._source, InTransactions) else 0

    def schema(self) -> pa.Schema:
        """Names and types of the other columns."""
        import pyarrow as pa

        return pa.schema([each for each in self._source.schema() if each.name.strip() != self.column])

    def state(self) -> object:
        """A value that changes when the rows may have changed."""
        return self._source.state()

    def _read(self, columns: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, pa.ChunkedArray, int]]:
        """Batches with the cells of the column that says how rows count, and the rows before each."""
        import pyarrow as pa

        own = next(name for name in self._source.schema().names if name.strip() == self.column)
        begin = 0
        for batch in self._source.batches(list(dict.fromkeys([*columns, own]))):
            cells = pa.chunked_array([batch.column(own)])
            yield batch, numbers_by_mark(self.column, cells, {}, self._reading), begin
            begin += batch.num_rows

    @abstractmethod
    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of some columns."""


class RepeatedRows(RowsThatCount):
    """The rows of a source, each as often as a column says."""

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of some columns, repeated."""
        import pyarrow as pa

        seen = 0
        for batch, cells, begin in self._read(columns):
            until = np.cumsum(read_counts(self.column, cells, begin))
            total = int(until[-1]) if len(until) else 0
            seen += total
            if seen > MOST_REPEATED:
                raise DataError(
                    f"{option('counts', self.column)}: the rows stand for {seen:,} rows or more, and at most "
                    f"{MOST_REPEATED:,} are repeated; a table of levels alone in a folder of its own is "
                    "taken as counts: name the folder"
                )
            for start in range(0, total, SLICE):
                places = np.arange(start, min(start + SLICE, total))
                yield batch.select(list(columns)).take(pa.array(np.searchsorted(until, places, "right")))
        if not seen:
            raise DataError(f"{option('counts', self.column)}: all counts are 0, so there is no row")


class WeighedRows(RowsThatCount):
    """The rows of a source whose weights are not 0."""

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of some columns, the weights among them where they are named."""
        import pyarrow as pa

        found = False
        for batch, cells, begin in self._read(columns):
            weights = checked_weights(self.column, cells, begin)
            found = found or bool(weights.any())
            some = batch.select(list(columns))
            if self.column in columns:
                some = some.set_column(columns.index(self.column), self.column, pa.array(weights))
            yield some if weights.all() else some.filter(pa.array(weights > 0))
        if not found:
            raise DataError(f"{option('weights', self.column)}: all weights are 0, so there is no row")


def rows_that_count(source: RowSource, reading: ReadingOptions) -> RowSource:
    """The source, with rows repeated or weighed where the reading options ask for it."""
    for what, kind in (("counts", RepeatedRows), ("weights", WeighedRows)):
        if what in reading.about_rows:
            names = check_names(source.schema().names)
            return kind(source, names[check_about_rows(what, names, reading)], reading)
    return source
