"""Threads for independent work in kernels, which run without the interpreter's lock."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import pairwise
from types import TracebackType
from typing import Self, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")

# Pieces of work per thread: a thread that ends early takes another.
PIECES_A_THREAD = 4


class Threads:
    """Up to `jobs` threads; with one job, the calling thread does everything itself.

    Items must be independent of each other: then results are the same for any number of jobs.

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

    def map(self, function: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
        """Apply a function to every item; results in the order of the items.

        A thread that has done one item takes the next. After an error no other item is begun; of several
        errors that of the first item is raised.
        """
        if self._pool is None or len(items) < 2:
            return [function(item) for item in items]
        found: dict[int, Answer] = {}
        errors: dict[int, BaseException] = {}
        numbers = iter(range(len(items)))

        def work() -> None:
            for k in numbers:
                if errors:
                    return
                try:
                    found[k] = function(items[k])
                except BaseException as error:  # raised below, in the thread that asked
                    errors[k] = error

        try:
            wait([self._pool.submit(work) for _ in range(min(self.jobs, len(items)))])
        except BaseException as error:  # Ctrl-C, perhaps: no thread begins another item
            errors[-1] = error
        if errors:
            raise errors[min(errors)]
        return [found[k] for k in range(len(items))]

    def one_by_one(self, function: Callable[[Item], Answer], items: Sequence[Item]) -> Iterator[Answer]:
        """Yield results in the order of the items; at most 2 × jobs items are begun ahead.

        A caller that stops early waits for those only.
        """
        if self._pool is None:
            for item in items:
                yield function(item)
            return
        ahead: deque[Future[Answer]] = deque()
        try:
            for item in items:
                if len(ahead) == 2 * self.jobs:
                    yield ahead.popleft().result()
                ahead.append(self._pool.submit(function, item))
            while ahead:
                yield ahead.popleft().result()
        finally:
            for future in ahead:
                future.cancel()

    def pieces(self, size: int, least: int) -> list[slice]:
        """Divide `size` items into pieces for the threads, none much smaller than `least`.

        >>> Threads(1).pieces(10, 2), Threads(2).pieces(10, 4)
        ([slice(0, 10, None)], [slice(0, 5, None), slice(5, 10, None)])
        """
        number = 1 if self.jobs == 1 else max(1, min(PIECES_A_THREAD * self.jobs, size // least))
        cuts = [size * k // number for k in range(number + 1)]
        return [slice(a, b) for a, b in pairwise(cuts)]
