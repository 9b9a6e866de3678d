"""The columns around one variable among very many, and what a graph of them says of its Markov blanket.

The columns that matter to a variable are found in rounds. A column is near another if it improves that one's
family, be it alone or beside the parents found so far. The first round takes the columns near the target. A
tabu search on them gives it a blanket, the next round adds the columns near each of its members, and so on
until no round adds any. Then the method that was asked for searches all of them. Of p columns and k that
were looked around, p·k families are scored and never those of all pairs.

With the parents and children of each member of the blanket at hand, a search tells a neighbour of the target
from a variable that only shares a child with it, and a v-structure from a chain (Niinimäki & Parviainen
2012). Columns at the rim have neighbours that are left out: of edges among them, nothing is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.base.events import Event, ignore
from dagora.base.wording import col, option
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.separation import moral_graph
from dagora.learners.one_run import Searching, climb
from dagora.learners.result import Result
from dagora.learners.run import Run
from dagora.learners.source import Source
from dagora.scores.gaussian_rows import GaussianRows
from dagora.scores.local_score import LIMITED_FAMILIES, TIE, LocalScore, ScoreBlock
from dagora.scores.registry import Score
from dagora.stats.statistics import Statistics
from dagora.stats.table import TableStatistics

Floats = NDArray[np.float64]
# Of the columns near another one, the best so many are taken.
NEAREST = 100


class WideScore(Protocol):
    """A score of very many columns, as the search for the near ones asks it."""

    def families(self, families: Sequence[tuple[int, Sequence[int]]]) -> Floats:
        """Scores of a few families."""

    def with_each(self, child: int, given: Sequence[int]) -> Floats:
        """Scores of a child with some parents and one more, for every column; −∞ where that is none."""


class EachColumn:
    """Any score as one of very many columns; it must not need all pairs to begin with."""

    def __init__(self, score: LocalScore) -> None:
        self._score = score
        self.families = score.families

    def with_each(self, child: int, given: Sequence[int]) -> Floats:
        """Scores of a child with some parents and one more."""
        block = cast("ScoreBlock", self._score.capabilities.block)
        scores = np.full(len(self._score.schema), -np.inf)
        others = np.setdiff1d(np.arange(len(scores)), [child, *given])
        for start in range(0, len(others), LIMITED_FAMILIES):
            some = others[start : start + LIMITED_FAMILIES]
            beside = np.tile(np.array(given, dtype=np.int64), (len(some), 1))
            parents = np.sort(np.column_stack([beside, some]), axis=1)
            scores[some] = block(np.full(len(some), child), parents)
        return scores


@dataclass(frozen=True)
class Around:
    """The columns that were found around a target, of how many, and why there may be more."""

    source: Source
    target: str
    columns: int
    reason: str = ""

    def on_blanket(self, result: Result) -> Result:
        """The result with the graph of the target and its blanket alone, and a message that names them."""
        found, shown = result.cpdag, cast("DAG | CPDAG", result.shown_graph)
        place = found.nodes.index(self.target)
        near = np.flatnonzero(moral_graph(found)[place]).tolist()
        names = [found.nodes[i] for i in sorted([place, *near])]
        kept = frozenset(names)
        graph = CPDAG(
            names,
            [edge for edge in shown.edges if kept.issuperset(edge)],
            [edge for edge in shown.undirected if kept.issuperset(edge)],
        )
        gains = {edge: gain for edge, gain in result.edge_gains.items() if kept.issuperset(edge)}
        looked = (
            f"{len(found.nodes):,} of {self.columns:,} columns are near '{self.target}' and were searched"
        )
        early = f"columns near it may be missing: {self.reason}" if self.reason else ""
        return replace(
            result,
            graph=graph,
            message="; ".join(
                filter(None, (blanket_in_words(graph, self.target), looked, early, result.message))
            ),
            status="time-limit" if self.reason else result.status,
            score=None,
            weights=None,
            edge_gains=gains,
            absent_costs={},
            classes=(),
            settings={**result.settings, "target": self.target},
        )


def blanket_in_words(graph: CPDAG, target: str) -> str:
    """The Markov blanket of a variable in a graph of nothing else.

    >>> blanket_in_words(CPDAG("abcd", [("a", "c"), ("b", "c")], [("a", "d")]), "a")
    "the Markov blanket of 'a': children: c; direction open: d; other parents of children: b"
    """
    joined = {
        "parents": graph.parents(target),
        "children": graph.children(target),
        "direction open": graph.neighbours(target),
    }
    known = {target, *(name for names in joined.values() for name in names)}
    joined["other parents of children"] = tuple(name for name in graph.nodes if name not in known)
    said = [f"{role}: {', '.join(names)}" for role, names in joined.items() if names]
    return f"the Markov blanket of '{target}'" + (f": {'; '.join(said)}" if said else " is empty")


def around_target(target: str, searching: Searching, source: Source, run: Run) -> Around:
    """Find the columns around a variable."""
    table = require_local(target, searching, source)
    score = wide_score(searching, source.statistics, table, run)
    names = table.names
    place = {name: i for i, name in enumerate(names)}
    required = [edge for edge in run.knowledge.required if target in edge]
    near = {place[name] for name in (target, *(name for edge in required for name in edge))}
    near |= joined(score, place[target], ())
    looked: set[tuple[int, tuple[int, ...]]] = {(place[target], ())}
    reason = ""
    while len(near) > 1:
        run.on_event(Event(f"looking around {target}", len(near)))
        if run.budget.exhausted:
            reason = run.budget.reason
            break
        some = [names[i] for i in sorted(near)]
        known = run.knowledge.among(some)
        local = searching.make(TableStatistics(table.select(some), run.jobs), known)
        graph = climb(local, replace(run, knowledge=known, on_event=ignore))
        blanket = np.flatnonzero(moral_graph(graph)[graph.index(target)])
        asked = {
            (place[name], tuple(sorted(place[parent] for parent in given)))
            for name in (target, *(graph.nodes[i] for i in blanket))
            for given in ((), graph.parents(name))
        } - looked
        looked |= asked
        more = {found for child, given in sorted(asked) for found in joined(score, child, given)}
        if more <= near:
            break
        near |= more
    some = [names[i] for i in sorted(near)]
    if len(some) == 1:  # a network needs two
        some = [*names[:2]] if target in names[:2] else [names[0], target]
    rows = TableStatistics(table.select(some), run.jobs)
    return Around(Source(rows), target, len(names), reason)


def require_local(target: str, searching: Searching, source: Source) -> Table:
    """The table; refuse a target, a method or rows that do not go together."""
    said = option("target", target)
    if searching.score is None:
        raise OptionError(
            f"{said} needs a method that searches on scores, such as auto or boss: {searching.entry.name} "
            "has an objective of its own"
        )
    if type(source.rows) is not TableStatistics:
        raise OptionError(
            f"{said} needs complete rows in memory, without interventions, time, weights or groups"
        )
    if searching.score.needs_rows:
        raise OptionError(f"{said} does not go with the score {searching.score.name}, which takes long")
    table = source.rows.rows()
    if target not in table.names:
        raise OptionError(f"{said} must be a column of the data, and there is no {col(target)}")
    return table


def wide_score(searching: Searching, statistics: Statistics, table: Table, run: Run) -> WideScore:
    """The score of the columns of a table, without tables of all pairs where there is one."""
    score = cast("Score", searching.score)
    if score.name == "bic-gaussian":
        return GaussianRows(table, cast("float", searching.score_options["penalty"]))
    if score.kind is not Kind.DISCRETE:  # it keeps moments of all pairs
        searching.entry.check_width(len(table.names))
    return EachColumn(searching.make(statistics, run.knowledge))


def joined(score: WideScore, child: int, given: tuple[int, ...]) -> set[int]:
    """The columns that improve the family of a child and some parents, at most the best `NEAREST`."""
    (alone,) = score.families([(child, given)])
    scores = score.with_each(child, given)
    best = np.argsort(-scores, kind="stable")[:NEAREST]
    return {int(j) for j in best if scores[j] > alone + TIE * max(1.0, abs(alone))}
