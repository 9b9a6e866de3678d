"""Progress of a running learner: it reports `Event`s to an `Observer`.

The progress bar, the score trace and the live page read the same events.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from dagora.base.errors import DagoraWarning

# Edges of a graph, by the names of their ends.
Edges = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Event:
    """One step of a learner: where it stands (`step` of `total`, if known) and the best score so far.

    `edges`, where a method has it, makes the edges of the best graph so far: a DAG; of a method that returns
    a class of graphs, one of its members. `lines`, of a method that finds directions last, makes those of the
    graph so far that have none yet. Either costs nothing unless it is called, and is valid only until the
    observer returns: the search goes on in the same arrays.

    >>> import dagora
    >>> table = dagora.Table.from_numpy([[0, 0], [1, 1]] * 20, names=["a", "b"], discrete=["a", "b"])
    >>> seen = []
    >>> result = dagora.learn(table, on_event=seen.append)
    >>> isinstance(seen[-1], Event), seen[-1].score == result.score
    (True, True)
    >>> graphs = []
    >>> result = dagora.learn(table, "tabu", on_event=lambda event: graphs.append(event.edges()))
    >>> graphs[-1] == result.graph.edges
    True
    """

    phase: str
    step: int
    score: float | None = None
    total: int | None = None
    bound: float | None = None
    message: str = ""
    edges: Callable[[], Edges] | None = field(default=None, compare=False, repr=False)
    lines: Callable[[], Edges] | None = field(default=None, compare=False, repr=False)


Observer = Callable[[Event], None]


class IgnoreEvents:
    """The observer that ignores every event; signatures show it as `ignore`."""

    def __call__(self, event: Event) -> None:
        """Ignore an event."""

    def __repr__(self) -> str:
        return "ignore"

    def __reduce__(self) -> str:
        return "ignore"


ignore: Observer = IgnoreEvents()


# Called with the work done and the total; it may raise `OutOfTimeError` to end the work.
Watch = Callable[[int, int], None]


def ignore_progress(done: int, total: int) -> None:
    """Ignore progress."""


class SlowStartWarning(DagoraWarning):
    """Something that makes the first use slow; no result holds it, so every door shows it."""
