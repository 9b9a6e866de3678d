"""Queries to a file of DuckDB, in a process of their own, which opens no other file whatever they say."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from dagora.base.errors import DataError
from dagora.data.scan.other_sources import arrow_batches, own_line
from dagora.data.scan.query_limits import QueryLimits, own_connection, too_large

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from dagora.data.file_questions import Answer, Question

# A view in a file may read, and a function may load, what its sender likes. What does not fit into memory
# would be written beside the file, up to nine tenths of the disk.
CLOSED = {"enable_external_access": "false", "lock_configuration": "true", "temp_directory": ""}


def connect(file: str, **more: str) -> Any:  # noqa: ANN401 (DuckDB's own)
    """Open a file for reading only."""
    import duckdb

    return duckdb.connect(file, read_only=True, config={**CLOSED, **more})


def answer_query(question: Question) -> Answer:
    """The rows of a query."""
    import duckdb

    limits = QueryLimits(question)
    try:
        connection = connect(question["file"], memory_limit=f"{limits.memory >> 20}MiB")
        with limits.interrupting(connection):
            rows: Any = arrow_batches(connection, question["query"])
    except duckdb.Error as problem:
        raise query_error(problem, limits) from None

    def batches() -> Iterator[pa.RecordBatch]:
        with closing(connection), limits.interrupting(connection):
            try:
                yield from rows
            except (duckdb.Error, OSError) as problem:
                raise query_error(problem, limits) from None

    return {}, (rows.schema, batches())


def answer_statements(question: Question) -> Answer:
    """The number of statements of a query."""
    import duckdb

    limits = QueryLimits(question)
    try:
        with (
            closing(connect(question["file"], memory_limit=f"{limits.memory >> 20}MiB")) as connection,
            limits.interrupting(connection),
        ):
            return {"number": len(connection.extract_statements(question["query"]))}, None
    except duckdb.Error as problem:
        raise query_error(problem, limits) from None


def query_error(problem: Exception, limits: QueryLimits) -> DataError:
    """The database's own line; one about another file or a limit says what to do."""
    line = own_line(problem)
    if "INTERRUPT" in line:
        return limits.too_long()
    if "Out of Memory" in line:
        return too_large()
    return DataError(f"{line}: to read other files, {own_connection()}" if "disabled" in line else line)
