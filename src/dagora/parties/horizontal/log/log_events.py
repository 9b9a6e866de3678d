"""The events of a site's log: their fields, and the answers so far, which a policy limits for ever.

The chain of hashes shows that a line was not changed by accident; anybody can write a chain. So the fields of
an event are checked, too, before it is counted or printed. Fields beyond those below are ignored.

A part of a release, and an answer of this site alone that is asked for once, stand in their line (`part`,
`answer`) and stay on disk; in memory an event has the place of that line instead (`at`). Where such an
answer, or a plan, comes again, the line refers to the earlier one (`again`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dagora.base.errors import FormatError
from dagora.parties.horizontal.plan.plan import (
    BASIS,
    COUNTS,
    FOURTH,
    LAGGED,
    QUESTIONS,
    RELEASE,
    SHOWN_ONCE,
    shown_name,
)

Test = Callable[[object], bool]

# Fields of a line that are left on disk.
ON_DISK = ("part", "answer")


def is_text(value: object) -> bool:
    """Return True for a text."""
    return isinstance(value, str)


def is_dict(value: object) -> bool:
    """Return True for named values."""
    return isinstance(value, dict)


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


def is_file_name(value: object) -> bool:
    """Return True for the name of a file, without a folder."""
    return isinstance(value, str) and value == Path(value).name != ""


# The fields that each event must have.
FIELDS: dict[str, dict[str, Test]] = {
    "handover": {"file": is_file_name, "history": is_dict, "certificate": is_text, "signature": is_text},
    "plan": {
        "plan": is_dict,
        "plan_digest": is_text,
        "roster": is_text,
        "codebook": is_text,
        "rows": is_whole,
    },
    "signed": {
        "offered": is_text,
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
    FOURTH: {"tables": is_tables},
    RELEASE: {"rho": is_price, "part": is_part},
}
# Fields that the earlier line has where something comes again.
TOLD_ONCE = ("plan", "rho", "part")
# Fields that an event need not have.
OPTIONAL: dict[str, Test] = {
    "again": is_text,
    "method": is_text,
    "lags": is_whole,
    "question": is_dict,
    "answer": is_text,
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
    is_release = kind == "answer" and entry.get("asks") == RELEASE
    if kind == "answer" and not is_release and ("rho" in entry or "part" in entry):
        raise FormatError(f"only the answer to a {RELEASE} has a price and a part")
    if "again" in entry and kind not in {"plan", "shown"} and not is_release:
        raise FormatError(f"only a plan, a {RELEASE} and what was shown come again")
    for name, test in fields_of(entry).items():
        if name not in entry or not test(entry[name]):
            raise FormatError(f"the event '{kind}' has no '{name}', or an odd one")
    if kind in {"answer", "shown"} and not planned:
        raise FormatError(f"the event '{kind}' comes before any plan")
    if kind == "handover":
        History().resume(entry["history"])


def fields_of(entry: Mapping[str, Any]) -> dict[str, Test]:
    """The fields that an event must have, and those that it has and need not, with their tests."""
    kind, asks = entry["event"], entry.get("asks")
    fields = {"time": is_text, **FIELDS[kind]}
    if kind == "answer" and isinstance(asks, str):
        fields |= ANSWER_FIELDS.get(asks, {})
    if "again" in entry:
        fields = {name: test for name, test in fields.items() if name not in TOLD_ONCE}
    return fields | {name: test for name, test in OPTIONAL.items() if name in entry}


@dataclass(frozen=True)
class Place:
    """A line of a log: its hash, and where it stands; `file` is a name beside the log, empty for itself."""

    hash: str
    file: str = ""
    start: int = 0
    size: int = 0

    @classmethod
    def read(cls, content: object) -> Place:
        """Check a place that a log tells."""
        if isinstance(content, dict) and set(content) == {"hash", "file", "start", "size"}:
            place = cls(**content)
            if (
                is_text(place.hash)
                and is_file_name(place.file)
                and is_whole(place.start)
                and is_whole(place.size)
            ):
                return place
        raise FormatError("the event 'handover' has an odd place of a line")


SumName = tuple[str, str, str]


@dataclass
class History:
    """The answers so far: different sums, the sets of sites that they went to, what was shown, privacy spent.

    A sum is named by the codebook, the sites and the question: asked for again, it is not counted again.
    `rho` is the privacy spent by releases with noise, and `releases` the lines with this site's parts of
    them, both by the plan that they were made for. `shown` has the line of each answer that was shown as this
    site's own, by its question (`shown_name`) where it is given again, and by the run where it is not: None
    then. None of this depends on rows.
    """

    sums: set[SumName] = field(default_factory=set)
    rosters: set[str] = field(default_factory=set)
    rho: dict[str, float] = field(default_factory=dict)
    releases: dict[str, Place] = field(default_factory=dict)
    shown: dict[str, Place | None] = field(default_factory=dict)
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
        kind = event["event"]
        if kind == "handover":
            self.resume(event["history"])
        elif kind in {"signed", "plan"}:
            self._plan = dict(event)
        elif kind in {"answer", "shown"}:
            self.rosters.add(self._plan["roster"])
            if "again" not in event:
                (self._add_shown if kind == "shown" else self._add_sum)(event)

    def _add_sum(self, event: Mapping[str, Any]) -> None:
        if event["asks"] == RELEASE:
            self.rho[self._plan["plan_digest"]] = float(event["rho"])
            self.releases[self._plan["plan_digest"]] = event["at"]
        else:
            size = event.get("functions") or event.get("lags", 0)
            self.sums.update(self.sum_names(event["asks"], event.get("tables", ()), size))

    def _add_shown(self, event: Mapping[str, Any]) -> None:
        if event["task"] not in SHOWN_ONCE:
            # Rounds are answered from the rows that are there, so each run tells something new.
            self.shown[f"rounds of {self._plan.get('hash', '')}"] = None
            return
        # Before questions were logged, each plan counts as one.
        asked = event.get("question", {"plan": self._plan["plan_digest"]})
        self.shown[shown_name(self._plan["codebook"], event["task"], asked)] = event.get("at")

    def sum_names(self, kind: str, tables: Iterable[Iterable[int]], size: int = 0) -> set[SumName]:
        """The names of sums of the present plan; `size` is the number of functions or of lags."""
        where = (self._plan["codebook"], self._plan["roster"])
        listed = [",".join(map(str, table)) for table in tables] if kind in {COUNTS, FOURTH} else [str(size)]
        return {(*where, f"{kind} {question}") for question in listed}

    def has_sums_of(self, codebook: str, roster: str) -> bool:
        """Return True if sums of this codebook and these sites were answered: they may be asked for again."""
        return any(name[:2] == (codebook, roster) for name in self.sums)

    @property
    def spent(self) -> float:
        """The privacy spent in all (zero-concentrated differential privacy, ρ)."""
        return sum(self.rho.values())

    def had_no_answer(self, question: str) -> bool:
        """Return True for a question to this site alone that was asked and could not be answered."""
        return question in self.shown and self.shown[question] is None

    def hand_over(self, file: str) -> dict[str, Any]:
        """All of it as JSON, for the next file of a log; what stands in this one is in `file` then."""

        def elsewhere(place: Place | None) -> dict[str, Any] | None:
            return None if place is None else {**asdict(place), "file": place.file or file}

        sums: dict[str, dict[str, list[str]]] = {}
        for codebook, roster, question in sorted(self.sums):
            sums.setdefault(codebook, {}).setdefault(roster, []).append(question)
        return {
            "sums": sums,
            "rosters": sorted(self.rosters),
            "rho": self.rho,
            "releases": {plan: elsewhere(place) for plan, place in self.releases.items()},
            "shown": {name: elsewhere(place) for name, place in self.shown.items()},
        }

    def resume(self, content: Mapping[str, Any]) -> None:
        """Read what `hand_over` wrote."""
        try:
            self.sums = {
                (codebook, roster, question)
                for codebook, of_book in content["sums"].items()
                for roster, questions in of_book.items()
                for question in questions
            }
            self.rosters = set(content["rosters"])
            self.rho = dict(content["rho"])
            self.releases = {plan: Place.read(place) for plan, place in content["releases"].items()}
            self.shown = {
                name: None if place is None else Place.read(place) for name, place in content["shown"].items()
            }
            listed = all(map(is_price, self.rho.values())) and self.rho.keys() == self.releases.keys()
        except (KeyError, TypeError, ValueError, AttributeError):
            listed = False
        if not listed:
            raise FormatError("the event 'handover' has an odd history")
