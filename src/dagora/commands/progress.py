"""Progress on standard error: a line that is updated in a terminal, a new line now and then elsewhere."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TextIO

from dagora.events import Budget, Event, Observer, ignore

QUIET_SECONDS = 2.0  # before the first line
TERMINAL_EVERY = 0.1  # seconds between updates in a terminal
PLAIN_EVERY = 5.0  # seconds between lines elsewhere


class ProgressLine:
    """Shows events once a job has run for two seconds."""

    def __init__(self) -> None:
        self._stream: TextIO = sys.stderr
        self._terminal = self._stream.isatty()
        self._started = self._shown = time.monotonic()
        self._live = False

    def __call__(self, event: Event) -> None:
        """Show an event, unless it is too early or too soon after the last."""
        now = time.monotonic()
        pause = TERMINAL_EVERY if self._terminal else PLAIN_EVERY
        if now - self._started < QUIET_SECONDS or (now - self._shown < pause and self._live):
            return
        text = describe(event, now - self._started)
        self._stream.write(f"\r\x1b[2K{text}" if self._terminal else f"{text}\n")
        self._stream.flush()
        self._shown = now
        self._live = True

    def close(self) -> None:
        """Clear the live line."""
        if self._live and self._terminal:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()


def describe(event: Event, seconds: float) -> str:
    """One line about an event.

    >>> describe(Event("climbing", 12, score=-103.25), 4.2)
    'climbing  step 12  score -103.250  4 s'
    >>> describe(Event("scoring", 5, total=20), 4.2)
    'scoring  █████░░░░░░░░░░░░░░░ 25 %  4 s'
    """
    parts = [event.phase]
    if event.total:
        share = min(1.0, event.step / event.total)
        parts.append(f"{'█' * int(20 * share):░<20} {100 * share:.0f} %")
    else:
        parts.append(f"step {event.step}")
    if event.score is not None:
        parts.append(f"score {event.score:.3f}")
    if event.bound is not None:
        parts.append(f"bound {event.bound:.3f}")
    if event.message:
        parts.append(event.message)
    parts.append(f"{seconds:.0f} s")
    return "  ".join(parts)


@contextmanager
def progress(budget: Budget, *, quiet: bool) -> Iterator[Observer]:
    """Show progress while the block runs; the first Ctrl-C ends the search, the second exits."""
    line = None if quiet else ProgressLine()
    try:
        with interruptible(lambda: budget.stop("it was interrupted")):
            yield line or ignore
    finally:
        if line:
            line.close()


@contextmanager
def interruptible(stop: Callable[[], None]) -> Iterator[None]:
    """Let the first Ctrl-C in a block call `stop`, and the second end the command at once."""

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        stop()

    previous = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
