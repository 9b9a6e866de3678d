"""Queries to a file of DuckDB, in a process of their own, which opens no other file whatever they say.

The database keeps the limit on its memory itself, and is interrupted when it has had its time. Rows on their
way out and long texts are beyond that limit: Linux keeps another one, as for other files.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from dagora.base.errors import DataError
from dagora.base.wording import by_door
from dagora.data.file_answers import limit
from dagora.data.file_limits import MEMORY_OF_A_BATCH
from dagora.data.scan.other_sources import arrow_batches, own_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from dagora.data.file_questions import Answer, Question

# A view in a file may read, and a function may load, what its sender likes. What does not fit into memory
# would be written beside the file, up to nine tenths of the disk.
CLOSED = {"enable_external_access": "false", "lock_configuration": "true", "temp_directory": ""}
LOOK_SECONDS = 0.5
MEMORY_OF_A_THREAD = 1 << 24  # its stack, and what its allocator keeps


def connect(file: str, **more: str) -> Any:  # noqa: ANN401 (DuckDB's own)
    """Open a file for reading only."""
    import duckdb

    return duckdb.connect(file, read_only=True, config={**CLOSED, **more})


def answer_query(question: Question) -> Answer:
    """The rows of a query."""
    import duckdb

    most = question["most_seconds"]
    threads = os.cpu_count() or 1
    limit(question["most_memory"] + MEMORY_OF_A_BATCH + threads * MEMORY_OF_A_THREAD, None)
    try:
        connection = connect(question["file"], memory_limit=f"{question['most_memory'] >> 20}MiB")
        with at_most(connection, most):
            rows: Any = arrow_batches(connection, question["query"])
    except duckdb.Error as problem:
        raise query_error(problem, most) from None

    def batches() -> Iterator[pa.RecordBatch]:
        with closing(connection), at_most(connection, most):
            try:
                yield from rows
            except (duckdb.Error, OSError) as problem:
                raise query_error(problem, most) from None

    return {}, (rows.schema, batches())


@contextmanager
def at_most(connection: Any, seconds: int) -> Iterator[None]:  # noqa: ANN401
    """Interrupt a connection after so many seconds of processors; waiting for who reads the rows is free."""
    done, end = threading.Event(), time.process_time() + seconds

    def watch() -> None:
        while not done.wait(LOOK_SECONDS):
            if time.process_time() > end:
                connection.interrupt()

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        done.set()


def answer_statements(question: Question) -> Answer:
    """The number of statements of a query."""
    import duckdb

    try:
        with closing(connect(question["file"])) as connection:
            return {"number": len(connection.extract_statements(question["query"]))}, None
    except duckdb.Error as problem:
        raise query_error(problem) from None


def query_error(problem: Exception, seconds: int = 0) -> DataError:
    """The database's own line; one about another file or a limit says what to do."""
    line = own_line(problem)
    own = by_door(
        python="pass a connection of your own",
        command="in Python, pass a connection of your own to open_rows",
    )
    if "INTERRUPT" in line:
        return DataError(f"the query takes more than {seconds} seconds of processors: without limits, {own}")
    if "Out of Memory" in line:
        return DataError(f"the query takes too much memory: without limits, {own}")
    return DataError(f"{line}: to read other files, {own}" if "disabled" in line else line)
