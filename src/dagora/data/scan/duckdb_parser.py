"""Queries to a file of DuckDB, in a process of their own, which opens no other file whatever they say."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from dagora.base.errors import DataError
from dagora.base.wording import by_door
from dagora.data.scan.other_sources import arrow_batches, own_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from dagora.data.file_process import Answer, Question

# A view in a file may read, and a function may load, what its sender likes.
CLOSED = {"enable_external_access": "false", "lock_configuration": "true"}


def connect(file: str) -> Any:  # noqa: ANN401 (DuckDB's own)
    """Open a file for reading only."""
    import duckdb

    return duckdb.connect(file, read_only=True, config=CLOSED)


def answer_query(question: Question) -> Answer:
    """The rows of a query."""
    import duckdb

    try:
        connection = connect(question["file"])
        rows: Any = arrow_batches(connection, question["query"])
    except duckdb.Error as problem:
        raise told(problem) from None

    def batches() -> Iterator[pa.RecordBatch]:
        with closing(connection):
            try:
                yield from rows
            except duckdb.Error as problem:
                raise told(problem) from None

    return {}, (rows.schema, batches())


def answer_statements(question: Question) -> Answer:
    """The number of statements of a query."""
    import duckdb

    try:
        with closing(connect(question["file"])) as connection:
            return {"number": len(connection.extract_statements(question["query"]))}, None
    except duckdb.Error as problem:
        raise told(problem) from None


def told(problem: Exception) -> DataError:
    """The database's own line; one about another file says what to do."""
    line = own_line(problem)
    own = by_door(
        python="pass a connection of your own",
        command="in Python, pass a connection of your own to open_rows",
    )
    return DataError(f"{line}: to read other files, {own}" if "disabled" in line else line)
