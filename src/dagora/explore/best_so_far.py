"""The best graph so far of a run under way: the process that learns sends it, the server draws it.

The search waits for neither: it is asked for the edges now and then, only if it has new ones they are sent,
and the picture is drawn in the server's process, as that of a result is.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dagora.base.events import Edges, Event
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG, Edge
from dagora.learners.result import Result

ASK_EVERY = 0.1  # seconds between two questions for edges, at least: the last ones count in a quick search
SHARE = 0.02  # of the time of a search, at most, that may be spent on making edges
MOST_COLUMNS = 300  # of a graph that is drawn while a method runs
MOST_EDGES = 1000  # of the same: a picture of more is neither readable nor quick to draw
DRAW_EVERY = 0.7  # seconds between two pictures, at least
REST = 4.0  # times what the last drawing took, before the next one


class GraphSender:
    """Asks events for edges, not too often, and tells of those that are new.

    `class_only` says that the score tells no more than a class of graphs.

    >>> sender = GraphSender("ab", class_only=True)
    >>> sender.news(Event("climbing", 1, edges=lambda: (("a", "b"),)), 0.5)["edges"]
    (('a', 'b'),)
    >>> sender.news(Event("climbing", 2, edges=lambda: ()), 0.55)
    >>> sender.news(Event("climbing", 3, edges=lambda: (("a", "b"),)), 10.0)
    >>> sender.news(Event("climbing", 4, edges=lambda: ()), 20.0)["edges"]
    ()
    """

    def __init__(self, nodes: Sequence[str], *, class_only: bool) -> None:
        self._nodes = list(nodes)
        self._class_only = class_only
        self.next = 0.0 if len(self._nodes) <= MOST_COLUMNS else float("inf")
        self._sent: tuple[Edges, Edges] | None = None  # directed and undirected ones

    @property
    def reason_not_drawn(self) -> str:
        """The reason why no graph is drawn during the run; empty if one is.

        >>> GraphSender(["x"] * 301, class_only=True).reason_not_drawn
        'A graph of 301 columns is drawn at the end alone: on the way, only one of at most 300 is.'
        """
        columns = len(self._nodes)
        if columns <= MOST_COLUMNS:
            return ""
        return (
            f"A graph of {columns} columns is drawn at the end alone: on the way, only one of at most "
            f"{MOST_COLUMNS} is."
        )

    def news(self, event: Event, now: float) -> dict[str, Any] | None:
        """The message about the best graph so far, if it has changed and a message is due."""
        if (event.edges is None and event.lines is None) or now < self.next:
            return None
        began = time.perf_counter()
        edges = () if event.edges is None else event.edges()
        lines = () if event.lines is None else event.lines()
        self.next = now + max(ASK_EVERY, (time.perf_counter() - began) / SHARE)
        skeleton = event.lines is not None
        return self._message(edges, lines, event.score, class_only=self._class_only, skeleton=skeleton)

    def result_news(self, result: Result) -> dict[str, Any] | None:
        """The same of what was learned, where something comes after it."""
        graph = result.plain_graph
        return self._message(graph.edges, graph.undirected, result.score, class_only=result.class_only)

    def _message(
        self,
        edges: Edges,
        undirected: Edges,
        score: float | None,
        *,
        class_only: bool,
        skeleton: bool = False,
    ) -> dict[str, Any] | None:
        too_large = len(edges) + len(undirected) > MOST_EDGES or len(self._nodes) > MOST_COLUMNS
        if too_large or (edges, undirected) == self._sent:
            return None
        self._sent = (edges, undirected)
        found = {"edges": edges, "undirected": undirected, "score": score, "class_only": class_only}
        return {"nodes": self._nodes, **found, "skeleton": skeleton}


@dataclass(frozen=True)
class BestSoFar:
    """A graph of a run that goes on, as it was sent, and how many came before it."""

    number: int
    said: Mapping[str, Any]

    @cached_property
    def picture(self) -> dict[str, Any]:
        """The graph drawn as a result is, and the time to wait before the next drawing."""
        began = time.perf_counter()
        nodes, lines = self.said["nodes"], pairs(self.said["undirected"])
        edges = pairs(self.said["edges"])
        graph = CPDAG(nodes, edges, lines) if lines else DAG(nodes, edges)
        found = Result(graph, "", "", "", class_only=self.said["class_only"])
        drawing = found.plot().svg
        return {
            "svg": drawing,
            "edges": len(edges) + len(lines),
            "open": len(found.open_edges),
            "skeleton": self.said["skeleton"],
            "score": self.said["score"],
            "rest": max(DRAW_EVERY, REST * (time.perf_counter() - began)),
        }


def pairs(listed: Sequence[Sequence[str]]) -> list[Edge]:
    """Edges as JSON has them, as graphs take them."""
    return [(one, other) for one, other in listed]
