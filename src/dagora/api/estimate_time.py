"""The library's front door: about how long a method would take on these data, on this machine.

Nothing is known beforehand about this machine or this table, so both are measured: the method itself learns
from all rows of ever more columns (4, 6, 9, 14, …), for a second or two in all. Where the whole table was
reached, its time is the estimate. Else time is taken to grow as a power of the number of columns, k^s:

    T = t · (d / k)^s,

where t is the time of the widest part, of k columns, and d is the number of all columns. s is the growth
between parts: the steepest and the flattest of the last steps give both ends of the range, which is wider the
further d is from k. A method whose work doubles with every column (`Method.growth`) is taken to grow as
exp(s · k) instead. One that scores all parent sets that can matter is between both, as long as nothing limits
the number of parents: then the range begins with the power and ends with the exponential. Of numbers, where
little rules large sets out, it ends no earlier than where every column doubles the time.

The columns of a part depend on each other (`related_columns`), so that parts are about as hard as the whole.
Kernels that are compiled on the way do not count. benchmarks/estimates.py measures how often the estimate is
right.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from dagora.api.learn import EM_ROUNDS, learn
from dagora.base.errors import DagoraError, OptionError, unannounced
from dagora.base.events import Budget
from dagora.base.options import LARGEST_INTEGER
from dagora.base.wording import comma_list, span_in_words, split_list
from dagora.data.columns.reading_options import READING, takes_reading
from dagora.data.schema import Kind
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.kernels.compilation import compilation
from dagora.learners.checks import check_circumstances
from dagora.learners.method import Method
from dagora.learners.request import PreparedRequest, prepare
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
MOST_SECONDS = 86400.0  # that may be asked for

LEAST_SECONDS = 1e-6  # of a part, where a coarse clock did not move

Clock = Callable[[], float]
Rule = Callable[[float], float]


@dataclass(frozen=True)
class Part:
    """The time for a part of the columns."""

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


@takes_reading(missing="auto")
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
    """Estimate how long `learn` would take with the same arguments on this machine, without a time limit.

    Parameters
    ----------
    data : path, data frame, matrix, mapping of columns, Table or Statistics
        One row per observation. Types of columns are inferred; `inspect` shows how.
    method : str, default "auto"
        A name from `methods()`.
    score : str, optional
        As in `learn`.
    knowledge : Knowledge, mapping or path, optional
        Required and forbidden edges, tiers and the most parents (docs/reference.md).
    max_parents : int, optional
        Most parents of a variable; no limit by default.
    seed : int, default 0
        As in `learn`.
    jobs : int, default 1
        As in `learn`.
    seconds : float, default 2
        For about so long, the method learns from parts of the columns; reading the data and compiling kernels
        come on top.
    samples : int, default 0
        Include the time of a bootstrap of so many samples.
    em_rounds : int, default 6
        As in `learn`.
    budget : Budget, optional
        Ends the work early when it is exhausted.
    clock : callable, optional
        The clock that time is measured by; default: `time.perf_counter`.
    {reading}
    **options
        Options of the method and of the score; `dagora methods NAME` lists them.

    Returns
    -------
    TimeEstimate
        A range of seconds, `.low` to `.high`; both None where there is a `.reason` for none.

    Examples
    --------
    >>> import dagora
    >>> table = {"smoker": ["no", "yes"] * 20, "cough": [0, 1] * 20}
    >>> found = dagora.estimate_time(table, "hill-climb")
    >>> found.low < found.high < 60, found.parts[-1].columns
    (True, 2)
    """
    check_circumstances(seed, None, jobs)
    check_effort(seconds, samples, budget)
    whole = budget or Budget()
    chosen = {name: value for name, value in options.items() if name not in READING}
    prepared = prepare(
        data,
        method,
        options,
        clock=whole,
        score=score,
        knowledge=knowledge,
        max_parents=max_parents,
        jobs=jobs,
        em_rounds=em_rounds,
    )
    found = measured(Trial(prepared, chosen, seed, jobs, clock), seconds, whole)
    return found.times(1 + samples / jobs)


def check_effort(seconds: float, samples: int, budget: Budget | None) -> None:
    """Refuse a time for the estimate, a number of samples or a budget that is none."""
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not (number and 0 < seconds <= MOST_SECONDS):
        raise OptionError(
            option="seconds", value=seconds, must=f"be a number above 0, at most {MOST_SECONDS:g}"
        )
    if isinstance(samples, bool) or not isinstance(samples, int) or samples < 0:
        raise OptionError(option="samples", value=samples, must="be a whole number, 0 or more")
    if samples > LARGEST_INTEGER:
        raise OptionError("samples must be a whole number of at most 64 bits")
    if budget is not None and not isinstance(budget, Budget):
        raise OptionError(option="budget", value=budget, must="be a Budget or None")


@dataclass(frozen=True)
class Trial:
    """A method with its options and rows, to be tried on some of the columns."""

    prepared: PreparedRequest
    options: Mapping[str, Any]
    seed: int
    jobs: int
    clock: Clock

    def part(self, names: Sequence[str], limit: float, whole: Budget) -> Part | None:
        """Measure the time for these columns; None if it exceeds `limit` seconds, or the budget is spent.

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
            with unannounced():  # warnings are given when the whole table is learned from
                learn(
                    rows.in_order(names),
                    searching.entry.name,
                    score=None if searching.score is None else searching.score.name,
                    knowledge=among(self.prepared.knowledge, names),
                    seed=self.seed,
                    jobs=self.jobs,
                    budget=budget,
                    em_rounds=self.prepared.em_rounds,
                    **options_among(self.prepared, self.options, names),
                )
        finally:
            timer.cancel()
        return None if budget.exhausted else Part(len(names), max(self.clock() - began, LEAST_SECONDS))


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
    if naming_columns(trial.prepared):
        trial.part(source.names, 0.0, whole)  # refuses what only all columns together show to be wrong
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
        trial.part(source.names, seconds, whole)  # refuses what is wrong with the whole table, too
        return replace(none, reason=f"parts of the table cannot be tried ({error})")
    if whole.exhausted and len(parts) <= 1:
        return replace(none, reason=whole.reason)
    prepared = trial.prepared
    rules = rules_of(prepared.searching.entry, prepared.knowledge.max_parents)
    return extrapolated(parts, none, rules, seconds, doubling=may_double(prepared))


