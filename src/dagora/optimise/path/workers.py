"""Threads that share independent work on kernels, each with memory of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import local
from types import TracebackType
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dagora.optimise.path.column_problem import Workspace, workspace_for

T = TypeVar("T")


class Workers:
    """Up to `jobs` threads; with one job, the calling thread does everything itself.

    What is shared out must not depend on who does it or when: results are then the same for any number of
    jobs.

    >>> with Workers(2) as workers:
    ...     workers.map(lambda part: part.tolist(), workers.parts(np.arange(5)))
    [[0, 2, 4], [1, 3]]
    """

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._pool = ThreadPoolExecutor(jobs) if jobs > 1 else None
        self._own = local()

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def map(self, function: Callable[..., T], items: Sequence[object]) -> list[T]:
        """Apply a function to every item; results in the order of the items."""
        if self._pool is None or len(items) < 2:
            return [function(item) for item in items]
        return list(self._pool.map(function, items))

    def parts(self, items: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Deal items out, one part per job; no part is empty."""
        number = min(self.jobs, len(items))
        return [np.ascontiguousarray(items[k::number]) for k in range(number)]

    def workspace(self, d: int) -> Workspace:
        """Memory of the calling thread for columns of d variables; kept for its next call."""
        found: Workspace | None = getattr(self._own, "workspace", None)
        if found is None or len(found.ridge) != d:
            found = self._own.workspace = workspace_for(d)
        return found


# One thread, the caller's.
ALONE = Workers(1)
