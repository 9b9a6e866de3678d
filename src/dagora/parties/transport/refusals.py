"""What a listener says about the connections it refuses: the first of a kind at once, the others in sums.

A stranger can be refused a thousand times a minute. So refusals for the same reason are counted, and told
in one line every ten seconds, and when the wait is over.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

SUM_SECONDS = 10.0
MOST_KINDS = 50  # a party may give reasons of its own when it leaves


class Refusals:
    """Tells about refusals.

    >>> said = Refusals(print)
    >>> for port in (1, 2, 3):
    ...     said.add("a connection", f"10.0.0.1:{port}", "it does not speak TLS")
    refused a connection from 10.0.0.1:1: it does not speak TLS
    >>> said.tell()
    refused 2 more connections: it does not speak TLS (the last from 10.0.0.1:3)
    """

    def __init__(self, say: Callable[[str], None] | None) -> None:
        self._say = say or (lambda _: None)
        self._known: set[tuple[str, str]] = set()
        self._more: Counter[tuple[str, str]] = Counter()
        self._last: dict[tuple[str, str], str] = {}
        self._told = time.monotonic()
        self.latest = ""
        self._idle = True

    def add(self, who: str, where: str, why: str, *, idle: bool = False) -> None:
        """Note a refusal; `latest` keeps the last one that was not mere idleness, if there was any."""
        line = f"{who} from {where}: {why}" if where else f"{who}: {why}"
        if not idle or self._idle:
            self.latest, self._idle = line, idle
        kind = (who, why)
        if kind not in self._known and len(self._known) >= MOST_KINDS:
            kind = ("a connection", "other reasons")
        if kind in self._known:
            self._more[kind] += 1
            self._last[kind] = where
        else:
            self._known.add(kind)
            self._say(f"refused {line}")
        if time.monotonic() - self._told > SUM_SECONDS:
            self.tell()

    def tell(self) -> None:
        """Say how many more there were since the last time."""
        for (who, why), count in self._more.items():
            where = self._last[who, why]
            last = f" (the last from {where})" if where else ""
            times = "once more" if count == 1 else f"{count} times more"
            many = f"{count} more connection{'s' * (count > 1)}" if where else f"{who} {times}"
            self._say(f"refused {many}: {why}{last}")
        self._more.clear()
        self._told = time.monotonic()
