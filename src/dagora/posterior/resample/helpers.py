"""Processes that learn from samples beside this one, with a thread here for each.

A thread waits a moment before it starts its process: what ends within it needs no help, and starting takes
seconds of CPU time. Then it takes numbers of samples from those that wait, as this process does too.
"""

from __future__ import annotations

import contextlib
import math
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from queue import Empty, SimpleQueue
from typing import BinaryIO, cast

from dagora.base.budget import Budget
from dagora.base.wording import option
from dagora.posterior.resample.one_sample import SampleGraph, learn_sample
from dagora.posterior.resample.sample_process import (
    SCRIPT,
    Answered,
    SampleFailure,
    SampleWork,
    learned_from,
    read,
    write,
)

# Seconds of work that need no help.
SHORT = 0.5
# Seconds between two looks at the clock, while others work.
POLL = 0.05


def learned_by_many(
    work: SampleWork, numbers: Iterable[int], budget: Budget, jobs: int
) -> Iterator[tuple[int, SampleGraph]]:
    """Samples as they are finished, by this process and `jobs` − 1 others, until time is up."""
    waiting = deque(numbers)
    left = len(waiting)
    with Helpers(work, waiting, budget, min(jobs, left) - 1) as helpers:
        while left and not budget.exhausted:
            number = next_of(waiting)
            if number is not None:
                own = learn_sample(work.prepared, work.way, work.seed, number, budget)
                if own is None:
                    return
                left -= 1
                yield number, own
            for finished in helpers.wait_for_graphs(idle=number is None):
                left -= 1
                yield finished


class Helpers:
    """Processes that learn from the samples that wait; leaving the block ends them, whatever they do."""

    def __init__(self, work: SampleWork, waiting: deque[int], budget: Budget, number: int) -> None:
        self._work = work.ready_to_send()
        self._waiting = waiting
        self._budget = budget
        self._done: SimpleQueue[tuple[int, Answered]] = SimpleQueue()
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._threads = [threading.Thread(target=self._lead, daemon=True) for _ in range(number)]

    def __enter__(self) -> Helpers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._over.set()
            for process in self._processes:
                process.kill()
        for thread in self._threads:
            thread.join()

    def wait_for_graphs(self, *, idle: bool) -> Iterator[tuple[int, SampleGraph]]:
        """The samples that were finished since; who is `idle` waits a little for one."""
        with contextlib.suppress(Empty):
            found = self._done.get(timeout=POLL) if idle else self._done.get_nowait()
            while True:
                number, answered = found
                learned = learned_from(answered)
                if learned is not None:
                    yield number, learned
                found = self._done.get_nowait()

    def _lead(self) -> None:
        """Start a process and hand it one sample after the other."""
        if self._over.wait(SHORT):
            return
        number: int | None = None
        try:
            process = self._start()
            if process is None:
                return
            into, out = cast("BinaryIO", process.stdin), cast("BinaryIO", process.stdout)
            with process:
                write(into, self._work)
                while not self._over.is_set() and (number := next_of(self._waiting)) is not None:
                    seconds = self._budget.left
                    write(into, (number, None if math.isinf(seconds) else seconds))
                    self._done.put((number, cast("Answered", read(out))))
        except Exception as error:
            # Once all is over, processes are ended in the midst of their work.
            if not self._over.is_set():
                self._done.put((-1, process_error(error)))

    def _start(self) -> subprocess.Popen[bytes] | None:
        """A new process, unless all is over; in a session of its own, so that Ctrl-C is for its parent."""
        with self._lock:
            if self._over.is_set() or not self._waiting:
                return None
            process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-c", SCRIPT, *sys.path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
            self._processes.append(process)
            return process


def next_of(waiting: deque[int]) -> int | None:
    """The next sample; None where others have taken them all."""
    try:
        return waiting.popleft()
    except IndexError:
        return None


def process_error(error: Exception) -> SampleFailure:
    """The error about a process that gave no answer."""
    silent = isinstance(error, EOFError | BrokenPipeError)
    why = "out of memory?" if silent else f"{type(error).__name__}: {error}"
    return SampleFailure(
        f"a process that learned from samples ended without an answer ({why}): run again with fewer "
        f"{option('jobs')}"
    )
