"""Sources of rows that need not fit into memory, by what names them: files, databases, frames, functions."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dagora.base.addresses import refuse_password
from dagora.base.errors import DataError, OptionError
from dagora.base.wording import option
from dagora.data.scan.duckdb_files import open_duckdb
from dagora.data.scan.file_sources import open_files
from dagora.data.scan.other_sources import LazyRows, MadeRows, QueriedRows, query_of
from dagora.data.scan.postgres import is_postgres, open_postgres
from dagora.data.scan.sqlite import is_sqlite, open_sqlite
from dagora.stats.partitions.dask_frames import DaskRows, is_dask

if TYPE_CHECKING:
    from dagora.data.scan.row_source import RowSource
    from dagora.stats.scan.query_counts import Database

DUCKDB_PREFIX = "duckdb:"


def is_address(source: str) -> bool:
    """Return True if a text names a database.

    >>> is_address("duckdb:shop.db"), is_address("shop.csv")
    (True, False)
    """
    return source.startswith(DUCKDB_PREFIX) or is_postgres(source) or is_sqlite(source)


def stays_outside(source: str) -> bool:
    """Return True for rows that are not read into memory: a database, a folder, or a pattern."""
    if is_address(source):
        return True
    place = Path(source)
    return place.is_dir() or (not place.exists() and glob.has_magic(source))


def database_of(source: RowSource) -> Database:
    """The source, if it is a database that can count by itself."""
    if not isinstance(source, QueriedRows):
        raise OptionError(f"{option('push_down')} is for databases: leave it out")
    source.schema()
    if not source.states_types:
        raise OptionError(
            f"{option('push_down')} is for DuckDB, PostgreSQL and connections of ADBC, which state the types "
            "of columns: leave it out"
        )
    return source


def source_of(source: Any, table: str | None, query: str | None, separator: str | None) -> RowSource:  # noqa: ANN401
    """Open the source of the rows."""
    if isinstance(source, str):
        refuse_password(source)
    if isinstance(source, str) and source.startswith(DUCKDB_PREFIX):
        return open_duckdb(source.removeprefix(DUCKDB_PREFIX), table, query)
    if is_postgres(source):
        return open_postgres(source, table, query)
    if is_sqlite(source):
        return open_sqlite(source, table, query)
    if hasattr(source, "cursor"):
        return QueriedRows(source, query_of(table, query), "the query" if table is None else f"table {table}")
    of_file = isinstance(source, str | os.PathLike)
    if query is not None or (table is not None and not of_file):
        raise OptionError(f"{option('table')} and {option('query')} are for databases: leave them out")
    if isinstance(source, str) and not source:
        raise DataError("the name of what is to be opened is empty: give a file, a folder or a pattern")
    if of_file:
        return open_files(Path(source), separator, table)
    if hasattr(source, "collect_schema") and hasattr(source, "collect_batches"):
        return LazyRows(source)
    if is_dask(source):
        return DaskRows(source)
    if callable(source):
        return MadeRows(source)
    raise DataError(
        f"an object of type {type(source).__name__} cannot be opened: give files, a database with a table or "
        "a query, a lazy frame of polars, a frame of Dask, or a function that returns record batches"
    )
