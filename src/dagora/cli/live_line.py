"""The line on standard error that says what a command is doing, from its first second on.

A thread keeps the line alive, whatever the command itself is busy with: importing, reading, compiling, or
searching. In a terminal the line is updated in place, and makes way for anything else that is printed.
Elsewhere a new line comes now and then. A command that is done before that shows nothing.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, TypeVar, cast

import click

from dagora.base.events import Event
from dagora.base.phrases import printable
from dagora.cli.terminal import echo
from dagora.kernels.compilation import compilation

FIRST_SECONDS = 0.6  # before the first line in a terminal
PATIENCE_ELSEWHERE = 1.5  # times as long where a line cannot be taken back
TERMINAL_EVERY = 0.1  # seconds between updates in a terminal
PLAIN_EVERY = 5.0  # seconds between lines elsewhere
PROGRESS = re.compile(r"(?!dagora: |written: )(.*)  \d+ s")  # as `describe` writes it
CLEAR = "\r\x1b[2K"

T = TypeVar("T")


class LiveLine:
    """Shows the last event, or the phase that the command is in, with the seconds since its start."""

    def __init__(self) -> None:
        self.found = False  # whether a search has reported a score, so that there is something to return
        self._stream: TextIO = sys.stderr
        self._terminal = self._stream.isatty()
        self._started = time.monotonic()
        self._shown: float | None = None
        self._live = False  # whether the line stands in the terminal now
        self._at_line_start = True
        self._silent = False
        self._state: Event | str = "starting"
        self._lock = threading.RLock()
        self._over = threading.Event()

    def __call__(self, event: Event) -> None:
        """Take note of an event, and show it if it is time to."""
        self.found = self.found or event.score is not None
        self._state = event
        self._show_if_due()

    def phase(self, text: str) -> None:
        """Say what begins now, until the next event."""
        self._state = text

    def pass_on(self, line: str) -> None:
        """Pass on what another `dagora` says: its progress as this one's, anything else as it stands."""
        if said := PROGRESS.fullmatch(line):
            self.phase(said[1])
        else:
            echo(line, err=True)

    def silence(self) -> None:
        """Show nothing any more."""
        with self._lock:
            self._silent = True
            self.clear()

    @property
    def silent(self) -> bool:
        """True if nothing is to be shown."""
        return self._silent

    def clear(self) -> None:
        """Remove the line from the terminal."""
        with self._lock:
            if self._live:
                self._live = False
                self._write(CLEAR)

    @contextmanager
    def alive(self) -> Iterator[None]:
        """Keep the line alive in this block, and remove it at the end."""
        thread = threading.Thread(target=self._beat, name="live line", daemon=True)
        thread.start()
        try:
            with self._guarded_streams():
                yield
        finally:
            self._over.set()
            thread.join()
            self.clear()

    def around(self, text: str, write: Callable[[str], T]) -> T:
        """Write something else to the terminal, for which the line makes way."""
        with self._lock:
            self.clear()
            self._at_line_start = text.endswith("\n") or (not text and self._at_line_start)
            return write(text)

    def _beat(self) -> None:
        while not self._over.wait(TERMINAL_EVERY):
            self._show_if_due()

    def _show_if_due(self) -> None:
        now = time.monotonic()
        # A thread that cannot have the lock at once need not wait: another one is writing.
        if not self._is_due(now) or not self._lock.acquire(blocking=False):
            return
        try:
            if self._is_due(now):
                self._shown = now
                self._draw(now - self._started)
        finally:
            self._lock.release()

    def _is_due(self, now: float) -> bool:
        if self._silent or not self._at_line_start:
            return False
        if self._shown is None:
            wait = FIRST_SECONDS if self._terminal else PATIENCE_ELSEWHERE * FIRST_SECONDS
            return now - self._started >= wait
        return now - self._shown >= (TERMINAL_EVERY if self._terminal else PLAIN_EVERY)

    def _draw(self, seconds: float) -> None:
        text = printable(describe(compilation.describe() if compilation.now else self._state, seconds))
        if self._terminal:
            self._write(f"{CLEAR}{text[: shutil.get_terminal_size().columns - 1]}")
            self._live = True
        else:
            self._write(f"{text}\n")

    def _write(self, text: str) -> None:
        # A terminal that was closed must not end the work.
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(text)
            self._stream.flush()

    @contextmanager
    def _guarded_streams(self) -> Iterator[None]:
        """Let whatever is printed in a terminal ask the line to make way."""
        if not self._terminal:
            yield
            return
        streams = sys.stdout, sys.stderr
        if sys.stdout.isatty():
            sys.stdout = cast("TextIO", GuardedStream(sys.stdout, self))
        sys.stderr = cast("TextIO", GuardedStream(sys.stderr, self))
        try:
            yield
        finally:
            sys.stdout, sys.stderr = streams


class GuardedStream:
    """A stream to the terminal in which the live line stands."""

    def __init__(self, stream: TextIO, line: LiveLine) -> None:
        self._stream = stream
        self._line = line

    def write(self, text: str) -> int:
        """Write text where the live line stood."""
        return self._line.around(text, self._stream.write)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (everything else is the stream's own)
        return getattr(self._stream, name)


def describe(state: Event | str, seconds: float) -> str:
    """One line about an event or a phase.

    >>> describe(Event("climbing", 12, score=-103.25), 4.2)
    'climbing  step 12  score -103.250  4 s'
    >>> describe(Event("scoring", 5, total=20), 4.2)
    'scoring  █████░░░░░░░░░░░░░░░ 25 %  4 s'
    >>> describe("reading patients.csv", 1.2)
    'reading patients.csv  1 s'
    """
    parts = [state] if isinstance(state, str) else parts_of(state)
    return "  ".join([*parts, f"{seconds:.0f} s"])


def parts_of(event: Event) -> list[str]:
    """The pieces of text about an event."""
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
    return parts


def live_line() -> LiveLine:
    """The line of the command that runs now."""
    context = click.get_current_context(silent=True)
    return (context and context.find_object(LiveLine)) or LiveLine()


def quiet_option(
    help_text: str = "Show no progress.", *, passed: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option --quiet, which silences the line; `passed` says whether the command gets it as well."""

    def take(_context: click.Context, _parameter: click.Parameter, value: bool) -> bool:
        if value:
            live_line().silence()
        return value

    return click.option("--quiet", is_flag=True, expose_value=passed, callback=take, help=help_text)
