"""Limits of a query to a database's file, in the process that answers it.

The database is interrupted when the query has had its time, and keeps the limit on its memory itself. Rows on
their way out and long texts are beyond that limit, and some functions are not interrupted: Linux keeps limits
behind these, as for other files.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dagora.base.errors import DataError
from dagora.base.wording import by_door
from dagora.data.file_answers import limit
from dagora.data.file_limits import MEMORY_OF_A_BATCH

if TYPE_CHECKING:
    from dagora.data.file_questions import Question

LOOK_SECONDS = 0.5
# After an interrupt, a thread has so many seconds before Linux ends the process.
GRACE_SECONDS = 2
MEMORY_OF_A_THREAD = 1 << 24  # its stack, and what its allocator keeps


class QueryLimits:
    """The limits of one query; they begin when this is made."""

    def __init__(self, question: Question) -> None:
        threads = os.cpu_count() or 1
        self.memory: int = question["most_memory"]
        self._seconds: int = question["most_seconds"]
        self._end = time.process_time() + self._seconds
        limit(
            self.memory + MEMORY_OF_A_BATCH + threads * MEMORY_OF_A_THREAD,
            self._seconds + GRACE_SECONDS * threads,
        )

    @contextmanager
    def interrupting(self, connection: Any) -> Iterator[None]:  # noqa: ANN401
        """Interrupt a connection when its time is over; waiting for who reads the rows is free."""
        done = threading.Event()

        def watch() -> None:
            while not done.wait(LOOK_SECONDS):
                if time.process_time() > self._end:
                    connection.interrupt()

        threading.Thread(target=watch, daemon=True).start()
        try:
            yield
        finally:
            done.set()

    def too_long(self) -> DataError:
        """The error about a query that was interrupted."""
        return DataError(
            f"the query takes more than {self._seconds} seconds of processors: "
            f"without limits, {own_connection()}"
        )


def too_large() -> DataError:
    """The error about a query that takes more memory than it may."""
    return DataError(f"the query takes too much memory: without limits, {own_connection()}")


def own_connection() -> str:
    """The way to ask without limits."""
    return by_door(
        python="pass a connection of your own",
        command="in Python, pass a connection of your own to open_rows",
    )
