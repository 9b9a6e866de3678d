"""Open rows that need not fit into memory, to learn from them as from a table."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from dagora.base.addresses import refuse_password
from dagora.base.errors import DataError, OptionError, announce
from dagora.base.wording import option
from dagora.data.columns.reading_options import ReadingOptions, takes_reading
from dagora.data.scan.duckdb_files import open_duckdb
from dagora.data.scan.file_sources import open_files
from dagora.data.scan.other_sources import LazyRows, MadeRows, QueriedRows, query_of
from dagora.data.scan.postgres import is_postgres, open_postgres
from dagora.data.scan.row_sample import sample_source
from dagora.data.scan.sqlite import is_sqlite, open_sqlite
from dagora.data.table import Table
from dagora.learners.checks import check_circumstances
from dagora.stats.partitions.dask_frames import DaskRows, is_dask
from dagora.stats.scan.first_pass import scan_source
from dagora.stats.scan.scan_statistics import ScanStatistics

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


@takes_reading("discrete", "continuous", "drop", "missing", "na", "separator", "table", "decimal", "join")
def open_rows(
    source: Any,  # noqa: ANN401 - see below
    *,
    query: str | None = None,
    sample: int | None = None,
    push_down: bool = False,
    seed: int = 0,
    jobs: int = 1,
    **reading: Any,  # noqa: ANN401
) -> ScanStatistics | Table:
    r"""Open rows that need not fit into memory: they are read anew for every round of questions.

    Methods that need counts or moments run as on a table and give the same graph. Those that need the rows
    themselves do not: take a `sample`.

    Parameters
    ----------
    source : path, pattern, address, connection, lazy frame, Dask frame or function
        A file, a folder or a pattern (`"sales/**/*.parquet"`) of Parquet, Feather, Arrow or CSV files; a
        spreadsheet, or a file of Stata, SPSS or R, which is held in memory;
        `"duckdb:FILE"`, a file of SQLite (.sqlite, or `"sqlite:FILE"`) or `"postgresql://…"` with a `table`
        or a `query` (a password comes from PGPASSWORD or ~/.pgpass, and never from the address); a connection
        to a database with either; a polars lazy frame; a Dask data frame; or a function that returns Arrow
        record batches, the same rows at every call.
    query : str, optional
        Query to a database.
    sample : int, optional
        Return a table of so many rows, drawn uniformly in one pass.
    push_down : bool, default False
        Let a database count groups and sum products itself, so that no row leaves it; that is slower.
    seed : int, default 0
        Decides which rows `sample` draws.
    jobs : int, default 1
        Threads to use; they do not change the result.
    {reading}

    Returns
    -------
    Statistics or Table
        What `learn` and the rest take as data; a Table where a `sample` was asked for.

    Examples
    --------
    >>> import tempfile
    >>> import dagora
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in range(3):
    ...         _ = Path(folder, f"{part}.csv").write_text("smoker,cough\n" + "no,0\nyes,1\n" * 20)
    ...     rows = open_rows(folder)
    ...     result = dagora.learn(rows, method="hill-climb")
    ...     some = open_rows(folder, sample=50)
    >>> rows.n_rows, rows.schema[0].levels, result.graph.edges, some
    (120, ('no', 'yes'), (('smoker', 'cough'),), Table(50 rows, 2 columns))
    """
    check_circumstances(seed, None, jobs)
    options = ReadingOptions(**reading)
    found = source_of(source, options.table, query, options.separator)
    if sample is not None:
        return cast("Table", sample_source(found, sample, seed, options)).announced()
    statistics = scan_source(found, options, jobs, database_of(found) if push_down else None)
    announce(statistics.overview.warnings)
    return statistics


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
