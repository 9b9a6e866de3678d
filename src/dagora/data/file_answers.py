"""Answer questions about files, in the process that `data/file_process.py` starts.

Each answer has its own limits, which Linux keeps: memory that can be written to (`RLIMIT_DATA`), and seconds
of processors (`RLIMIT_CPU`, also on other systems but Windows). Without a question for a while, it ends.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import sys
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from dagora.base.errors import DagoraError
from dagora.data.file_questions import ERROR, PATIENCE, QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from dagora.data.file_questions import Question

STATUS = Path("/proc/self/status")
THREADS = 8  # each has a stack, which counts as memory


def answer_questions() -> None:
    """Answer until nobody asks any more."""
    import pyarrow as pa

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks decides when this ends
    pa.set_cpu_count(min(THREADS, pa.cpu_count()))
    pa.set_io_thread_count(1)
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)  # nothing that a parser prints is an answer
        while line := next_line():
            answer(json.loads(line), out)
            out.flush()


def next_line() -> bytes:
    """The next question; waiting for it has an end, where the system has an alarm."""
    set_alarm = getattr(signal, "alarm", lambda seconds: None)  # noqa: ARG005
    set_alarm(round(2 * PATIENCE))
    line = sys.stdin.buffer.readline()
    set_alarm(0)
    return line


def answer(question: Question, out: IO[bytes]) -> None:
    """Answer one question; an error is an answer, too."""
    try:
        find = QUESTIONS[question["ask"]].load()
        limit(question["memory"], question["seconds"])
        content, rows = find(question)
    except BaseException as problem:
        content, rows = error_answer(problem), None
    out.write(json.dumps({**content, "rows_follow": rows is not None}).encode() + b"\n")
    if rows is not None:
        write_rows(*rows, out)


def write_rows(schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: IO[bytes]) -> None:
    """Write rows as an Arrow stream; where they break off, a batch without rows says why."""
    import pyarrow as pa

    with pa.ipc.new_stream(out, schema) as stream:
        try:
            for batch in batches:
                stream.write_batch(batch)
        except Exception as problem:
            nothing = pa.record_batch([pa.nulls(0, kind) for kind in schema.types], schema=schema)
            stream.write_batch(nothing, custom_metadata={ERROR: json.dumps(error_answer(problem))})


def error_answer(problem: BaseException) -> dict[str, Any]:
    """An error as an answer: our own with its mentions, which the door of the asker writes."""
    if isinstance(problem, DagoraError):
        return {"error": type(problem).__name__, "text": problem.text}
    if isinstance(problem, MemoryError) or "bad_alloc" in str(problem):
        return {"error": "", "text": "parsing it takes too much memory"}
    return {"error": "", "text": " ".join(str(problem).split()) or type(problem).__name__}


def limit(memory: int | None, seconds: int | None) -> None:
    """Limit what the next answer may take."""
    with contextlib.suppress(ImportError):  # Windows has no such limits
        import resource

        def at_most(what: int, most: int | None) -> None:
            allowed = resource.getrlimit(what)[1]  # by whoever started the program; it cannot be raised
            known = [each for each in (most, allowed) if each not in (None, resource.RLIM_INFINITY)]
            resource.setrlimit(what, (min(known, default=resource.RLIM_INFINITY), allowed))

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        used = math.ceil(time.process_time())
        at_most(resource.RLIMIT_CPU, None if seconds is None else used + seconds)
        if STATUS.exists():
            at_most(resource.RLIMIT_DATA, None if memory is None else data_bytes() + memory)


def data_bytes() -> int:
    """Bytes of memory that this process can write to, as Linux counts them."""
    lines = STATUS.read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmData:"))
