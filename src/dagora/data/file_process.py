"""Parse files from outside in a process of their own, with limits on its memory and its time.

Parsers of binary files are written in C, C++ or Rust. A damaged file can end the process that parses it, fill
the memory or keep a processor busy: none of that concerns the process that asks. A question is a line of
JSON, answered by one; rows follow as an Arrow stream. `data/file_answers.py` is the other end.

A process that has answered waits a few seconds for the next question, as starting one takes a third of a
second. It may do what its user may do: it is no wall against code that a file brings to run. What it may be
asked, and what an answer holds, stands in `data/file_questions.py`; its limits, in `data/file_limits.py`.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn, cast

from dagora.base import errors
from dagora.base.errors import DagoraError, DataError
from dagora.data.file_limits import MEMORY_OF_A_BATCH, Limits, most_memory
from dagora.data.file_questions import ERROR, PATIENCE, QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from dagora.data.file_questions import Rows

SCRIPT = (
    "import sys; sys.path[:] = sys.argv[1:]; "
    "from dagora.data.file_answers import answer_questions; answer_questions()"
)
# Linux counts what a program may write to as its data; Arrow's own allocator reserves a gigabyte of that.
ENVIRONMENT = {"ARROW_DEFAULT_MEMORY_POOL": "system"}
PIPE_BYTES = 1 << 20
# Processes at a time, and seconds that a reader waits for its turn.
MOST_PROCESSES, TURN_SECONDS = 16, 60.0
LONGEST_ANSWER = 1 << 28  # bytes of a line: the names and types of millions of columns
ODD_ANSWER = "its parser gave an odd answer"


class BoundedStream:
    """The bytes that a process writes, bounded: it is the process that says how many to read at a time."""

    closed = False

    def __init__(self, source: IO[bytes], most: int) -> None:
        self._source, self._most = source, most

    def read(self, size: int) -> bytes:
        """So many bytes, or fewer at the end; more than the process may hold is refused."""
        if not 0 <= size <= self._most:
            raise OSError(ODD_ANSWER)
        return self._source.read(size)

    def readable(self) -> bool:
        """Return True."""
        return True


class FileProcess:
    """A process that answers questions about files."""

    def __init__(self) -> None:
        if not sys.executable:
            raise DataError(
                "a process of its own parses it, and this program does not say where Python is "
                "(sys.executable): write it as .csv and give that file"
            )
        try:
            self._process = subprocess.Popen(  # noqa: S603 (our own program)
                [sys.executable, "-c", SCRIPT, *sys.path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **ENVIRONMENT},
                pipesize=PIPE_BYTES,
            )
        except OSError as problem:
            raise DataError(f"no process can be started to parse it: {problem.strerror}") from None
        self._most_memory = 0
        self.is_free = True
        self.since = time.monotonic()

    @property
    def _answers(self) -> IO[bytes]:
        return cast("IO[bytes]", self._process.stdout)

    @property
    def is_alive(self) -> bool:
        """True if it can be asked."""
        return self._process.poll() is None

    def ask(self, what: str, file: Path, *, memory: int | None = None, **more: Any) -> dict[str, Any]:  # noqa: ANN401
        """Ask about a file; `memory` is what the answer may take, where there is a limit."""
        if file.exists() and not (file.is_file() or file.is_dir()):
            raise DataError("it is a pipe or a device, of which only text is read: write it to a file first")
        with file.open("rb"):  # whoever may not read it is told so here
            pass
        self._most_memory, seconds = memory or 0, None
        if memory is not None:
            self._most_memory = memory = min(memory, most_memory())
            seconds = Limits.of(file).seconds
        question = {"ask": what, "file": str(file.absolute()), "memory": memory, "seconds": seconds, **more}
        line = cast("IO[bytes]", self._process.stdin)
        self.is_free = False
        with contextlib.suppress(BrokenPipeError):  # what ended it is told below
            line.write(json.dumps(question).encode() + b"\n")
            line.flush()
        said = self._answers.readline(LONGEST_ANSWER)
        if not said.endswith(b"\n"):
            raise self._error_at_end()
        try:
            answer: dict[str, Any] = json.loads(said)
        except (ValueError, RecursionError):  # something else writes to its standard output
            raise self._error_at_end() from None
        if not QUESTIONS[what].holds(answer):
            raise damaged_file(ODD_ANSWER)
        self.is_free = not answer.get("rows_follow")
        refuse(answer)
        return answer

    def rows(self) -> Rows:
        """The schema and the rows that follow an answer."""
        import pyarrow as pa

        try:
            most = (self._most_memory or most_memory()) + MEMORY_OF_A_BATCH
            stream = pa.ipc.open_stream(BoundedStream(self._answers, most))
        except (pa.ArrowException, OSError):
            raise self._error_at_end() from None
        return stream.schema, self._batches(stream)

    def _batches(self, stream: pa.RecordBatchStreamReader) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        try:
            while True:
                batch, more = stream.read_next_batch_with_custom_metadata()
                if more is not None and ERROR in more:
                    refuse_break(more[ERROR])
                batch.validate(full=True)  # one that is damaged would end who takes it as it is
                yield batch
        except StopIteration:
            self.is_free = True
        except (pa.ArrowException, OSError):
            raise self._error_at_end() from None

    def _error_at_end(self) -> DataError:
        """The error about a process that ended before its answer did."""
        self._process.kill()
        code = self._process.wait()
        if code == -getattr(signal, "SIGXCPU", 0):
            return damaged_file("parsing it takes too long")
        most = f", or took more than {self._most_memory >> 20} MiB of memory" if self._most_memory else ""
        return damaged_file(f"parsing it failed{most}")

    def end(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.communicate()


def refuse(answer: dict[str, Any]) -> None:
    """Raise the error that an answer holds, if it holds one."""
    if "error" not in answer:
        return
    kind = getattr(errors, answer["error"], None)
    if isinstance(kind, type) and issubclass(kind, DagoraError):
        raise kind(answer["text"])
    raise damaged_file(answer["text"])


def refuse_break(said: bytes) -> NoReturn:
    """Raise the error for which rows break off."""
    try:
        answer = json.loads(said)
    except (ValueError, RecursionError):
        answer = None
    if QUESTIONS["batches"].holds(answer):
        refuse(answer)
    raise damaged_file(ODD_ANSWER)


def damaged_file(why: str) -> DataError:
    """The error about a file that cannot be parsed."""
    return DataError(f"the file cannot be read, it may be damaged: {why}")


class KeptProcess:
    """At most one process that waits for a question; `turns` limits those that answer at a time."""

    def __init__(self) -> None:
        self._waiting: FileProcess | None
        self._forget()
        atexit.register(self.end)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def take(self) -> FileProcess:
        """The process that waits, or a new one."""
        with self._lock:
            found, self._waiting = self._waiting, None
        if found is not None and found.is_alive and time.monotonic() - found.since < PATIENCE:
            return found
        if found is not None:
            found.end()
        return FileProcess()

    def keep(self, process: FileProcess) -> None:
        """Let a process wait, unless another does or it has not finished."""
        process.since = time.monotonic()
        with self._lock:
            if process.is_free and self._waiting is None:
                self._waiting = process
                return
        process.end()

    def end(self) -> None:
        """End the process that waits."""
        with self._lock:
            found, self._waiting = self._waiting, None
        if found is not None:
            found.end()

    def _forget(self) -> None:
        """Leave the process, and the turns that are taken, to the program that was forked."""
        self._lock, self._waiting = threading.Lock(), None
        self.turns = threading.BoundedSemaphore(MOST_PROCESSES)


_kept = KeptProcess()


@contextlib.contextmanager
def file_process() -> Iterator[FileProcess]:
    """A process that answers questions about files; one more than there may be waits for its turn."""
    turns = _kept.turns  # those of a fork are others
    if not turns.acquire(timeout=TURN_SECONDS):
        raise DataError(f"{MOST_PROCESSES} other files are being read: try again when one of them is done")
    try:
        process = _kept.take()
        try:
            yield process
        finally:
            _kept.keep(process)
    finally:
        turns.release()
