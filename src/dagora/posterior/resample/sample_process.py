"""A process that learns from samples: it reads what to do, and writes the graphs, until its input ends.

First comes what is to be learned from, once; then, for each sample, its number and the seconds that are left.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import BinaryIO, cast

from dagora.base.budget import Budget
from dagora.base.errors import DagoraError
from dagora.learners.request import PreparedRequest
from dagora.learners.source import Source
from dagora.posterior.resample.one_sample import SampleGraph, Way, learn_sample
from dagora.posterior.resample.series_blocks import same_panel
from dagora.stats.designed import DesignStatistics
from dagora.stats.interventional import InterventionalStatistics
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.statistics import Statistics
from dagora.stats.table import TableStatistics
from dagora.stats.windows import panel_behind, windows_behind

# It imports from where its parent does, and never from the folder in which it is called.
SCRIPT = """
import sys
sys.path = sys.argv[1:]
from dagora.posterior.resample.sample_process import serve
serve()
"""


@dataclass(frozen=True)
class SampleWork:
    """The work that all samples have in common."""

    prepared: PreparedRequest
    way: Way
    seed: int

    def ready_to_send(self) -> SampleWork:
        """The same with nothing but rows in its statistics: no sums that were kept, no class of others."""
        return replace(self, prepared=replace(self.prepared, source=Source(rows_only(self.prepared.source))))


def rows_only(source: Source) -> Statistics:
    """Statistics of the same rows that have counted nothing yet."""
    statistics = source.statistics
    panel = panel_behind(statistics)
    if panel is not None:
        return same_panel(panel, windows_behind(statistics))
    if isinstance(statistics, IncompleteStatistics):
        return IncompleteStatistics(statistics.table)
    if isinstance(statistics, DesignStatistics):
        return DesignStatistics(statistics.designed, known=statistics.effective)
    table = statistics.rows()
    if isinstance(statistics, InterventionalStatistics):
        return InterventionalStatistics(table, statistics.interventions)
    return TableStatistics(table)


@dataclass(frozen=True)
class SampleFailure:
    """An error, for the parent to raise."""

    message: str
    kind: type[DagoraError] = DagoraError


SampleRequest = tuple[int, float | None]
Answered = SampleGraph | SampleFailure | None


def write(stream: BinaryIO, content: object) -> None:
    """Send one message."""
    pickle.dump(content, stream, protocol=pickle.HIGHEST_PROTOCOL)
    stream.flush()


def read(stream: BinaryIO) -> object:
    """Receive one message of our own process at the other end; `EOFError` where there is none any more."""
    return pickle.load(stream)  # noqa: S301


def serve() -> None:
    """Learn from samples until the parent closes the pipe, or ends."""
    # What libraries print goes to standard error, if there is one: standard output is for answers.
    errors = os.open(os.devnull, os.O_WRONLY) if sys.stderr is None else sys.stderr.fileno()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(errors, sys.stdout.fileno())
    received: SimpleQueue[object] = SimpleQueue()
    threading.Thread(target=listen, args=(received,), daemon=True).start()
    work = received.get()
    while True:
        asked = received.get()
        number, seconds = cast("SampleRequest", asked)
        write(answers, answer(cast("SampleWork", work), number, Budget(seconds)))


def listen(received: SimpleQueue[object]) -> None:
    """Pass on what is read; at the end of it end this process, whatever it does."""
    while True:
        try:
            received.put(read(sys.stdin.buffer))
        except EOFError:
            os._exit(0)


def answer(work: SampleWork, number: int, budget: Budget) -> Answered:
    """The graph of a sample, None where time was up, or what went wrong."""
    try:
        return learn_sample(work.prepared, work.way, work.seed, number, budget)
    except DagoraError as error:
        return SampleFailure(error.text, type(error))
    except Exception as error:
        return SampleFailure(f"sample {number} failed: {type(error).__name__}: {error}")


def learned_from(answered: Answered) -> SampleGraph | None:
    """The answer of another process; an error there is raised here."""
    if isinstance(answered, SampleFailure):
        raise answered.kind(answered.message)
    return answered
