"""A flag that kernels look at while they run: it goes up when the budget is exhausted.

A kernel cannot read the clock, and it may take long between two looks of Python at it. So a thread watches
the budget, and the kernels, which run without the interpreter's lock, end as soon as the flag is up.
"""

from __future__ import annotations

from threading import Event, Thread
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from dagora.base.budget import Budget

# A flag: one truth value in an array, as kernels can see it change.
Flag = NDArray[np.bool_]

# Seconds between two looks at a budget, which may also be stopped from outside.
LOOK = 0.05


def never_stop() -> Flag:
    """A flag that stays down, for kernels that are to run to their end."""
    return np.zeros(1, dtype=np.bool_)


class Alarm:
    """Raises its flag when a budget is exhausted, for as long as the `with` block lasts.

    >>> budget = Budget()
    >>> with Alarm(budget) as flag:
    ...     before = bool(flag[0])
    ...     budget.stop("interrupted")
    ...     while not flag[0]:
    ...         pass
    >>> before
    False
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._flag = never_stop()
        self._over = Event()
        self._watcher = Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Flag:
        self._flag[0] = self._budget.exhausted
        self._watcher.start()
        return self._flag

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._budget.exhausted:
            if self._over.wait(min(LOOK, self._budget.left)):
                return
        self._flag[0] = True
