"""Adjustment sets of all pairs of nodes: as text, CSV and JSON."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from io import StringIO
from itertools import permutations
from typing import Any

from dagora.base.files import json_text
from dagora.base.phrases import comma_list
from dagora.graph.adjustment import Adjustment
from dagora.graph.any_graph import AnyGraph


@dataclass(frozen=True)
class AdjustmentTable:
    """The adjustment sets of every ordered pair of the nodes of a graph; `notes` hold for all of them.

    >>> from dagora.graph.dag import DAG
    >>> found = AdjustmentTable.of(DAG("abc", [("a", "b"), ("a", "c"), ("b", "c")]))
    >>> print(found.to_text())
    a on b: adjust for nothing
    a on c: adjust for nothing
    b on a: zero
    b on c: adjust for a
    c on a: zero
    c on b: zero
    """

    pairs: tuple[Adjustment, ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, graph: AnyGraph, notes: Iterable[str] = ()) -> AdjustmentTable:
        """The answers of a graph."""
        return cls(tuple(Adjustment(graph, x, y) for x, y in permutations(graph.nodes, 2)), tuple(notes))

    def to_text(self) -> str:
        """A line for each pair."""
        lines = [f"{one.x[0]} on {one.y}: {one.short_answer}" for one in self.pairs]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def to_csv(self) -> str:
        """A row for each pair; names of a set, and open edges, stand in one cell with commas between them."""
        text = StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["from", "to", "verdict", "optimal", "minimal", "open_edges"])
        for one in self.pairs:
            sets = ["" if names is None else comma_list(names) for names in (one.optimal, one.minimal)]
            edges = comma_list(f"{tail} — {head}" for tail, head in one.open_edges)
            writer.writerow([one.x[0], one.y, one.verdict, *sets, edges])
        return text.getvalue()

    def to_json(self) -> str:
        """JSON text, one object."""
        return json_text(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {"pairs": [one.to_dict() for one in self.pairs], "notes": list(self.notes)}
