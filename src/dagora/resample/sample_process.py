"""A process that learns from samples: it reads what to do, and writes the graphs, until its input ends.

First comes what is to be learned from, once; then, for each sample, its number and the seconds that are left.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
from dataclasses import dataclass
from queue import SimpleQueue
from typing import BinaryIO

from dagora.errors import DagoraError
from dagora.events import Budget
from dagora.preparing import Prepared
from dagora.resample.one_sample import Learned, learn_sample

# It imports from where its parent does, and never from the folder in which it is called.
SCRIPT = """
import sys
sys.path = sys.argv[1:]
from dagora.resample.sample_process import serve
serve()
"""


@dataclass(frozen=True)
class Work:
    """What all samples have in common."""

    prepared: Prepared
    way: str
    seed: int


@dataclass(frozen=True)
class Failed:
    """An error, for the parent to raise."""

    message: str
    kind: type[DagoraError] = DagoraError


Asked = tuple[int, float | None]
Answered = Learned | Failed | None


def write(stream: BinaryIO, content: object) -> None:
    """Send one message."""
    pickle.dump(content, stream, protocol=pickle.HIGHEST_PROTOCOL)
    stream.flush()


def read(stream: BinaryIO) -> object:
    """Receive one message of our own process at the other end; `EOFError` where there is none any more."""
    return pickle.load(stream)  # noqa: S301


def serve() -> None:
    """Learn from samples until the parent closes the pipe, or ends."""
    # What libraries print goes to standard error, if there is one: standard output is for answers.
    errors = os.open(os.devnull, os.O_WRONLY) if sys.stderr is None else sys.stderr.fileno()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(errors, sys.stdout.fileno())
    received: SimpleQueue[object] = SimpleQueue()
    threading.Thread(target=listen, args=(received,), daemon=True).start()
    work = received.get()
    while True:
        asked = received.get()
        write(answers, answer(work, asked))  # type: ignore[arg-type]


def listen(received: SimpleQueue[object]) -> None:
    """Pass on what is read; at the end of it end this process, whatever it does."""
    while True:
        try:
            received.put(read(sys.stdin.buffer))
        except EOFError:
            os._exit(0)


def answer(work: Work, asked: Asked) -> Answered:
    """The graph of a sample, None where time was up, or what went wrong."""
    number, seconds = asked
    try:
        return learn_sample(work.prepared, work.way, work.seed, number, Budget(seconds))
    except DagoraError as error:
        return Failed(str(error), type(error))
    except Exception as error:
        return Failed(f"sample {number} failed: {type(error).__name__}: {error}")
