"""A sample of the rows that the first pass draws on its way, so that a search can be tried out in memory.

What such a trial asks for is likely to be asked by the search over all rows, too (see `screening`). Only
columns that have few distinct values so far are held, text as words, so memory is bounded: twice `MOST_CELLS`
cells of 4 or 8 bytes while rows are drawn, then 2 bytes for each of at most `MOST_CELLS`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from dagora.data.columns.ingest import is_temporal
from dagora.data.scan.cell_reader import ColumnReader
from dagora.data.scan.row_sample import Reservoir
from dagora.data.schema import Kind, Schema
from dagora.data.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

    from dagora.data.scan.codebook import Coding
    from dagora.data.scan.profile import Profile

# The most rows and cells of a sample.
MOST_ROWS, MOST_CELLS = 100_000, 4_000_000
# A sample is at most one of so many rows, as a trial on more costs more than it saves, and has at least so
# many: on fewer rows a search goes other ways, and passes are short.
ONE_OF, FEWEST_ROWS = 10, 10_000
SEED = 0


class ScreeningSample:
    """Draws rows while they are looked at; a later look at all rows draws anew."""

    def __init__(self) -> None:
        self._drawn: Reservoir | None = None

    def begin(self, columns: int, expected: int | None) -> None:
        """Begin a look at so many columns, and rows where that is known."""
        size = wanted_rows(columns, expected)
        self._drawn = Reservoir(size, SEED, as_words=True, expected=expected) if size else None

    def add(self, batch: pa.RecordBatch, profiles: Mapping[str, Profile]) -> None:
        """Draw from rows that were looked at."""
        if self._drawn is None:
            return
        names = [name for name, profile in profiles.items() if may_be_levels(profile)]
        if not names:
            self._drawn = None
            return
        with self._or_none():
            self._drawn.add(batch.select(names))

    @contextmanager
    def _or_none(self) -> Iterator[None]:
        """No sample where Arrow cannot put rows together: it only tells what to count early."""
        import pyarrow as pa

        try:
            yield
        except pa.ArrowException:
            self._drawn = None

    def table(self, codings: Sequence[Coding], schema: Schema, rows: int) -> Table | None:
        """The sample as a table, where all columns are discrete and there are rows enough."""
        size = wanted_rows(len(schema), rows)
        if not size or self._drawn is None or set(schema.kinds) != {Kind.DISCRETE}:
            return None
        drawn = None
        with self._or_none():
            drawn = self._drawn.rows(size)
        if drawn is None or drawn.num_rows < FEWEST_ROWS:
            return None
        columns = []
        for coding in codings:
            cells = drawn.column(coding.variable.name).combine_chunks()
            codes = ColumnReader(coding).read(cells)
            if codes is None:
                return None
            columns.append(codes.astype(np.uint16))
        return Table(schema, tuple(columns))


def wanted_rows(columns: int, rows: int | None) -> int:
    """The number of rows of a sample of a table; 0 if none is worth it.

    >>> wanted_rows(30, None), wanted_rows(80, 10**9), wanted_rows(30, 200_000), wanted_rows(30, 90_000)
    (100000, 50000, 20000, 0)
    """
    size = min(MOST_ROWS, MOST_CELLS // columns)
    if rows is not None:
        size = min(size, rows // ONE_OF)
    return size if size >= FEWEST_ROWS else 0


def may_be_levels(profile: Profile) -> bool:
    """Return True if a column has so few distinct values so far that they may be levels."""
    return profile.firsts is not None and not is_temporal(profile.type)
