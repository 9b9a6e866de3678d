"""The answer about one effect: what is compared, the estimate with its interval, and what it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dagora.base.files import json_text
from dagora.base.phrases import some_of, was_or_were
from dagora.base.wording import render_fields
from dagora.effects.contrast import EffectContrast
from dagora.effects.effect_histogram import EffectHistogram
from dagora.effects.sensitivity import HiddenCause
from dagora.effects.set_estimate import Interval, Support, written_number
from dagora.graph.adjustment import list_names
from dagora.graph.any_graph import AnyGraph
from dagora.graph.dag import Edge

Verdict = Literal["zero", "adjustment", "g-formula", "functions", "not identified", "averaged", "set"]
MOST_MEMBERS = 8  # that are told
MOST_STRATA = 3  # that are told, those with fewest rows
MOST_COUNTED = 10_000  # graphs beyond which shares are told instead of numbers


@dataclass(frozen=True)
class ClassMember:
    """The effect in those graphs of a class that direct the open edges at x in one way."""

    edges: tuple[Edge, ...]
    verdict: Verdict
    estimates: Mapping[str, Interval]
    adjustment: tuple[str, ...] | None = None  # None: it was not adjusted
    support: Support | None = None
    graphs: int | None = None  # the number of them; None: not counted

    def to_text(self, total: int | None = None) -> str:
        """The effect in words, with where the rows do not carry it.

        >>> found = {"difference": Interval(-0.19, -0.24, -0.14)}
        >>> ClassMember((("severity", "drug"),), "adjustment", found, ("severity",), None, 2).to_text(total=6)
        'if severity → drug (2 of 6 graphs): difference -0.19 [-0.24, -0.14], adjusted for severity'
        """
        condition = ", ".join(f"{tail} → {head}" for tail, head in self.edges)
        condition += (
            "" if self.graphs is None or total is None else f" ({share_in_words(self.graphs, total)})"
        )
        if self.verdict == "zero":
            return f"if {condition}: zero"
        adjusted = f", {self.way_in_words()}" if self.adjustment != () else ""
        notes = "".join(f"; {note}" for note in self.support.notes) if self.support else ""
        return f"if {condition}: difference {self.estimates['difference']}{adjusted}{notes}"

    def way_in_words(self) -> str:
        """The way the effect was identified."""
        if self.adjustment is not None:
            return f"adjusted for {list_names(self.adjustment)}"
        return "zero by the graph" if self.verdict == "zero" else "by the g-formula"

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "edges": [list(edge) for edge in self.edges],
            "verdict": self.verdict,
            "adjustment": None if self.adjustment is None else list(self.adjustment),
            "estimates": {scale: found.to_dict() for scale, found in self.estimates.items()},
            "support": None if self.support is None else self.support.to_dict(),
            "graphs": self.graphs,
        }


def share_in_words(graphs: int, total: int) -> str:
    """Some of all graphs, as numbers that can be read.

    >>> share_in_words(2, 6), share_in_words(10**20, 3 * 10**20)
    ('2 of 6 graphs', '33% of the graphs')
    """
    return f"{graphs} of {total} graphs" if total < MOST_COUNTED else f"{graphs / total:.0%} of the graphs"


@dataclass(frozen=True)
class CurvePoint:
    """The mean or probability of y where x is set to a value, with its 95 % interval."""

    x: float
    y: Interval


@dataclass(frozen=True)
class OverGraphs:
    """The results of an average over graphs besides the estimate."""

    source: str  # where the graphs come from, in words
    graphs: int
    effective: float
    cause_probability: float
    if_cause: Mapping[str, Interval]
    best: Effect | None = None  # under the most probable class of graphs, taken as true
    best_probability: float = 0.0
    histogram: EffectHistogram | None = None  # of the difference, in the graphs in which x is a cause

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "source": self.source,
            "graphs": self.graphs,
            "effective": self.effective,
            "cause_probability": self.cause_probability,
            "zero_probability": 1 - self.cause_probability,
            "if_cause": {scale: found.to_dict() for scale, found in self.if_cause.items()},
            "best": None if self.best is None else self.best.to_dict(),
            "best_probability": self.best_probability,
            "histogram": None if self.histogram is None else self.histogram.to_dict(),
        }


@dataclass(frozen=True)
class Effect:
    """The effect of setting `x` on `y`, with everything that the answer rests on.

    `verdict` says how it was found. `estimates` has an `Interval` for each scale; it is empty where the
    effect is not identified, and then `members` has one effect for each set of parents that x has in some
    graph of the class. `over_graphs` is there for an average over graphs, `hidden_cause` for an effect that
    was adjusted, `where_set` where rows in which x was set tell the effect by themselves (verdict "set": they
    alone do). `graph` is what it was computed by, with lines where directions are open.

    >>> contrast = EffectContrast(("drug",), "death", ("yes",), ("no",), "yes")
    >>> found = Effect(contrast, "adjustment", {"difference": Interval(-0.19, -0.24, -0.14)}, ("severity",))
    >>> found.estimate, found.interval
    (-0.19, (-0.24, -0.14))
    """

    contrast: EffectContrast
    verdict: Verdict
    estimates: Mapping[str, Interval] = field(default_factory=dict)
    adjustment: tuple[str, ...] | None = None
    how: str = ""
    rows: int = 0
    support: Support | None = None
    reason: str = ""
    open_edges: tuple[Edge, ...] = ()
    members: tuple[ClassMember, ...] = ()
    over_graphs: OverGraphs | None = None
    curve: tuple[CurvePoint, ...] = ()
    hidden_cause: HiddenCause | None = None
    where_set: Effect | None = None
    assumptions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    graph: AnyGraph | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        render_fields(self, "notes", "assumptions", "reason")

    @property
    def x(self) -> tuple[str, ...]:
        """The names of the variables that are set."""
        return self.contrast.x

    @property
    def y(self) -> str:
        """The outcome."""
        return self.contrast.y

    @property
    def estimate(self) -> float | None:
        """The difference; None where it is not identified."""
        return self.estimates["difference"].value if self.estimates else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the difference; None where it is not identified."""
        found = self.estimates.get("difference")
        return None if found is None else (found.low, found.high)

    @property
    def range(self) -> tuple[float, float] | None:
        """Where not identified: the ends of the intervals of all members together."""
        found = [member.estimates["difference"] for member in self.members]
        return (min(one.low for one in found), max(one.high for one in found)) if found else None

    @property
    def graphs(self) -> int | None:
        """Where not identified: the number of graphs in the class; None if it was not counted."""
        found = [member.graphs for member in self.members if member.graphs is not None]
        return sum(found) if found and len(found) == len(self.members) else None

    @property
    def class_mean(self) -> float | None:
        """Where not identified: the mean over all graphs of the class, each counted once."""
        if self.graphs is None:
            return None
        counted = ((member.graphs or 0, member.estimates["difference"].value) for member in self.members)
        return sum(number / self.graphs * value for number, value in counted)

    def to_text(self) -> str:
        """The answer in words, a sentence a line."""
        lines = [f"effect of {self.contrast.to_text()}"]
        if self.verdict == "averaged":
            lines += self._averaged_lines()
        elif self.verdict == "not identified":
            lines += self._class_lines()
        elif self.verdict == "zero":
            lines.append("zero: no directed path leads there")
        else:
            lines += [f"{scale}: {found}" for scale, found in self.estimates.items()]
            lines += self._set_lines()
        x = " and ".join(self.x)
        lines += [f"{x}={written_number(point.x)}: {self.contrast.outcome} {point.y}" for point in self.curve]
        lines += [] if self.hidden_cause is None else [self.hidden_cause.to_text()]
        lines += [] if self.where_set is None else self.where_set.lines_beside()
        lines += [f"assumed: {text}" for text in self.assumptions]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def lines_beside(self) -> list[str]:
        """Lines on the rows in which x was set, beside another answer."""
        where, *others = self._set_lines()
        told = [f"  {scale}: {found}" for scale, found in self.estimates.items()]
        return [
            where,
            *told,
            *(f"  {line}" for line in (*others, *map("assumed: {}".format, self.assumptions))),
        ]

    def _set_lines(self) -> list[str]:
        if self.verdict == "set":
            x = f"{' and '.join(self.x)} {was_or_were(self.x)}"
            lines = [f"in the rows alone in which {x} set, without adjustment ({self.how}, {self.rows} rows)"]
            lines += [f"by the graph it is open: {self.reason}"] if self.reason else []
        elif self.verdict == "functions":
            lines = [f"by the functions along all paths ({self.how}, {self.rows} rows)"]
        elif self.adjustment is None:
            lines = [f"by the g-formula: no one adjustment set gives it ({self.how}, {self.rows} rows)"]
        else:
            lines = [f"adjusted for: {list_names(self.adjustment)} ({self.how}, {self.rows} rows)"]
        if self.support is not None:
            at = ", ".join(f"{value}: {rows}" for value, rows in self.support.rows_at.items())
            lines += [f"rows: {at}"] if at else []
            thin = "; ".join(map(str, self.support.thinnest[:MOST_STRATA]))
            lines += [f"fewest rows: {thin}"] if thin else []
            lines += list(self.support.notes)
        return lines

    def _class_lines(self) -> list[str]:
        lines = [f"not identified from these data alone: {self.reason}"]
        lines += [member.to_text(self.graphs) for member in self.members[:MOST_MEMBERS]]
        if len(self.members) > MOST_MEMBERS:
            lines.append(f"and {len(self.members) - MOST_MEMBERS} other ways to direct these edges")
        if self.range is not None:
            values = [member.estimates["difference"].value for member in self.members]
            low, high = (written_number(end(values)) for end in (min, max))
            ends = ", ".join(map(written_number, self.range))
            lines.append(f"over the class: between {low} and {high} (all intervals together: [{ends}])")
            if self.class_mean is not None:
                mean = written_number(self.class_mean)
                lines.append(f"the mean over its graphs, each counted once, is {mean}")
        return lines

    def _averaged_lines(self) -> list[str]:
        found = self.over_graphs
        if found is None:
            return []
        x, y = " or ".join(self.x), self.y
        lines = [f"{scale}: {one}" for scale, one in self.estimates.items()]
        lines.append(f"averaged over {found.source}")
        lines.append(
            f"P({x} is a cause of {y}) = {found.cause_probability:.2f}, P(no effect) = "
            f"{1 - found.cause_probability:.2f}"
        )
        if "difference" in found.if_cause and found.cause_probability < 1:
            where = "it" if len(self.x) == 1 else "one of them"
            lines.append(f"where {where} is a cause: difference {found.if_cause['difference']}")
        if found.best is not None:
            best = found.best
            lines.append(f"in the most probable class of graphs (probability {found.best_probability:.2f}):")
            told = best.to_text().splitlines()[1:]
            lines += [f"  {line}" for line in told if not line.startswith(("assumed:", "note:"))]
        return lines

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            **self.contrast.to_dict(),
            "verdict": self.verdict,
            "estimates": {scale: found.to_dict() for scale, found in self.estimates.items()},
            "adjustment": None if self.adjustment is None else list(self.adjustment),
            "how": self.how,
            "rows": self.rows,
            "support": None if self.support is None else self.support.to_dict(),
            "reason": self.reason,
            "open_edges": [list(edge) for edge in self.open_edges],
            "members": [member.to_dict() for member in self.members],
            "graphs": self.graphs,
            "class_mean": self.class_mean,
            "over_graphs": None if self.over_graphs is None else self.over_graphs.to_dict(),
            "curve": [{"x": point.x, **point.y.to_dict()} for point in self.curve],
            "hidden_cause": None if self.hidden_cause is None else self.hidden_cause.to_dict(),
            "where_set": None if self.where_set is None else self.where_set.to_dict(),
            "assumptions": list(self.assumptions),
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """JSON text, one object."""
        return json_text(self.to_dict())

    def __repr__(self) -> str:
        found = some_of([f"{scale} {one}" for scale, one in self.estimates.items()], 1) or self.verdict
        return f"Effect({self.contrast.to_text()}: {found})"
