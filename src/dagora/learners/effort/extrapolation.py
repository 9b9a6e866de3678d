"""Extrapolate the time of a method from parts of the columns to all of them.

Where the whole table was measured, its time is the estimate. Else time is taken to grow as a power of the
number of columns, k^s:

    T = t · (d / k)^s,

where t is the time of the widest part, of k columns, and d is the number of all columns. s is the growth
between parts: the steepest and the flattest of the last steps give both ends of the range, which is wider the
further d is from k. A method whose work doubles with every column (`Method.growth`) is taken to grow as
exp(s · k) instead. One that scores all parent sets that can matter is between both, as long as nothing limits
the number of parents: then the range begins with the power and ends with the exponential. Of continuous
columns, where bounds exclude few large sets, it ends no earlier than where every column doubles the time.
benchmarks/estimates.py measures how often the estimate is right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from dagora.base.phrases import span_in_words
from dagora.learners.method import Method

FEWEST = 4  # columns of the narrowest part
WIDER = 1.5  # times as many columns in the next part
LATEST = 3  # steps from part to part that say how time grows
# Times more or less that the same work takes when it is done again; as much again for each doubling of the
# columns beyond what was tried, and where a single step says how time grows.
AGAIN = 1.5
WIDEST_RANGE = 100.0  # a range whose end is more than this many times its begin says nothing

GrowthRule = Callable[[float], float]


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


def part_widths(columns: int) -> Iterator[int]:
    """The numbers of columns to try, fewest first; all of them last.

    >>> list(part_widths(12)), list(part_widths(3))
    ([4, 6, 9, 12], [3])
    """
    width = float(FEWEST)
    while width < columns:
        yield math.floor(width)
        width *= WIDER
    yield columns


def growth_rules(method: Method, most_parents: int | None) -> tuple[GrowthRule, ...]:
    """Functions of the number of columns; the logarithm of the time may grow linearly in any of them.

    >>> from dagora.learners.registry import method_named
    >>> [growth_rules(method_named(name), 3) == (math.log,) for name in ("tabu", "order-search")]
    [True, True]
    >>> growth_rules(method_named("dynamic"), 3), len(growth_rules(method_named("order-search"), None))
    ((<class 'float'>,), 2)
    """
    if method.growth == "exponential":
        return (float,)
    unlimited = method.growth == "parent sets" and most_parents is None
    return (math.log, float) if unlimited else (math.log,)


def extrapolate(
    parts: Sequence[Part],
    none: TimeEstimate,
    rules: Sequence[GrowthRule],
    seconds: float,
    *,
    doubling: bool = False,
) -> TimeEstimate:
    """Extrapolate the time from parts of the columns to all of them, if it grows by one of these rules.

    With `doubling`, every column may also double it, however flat it was so far.

    >>> none = TimeEstimate(None, None, columns=32, rows=10)
    >>> parts = [Part(4, 0.01), Part(8, 0.04), Part(16, 0.16)]
    >>> found = extrapolate(parts, none, [math.log], 1.0)
    >>> round(found.low, 2), round(found.high, 2)
    (0.28, 1.44)
    """
    if not parts:
        return replace(none, reason=reason_for_none(0, seconds))
    last = parts[-1]
    none = replace(none, parts=tuple(parts))
    if last.columns == none.columns:
        return replace(none, low=last.seconds / AGAIN, high=last.seconds * AGAIN)
    if len(parts) == 1:
        return replace(none, reason=reason_for_none(last.columns, seconds))
    steps = list(pairwise(parts))[-LATEST:]
    logs = [math.log(last.seconds) + one for rule in rules for one in growth_ahead(steps, none.columns, rule)]
    if doubling:
        logs.append(math.log(last.seconds) + math.log(2) * (none.columns - last.columns))
    doubt = math.log(AGAIN) * (1 + math.log2(none.columns / last.columns) + (len(steps) == 1))
    low, high = min(logs) - doubt, max(logs) + doubt
    if high - low > math.log(WIDEST_RANGE):
        return replace(none, reason=f"from {last.columns} columns, that of {none.columns} cannot be told")
    return replace(none, low=math.exp(low), high=math.exp(high))


def growth_ahead(steps: Sequence[tuple[Part, Part]], columns: int, rule: GrowthRule) -> tuple[float, float]:
    """The growth of the logarithm of the time after the last part, by the flattest and the steepest step."""
    growth = [
        math.log(after.seconds / before.seconds) / (rule(after.columns) - rule(before.columns))
        for before, after in steps
    ]
    left = rule(columns) - rule(steps[-1][1].columns)
    return max(0.0, min(growth)) * left, max(0.0, *growth) * left


def reason_for_none(columns: int, seconds: float) -> str:
    """The reason for no estimate if there was time for so many columns only."""
    if not columns:
        return f"it takes more than {seconds:g} s for {FEWEST} columns"
    return f"{seconds:g} s are enough for {columns} columns alone, which tell too little"
