"""K2: each variable greedily takes its parents, one by one, from those before it in a given order.

The candidate that raises the variable's score most becomes a parent, until none raises it or the limit on
parents is reached (Cooper & Herskovits 1992, whose score is `k2`; any other score works as well). The search
itself sees no scores: it asks `choose` which candidate wins.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, KnowledgeError, OptionError
from dagora.base.events import Edges, Event
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.graph.topological import topological_order
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.scores.local_score import TIE, Family, LocalScore

# Called with a child, its parents so far and its candidates; returns the candidate to add, or None.
Choose = Callable[[int, Sequence[int], Sequence[int]], int | None]


def k2(score: LocalScore, run: Run, *, order: str | None = None) -> Outcome:
    """Greedy parents along `order` (names separated by commas), or along the order of the columns.

    If knowledge does not permit the order of the columns, the nearest order that it permits is used.

    >>> from dagora.data.table import Table
    >>> from dagora.scores.information import bic
    >>> from dagora.stats.table import TableStatistics
    >>> table = Table.from_numpy([[0, 0], [1, 1]] * 20, names=["a", "b"], discrete=["a", "b"])
    >>> k2(bic(TableStatistics(table)), Run(), order="b,a").graph.edges
    (('b', 'a'),)
    """
    names = score.schema.names
    knowledge = run.knowledge
    if order is None:
        sequence = permitted_order(knowledge, names)
    else:
        sequence = earlier_first(knowledge.without_parents(names), order, names)
        check_order(knowledge, names, sequence)
    required = knowledge.required_matrix(names)
    start = [np.flatnonzero(required[:, child]).tolist() for child in range(len(names))]
    chooser = LocalChooser(score, run, start)
    forbidden = knowledge.forbidden_matrix(names)
    parents = run_k2(
        sequence,
        knowledge.max_parents,
        chooser.choose,
        start=start,
        forbidden=forbidden,
        stopped=lambda: chooser.stopped,
    )
    stats = {"steps": float(chooser.steps), "evaluations": float(chooser.evaluations)}
    graph = DAG.from_parents(names, parents)
    if chooser.stopped:
        message = f"stopped after {chooser.steps} edges: {run.budget.reason}; the graph so far is returned"
        return Outcome(graph, "time-limit", message, chooser.score, stats)
    whose = "the given order" if order is not None else "the order of the columns"
    roots = knowledge.without_parents(names)
    if order is None and (places := [node for node in sequence if not roots[node]]) != sorted(places):
        whose = "an order that the knowledge permits"
    return Outcome(
        graph, "finished", f"no further parent helps any variable in {whose}", chooser.score, stats
    )


def run_k2(
    order: Sequence[int],
    max_parents: int | None,
    choose: Choose,
    *,
    start: Sequence[Sequence[int]] | None = None,
    forbidden: NDArray[np.bool_] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> list[list[int]]:
    """Parents of each variable, in the sequence in which they were chosen.

    `start` are parents that each variable has from the beginning; `forbidden[i, j]` excludes i as a parent of
    j. Once `stopped` says so, the other variables keep the parents that they have.

    >>> run_k2([0, 1, 2], 1, lambda child, parents, candidates: candidates[-1])
    [[], [0], [1]]
    """
    parents = [list(start[child]) if start is not None else [] for child in range(len(order))]
    for position, child in enumerate(order):
        if stopped():
            break
        candidates = [
            other
            for other in order[:position]
            if other not in parents[child] and (forbidden is None or not forbidden[other, child])
        ]
        while candidates and (max_parents is None or len(parents[child]) < max_parents):
            winner = choose(child, tuple(parents[child]), tuple(candidates))
            if winner is None:
                break
            parents[child].append(winner)
            candidates.remove(winner)
    return parents


class LocalChooser:
    """The chooser that compares scores: of equal candidates the first wins, and only a gain wins."""

    def __init__(self, score: LocalScore, run: Run, start: Sequence[Sequence[int]]) -> None:
        self._score = score
        self._run = run
        self._parents = [tuple(parents) for parents in start]
        self._local = self._families([(child, parents) for child, parents in enumerate(start)])
        for child in np.flatnonzero(self._local == -np.inf).tolist():
            raise DataError(
                f"'{score.schema.names[child]}' with {len(start[child])} parents cannot be scored "
                f"on {score.n_rows} rows: require fewer edges, or get more rows"
            )
        self.evaluations = len(start)
        self.steps = 0
        self.stopped = False

    @property
    def score(self) -> float:
        """Score of the graph so far."""
        return float(self._local.sum())

    def edges(self) -> Edges:
        """Edges of the graph so far."""
        return DAG.from_parents(self._score.schema.names, self._parents).edges

    def _families(self, families: Sequence[Family]) -> NDArray[np.float64]:
        return self._score.families(families)

    def choose(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> int | None:
        """The candidate that raises the child's score most, if any does."""
        if self._run.budget.exhausted:
            self.stopped = True
            return None
        values = self._families([(child, (*parents, candidate)) for candidate in candidates])
        self.evaluations += len(candidates)
        own, best = float(self._local[child]), float(values.max())
        if not best > own + TIE * max(abs(own), 1.0):
            return None
        winner = int(np.flatnonzero(values >= best - TIE * abs(best))[0])
        self._local[child] = values[winner]
        self._parents[child] = (*parents, candidates[winner])
        self.steps += 1
        self._run.on_event(Event("adding parents", self.steps, score=self.score, edges=self.edges))
        return candidates[winner]


