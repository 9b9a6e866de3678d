"""Greedy equivalence search: step by step, the best single-edge change of a whole class of equivalent graphs.

Edges are inserted as long as the score rises (forward), then deleted (backward), then turned; the three
phases are repeated until none of them helps. A step considers all members of the class at once, so it does
not depend on edge directions that the data cannot determine. With a consistent score and unlimited data the
first two phases alone end at the true class. (Meek 1997; Chickering 2002; turning: Hauser & Bühlmann 2012.)
The score must give equivalent graphs the same value.

Where variables were set from outside in some rows, the classes are those under interventions, which are
smaller (Hauser & Bühlmann 2012): the same operators reach them.

After a step only the operators near it are computed again, as in Ramsey et al. (2017). No operator is left
out, with one exception: if the neighbours of a node have more than 1024 cliques, the larger ones are not
tried, and a warning says so.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.base.budget import OutOfTimeError
from dagora.base.errors import DataError, KnowledgeError
from dagora.base.events import Edges, Event
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.interventions import separated_by_regimes
from dagora.graph.knowledge import Knowledge
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.learners.search.ges.class_graph import DELETE, INSERT, TURN, ClassGraph, class_of
from dagora.learners.search.ges.family_memory import FamilyMemory
from dagora.learners.search.ges.operators import MOST_CLIQUES, ClassLimits, offers
from dagora.learners.search.ges.partially_directed import Matrix
from dagora.learners.search.ges.ranking import Ranking
from dagora.scores.local_score import TIE, LocalScore, align, families_at_once

TOO_MANY_CLIQUES = (
    f"a variable has more than {MOST_CLIQUES} cliques among its neighbours: the larger ones were not tried"
)
PHASES = {INSERT: "forward", DELETE: "backward", TURN: "turning"}


def ges(
    score: LocalScore,
    run: Run,
    *,
    start: DAG | None = None,
    turning: bool = True,
    max_steps: int | None = None,
) -> Outcome:
    """Search the classes of equivalent graphs, from the empty graph or from the class of `start`.

    >>> from dagora.data.table import Table
    >>> from dagora.scores.information import bic
    >>> from dagora.stats.table import TableStatistics
    >>> table = Table.from_numpy([[0, 0], [1, 1]] * 20, names=["a", "b"], discrete=["a", "b"])
    >>> ges(bic(TableStatistics(table)), Run()).graph.undirected
    (('a', 'b'),)
    """
    names = score.schema.names
    limits = limits_of(run.knowledge, names)
    interventions = score.capabilities.interventions
    apart = None if interventions is None else separated_by_regimes(names, interventions.regimes)
    if limits.exogenous.any():
        apart = shown_by_roots(limits.exogenous, apart)
    search = EquivalenceSearch(score, run, limits, first_class(start, names, limits, apart))
    kinds = (INSERT, DELETE, TURN) if turning else (INSERT, DELETE)
    status = "local-optimum"
    idle = turn = 0
    try:
        while status == "local-optimum" and idle < len(kinds):
            before = search.steps
            status = search.climb(kinds[turn % len(kinds)], max_steps)
            # A phase that made steps has ended in its own local optimum, but the other phases may gain again.
            idle = idle + 1 if search.steps == before else 1
            turn += 1
    except OutOfTimeError:
        status = "time-limit"
    graph = CPDAG.from_numpy(search.graph.matrix, names)
    stats = {"steps": float(search.steps), "evaluations": float(search.memory.evaluations)}
    warnings = () if search.complete else (TOO_MANY_CLIQUES,)
    message = describe(status, search.steps, run, turning=turning)
    return Outcome(graph, status, message, search.score, stats, warnings=warnings)


class EquivalenceSearch:
    """The current class, its score, and the steps to other classes."""

    def __init__(self, score: LocalScore, run: Run, limits: ClassLimits, graph: ClassGraph) -> None:
        self._run = run
        self._limits = limits
        self._names = score.schema.names
        self.memory = FamilyMemory(score, run.budget)
        self.steps = 0
        self.complete = True
        self.graph = graph
        self._member = graph.member()
        self._local = self._scores(self._member, list(range(len(graph))))
        for child in np.flatnonzero(self._local == -np.inf).tolist():
            raise DataError(
                f"'{self._names[child]}' with {self._member[:, child].sum()} parents cannot be scored "
                f"on {score.n_rows} rows: start with fewer edges, or get more rows"
            )

    @property
    def score(self) -> float:
        """Score of the class, computed on the member that `CPDAG.extension` finds."""
        return float(self._local.sum())

    def edges(self) -> Edges:
        """Edges of that member."""
        return DAG.from_numpy(self._member, self._names).edges

    def _scores(self, dag: Matrix, children: list[int]) -> NDArray[np.float64]:
        return self.memory.values(
            [(child, tuple(np.flatnonzero(dag[:, child]).tolist())) for child in children]
        )

    def climb(self, kind: str, max_steps: int | None) -> str:
        """Apply the best operator of a kind until none gains; return the status."""
        ranking = Ranking(len(self.graph))
        self._refresh(ranking, kind, list(range(len(self.graph))))
        while True:
            if self._run.budget.exhausted:
                return "time-limit"
            operator = ranking.best(self.graph, TIE * abs(self.score))
            if operator is None:
                return "local-optimum"
            if max_steps is not None and self.steps >= max_steps:
                return "step-limit"
            after = self.graph.after(operator)
            if after is None or not self._accept(after, ranking, kind):
                ranking.drop(operator)

    def _accept(self, after: ClassGraph, ranking: Ranking, kind: str) -> bool:
        """Move to another class if the score of its whole graph is larger.

        Where columns depend on each other exactly, the computed gain of an operator can be positive by
        rounding only; without this check the search could go in circles.
        """
        member = after.member()
        moved = np.flatnonzero((member != self._member).any(axis=0)).tolist()
        local = self._local.copy()
        local[moved] = self._scores(member, moved)
        if not local.sum() > self.score + TIE * abs(self.score):
            return False
        changed = self.graph.changed_nodes(after)
        if kind == TURN:
            # The gain of turning y → x also depends on the parents of x.
            changed = sorted({*changed, *(parent for node in changed for parent in after.parents(node))})
        narrowed = self.graph.narrowed_nodes(after).tolist()
        self.graph, self._member, self._local = after, member, local
        self.steps += 1
        self._run.on_event(Event(PHASES[kind], self.steps, score=self.score, edges=self.edges))
        self._refresh(ranking, kind, changed)
        ranking.wake(narrowed)
        return True

    def _refresh(self, ranking: Ranking, kind: str, nodes: list[int]) -> None:
        """Compute the operators into some nodes again."""
        size = max(1, families_at_once(self.memory.score, self._run.budget) // len(self.graph))
        for first in range(0, len(nodes), size):
            if self._run.budget.exhausted:
                raise OutOfTimeError
            self.memory.forget()
            for table in offers(kind, self.graph, self.memory, self._limits, nodes[first : first + size]):
                ranking.place(table)
                self.complete &= table.all_cliques
            if len(nodes) == len(self.graph):
                seen = min(first + size, len(nodes))
                event = Event("scoring", seen, score=self.score, total=len(nodes), edges=self.edges)
                self._run.on_event(event)


def limits_of(knowledge: Knowledge, names: tuple[str, ...]) -> ClassLimits:
    """The limits that knowledge without directions sets for a class of graphs."""
    most = len(names) if knowledge.max_parents is None else knowledge.max_parents
    return ClassLimits(knowledge.forbidden_matrix(names), most)


def first_class(
    start: DAG | None, names: tuple[str, ...], limits: ClassLimits, apart: Matrix | None = None
) -> ClassGraph:
    """Class of the start graph, which must obey the knowledge, or of the empty graph."""
    if start is None:
        return ClassGraph(np.zeros((len(names), len(names)), dtype=np.bool_), apart)
    dag = align(start, names).to_numpy()
    for i, j in np.argwhere(dag & limits.forbidden):
        raise KnowledgeError(f"the start graph breaks the knowledge: {names[i]} → {names[j]} is forbidden")
    counts = dag.sum(axis=0)
    if counts.max(initial=0) > limits.max_parents:
        node = names[int(counts.argmax())]
        raise KnowledgeError(
            f"the start graph breaks the knowledge: {node} has {counts.max()} parents, "
            f"more than {limits.max_parents}"
        )
    first = class_of(dag, apart)
    assert first is not None, "a DAG has no cycle"
    return first


def shown_by_roots(exogenous: NDArray[np.bool_], apart: Matrix | None) -> Matrix:
    """The pairs whose edge has a known direction, with those of which one can have no parents.

    It is as if all other nodes had been set in some rows (Hauser & Bühlmann 2012).

    >>> shown_by_roots(np.array([True, False]), None).astype(int).tolist()
    [[0, 1], [1, 0]]
    """
    shown: Matrix = exogenous[:, None] != exogenous[None, :]
    return shown if apart is None else shown | apart


def class_within(limits: ClassLimits, graph: DAG) -> CPDAG:
    """The class of a graph, in which edges from nodes that can have no parents are directed.

    >>> class_within(ClassLimits(np.array([[True, False], [True, True]]), 2), DAG("ab", [("a", "b")])).edges
    (('a', 'b'),)
    """
    apart = shown_by_roots(limits.exogenous, None)
    found = class_of(graph.to_numpy(), apart)
    assert found is not None, "a DAG has no cycle"
    return CPDAG.from_numpy(found.matrix, graph.nodes)


def describe(status: str, steps: int, run: Run, *, turning: bool) -> str:
    """A sentence on how the search ended."""
    if status == "time-limit":
        return f"stopped after {steps} steps: {run.budget.reason}; the best class of graphs found is returned"
    if status == "step-limit":
        return f"stopped at the limit of {steps} steps; the best class of graphs found is returned"
    changes = "inserted, deleted or turned" if turning else "inserted or deleted"
    return f"no edge {changes} in any graph of the class improves it, after {steps} steps"
