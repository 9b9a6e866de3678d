"""Open rows that need not fit into memory, to learn from them as from a table."""

from __future__ import annotations

from typing import Any, cast

from dagora.base.errors import announce
from dagora.data.columns.reading_options import ReadingOptions, takes_reading
from dagora.data.scan.row_sample import sample_source
from dagora.data.table import Table
from dagora.learners.checks import check_circumstances
from dagora.stats.row_sources import database_of, source_of
from dagora.stats.scan.first_pass import scan_source
from dagora.stats.scan.scan_statistics import ScanStatistics


@takes_reading()
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
    themselves do not: take a `sample`. Groups, ranks and intervals (`discretise`) go with a sample only.

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
    >>> from pathlib import Path
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
