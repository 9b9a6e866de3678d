"""Rows of a file that can only be read whole: a spreadsheet, or a file of Stata, SPSS or R."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.readers import naming, read_raw
from dagora.data.scan.changes import state_of

if TYPE_CHECKING:
    import pyarrow as pa


class HeldRows:
    """The rows of such a file, in memory."""

    def __init__(self, file: Path, table: str | None = None) -> None:
        import pyarrow as pa

        self._file, self.title = file, str(file)
        with naming(file):
            raw = read_raw(file, ReadingOptions(table=table))
        self.text_cells, self.notes = raw.text_cells, raw.notes
        self._rows: pa.Table = pa.table(raw.columns, names=raw.names)

    def schema(self) -> pa.Schema:
        """Names and types."""
        return self._rows.schema

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of some columns."""
        yield from self._rows.select(list(columns)).to_batches()

    def expected_rows(self) -> int | None:
        """The number of rows."""
        return int(self._rows.num_rows)

    def state(self) -> object:
        """A value that changes when the file is written to."""
        return state_of([self._file])
