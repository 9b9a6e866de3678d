"""The events of a site's log: which there are, and the fields that whoever reads a log relies on.

The chain of hashes says that a line was not changed by accident; anybody can write a chain. So what a line
says is checked, too, before it is counted or printed. Fields beyond those below are left alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from dagora.base.errors import FormatError
from dagora.parties.horizontal.plan.plan import BASIS, COUNTS, LAGGED, QUESTIONS, RELEASE

Test = Callable[[object], bool]


def is_text(value: object) -> bool:
    """Whether it is a text."""
    return isinstance(value, str)


def is_whole(value: object, limit: int = 1 << 63) -> bool:
    """Whether it is a whole number, 0 or more, that 64 bits hold."""
    return type(value) is int and 0 <= value < limit


def is_tables(value: object) -> bool:
    """Whether it is a list of lists of columns."""
    return isinstance(value, list) and all(
        isinstance(table, list) and all(map(is_whole, table)) for table in value
    )


def is_part(value: object) -> bool:
    """Whether it is a list of signed whole numbers that 64 bits hold."""
    return isinstance(value, list) and all(
        type(number) is int and -(1 << 63) <= number < 1 << 63 for number in value
    )


def is_price(value: object) -> bool:
    """Whether it is a finite number above 0."""
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
ANSWERED: dict[str, dict[str, Test]] = {
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
    wanted = {"time": is_text, **FIELDS[kind]}
    if kind == "answer":
        asks = entry.get("asks")
        wanted |= ANSWERED.get(asks, {}) if isinstance(asks, str) else {}
        if asks != RELEASE and ("rho" in entry or "part" in entry):
            raise FormatError(f"only the answer to a {RELEASE} has a price and a part")
    for name, test in wanted.items():
        if name not in entry or not test(entry[name]):
            raise FormatError(f"the event '{kind}' has no '{name}', or an odd one")
    if kind in {"answer", "shown"} and not planned:
        raise FormatError(f"the event '{kind}' comes before any plan")
