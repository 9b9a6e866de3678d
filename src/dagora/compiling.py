"""Whether kernels are being compiled at this moment: `compiled` tells it here, and the command asks.

The first run of an installation compiles for up to a minute. No learner waits for this, so it is a fact to
look up and no event to handle.
"""

from __future__ import annotations

import threading
import time

# A search compiles one kernel after the other: a pause of this many seconds is not the end of it.
PAUSE_SECONDS = 0.5


class Compilation:
    """What is being compiled in this process.

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
        self.kept = True  # whether what is compiled is there again in the next process
        self._lock = threading.Lock()  # kernels are also compiled in threads
        self._running = 0
        self._ended = -PAUSE_SECONDS

    def begin(self) -> None:
        """A kernel is about to be compiled, perhaps within another."""
        with self._lock:
            self._running += 1

    def end(self) -> None:
        """A kernel was compiled."""
        with self._lock:
            self._running -= 1
            self._ended = time.monotonic()

    @property
    def now(self) -> bool:
        """Whether a kernel is being compiled."""
        return self._running > 0

    @property
    def lately(self) -> bool:
        """Whether a kernel is being compiled, or was a moment ago, so that another may follow."""
        return self.now or time.monotonic() - self._ended < PAUSE_SECONDS

    def describe(self) -> str:
        """What goes on, in words."""
        return f"compiling kernels{', once per installation' if self.kept else ''}"


compilation = Compilation()
