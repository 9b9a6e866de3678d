"""The time that a learner may spend: it asks its `Budget` now and then whether to go on.

A time limit and Ctrl-C both exhaust the budget.
"""

from __future__ import annotations

import time


class OutOfTimeError(Exception):
    """Raised within a batch of work when the budget is exhausted; the learner catches it."""


class Budget:
    """Time that may be spent, and a switch that ends the work early.

    >>> budget = Budget(seconds=None)
    >>> budget.exhausted
    False
    >>> budget.stop("interrupted")
    >>> budget.exhausted, budget.reason
    (True, 'interrupted')
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._started = time.monotonic()
        self._limit = seconds
        self._stopped = ""
        self._whole: Budget | None = None
        self._shared: float | None = None  # the time limit of which this budget is a share
        self._shortened: float | None = None  # the time limit of which this budget is all but the end

    @property
    def elapsed(self) -> float:
        """Wall-clock seconds since the budget was made."""
        return time.monotonic() - self._started

    @property
    def limit(self) -> float | None:
        """The seconds that may be spent; None without a limit.

        >>> Budget(5).limit, Budget().limit
        (5, None)
        """
        return self._limit

    @property
    def left(self) -> float:
        """Seconds left; infinite without a limit, zero when stopped."""
        if self._stopped or (self._whole and self._whole.exhausted):
            return 0.0
        return float("inf") if self._limit is None else max(0.0, self._limit - self.elapsed)

    @property
    def exhausted(self) -> bool:
        """True if the work must end now."""
        return self.left <= 0.0

    @property
    def reason(self) -> str:
        """The reason why the work ended early, for the result's message."""
        if self._stopped:
            return self._stopped
        if self._whole is not None and (self._limit is None or self._whole.exhausted):
            return self._whole.reason
        if self._limit is None:
            return "it was not limited"
        if self._shortened is not None:
            return f"the time limit of {self._shortened:g} s was reached"
        if self._shared is not None:  # name the limit that the user gave, not the seconds of the share
            return f"its share of the time limit of {self._shared:g} s was used up"
        return f"the time limit of {self._limit:g} s was reached"

    def part(self, share: float) -> Budget:
        """A budget for one part of the work: a share of the time left, at most as long as the whole."""
        part = Budget(None if self._limit is None else self.left * share)
        part._whole = self
        part._shared = self._limit if self._shared is None else self._shared
        return part

    def but_for(self, seconds: float) -> Budget:
        """A budget for all of the work but its end, which takes so many seconds.

        >>> Budget(10).but_for(4).limit < 6.01, Budget(1).but_for(2).reason
        (True, 'the time limit of 1 s was reached')
        >>> Budget(1).but_for(0.5).but_for(2).reason
        'the time limit of 1 s was reached'
        """
        if self._limit is None:
            return self
        made = Budget(max(0.0, self.left - seconds))
        made._whole = self
        made._shortened = self._limit if self._shortened is None else self._shortened
        return made

    def at_most(self, seconds: float | None) -> Budget:
        """A budget for one part of the work: its own seconds or no limit, at most as long as the whole."""
        piece = Budget(seconds)
        piece._whole = self
        return piece

    def stop(self, reason: str) -> None:
        """End the work at the next opportunity; safe to call from a signal handler or another thread."""
        self._stopped = reason
