"""Which families of a graph changed from one period to another: a test for each, and their false discoveries.

The tests are those of `family_changes`. p-values are adjusted for the number of families (Benjamini &
Hochberg 1995).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dagora.base.files import json_text
from dagora.graph.dag import DAG
from dagora.graph.drawing import clean_text
from dagora.graph.drift_picture import draw_drift
from dagora.graph.picture import Picture
from dagora.posterior.criticism.family_changes import compare_family
from dagora.stats.statistics import Statistics


@dataclass(frozen=True, slots=True)
class FamilyDrift:
    """The test of one family: None where it was not tested, and `note` says why.

    `adjusted` is the p-value adjusted for the number of families; `largest` says what changed most.
    """

    child: str
    parents: tuple[str, ...]
    statistic: float | None
    df: int
    p_value: float | None
    adjusted: float | None
    changed: bool
    largest: str = ""
    note: str = ""

    def to_text(self) -> str:
        """A line on the family."""
        given = f" given {', '.join(self.parents)}" if self.parents else ""
        if self.p_value is None or self.adjusted is None:
            return f"{self.child}{given}: not tested ({self.note})"
        said = f"{self.child}{given}: p {self.p_value:.3g}, adjusted {self.adjusted:.3g}"
        return f"{said}; {self.largest}" if self.changed and self.largest else said


@dataclass(frozen=True, slots=True)
class Drift:
    """The families of a graph held against two periods: `to_text()` in words, `to_json()` with every number.

    >>> import dagora
    >>> old = {"x": ["n", "y"] * 100, "y": ["n", "y"] * 90 + ["y", "n"] * 10}
    >>> new = {"x": ["n", "y"] * 100, "y": ["n", "y"] * 50 + ["y", "n"] * 50}
    >>> print(dagora.drift(dagora.DAG("xy", ["xy"]), old, new).to_text())
    1 of 2 families changed (200 rows before, 200 now; false discovery rate 0.05)
      y given x: p 3.08e-18, adjusted 6.17e-18; P(y=n | x=n) 0.9 before, 0.5 now
    """

    graph: DAG
    families: tuple[FamilyDrift, ...]
    rows_before: int
    rows_now: int
    alpha: float

    @property
    def changed(self) -> tuple[str, ...]:
        """The variables whose families changed."""
        return tuple(family.child for family in self.families if family.changed)

    def to_text(self) -> str:
        """The findings in words: a sentence, and a line for each family that changed or was not tested."""
        many = len(self.families)
        first = (
            f"{len(self.changed)} of {many} families changed ({self.rows_before:,} rows before, "
            f"{self.rows_now:,} now; false discovery rate {self.alpha:g})"
        )
        shown = [family for family in self.families if family.changed or family.p_value is None]
        return "\n".join([first, *(f"  {family.to_text()}" for family in shown)])

    def to_dict(self) -> dict[str, Any]:
        """JSON form; a file of it can also be read as a graph."""
        return {
            "nodes": list(self.graph.nodes),
            "edges": [list(edge) for edge in self.graph.edges],
            "changed": list(self.changed),
            "rows_before": self.rows_before,
            "rows_now": self.rows_now,
            "alpha": self.alpha,
            "families": [asdict(family) for family in self.families],
        }

    def to_json(self) -> str:
        """All numbers as JSON text."""
        return json_text(self.to_dict())

    def plot(self) -> Picture:
        """The graph, in which families that changed are marked."""
        return Picture(draw_drift(self.graph, self.changed))

    def _repr_html_(self) -> str:
        """HTML for notebooks."""
        return f"<pre>{clean_text(self.to_text())}</pre>"


def drift_of(graph: DAG, before: Statistics, now: Statistics, alpha: float) -> Drift:
    """Test every family of a graph between two periods."""
    from scipy.stats import chi2

    tests = [compare_family(graph, node, before, now) for node in graph]
    p_values = [None if isinstance(each, str) else float(chi2.sf(each.statistic, each.df)) if each.df else 1.0
                for each in tests]  # fmt: skip
    adjusted = benjamini_hochberg([p for p in p_values if p is not None])
    left = iter(adjusted)
    families = []
    for node, test, p in zip(graph, tests, p_values, strict=True):
        q = None if p is None else next(left)
        parents = graph.parents(node)
        if isinstance(test, str):
            families.append(FamilyDrift(node, parents, None, 0, None, None, changed=False, note=test))
            continue
        changed = q is not None and q <= alpha
        families.append(FamilyDrift(node, parents, test.statistic, test.df, p, q, changed, test.largest))
    return Drift(graph, tuple(families), before.n_rows, now.n_rows, alpha)


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """The p-values adjusted so that those below α have a false discovery rate of at most α.

    >>> [round(p, 3) for p in benjamini_hochberg([0.01, 0.04, 0.03, 0.5])]
    [0.04, 0.053, 0.053, 0.5]
    """
    number = len(p_values)
    adjusted, least = [0.0] * number, 1.0
    for rank, place in zip(
        range(number, 0, -1), sorted(range(number), key=p_values.__getitem__, reverse=True), strict=True
    ):
        least = min(least, p_values[place] * number / rank)
        adjusted[place] = least
    return adjusted
