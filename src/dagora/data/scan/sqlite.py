"""Rows in a file of SQLite, which a process of its own opens for reading only."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dagora.base.errors import DataError, OptionError
from dagora.base.phrases import among
from dagora.base.wording import option
from dagora.data.file_process import file_process
from dagora.data.readers import naming
from dagora.data.scan.database_files import FileCursor, limits_of
from dagora.data.scan.other_sources import QueriedRows, query_of

if TYPE_CHECKING:
    import pyarrow as pa

SQLITE_PREFIX = "sqlite:"
ENDINGS = (".sqlite", ".sqlite3")


def is_sqlite(source: object) -> bool:
    """Return True if something names a file of SQLite.

    >>> is_sqlite("sqlite:shop.db"), is_sqlite("shop.sqlite"), is_sqlite("shop.csv")
    (True, True, False)
    """
    text = str(source) if isinstance(source, str | Path) else ""
    return text.startswith(SQLITE_PREFIX) or text.lower().endswith(ENDINGS)


def open_sqlite(place: str | Path, table: str | None, query: str | None) -> QueriedRows:
    """A table or a query of a file of SQLite; its only table where neither is named."""
    file = Path(str(place).removeprefix(SQLITE_PREFIX))
    if not file.is_file():
        raise DataError(f"{file}: there is no such file")
    with naming(file), file_process() as process:
        tables: list[str] = process.ask("sqlite_tables", file, **limits_of(file))["tables"]
    if not tables:
        raise DataError(f"{file}: there is no table in it: it is no file of SQLite, or an empty one")
    if table is None and query is None:
        if len(tables) != 1:
            raise OptionError(f"{file} needs {option('table')} or {option('query')}: {among(tables)}")
        (table,) = tables
    return QueriedRows(SqliteFile(file), query_of(table, query), str(file), file)


class SqliteFile:
    """A connection to a file of SQLite, as `QueriedRows` needs one."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def cursor(self) -> SqliteCursor:
        """A cursor for one query."""
        return SqliteCursor(self._file, "sqlite_query")


class SqliteCursor(FileCursor):
    """A cursor that hands out Arrow batches; SQLite states no types, so their values settle these."""

    def fetch_typed(self, query: str, schema: pa.Schema | None) -> Iterator[pa.RecordBatch]:
        """The rows of a query; columns that are in the schema have its types."""
        types = None if schema is None else base64.b64encode(schema.serialize()).decode()
        self.execute(query, types=types)
        yield from self
