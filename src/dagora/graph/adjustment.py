"""Which variables to adjust for, so that rows that were only observed tell the effect of setting a variable.

A set Z is valid for the effect of X on y if it holds no node that X may change on the way to y, and blocks
every path from X to y that is not causal: it separates X from y in the graph without the first edges of the
causal paths (van der Zander, Liśkiewicz & Textor 2019). Of the valid sets, the parents of the nodes on causal
paths give estimates of the least asymptotic variance, where no cause is hidden (Henckel, Perković & Maathuis
2022).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import Any, Literal

from dagora.base.errors import GraphError, OptionError
from dagora.base.phrases import some_of, was_or_were
from dagora.graph.bit_sets import members, reach
from dagora.graph.identification import CausalGraph
from dagora.graph.separators import eliminate, minimal_separators, nearest_separator

Names = str | Iterable[str]
Verdict = Literal["zero", "adjustment", "g-formula", "not identified"]


class Adjustment:
    """Identification of the effect of `x` on `y` in a graph; `notes` say what the graph itself rests on.

    >>> from dagora.graph.cpdag import CPDAG
    >>> from dagora.graph.dag import DAG
    >>> arrows = [("severity", "drug"), ("severity", "death"), ("drug", "death")]
    >>> graph = DAG(["severity", "drug", "death"], arrows)
    >>> print(Adjustment(graph, "drug", "death").to_text())
    the effect of 'drug' on 'death' is identified by adjustment
    adjust for: severity (least variance)
    >>> Adjustment(CPDAG.from_dag(graph), "drug", "death").open_edges
    (('drug', 'severity'), ('drug', 'death'))
    """

    def __init__(self, graph: CausalGraph, x: Names, y: str, notes: Iterable[str] = ()) -> None:
        self.graph = graph
        self._class = graph.causal_class
        self.notes = tuple(notes)
        self.x = tuple(dict.fromkeys([x] if isinstance(x, str) else x))
        self.y = y
        if not self.x:
            raise GraphError("an effect needs at least one variable that is set")
        self._causes, self._outcome = self._bits(self.x), self.graph.index(y)
        if y in self.x:
            raise GraphError(f"'{y}' cannot be both set and the outcome")
        self._dag = self._class.member
        self._paths = self._class.possible_paths(self._causes, self._outcome)

    @property
    def open_edges(self) -> tuple[tuple[str, str], ...]:
        """The edges at x whose direction (in a PAG: or hidden cause) leaves the effect open."""
        return tuple((self.graph.nodes[x], self.graph.nodes[v]) for x, v in self._paths.open)

    @cached_property
    def verdict(self) -> Verdict:
        """The way in which observed rows determine the effect, if they do.

        "zero": no directed path leads from x to y. "adjustment": adjusted for a valid set. "g-formula": they
        do, but no one set does. "not identified": the graph leaves it open.
        """
        if not self._paths.all:
            return "zero"
        if self._paths.open:
            return "not identified"
        if self._separates(self._candidates):
            return "adjustment"
        return "not identified" if self._class.allows_hidden_causes else "g-formula"

    @property
    def identified(self) -> bool:
        """True if observed rows and the graph determine the effect."""
        return self.verdict != "not identified"

    @property
    def forbidden(self) -> tuple[str, ...]:
        """Variables that no valid set holds: they are, or depend on, what x changes on the way to y."""
        return self._names(self._forbidden & ~self._causes)

    @property
    def optimal(self) -> tuple[str, ...] | None:
        """The valid set of the least asymptotic variance; None without a valid set, or with hidden causes."""
        if self.verdict != "adjustment" or self._class.allows_hidden_causes:
            return None
        parents = 0
        for node in members(self._between):
            parents |= self._dag.parents[node]
        return self._names(parents & ~self._forbidden & ~self._causes)

    @property
    def minimal(self) -> tuple[str, ...] | None:
        """A valid set of which no variable can be left out; None where there is no valid set."""
        if self.verdict != "adjustment":
            return None
        found = nearest_separator(self._undirected, self._source, self._outcome)
        return None if found is None else self._names(found)

    def minimal_sets(self, most: int | None = None) -> Iterator[tuple[str, ...]]:
        """All valid sets of which no variable can be left out, or the first `most`."""
        if most is not None and (not isinstance(most, int) or most < 0):
            raise OptionError(option="most", value=most, must="be a whole number, 0 or more")
        return self._minimal_sets(most)

    def _minimal_sets(self, most: int | None) -> Iterator[tuple[str, ...]]:
        if self.verdict == "adjustment":
            found = minimal_separators(self._undirected, self._source, self._outcome)
            yield from map(self._names, islice(found, most))

    def is_valid(self, names: Names) -> bool:
        """Return True if the effect can be computed by adjusting for these variables."""
        chosen = self._bits([names] if isinstance(names, str) else names)
        if not self.identified or chosen & (self._forbidden | self._causes | 1 << self._outcome):
            return False
        return self._separates(chosen)

    def to_text(self) -> str:
        """The answer in words, a sentence a line."""
        return "\n".join([*self._sentences(), *(f"note: {note}" for note in self.notes)])

    @property
    def short_answer(self) -> str:
        """The answer in a few words."""
        if self.verdict == "adjustment":
            return f"adjust for {list_names(self.minimal or () if self.optimal is None else self.optimal)}"
        if self.verdict == "not identified" and self.open_edges:
            return f"not identified: {some_of([f'{x} — {v}' for x, v in self.open_edges])} is open"
        return self.verdict

    def _sentences(self) -> list[str]:
        what = f"the effect of {quote_names(self.x)} on '{self.y}'"
        if self.verdict == "zero":
            return [f"{what} is zero: no directed path leads there"]
        if self.verdict == "g-formula":
            return [f"{what} is identified, but by no one adjustment set: the g-formula gives it"]
        if self.verdict == "adjustment":
            best, least = self.optimal, self.minimal or ()
            lines = [f"{what} is identified by adjustment"]
            if best is not None:
                lines.append(f"adjust for: {list_names(best)} (least variance)")
            if best is None or set(best) != set(least):
                lines.append(f"{'smaller set' if best is not None else 'adjust for'}: {list_names(least)}")
            if self.forbidden != (self.y,):
                lines.append(
                    f"never adjust for: {list_names(name for name in self.forbidden if name != self.y)}"
                )
            return lines
        by = " by adjustment" if self._class.allows_hidden_causes else ""
        return [f"{what} is not identified{by}: {self.reason}"]

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "x": list(self.x),
            "y": self.y,
            "verdict": self.verdict,
            "optimal": None if self.optimal is None else list(self.optimal),
            "minimal": None if self.minimal is None else list(self.minimal),
            "forbidden": list(self.forbidden),
            "open_edges": [list(edge) for edge in self.open_edges],
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return f"Adjustment({', '.join(self.x)} on {self.y}: {self.verdict})"

    @property
    def reason(self) -> str:
        """Which edges leave the effect open, and what would settle it; only where it is not identified."""
        if not self.open_edges:
            return (
                "no set of observed variables blocks every path that is not causal; other means than "
                "adjustment are not tried"
            )
        if self._class.allows_hidden_causes:
            edges = some_of([f"{x} — {v}" for x, v in self.open_edges])
            return (
                f"a hidden cause, or the other direction, is possible at {edges}; rows in which "
                f"{quote_names(self.x)} {was_or_were(self.x)} set at random would settle it"
            )
        return why_open(self.x, self.open_edges)

    def _bits(self, names: Iterable[str]) -> int:
        bits = 0
        for name in names:
            bits |= 1 << self.graph.index(name)
        return bits

    def _names(self, bits: int) -> tuple[str, ...]:
        return tuple(self.graph.nodes[node] for node in members(bits))

    @cached_property
    def _between(self) -> int:
        """The nodes on causal paths from x to y but x."""
        below = self._dag.descendants(sum_bits(v for _, v in self._paths.all), self._causes)
        return below & self._dag.ancestors(1 << self._outcome, self._causes)

    @cached_property
    def _forbidden(self) -> int:
        return self._dag.descendants(self._between)

    @cached_property
    def _parents_behind(self) -> list[int]:
        """The parents of each node without the first edges of causal paths."""
        return [
            parents & ~self._causes if self._between >> node & 1 else parents
            for node, parents in enumerate(self._dag.parents)
        ]

    @cached_property
    def _candidates(self) -> int:
        """All nodes that a valid set may hold and that may matter; a set that separates is among them."""
        above = reach(self._parents_behind, self._causes | 1 << self._outcome)
        return above & self._dag.observed & ~self._forbidden & ~self._causes & ~(1 << self._outcome)

    def _separates(self, chosen: int) -> bool:
        rows = moralise(self._parents_behind, self._causes | 1 << self._outcome | chosen)
        return not reach(rows, self._causes, chosen) >> self._outcome & 1

    @property
    def _source(self) -> int:
        """The node that stands for all of x in `_undirected`."""
        return len(self._dag.parents)

    @cached_property
    def _undirected(self) -> list[int]:
        """The moral graph of what x and y depend on, with x as one node and only candidates beside y."""
        rows = moralise(self._parents_behind, self._causes | 1 << self._outcome)
        around = 0
        for node in members(self._causes):
            around |= rows[node]
        around &= ~self._causes
        rows = [row & ~self._causes for row in rows]
        for node in members(self._causes):
            rows[node] = 0
        for node in members(around):
            rows[node] |= 1 << self._source
        rows.append(around)
        kept = self._candidates | 1 << self._outcome | 1 << self._source
        return eliminate(rows, ((1 << len(rows)) - 1) & ~kept)


def moralise(parents: list[int], nodes: int) -> list[int]:
    """The moral graph of some nodes and all that they depend on.

    >>> moralise([0, 0, 0b011, 0b100], 0b0100)
    [6, 5, 3, 0]
    """
    rows = [0] * len(parents)
    for node in members(reach(parents, nodes)):
        family = parents[node] | 1 << node
        for one in members(family):
            rows[one] |= family & ~(1 << one)
    return rows


def sum_bits(nodes: Iterable[int]) -> int:
    """A set of nodes as bits."""
    bits = 0
    for node in nodes:
        bits |= 1 << node
    return bits


def why_open(x: Collection[str], edges: Collection[tuple[str, str]]) -> str:
    """Which edges of a class leave an effect of x open, and what would settle it.

    >>> why_open(["a"], [("a", "b")])
    "the direction of a — b decides it; knowing which comes first, or rows in which 'a' was set, would ..."
    >>> why_open(["a", "c"], [("a", "b")])
    "... or rows in which 'a' and 'c' were set, would settle it"
    """
    several = len(edges) > 1
    named = some_of([f"{tail} — {head}" for tail, head in edges])
    return (
        f"the direction{'s' if several else ''} of {named} decide{'' if several else 's'} it; "
        f"knowing which comes first, or rows in which {quote_names(x)} {was_or_were(x)} set, would settle it"
    )


def quote_names(names: Iterable[str]) -> str:
    """Names in quotes.

    >>> quote_names("ab")
    "'a' and 'b'"
    """
    return " and ".join(f"'{name}'" for name in names)


def list_names(names: Iterable[str]) -> str:
    """Names, or the words for none."""
    return ", ".join(names) or "nothing"
