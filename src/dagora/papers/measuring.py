"""Measure the cells of an experiment: one by one, in processes, or on a cluster; save each when it is done.

Cells that the file already has are not measured again. When the budget ends (a time limit or Ctrl-C), running
cells are stopped and discarded, because an interrupted learner gives other numbers than a complete one.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.synchronize import Event as Switch
from typing import Any

from dagora.base.budget import Budget
from dagora.base.dask_cluster import TaskBudget, workers_of
from dagora.base.errors import DagoraError
from dagora.base.events import Event, Observer
from dagora.base.executor import answer_questions
from dagora.base.wording import option
from dagora.learners.run import Run
from dagora.papers.cell import MeasuredCell, Numbers, Parameters, describe
from dagora.papers.cell_file import CellFile
from dagora.papers.experiment import Experiment
from dagora.papers.reference_data import reference_file

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Harvest:
    """The measured cells, in the order of the experiment; `kept` of them were in the file before the run."""

    measured: tuple[MeasuredCell, ...]
    total: int
    kept: int

    @property
    def complete(self) -> bool:
        """True if every cell is measured."""
        return len(self.measured) == self.total


def measure_cells(experiment: Experiment, file: CellFile, run: Run, cluster: object = None) -> Harvest:
    """Measure the cells that the file does not have, `run.jobs` at a time; above 1, in processes.

    A Dask cluster, given by its address or by a client, measures as many at a time as it has workers.
    """
    for name in experiment.needs:
        reference_file(name)  # one that is missing is told before hours are spent
    file.repair()
    known = file.read()
    kept = len(measured_cells(experiment, known))
    pending = [cell for cell in experiment.cells if experiment.key(cell) not in known]
    measure = measure_here if min(run.jobs, len(pending)) <= 1 else measure_in_processes
    if cluster is not None and pending:
        measure = partial(measure_on_cluster, cluster=cluster)
    done = kept
    if kept and pending:
        run.on_event(
            Event("measuring", done, total=len(experiment.cells), message=f"{kept} cells were there")
        )
    for cell, numbers, seconds in measure(experiment, pending, run, done):
        file.append(experiment, cell, numbers, seconds)
        known[experiment.key(cell)] = numbers
        done += 1
        run.on_event(Event("measuring", done, total=len(experiment.cells), message=describe(cell)))
    return Harvest(measured_cells(experiment, known), len(experiment.cells), kept)


def kept_cells(experiment: Experiment, file: CellFile) -> Harvest:
    """The cells that the file has; nothing is measured."""
    measured = measured_cells(experiment, file.read())
    return Harvest(measured, len(experiment.cells), len(measured))


def measured_cells(experiment: Experiment, known: Mapping[str, Numbers]) -> tuple[MeasuredCell, ...]:
    """The cells of an experiment whose numbers are known, in its order."""
    keys = [(cell, experiment.key(cell)) for cell in experiment.cells]
    return tuple(MeasuredCell(cell, known[key]) for cell, key in keys if key in known)


Finished = tuple[Parameters, Numbers, float]


def measure_here(
    experiment: Experiment, pending: Sequence[Parameters], run: Run, done: int
) -> Iterator[Finished]:
    """Measure one cell after another in this process, and pass on the events of the learners."""
    for position, cell in enumerate(pending):
        if run.budget.exhausted:
            return
        observe = observer_inside(cell, run.on_event, done + position, len(experiment.cells))
        started = time.perf_counter()
        numbers = attempt(experiment, cell, Run(budget=run.budget, on_event=observe))
        seconds = time.perf_counter() - started
        if not run.budget.exhausted:
            yield cell, numbers, seconds


def observer_inside(cell: Parameters, on_event: Observer, done: int, total: int) -> Observer:
    """Report a learner's step as part of its cell."""

    def observe(event: Event) -> None:
        on_event(Event("measuring", done, total=total, message=f"{describe(cell)}: {event.phase}"))

    return observe


def measure_in_processes(
    experiment: Experiment, pending: Sequence[Parameters], run: Run, done: int
) -> Iterator[Finished]:
    """Measure several cells at a time, yielded as they finish; after an error the running ones finish."""
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    workers = min(run.jobs, len(pending))
    bare = replace(experiment, cells=())
    with (
        one_thread_each(),
        ProcessPoolExecutor(
            workers, mp_context=context, initializer=stop_with_parent, initargs=(stop,)
        ) as pool,
    ):

        def ask(cell: Parameters) -> Future[tuple[Numbers, float]]:
            return pool.submit(measure_there, bare, cell)

        tell = Telling(experiment, run, done)
        try:
            for cell, measured in answer_questions(ask, pending, lambda: workers, run.budget, tell.under_way):
                yield cell, *measured
                tell.done += 1
        except BrokenProcessPool:
            raise DagoraError(
                f"{experiment.name}: a process ended without an answer (out of memory?): "
                f"what is measured is kept; run again with fewer {option('jobs')}"
            ) from None
        finally:
            stop.set()


def measure_on_cluster(
    experiment: Experiment, pending: Sequence[Parameters], run: Run, done: int, *, cluster: object
) -> Iterator[Finished]:
    """Measure as many cells at a time as a Dask cluster has workers, yielded as they finish."""
    bare = replace(experiment, cells=())
    tell = Telling(experiment, run, done)
    with workers_of(cluster) as workers:

        def ask(cell: Parameters) -> tuple[Any, ...]:
            return measure_on_worker, bare, cell

        for cell, measured in workers.answers(ask, pending, run.budget, tell.under_way):
            yield cell, *measured
            tell.done += 1


@dataclass
class Telling:
    """Says how many cells are measured, and how many are under way."""

    experiment: Experiment
    run: Run
    done: int

    def under_way(self, number: int) -> None:
        """Report it."""
        words = f"{number} under way"
        self.run.on_event(Event("measuring", self.done, total=len(self.experiment.cells), message=words))


_budget = Budget()


def stop_with_parent(stop: Switch) -> None:
    """Make a new process ignore Ctrl-C, which the parent handles, and stop when the parent says so."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def listen() -> None:
        stop.wait()
        _budget.stop("it was interrupted")

    threading.Thread(target=listen, daemon=True).start()


def measure_there(experiment: Experiment, cell: Parameters) -> tuple[Numbers, float]:
    """Measure a cell in a process of the pool."""
    started = time.perf_counter()
    return attempt(experiment, cell, Run(budget=_budget)), time.perf_counter() - started


_one_at_a_time = threading.Lock()


def measure_on_worker(experiment: Experiment, cell: Parameters) -> tuple[Numbers, float]:
    """Measure a cell on a worker of a cluster, as long as somebody waits for it.

    Cells measure the CPU seconds of their process, so other threads of the worker wait until one is done.
    """
    with _one_at_a_time:
        started = time.perf_counter()
        return attempt(experiment, cell, Run(budget=TaskBudget())), time.perf_counter() - started


def attempt(experiment: Experiment, cell: Parameters, run: Run) -> Numbers:
    """Measure a cell, and add its parameters to the message of an error."""
    try:
        return experiment.measure(cell, run)
    except DagoraError as error:
        raise error.with_text(f"{experiment.name}, {describe(cell)}: {error.text}") from None


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Processes started inside use one thread for linear algebra, unless the environment says otherwise."""
    chosen = [name for name in THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(chosen, "1"))
    try:
        yield
    finally:
        for name in chosen:
            os.environ.pop(name, None)
