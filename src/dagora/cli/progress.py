"""Progress of a running search, and its end by Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from dagora.base.budget import Budget
from dagora.base.events import Observer
from dagora.cli.live_line import live_line
from dagora.kernels.compilation import compilation

STOPPING = "\ndagora: ending with what was found; Ctrl-C again ends it at once\n"


@contextmanager
def progress(budget: Budget) -> Iterator[Observer]:
    """Show progress while the block runs; the first Ctrl-C ends the search, the second exits."""
    line = live_line()

    def stop() -> None:
        budget.stop("it was interrupted")
        if not line.silent and not compilation.lately:  # which ends the command at once (`ctrl_c`)
            # A line of its own and no stream's: this may be in the midst of another write.
            os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, STOPPING.encode())

    with interruptible(stop):
        yield line
    line.phase("finishing")


@contextmanager
def interruptible(stop: Callable[[], None], by: signal.Signals = signal.SIGINT) -> Iterator[None]:
    """Let the first Ctrl-C in a block call `stop`, and the second end the command (`ctrl_c`).

    `by` is the signal, where it is another one.
    """

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        signal.signal(by, previous)
        stop()

    previous = signal.signal(by, interrupt)
    try:
        yield
    finally:
        signal.signal(by, previous)
