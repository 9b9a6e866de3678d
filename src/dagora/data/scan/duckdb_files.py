"""Rows in a file of DuckDB, which a process of its own opens for reading only; it opens no other file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from dagora.base.errors import DataError
from dagora.base.extras import DUCKDB
from dagora.data.file_limits import Limits, most_memory
from dagora.data.file_process import FileProcess, file_process
from dagora.data.readers import naming
from dagora.data.scan.other_sources import QueriedRows, query_of

if TYPE_CHECKING:
    import pyarrow as pa


def open_duckdb(place: str, table: str | None, query: str | None) -> QueriedRows:
    """A table or a query of a DuckDB file."""
    DUCKDB.require("a DuckDB file")
    file = Path(place)
    if not file.is_file():
        raise DataError(f"{file}: there is no such file")
    return QueriedRows(DuckdbFile(file), query_of(table, query), str(file), file)


class DuckdbFile:
    """A connection to a file of DuckDB, as `QueriedRows` needs one."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def extract_statements(self, query: str) -> range:
        """As many as the query has statements."""
        with naming(self._file), file_process() as process:
            return range(process.ask("statements", self._file, query=query)["number"])

    def cursor(self) -> DuckdbCursor:
        """A cursor for one query."""
        return DuckdbCursor(self._file)


class DuckdbCursor:
    """One query to a file of DuckDB; its process is free again once all rows were read."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._end = ExitStack()
        self._process: FileProcess = self._end.enter_context(file_process())
        self._batches: Iterator[pa.RecordBatch] = iter(())

    def execute(self, query: str) -> None:
        """Ask the query."""
        with naming(self._file):
            limits = {"most_memory": most_memory(), "most_seconds": Limits.of(self._file).query_seconds}
            self._process.ask("query", self._file, query=query, **limits)
            self.schema, self._batches = self._process.rows()

    def fetch_record_batch(self) -> DuckdbCursor:
        """The rows, with their schema."""
        return self

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        with naming(self._file):
            yield from self._batches

    def close(self) -> None:
        """Give the process back; one that has more rows is ended."""
        with self._end:
            next(self._batches, None)
