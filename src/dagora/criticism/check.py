"""The record of a check: all that was found out about how well a graph and data go together."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from dagora.base.files import json_text
from dagora.criticism.falsification import Falsification
from dagora.criticism.held_out import HeldOut
from dagora.criticism.predictive import Predictive
from dagora.criticism.single_change import Change
from dagora.graph.any_graph import AnyGraph
from dagora.graph.drawing import clean_text

MOST_CHANGES = 3  # that the text lists


@dataclass(frozen=True, slots=True)
class Check:
    """A graph held against data: `to_text()` in words, `to_json()` with every number.

    `falsification` tests its independences, `held_out` rates it on rows held out beside other graphs,
    `predictive` compares the data with tables simulated from it, `changes` are the single changes that would
    raise the score `score`. A part that was not possible is None, and `notes` say why.

    >>> import dagora
    >>> rows = dagora.simulate(dagora.DAG("abc", ["ab"]), "gaussian", rows=200, seed=1).table
    >>> found = dagora.check(dagora.DAG("abc"), rows)
    >>> found.falsification.violated, found.changes[0].to_text()
    (1, 'add a → b: gains 101.7 nats')
    """

    graph: AnyGraph = field(repr=False)
    rows: int
    seed: int
    falsification: Falsification
    held_out: HeldOut | None = field(default=None, repr=False)
    predictive: Predictive | None = field(default=None, repr=False)
    changes: tuple[Change, ...] | None = field(default=None, repr=False)
    score: str | None = None
    notes: tuple[str, ...] = ()

    def to_text(self) -> str:
        """The findings in words, a sentence a line."""
        lines = self.falsification.to_lines()
        if self.held_out is not None:
            lines += self.held_out.to_lines()
        if self.predictive is not None:
            lines += self.predictive.to_lines()
        if self.changes is not None:
            lines.append(self.best_change())
            lines += [f"  {change.to_text()}" for change in self.changes[:MOST_CHANGES]]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def best_change(self) -> str:
        """The sentence on whether a single change of the graph would raise the score."""
        if self.changes:
            return f"single changes that would raise the score ({self.score}) most:"
        return f"single changes: none would raise the score ({self.score})"

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        parts = {
            name: None if part is None else asdict(part)
            for name, part in (("held_out", self.held_out), ("predictive", self.predictive))
        }
        return {
            "rows": self.rows,
            "seed": self.seed,
            "falsification": {**asdict(self.falsification), "as_good": self.falsification.as_good},
            **parts,
            "changes": None if self.changes is None else [asdict(change) for change in self.changes],
            "score": self.score,
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """All numbers as JSON text."""
        return json_text(self.to_dict())

    def _repr_html_(self) -> str:
        """HTML for notebooks."""
        return f"<pre>{clean_text(self.to_text())}</pre>"