def read_order(text: str, names: tuple[str, ...]) -> list[int]:
    """Positions of the names in an order; a name that contains a comma is put in double quotes.

    >>> read_order("c, a, b", ("a", "b", "c"))
    [2, 0, 1]
    """
    listed = next(csv.reader([text], skipinitialspace=True), [])
    index = {name: position for position, name in enumerate(names)}
    found: list[int] = []
    for entry in listed:
        name = entry if entry in index else entry.strip()
        if name not in index:
            raise OptionError(f"option 'order' names '{name}', which is not a variable of the data")
        if index[name] in found:
            raise OptionError(f"option 'order' names '{name}' twice")
        found.append(index[name])
    missing = next((name for name in names if index[name] not in found), None)
    if missing is not None:
        raise OptionError(f"option 'order' must name every variable once: '{missing}' is missing")
    return found


def earlier_first(roots: NDArray[np.bool_], order: str, names: tuple[str, ...]) -> list[int]:
    """Read an order of the nodes that can have parents; the others stand before them.

    >>> earlier_first(np.array([False, False, True]), "b,a", ("a", "b", "a[t-1]"))
    [2, 1, 0]
    """
    open_ = np.flatnonzero(~roots)
    sequence = read_order(order, tuple(names[k] for k in open_.tolist()))
    return [*np.flatnonzero(roots).tolist(), *open_[sequence].tolist()]


def check_order(knowledge: Knowledge, names: tuple[str, ...], order: Sequence[int]) -> None:
    """Refuse an order that contradicts the knowledge."""
    place = {names[node]: position for position, node in enumerate(order)}
    for tail, head in knowledge.required:
        if place[tail] > place[head]:
            raise KnowledgeError(
                f"the method k2 cannot obey the required edge {tail} → {head} with this order: "
                f"put '{tail}' before '{head}'"
            )
    ranked = [(rank, name) for rank, tier in enumerate(knowledge.tiers) for name in tier]
    ranked.sort(key=lambda entry: place[entry[1]])
    for (rank, name), (following, other) in pairwise(ranked):
        if rank > following:
            raise KnowledgeError(
                f"the method k2 cannot obey the tiers with this order: put '{other}', which is in an "
                f"earlier tier, before '{name}'"
            )


def permitted_order(knowledge: Knowledge, names: tuple[str, ...]) -> list[int]:
    """The order nearest to that of the columns in which required edges and tiers lead forward."""
    required = knowledge.required_matrix(names)
    roots = knowledge.without_parents(names)
    before = required | (roots[:, None] & ~roots)
    index = {name: position for position, name in enumerate(names)}
    for rank, tier in enumerate(knowledge.tiers):
        later = [index[name] for following in knowledge.tiers[rank + 1 :] for name in following]
        before[np.ix_([index[name] for name in tier], later)] = True
    # Through a variable in no tier, required edges may lead from a later tier back to an earlier one. Then
    # the required edges take precedence over the tiers.
    order = topological_order(before)
    if order is None:
        order = topological_order(required)
    assert order is not None, "required edges have no cycle"
    return [int(node) for node in order]
