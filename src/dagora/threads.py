"""Threads that share independent work on kernels, which run without the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Self, TypeVar

Item = TypeVar("Item")
Found = TypeVar("Found")


class Threads:
    """Up to `jobs` threads; with one job, the calling thread does everything itself.

    What is shared out must not depend on who does it or when: results are then the same for any number of
    jobs.

    >>> with Threads(2) as threads:
    ...     threads.map(lambda x: x * x, [1, 2, 3])
    [1, 4, 9]
    """

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._pool = ThreadPoolExecutor(jobs) if jobs > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=kind is not None)

    def map(self, function: Callable[[Item], Found], items: Sequence[Item]) -> list[Found]:
        """Apply a function to every item; results in the order of the items."""
        if self._pool is None or len(items) < 2:
            return [function(item) for item in items]
        return list(self._pool.map(function, items))

    def each(self, function: Callable[[Item], Found], items: Sequence[Item]) -> Iterator[Found]:
        """The same, one result after the other; after an error what has not begun is left undone."""
        yield from map(function, items) if self._pool is None else self._pool.map(function, items)
