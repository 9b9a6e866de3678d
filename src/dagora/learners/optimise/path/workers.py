"""Threads of the path: each has its own work arrays for the problem of a column."""

from __future__ import annotations

from threading import local

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.threads import PIECES_A_THREAD, Threads
from dagora.learners.optimise.path.column_problem import ColumnWorkspace, workspace_for


class ColumnWorkers(Threads):
    """Threads that share columns, each with its own work arrays.

    >>> with ColumnWorkers(2) as workers:
    ...     workers.map(lambda part: part.tolist(), workers.parts(np.arange(5)))
    [[0, 2, 4], [1, 3]]
    """

    def __init__(self, jobs: int) -> None:
        super().__init__(jobs)
        self._own = local()

    def parts(self, items: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Deal items out, one part per job; no part is empty."""
        number = min(self.jobs, len(items))
        return [np.ascontiguousarray(items[k::number]) for k in range(number)]

    def shares(self, items: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Deal out items that take unequal times, in more parts than jobs; no part is empty."""
        number = min(self.jobs * PIECES_A_THREAD, len(items)) if self.jobs > 1 else min(1, len(items))
        return [np.ascontiguousarray(items[k::number]) for k in range(number)]

    def workspace(self, d: int) -> ColumnWorkspace:
        """The work arrays of the calling thread for columns of d variables."""
        found: ColumnWorkspace | None = getattr(self._own, "workspace", None)
        if found is None or len(found.ridge) != d:
            found = self._own.workspace = workspace_for(d)
        return found


# One thread, the caller's.
ALONE = ColumnWorkers(1)
