"""Rows of a source as a table in memory: all of them, or a sample drawn uniformly in one pass.

Each row of a sample has a random number, which follows from the seed and its position. The sample are the
rows with the smallest numbers, so it is the same however the rows are cut into batches. Memory is that of two
samples.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dagora.base.errors import DataError, OptionError
from dagora.base.wording import option
from dagora.data.columns.cells import is_text
from dagora.data.columns.column_names import kept_positions
from dagora.data.columns.ingest import type_columns
from dagora.data.made_tables import ReadTable, table_of
from dagora.data.scan.changes import refuse_changed
from dagora.data.scan.row_source import SaysMore, SplitsCells

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from dagora.data.columns.reading_options import ReadingOptions
    from dagora.data.scan.row_source import RowSource

# At least so many bytes of rows are added before all are put together.
MOST_ADDED = 1 << 26


def sample_source(source: RowSource, size: int, seed: int, reading: ReadingOptions) -> ReadTable:
    """A table of rows drawn uniformly, in the order of the source; all rows where there are fewer."""
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise OptionError(option="sample", value=size, must="be a whole number of rows, 1 or more")
    if reading.counts is not None:
        raise OptionError(f"a sample takes rows as they stand: leave {option('counts')} out")
    names, state = kept_names(source, reading), source.state()
    drawn = draw_rows(source, names, size, seed)
    refuse_changed(source, state)
    return type_rows(source, names, drawn, reading)


def read_source(source: RowSource, reading: ReadingOptions) -> ReadTable:
    """A table of all rows."""
    import pyarrow as pa

    names, state = kept_names(source, reading), source.state()
    batches = [wide_places(pa.Table.from_batches([batch]).select(names)) for batch in source.batches(names)]
    refuse_changed(source, state)
    if not batches:
        batches = [pa.table({name: [] for name in names})]
    return type_rows(
        source, names, pa.concat_tables(batches, promote_options="none").unify_dictionaries(), reading
    )


def kept_names(source: RowSource, reading: ReadingOptions) -> list[str]:
    """The names of the columns that are read."""
    names = list(source.schema().names)
    return [names[place] for place in kept_positions(names, reading)]


def type_rows(source: RowSource, names: list[str], rows: pa.Table, reading: ReadingOptions) -> ReadTable:
    """The table of some rows of a source."""
    schema = source.schema()
    if not rows.num_rows:
        raise DataError(f"{source.title}: there are no rows: at least one is needed")
    # Text may come as words and places, but is no list of categories.
    kinds = [schema.field(name).type for name in names]
    columns = [
        rows.column(name).cast(kind) if is_text(kind) else rows.column(name)
        for name, kind in zip(names, kinds, strict=True)
    ]
    separator = source.separator if isinstance(source, SplitsCells) else ""
    reading = replace(reading, trends=False, separated_by=separator)
    typed, overview = type_columns(names, columns, reading, text_cells=source.text_cells)
    notes = source.notes if isinstance(source, SaysMore) else ()
    return table_of(typed, replace(overview, warnings=(*notes, *overview.warnings)))


def draw_rows(source: RowSource, names: list[str], size: int, seed: int) -> pa.Table:
    """The rows with the smallest random numbers, in their own order."""
    import pyarrow as pa

    drawn = Reservoir(size, seed)
    for batch in source.batches(names):
        drawn.add(batch)
    found = drawn.rows(size)
    return pa.table({name: [] for name in names}) if found is None else found


class Reservoir:
    """The rows with the smallest random numbers of all that were added.

    A column that a later batch lacks is left out. With `as_words`, text is kept as words and places. Rows are
    put together before what was added takes much memory. Where so many rows are `expected`, those whose
    number is too large to be among the smallest are not taken at all; if fewer come, the sample may be
    smaller.
    """

    def __init__(self, size: int, seed: int, *, as_words: bool = False, expected: int | None = None) -> None:
        self._size, self._seed, self._as_words = size, seed, as_words
        self._kept: list[pa.Table] = []
        self._numbers: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)
        self._position = 0
        self._added, self._most_added = 0, MOST_ADDED
        self._limit = np.uint64(2**64 - 1)
        if expected is not None and expected > 0:
            # Six standard deviations more than are wanted: fewer come once in a billion times.
            share = (size + 6 * math.isqrt(size) + 6) / expected
            self._limit = np.uint64(min(int(share * 2.0**64), 2**64 - 1))

    def add(self, batch: pa.RecordBatch) -> None:
        """Add the next rows."""
        import pyarrow as pa

        own = random_numbers(self._seed, self._position, batch.num_rows)
        self._position += batch.num_rows
        near = np.flatnonzero(own <= self._limit)
        names = batch.schema.names
        if self._kept and self._kept[0].column_names != names:
            self._kept = [rows.select(names) for rows in self._kept]
        if len(near):
            taken = wide_places(pa.Table.from_batches([batch]).take(near))
            self._kept.append(compact_words(taken) if self._as_words else taken)
            self._added += self._kept[-1].nbytes
            self._numbers = np.concatenate([self._numbers, own[near]])
        if len(self._numbers) >= 2 * self._size or self._added > self._most_added:
            self._kept = [self._smallest(self._size)]
            self._numbers = self._numbers[self._order(self._size)]
            self._added, self._most_added = 0, max(MOST_ADDED, self._kept[0].nbytes)
            if len(self._numbers) == self._size:
                self._limit = self._numbers.max()

    def rows(self, size: int) -> pa.Table | None:
        """So many rows, or all where there are fewer; None where no batch came."""
        return self._smallest(size) if self._kept else None

    def _smallest(self, size: int) -> pa.Table:
        import pyarrow as pa

        joined = pa.concat_tables(self._kept, promote_options="none").unify_dictionaries()
        return joined.take(self._order(size))

    def _order(self, size: int) -> NDArray[np.int64]:
        """The positions of the smallest numbers, in the order of the rows."""
        return np.sort(np.argsort(self._numbers, kind="stable")[:size])


def compact_words(rows: pa.Table) -> pa.Table:
    """Rows whose text is a list of words, without those of other rows, and a place in it for each cell."""
    import pyarrow as pa

    for place, name in enumerate(rows.column_names):
        column = rows.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if is_text(column.type):
            rows = rows.set_column(place, name, column.dictionary_encode())
    return rows


def wide_places(rows: pa.Table) -> pa.Table:
    """Rows whose lists of words may grow: places of 8 bits are full after 127 words."""
    import pyarrow as pa

    for place, field in enumerate(rows.schema):
        kind = field.type
        if pa.types.is_dictionary(kind) and kind.index_type != pa.int32():
            wide = pa.dictionary(pa.int32(), kind.value_type, kind.ordered)
            rows = rows.set_column(place, field.name, rows.column(place).cast(wide))
    return rows


def random_numbers(seed: int, first: int, number: int) -> NDArray[np.uint64]:
    """Random numbers of consecutive rows, each from the seed and the row's position alone (SplitMix64).

    >>> both = random_numbers(0, 10, 4)
    >>> (both[2:] == random_numbers(0, 12, 2)).all()
    np.True_
    """
    start = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
    with np.errstate(over="ignore"):
        state = start + (np.arange(first, first + number, dtype=np.uint64) + np.uint64(1)) * np.uint64(
            0x9E3779B97F4A7C15
        )
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        found: NDArray[np.uint64] = state ^ (state >> np.uint64(31))
    return found
