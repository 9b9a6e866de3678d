"""The library's front door: about how long a method would take on these data, on this machine.

Nothing is known beforehand about this machine or this table, so both are measured: the method itself learns
from all rows of ever more columns (4, 6, 9, 14, …), for a second or two in all. Where the whole table was
reached, its time is the estimate. Else time is taken to grow as a power of the number of columns, k^s:

    T = t · (d / k)^s,

where t is the time of the widest part, of k columns, and d is the number of all columns. s is the growth
between parts: the steepest and the flattest of the last steps give both ends of the range, which is wider the
further d is from k. A method whose work doubles with every column (`Method.growth`) is taken to grow as
exp(s · k) instead.

The columns of a part depend on each other (`related_columns`), so that parts are about as hard as the whole.
Kernels that are compiled on the way do not count. benchmarks/estimates.py measures how often the estimate is
right.
"""

from __future__ import annotations

import math
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from dagora.choices import check_circumstances
from dagora.compiling import compilation
from dagora.data.columns.reading_options import PUBLIC
from dagora.errors import DagoraError, OptionError
from dagora.events import Budget
from dagora.graph.knowledge import Knowledge
from dagora.learning import EM_ROUNDS, learn
from dagora.method import Method
from dagora.preparing import Prepared, prepare
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.related_columns import related_columns
from dagora.stats.table import TableStatistics

FEWEST = 4  # columns of the narrowest part
WIDER = 1.5  # times as many columns in the next part
LATEST = 3  # steps from part to part that say how time grows
# Times more or less that the same work takes when it is done again; as much again for each doubling of the
# columns beyond what was tried, and where a single step says how time grows.
AGAIN = 1.5
WIDEST_RANGE = 100.0  # a range whose end is more than this many times its begin says nothing
TRIES = 2  # to learn from the narrowest part in the time, where nothing had to be compiled for it
SECONDS = 2.0  # of work for an estimate, besides reading and compiling

Clock = Callable[[], float]


@dataclass(frozen=True)
class Part:
    """What a part of the columns took."""

    columns: int
    seconds: float


