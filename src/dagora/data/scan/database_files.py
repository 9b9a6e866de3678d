"""Files of databases, queried in a process of their own: a cursor as `QueriedRows` needs one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dagora.data.file_limits import Limits, most_memory
from dagora.data.file_process import FileProcess, file_process
from dagora.data.readers import naming

if TYPE_CHECKING:
    import pyarrow as pa


def limits_of(file: Path) -> dict[str, int]:
    """The limits of a query to a file, as its question says them."""
    return {"most_memory": most_memory(), "most_seconds": Limits.of(file).query_seconds}


class FileCursor:
    """One query to a file, asked as `kind` in `data/file_questions.py`.

    Its process is free again once all rows were read.
    """

    def __init__(self, file: Path, kind: str) -> None:
        self._file = file
        self._kind = kind
        self._end = ExitStack()
        self._process: FileProcess = self._end.enter_context(file_process())
        self._batches: Iterator[pa.RecordBatch] = iter(())

    def execute(self, query: str, **more: Any) -> None:  # noqa: ANN401
        """Ask the query, within the limits of its file."""
        with naming(self._file):
            self._process.ask(self._kind, self._file, query=query, **limits_of(self._file), **more)
            self.schema, self._batches = self._process.rows()

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        with naming(self._file):
            yield from self._batches

    def close(self) -> None:
        """Give the process back; one that has more rows is ended."""
        with self._end:
            next(self._batches, None)
