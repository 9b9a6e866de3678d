"""Rows in a file of SQLite, which is opened for reading only."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import quote as quote_path

from dagora.base.errors import DataError, OptionError
from dagora.base.phrases import among
from dagora.base.wording import option
from dagora.data.columns.frames import one_line
from dagora.data.scan.other_sources import QueriedRows, query_of

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
    try:
        connection = sqlite3.connect(
            f"file:{quote_path(str(file.resolve()))}?mode=ro", uri=True, check_same_thread=False
        )
        found = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        tables = sorted(name for (name,) in found if not name.startswith("sqlite_"))
    except sqlite3.Error as problem:
        raise DataError(f"{file}: {one_line(problem)}") from None
    if not tables:
        raise DataError(f"{file}: there is no table in it: it is no file of SQLite, or an empty one")
    if table is None and query is None:
        if len(tables) != 1:
            raise OptionError(f"{file} needs {option('table')} or {option('query')}: {among(tables)}")
        (table,) = tables
    return QueriedRows(connection, query_of(table, query), str(file), file)
