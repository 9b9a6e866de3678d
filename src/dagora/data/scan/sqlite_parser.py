"""Queries to a file of SQLite, in a process of their own; a view may say what the file's sender likes."""

from __future__ import annotations

import base64
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote as quote_path

from dagora.base.errors import DataError
from dagora.data.columns.frames import one_line
from dagora.data.file_limits import MEMORY_OF_A_BATCH
from dagora.data.scan.other_sources import fetch_batches
from dagora.data.scan.query_limits import QueryLimits, too_large

if TYPE_CHECKING:
    import pyarrow as pa

    from dagora.data.file_questions import Answer, Question


def connect(file: str, memory: int) -> sqlite3.Connection:
    """Open a file for reading only, with views that are not trusted; nothing is written to the disk."""
    connection = sqlite3.connect(
        f"file:{quote_path(str(Path(file).resolve()))}?mode=ro", uri=True, check_same_thread=False
    )
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MEMORY_OF_A_BATCH)
    for setting in (
        "trusted_schema = OFF", "cell_size_check = ON", "temp_store = MEMORY", f"hard_heap_limit = {memory}"
    ):  # fmt: skip
        connection.execute(f"PRAGMA {setting}")
    return connection


def answer_query(question: Question) -> Answer:
    """The rows of a query."""
    import pyarrow as pa

    limits = QueryLimits(question)
    types = question["types"]
    known = None if types is None else pa.ipc.read_schema(pa.py_buffer(base64.b64decode(types)))
    with telling(limits):
        connection = connect(question["file"], limits.memory)
        cursor = connection.cursor()
        found = fetch_batches(cursor, question["query"], known)
        with limits.interrupting(connection):
            first = next(found, None)
    if first is None:
        return {}, (pa.schema([(column[0], pa.null()) for column in cursor.description]), iter(()))

    def batches() -> Iterator[pa.RecordBatch]:
        with closing(connection), limits.interrupting(connection), telling(limits):
            yield from chain([first], found)

    return {}, (first.schema, batches())


def answer_tables(question: Question) -> Answer:
    """The names of tables and views."""
    limits = QueryLimits(question)
    with (
        telling(limits),
        closing(connect(question["file"], limits.memory)) as connection,
        limits.interrupting(connection),
    ):
        found = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        names = sorted(str(name) for (name,) in found)
    return {"tables": [name for name in names if not name.startswith("sqlite_")]}, None


@contextmanager
def telling(limits: QueryLimits) -> Iterator[None]:
    """Errors of SQLite as one line; one about a limit says what to do."""
    try:
        yield
    except MemoryError:
        raise too_large() from None
    except sqlite3.Error as problem:
        line = one_line(problem)
        raise (limits.too_long() if line == "interrupted" else DataError(line)) from None
