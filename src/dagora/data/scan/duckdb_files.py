"""Rows in a file of DuckDB, which a process of its own opens for reading only; it opens no other file."""

from __future__ import annotations

from pathlib import Path

from dagora.base.errors import DataError
from dagora.base.extras import DUCKDB
from dagora.data.file_process import file_process
from dagora.data.readers import naming
from dagora.data.scan.database_files import FileCursor, limits_of
from dagora.data.scan.other_sources import QueriedRows, query_of


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
            said = process.ask("statements", self._file, query=query, **limits_of(self._file))
        return range(said["number"])

    def cursor(self) -> DuckdbCursor:
        """A cursor for one query."""
        return DuckdbCursor(self._file, "query")


class DuckdbCursor(FileCursor):
    """A cursor that hands out Arrow batches, with the types that DuckDB states."""

    def fetch_record_batch(self) -> DuckdbCursor:
        """The rows, with their schema."""
        return self
