"""The state of compilation in this process, set by `decorators` and shown by the command.

The first run of an installation compiles for up to a minute. No learner waits for this, so it is a state to
look up and not an event.
"""

from __future__ import annotations

import contextlib
import gc
import math
import subprocess
import threading
import time
from collections.abc import Callable

# A search compiles one kernel after the other: a shorter pause in seconds is not the end of it.
PAUSE_SECONDS = 0.5
# Seconds after which a helper is given up; its kernels are then compiled here.
LONGEST_WAIT = 300.0

StartHelper = Callable[[], subprocess.Popen[bytes] | None]


class Compilation:
    """The state of compilation in this process.

    >>> compilation = Compilation()
    >>> compilation.lately
    False
    >>> compilation.begin()
    >>> compilation.now, compilation.describe()
    (True, 'compiling kernels, once per installation')
    >>> compilation.end()
    >>> compilation.now, compilation.lately
    (False, True)
    """

    def __init__(self) -> None:
        self.kept = True  # False if the next process must compile again
        self.patient = True  # False if kernels are compiled however little they have to do
        self._lock = threading.Lock()  # kernels are also compiled in threads
        self._running = 0
        self._collects = True  # whether Python looked for garbage before
        self.ended = -PAUSE_SECONDS  # the time at which a kernel was last compiled
        self._start_helper: StartHelper | None = None
        self._helper: subprocess.Popen[bytes] | None = None

    def on_begin(self, start_helper: StartHelper) -> None:
        """Start a process that compiles other kernels as soon as this one has to compile its first."""
        self._start_helper = start_helper

    def begin(self) -> None:
        """Note that a kernel is about to be compiled, perhaps within another."""
        with self._lock:
            self._running += 1
            if self._running == 1:
                # Compiling makes many objects but hardly any garbage: looking for that takes a tenth of it.
                self._collects = gc.isenabled()
                gc.disable()
        self.start_helper()

    def start_helper(self) -> None:
        """Start the helper, unless it was started before or there is none."""
        with self._lock:
            start, self._start_helper = self._start_helper, None
        if start is not None:
            self._helper = start()

    def end(self) -> None:
        """Note that a kernel was compiled."""
        with self._lock:
            self._running -= 1
            self.ended = time.monotonic()
            if self._running == 0 and self._collects:
                gc.enable()

    def wait_for_helper(self, seconds: float = math.inf) -> None:
        """Wait for the kernels that the helper compiles, which would otherwise be compiled here once more."""
        if self._helper is None:
            return
        self.begin()
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._helper.wait(min(seconds, LONGEST_WAIT))
        finally:
            self.end()

    def end_helper(self) -> None:
        """End the helper, if it still runs, by closing its standard input."""
        helper, self._helper, self._start_helper = self._helper, None, None
        if helper is not None:
            helper.communicate()

    @property
    def now(self) -> bool:
        """True while a kernel is being compiled."""
        return self._running > 0

    @property
    def lately(self) -> bool:
        """True while a kernel is being compiled, and for a moment after it, as another may follow."""
        return self.now or time.monotonic() - self.ended < PAUSE_SECONDS

    def describe(self) -> str:
        """A message for the user."""
        return f"compiling kernels{', once per installation' if self.kept else ''}"


compilation = Compilation()
