"""What a site has answered so far, read from its log: what a policy counts for ever."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Table = tuple[str, str, str]


@dataclass
class History:
    """Distinct sums that were answered, the sets of sites that they went to, and the privacy spent.

    A sum is named by the codebook, the sites and the question: asked for again, it is not counted again.
    `rho` is the privacy spent by releases with noise, and `releases` this site's parts of them, by the plan
    that they were made for. None of this depends on rows.
    """

    sums: set[Table] = field(default_factory=set)
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
                self.sums.update(self.named(event["asks"], event.get("tables", ()), size))
        elif event["event"] == "shown":
            self.rosters.add(self._plan["roster"])

    def named(self, kind: str, tables: Iterable[Iterable[int]], size: int = 0) -> set[Table]:
        """The names of sums of the present plan; `size` is the number of functions or of lags."""
        where = (self._plan["codebook"], self._plan["roster"])
        listed = [",".join(map(str, table)) for table in tables] if kind == "counts" else [str(size)]
        return {(*where, f"{kind} {question}") for question in listed}

    @property
    def spent(self) -> float:
        """The privacy spent in all (zero-concentrated differential privacy, ρ)."""
        return sum(self.rho.values())
