"""The events of a site's log: their fields, and the answers so far, which a policy limits for ever.

The chain of hashes shows that a line was not changed by accident; anybody can write a chain. So the fields of
an event are checked, too, before it is counted or printed. Fields beyond those below are ignored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dagora.base.errors import FormatError
from dagora.parties.horizontal.plan.plan import BASIS, COUNTS, LAGGED, QUESTIONS, RELEASE

Test = Callable[[object], bool]


def is_text(value: object) -> bool:
    """Return True for a text."""
    return isinstance(value, str)


def is_whole(value: object, limit: int = 1 << 63) -> bool:
    """Return True for a whole number from 0 to 2⁶³ − 1."""
    return type(value) is int and 0 <= value < limit


def is_tables(value: object) -> bool:
    """Return True for a list of lists of columns."""
    return isinstance(value, list) and all(
        isinstance(table, list) and all(map(is_whole, table)) for table in value
    )


def is_part(value: object) -> bool:
    """Return True for a list of signed integers of 64 bits."""
    return isinstance(value, list) and all(
        type(number) is int and -(1 << 63) <= number < 1 << 63 for number in value
    )


def is_price(value: object) -> bool:
    """Return True for a finite number above 0."""
    return isinstance(value, float) and math.isfinite(value) and value > 0


# The fields that each event must have.
FIELDS: dict[str, dict[str, Test]] = {
    "plan": {
        "plan": lambda value: isinstance(value, dict),
        "plan_digest": is_text,
        "roster": is_text,
        "codebook": is_text,
        "rows": is_whole,
    },
    "answer": {"asks": lambda value: value in QUESTIONS, "numbers": is_whole},
    "shown": {"task": is_text, "bytes": is_whole},
    "refused": {"reason": is_text},
    "end": {"reason": is_text},
}
# The fields that an answer to each kind of question must have besides.
ANSWER_FIELDS: dict[str, dict[str, Test]] = {
    COUNTS: {"tables": is_tables},
    BASIS: {"functions": is_whole},
    LAGGED: {"lags": is_whole, "windows": is_whole},
    RELEASE: {"rho": is_price, "part": is_part},
}


def check_event(entry: Mapping[str, Any], *, planned: bool) -> None:
    """Refuse an event that is unknown, lacks a field, or comes before any plan (`planned`).

    >>> check_event({"time": "now", "event": "end", "reason": "done"}, planned=True)
    >>> check_event({"time": "now", "event": "shown", "task": "votes"}, planned=True)
    Traceback (most recent call last):
    dagora.FormatError: the event 'shown' has no 'bytes', or an odd one
    """
    kind = entry["event"]
    if kind not in FIELDS:
        raise FormatError(f"there is no event '{kind[:40]}' in a log")
    required = {"time": is_text, **FIELDS[kind]}
    if kind == "answer":
        asks = entry.get("asks")
        required |= ANSWER_FIELDS.get(asks, {}) if isinstance(asks, str) else {}
        if asks != RELEASE and ("rho" in entry or "part" in entry):
            raise FormatError(f"only the answer to a {RELEASE} has a price and a part")
    for name, test in required.items():
        if name not in entry or not test(entry[name]):
            raise FormatError(f"the event '{kind}' has no '{name}', or an odd one")
    if kind in {"answer", "shown"} and not planned:
        raise FormatError(f"the event '{kind}' comes before any plan")


SumName = tuple[str, str, str]


@dataclass
class History:
    """Distinct sums that were answered, the sets of sites that they went to, and the privacy spent.

    A sum is named by the codebook, the sites and the question: asked for again, it is not counted again.
    `rho` is the privacy spent by releases with noise, and `releases` this site's parts of them, by the plan
    that they were made for. None of this depends on rows.
    """

    sums: set[SumName] = field(default_factory=set)
    rosters: set[str] = field(default_factory=set)
    rho: dict[str, float] = field(default_factory=dict)
    releases: dict[str, list[int]] = field(default_factory=dict)
    _plan: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, events: Iterable[Mapping[str, Any]]) -> History:
        """Read the events of a log."""
        history = cls()
        for event in events:
            history.add(event)
        return history

    def add(self, event: Mapping[str, Any]) -> None:
        """Count one more event."""
        if event["event"] == "plan":
            self._plan = dict(event)
        elif event["event"] == "answer":
            self.rosters.add(self._plan["roster"])
            if "rho" in event:
                self.rho[self._plan["plan_digest"]] = float(event["rho"])
                self.releases[self._plan["plan_digest"]] = event["part"]
            else:
                size = event.get("functions") or event.get("lags", 0)
                self.sums.update(self.sum_names(event["asks"], event.get("tables", ()), size))
        elif event["event"] == "shown":
            self.rosters.add(self._plan["roster"])

    def sum_names(self, kind: str, tables: Iterable[Iterable[int]], size: int = 0) -> set[SumName]:
        """The names of sums of the present plan; `size` is the number of functions or of lags."""
        where = (self._plan["codebook"], self._plan["roster"])
        listed = [",".join(map(str, table)) for table in tables] if kind == "counts" else [str(size)]
        return {(*where, f"{kind} {question}") for question in listed}

    @property
    def spent(self) -> float:
        """The privacy spent in all (zero-concentrated differential privacy, ρ)."""
        return sum(self.rho.values())