def warmed_up(trial: Trial, names: Sequence[str], seconds: float, whole: Budget) -> bool:
    """Return True if a method learns from a few columns in time; this compiles or loads its kernels."""
    tries = TRIES
    while tries and not whole.exhausted:
        before = compilation.ended
        if trial.part(names, seconds, whole) is not None:
            return True
        tries -= compilation.ended == before  # what was compiled need not be compiled again
    return False


def too_long(columns: int, seconds: float) -> str:
    """The reason for no estimate if there was time for so many columns only."""
    if not columns:
        return f"it takes more than {seconds:g} s for {FEWEST} columns"
    return f"{seconds:g} s are enough for {columns} columns alone, which tell too little"


def widths(columns: int) -> Iterator[int]:
    """The numbers of columns to try, fewest first; all of them last.

    >>> list(widths(12)), list(widths(3))
    ([4, 6, 9, 12], [3])
    """
    width = float(FEWEST)
    while width < columns:
        yield math.floor(width)
        width *= WIDER
    yield columns


def rules_of(method: Method, most_parents: int | None) -> tuple[Rule, ...]:
    """Functions of the number of columns; the logarithm of the time may grow linearly in any of them.

    >>> from dagora.learners.registry import method_named
    >>> rules_of(method_named("tabu"), None) == rules_of(method_named("order-search"), 3) == (math.log,)
    True
    >>> rules_of(method_named("dynamic"), 3), len(rules_of(method_named("order-search"), None))
    ((<class 'float'>,), 2)
    """
    if method.growth == "exponential":
        return (float,)
    unlimited = method.growth == "parent sets" and most_parents is None
    return (math.log, float) if unlimited else (math.log,)


def may_double(prepared: PreparedRequest) -> bool:
    """Return True if a column may double the parent sets that are scored: bounds exclude few large ones."""
    numbers = any(variable.kind is Kind.CONTINUOUS for variable in prepared.source.statistics.schema)
    unlimited = prepared.knowledge.max_parents is None
    return numbers and unlimited and prepared.searching.entry.takes == "candidates"


def ahead(steps: Sequence[tuple[Part, Part]], columns: int, rule: Rule) -> tuple[float, float]:
    """The growth of the logarithm of the time after the last part, by the flattest and the steepest step."""
    growth = [
        math.log(after.seconds / before.seconds) / (rule(after.columns) - rule(before.columns))
        for before, after in steps
    ]
    left = rule(columns) - rule(steps[-1][1].columns)
    return max(0.0, min(growth)) * left, max(0.0, *growth) * left


def extrapolated(
    parts: Sequence[Part],
    none: TimeEstimate,
    rules: Sequence[Rule],
    seconds: float,
    *,
    doubling: bool = False,
) -> TimeEstimate:
    """Extrapolate the time from parts of the columns to all of them, if it grows by one of these rules.

    With `doubling`, every column may also double it, however flat it was so far.

    >>> none = TimeEstimate(None, None, columns=32, rows=10)
    >>> parts = [Part(4, 0.01), Part(8, 0.04), Part(16, 0.16)]
    >>> found = extrapolated(parts, none, [math.log], 1.0)
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
    steps = list(pairwise(parts))[-LATEST:]
    logs = [math.log(last.seconds) + one for rule in rules for one in ahead(steps, none.columns, rule)]
    if doubling:
        logs.append(math.log(last.seconds) + math.log(2) * (none.columns - last.columns))
    doubt = math.log(AGAIN) * (1 + math.log2(none.columns / last.columns) + (len(steps) == 1))
    low, high = min(logs) - doubt, max(logs) + doubt
    if high - low > math.log(WIDEST_RANGE):
        return replace(none, reason=f"from {last.columns} columns, that of {none.columns} cannot be told")
    return replace(none, low=math.exp(low), high=math.exp(high))


def among(knowledge: Knowledge, names: Sequence[str]) -> Knowledge:
    """Restrict knowledge to some of the variables.

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


def naming_columns(prepared: PreparedRequest) -> dict[str, Any]:
    """Options that were given whose values name columns: graphs, and lists of names."""
    given = prepared.searching.method_options
    return {
        one.name: given[one.name]
        for one in prepared.searching.entry.options
        if (one.type == "graph" or one.names_columns) and given.get(one.name) is not None
    }


def options_among(
    prepared: PreparedRequest, options: Mapping[str, Any], names: Sequence[str]
) -> dict[str, Any]:
    """Options for a part of the columns: what they say about the others is left out."""
    narrowed = dict(options)
    if len(names) == len(prepared.source.names):
        return narrowed
    for name, value in naming_columns(prepared).items():
        if isinstance(value, DAG):
            edges = [edge for edge in value.edges if set(names).issuperset(edge)]
            narrowed[name] = DAG(names, edges)
        else:
            narrowed[name] = comma_list(one for one in split_list(value) if one in names)
    return narrowed