@dataclass(frozen=True)
class TimeEstimate:
    """About how many seconds learning takes: `low` to `high`; both None where there is a `reason` for none.

    `parts` are the measurements behind it, of `rows` rows; the table has `columns` columns.

    >>> found = TimeEstimate(2.2, 9.7, (Part(12, 0.4), Part(18, 0.9)), columns=37, rows=1000)
    >>> print(found)
    about 2 to 10 seconds; measured on 1,000 rows and 18 of 37 columns of this table
    >>> print(TimeEstimate(None, None, (), columns=37, rows=1000, reason="4 columns take too long"))
    no estimate: 4 columns take too long
    """

    low: float | None
    high: float | None
    parts: tuple[Part, ...] = field(default=())
    columns: int = 0
    rows: int = 0
    reason: str = ""

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"no estimate: {self.reason}"
        widest = self.parts[-1].columns
        part = f"all {self.columns}" if widest == self.columns else f"{widest} of {self.columns}"
        return (
            f"about {span_in_words(self.low, self.high)}; measured on {self.rows:,} rows and {part} columns "
            "of this table"
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON form, with the same in words."""
        return {
            "low": self.low,
            "high": self.high,
            "words": str(self),
            "reason": self.reason,
            "columns": self.columns,
            "rows": self.rows,
            "parts": [[part.columns, part.seconds] for part in self.parts],
        }

    def times(self, factor: float) -> TimeEstimate:
        """The estimate for so many times the work."""
        if self.low is None or self.high is None:
            return self
        return replace(self, low=self.low * factor, high=self.high * factor)


def estimate_time(
    data: object,
    method: str = "auto",
    *,
    score: str | None = None,
    knowledge: Knowledge | Mapping[str, Any] | str | Path | None = None,
    max_parents: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    seconds: float = SECONDS,
    samples: int = 0,
    em_rounds: int = EM_ROUNDS,
    budget: Budget | None = None,
    clock: Clock = time.perf_counter,
    **options: Any,  # noqa: ANN401 - checked by prepare
) -> TimeEstimate:
    """Say about how long `learn` would take with the same arguments, on this machine, with no time limit.

    The method learns from parts of the columns for about so many `seconds`; reading the data and compiling
    kernels come on top. With `samples`, the time includes that of a bootstrap of so many. An exhausted
    `budget` ends the work early. `clock` is what time is measured by.

    >>> import dagora
    >>> table = {"smoker": ["no", "yes"] * 20, "cough": [0, 1] * 20}
    >>> found = dagora.estimate_time(table, "hill-climb")
    >>> found.low < found.high < 60, found.parts[-1].columns
    (True, 2)
    """
    check_circumstances(seed, None, jobs)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        raise OptionError(f"seconds must be a number above 0, not {seconds!r}")
    whole = budget or Budget()
    chosen = {name: value for name, value in options.items() if name not in PUBLIC}
    prepared = prepare(
        data,
        method,
        {name: value for name, value in options.items() if name in PUBLIC},
        chosen,
        clock=whole,
        score=score,
        knowledge=knowledge,
        max_parents=max_parents,
        jobs=jobs,
        em_rounds=em_rounds,
    )
    found = measured(Trial(prepared, chosen, seed, jobs, clock), seconds, whole)
    return found.times(1 + samples / jobs)


@dataclass(frozen=True)
class Trial:
    """A method with its options and rows, to be tried on some of the columns."""

    prepared: Prepared
    options: Mapping[str, Any]
    seed: int
    jobs: int
    clock: Clock

    def part(self, names: Sequence[str], limit: float, whole: Budget) -> Part | None:
        """What so many columns take; None where that is more than `limit` seconds, or the budget is spent.

        There is no time limit that the method knows of, as with one it may work differently: it is stopped.
        """
        rows = self.prepared.source.rows
        assert isinstance(rows, TableStatistics | IncompleteStatistics)
        searching = self.prepared.searching
        budget = whole.at_most(None)
        timer = threading.Timer(limit, budget.stop, ("the time for an estimate is over",))
        timer.daemon = True
        timer.start()
        began = self.clock()
        try:
            with quiet():
                learn(
                    rows.in_order(names),
                    searching.entry.name,
                    score=None if searching.score is None else searching.score.name,
                    knowledge=among(self.prepared.knowledge, names),
                    seed=self.seed,
                    jobs=self.jobs,
                    budget=budget,
                    em_rounds=self.prepared.em_rounds,
                    **self.options,
                )
        finally:
            timer.cancel()
        return None if budget.exhausted else Part(len(names), self.clock() - began)


def measured(trial: Trial, seconds: float, whole: Budget) -> TimeEstimate:
    """Try a method on ever more columns, for so many seconds, and say what the whole table takes."""
    source = trial.prepared.source
    columns = len(source.names)
    none = TimeEstimate(None, None, columns=columns, rows=0)
    if not isinstance(source.rows, TableStatistics | IncompleteStatistics):
        return replace(none, reason="it needs a table in memory, without interventions")
    none = replace(none, rows=source.rows.n_rows)
    rows = source.rows
    names = related_columns(rows.table if isinstance(rows, IncompleteStatistics) else rows.rows())
    parts: list[Part] = []
    try:
        quick = warmed_up(trial, names[:FEWEST], seconds, whole)
        ends = trial.clock() + seconds
        for width in widths(columns) if quick else ():
            before, left = compilation.ended, ends - trial.clock()
            if left < (parts[-1].seconds if parts else 0.0):
                break
            found = trial.part(names[:width], left, whole)
            if compilation.ended != before:
                ends = trial.clock() + left
                found = trial.part(names[:width], left, whole)
            if found is None:
                break
            parts.append(found)
    except DagoraError as error:
        return replace(none, reason=str(error))
    if whole.exhausted and len(parts) <= 1:
        return replace(none, reason=whole.reason)
    return extrapolated(parts, none, trial.prepared.searching.entry, seconds)


def warmed_up(trial: Trial, names: Sequence[str], seconds: float, whole: Budget) -> bool:
    """Whether a method learns from a few columns in the time; kernels are compiled or loaded on the way."""
    tries = TRIES
    while tries and not whole.exhausted:
        before = compilation.ended
        if trial.part(names, seconds, whole) is not None:
            return True
        tries -= compilation.ended == before  # what was compiled need not be compiled again
    return False


def too_long(columns: int, seconds: float) -> str:
    """What is said where nothing can be told from so many columns, for which there was time."""
    if not columns:
        return f"it takes more than {seconds:g} s for {FEWEST} columns"
    return f"{seconds:g} s are enough for {columns} columns alone, which tell too little"


def widths(columns: int) -> Iterator[int]:
    """How many columns to try, fewest first; all of them last.

    >>> list(widths(12)), list(widths(3))
    ([4, 6, 9, 12], [3])
    """
    width = float(FEWEST)
    while width < columns:
        yield math.floor(width)
        width *= WIDER
    yield columns


def extrapolated(parts: Sequence[Part], none: TimeEstimate, method: Method, seconds: float) -> TimeEstimate:
    """What all columns take, from what parts of them took.

    >>> from dagora.method_registry import method_named
    >>> none = TimeEstimate(None, None, columns=32, rows=10)
    >>> parts = [Part(4, 0.01), Part(8, 0.04), Part(16, 0.16)]
    >>> found = extrapolated(parts, none, method_named("tabu"), 1.0)
    >>> round(found.low, 2), round(found.high, 2)
    (0.28, 1.44)
    """
    if not parts:
        return replace(none, reason=too_long(0, seconds))
    last = parts[-1]
    none = replace(none, parts=tuple(parts))
    if last.columns == none.columns:
        return replace(none, low=last.seconds / AGAIN, high=last.seconds * AGAIN)
    if len(parts) == 1:
        return replace(none, reason=too_long(last.columns, seconds))
    along = float if method.growth == "exponential" else math.log
    steps = list(pairwise(parts))[-LATEST:]
    growth = [
        math.log(after.seconds / before.seconds) / (along(after.columns) - along(before.columns))
        for before, after in steps
    ]
    ahead = along(none.columns) - along(last.columns)
    logs = [math.log(last.seconds) + max(0.0, one) * ahead for one in (min(growth), max(growth))]
    doubt = math.log(AGAIN) * (1 + math.log2(none.columns / last.columns) + (len(steps) == 1))
    low, high = logs[0] - doubt, logs[1] + doubt
    if high - low > math.log(WIDEST_RANGE):
        return replace(none, reason=f"from {last.columns} columns, that of {none.columns} cannot be told")
    return replace(none, low=math.exp(low), high=math.exp(high))


def among(knowledge: Knowledge, names: Sequence[str]) -> Knowledge:
    """What is known about some of the variables.

    >>> among(Knowledge(required=[("a", "b")], tiers=[["a", "c"], ["b"]]), ["b", "c"])
    Knowledge(required=(), forbidden=(), tiers=(('c',), ('b',)), max_parents=None)
    """
    some = set(names)
    return Knowledge(
        required=tuple(edge for edge in knowledge.required if some.issuperset(edge)),
        forbidden=tuple(edge for edge in knowledge.forbidden if some.issuperset(edge)),
        tiers=tuple(tuple(name for name in tier if name in some) for tier in knowledge.tiers),
        max_parents=knowledge.max_parents,
    )


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing is said about parts of a table: what is odd about the whole is said when it is learned from."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


UNITS = (("second", 1.0), ("minute", 60.0), ("hour", 3600.0), ("day", 86400.0))
MONTH = 30 * 86400.0


def span_in_words(low: float, high: float) -> str:
    """A span of time as people say it.

    >>> span_in_words(0.1, 0.4), span_in_words(0.3, 2.6), span_in_words(45, 200)
    ('half a second or less', '0.3 to 3 seconds', '45 seconds to 3 minutes')
    >>> span_in_words(4000, 9000), span_in_words(0.7, 0.95), span_in_words(61, 65)
    ('1 to 2 hours', '0.7 to 1 second', '1 minute')
    """
    if high <= 0.5:
        return "half a second or less"
    if low > MONTH:
        return "months, or far longer"
    (one, unit), (other, largest) = (in_unit(low), in_unit(high))
    last = f"{other} {largest}{'s' * (other != '1')}"
    if high > MONTH:
        return f"{one} {unit}{'s' * (one != '1')} to months"
    if (one, unit) == (other, largest):
        return last
    return f"{one} to {last}" if unit == largest else f"{one} {unit}{'s' * (one != '1')} to {last}"


def in_unit(seconds: float) -> tuple[str, str]:
    """A number of the largest unit that fits, with one digit that counts, or two."""
    unit, size = next(((unit, size) for unit, size in reversed(UNITS) if seconds >= 0.99 * size), UNITS[0])
    value = seconds / size
    return f"{value:.0f}" if value >= 0.95 else f"{value:.1g}", unit
