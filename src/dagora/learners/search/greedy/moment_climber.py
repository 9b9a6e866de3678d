"""A climber for many columns on a score of pivots: it keeps the best changes of each child, not all gains.

It makes the moves of `Climber`, with two differences. Rounding may settle other ties. And an addition is not
found where the tabu list forbids all that its child has listed, which are `LISTED`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.base.budget import Budget
from dagora.graph.bit_kernels import has_bit
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.learners.search.greedy.climber import NO_TABU, check_start, refuse_impossible
from dagora.learners.search.greedy.moment_gains import ClimbedGraph, ClimbLimits, Room
from dagora.learners.search.greedy.moment_moves import (
    begin,
    best_change,
    make_change,
    refresh_some,
    turn_closes_cycle,
)
from dagora.learners.search.greedy.moves import ADD, DELETE, NONE, REVERSE, edge_hash
from dagora.scores.local_score import TIE, LocalScore, PivotForm

# Parents for which there is room at first, and children that are refreshed between two looks at the clock.
FIRST_ROOM, AT_ONCE = 16, 64


class MomentClimber:
    """The current graph, its score, and the best single changes that knowledge permits."""

    def __init__(
        self, score: LocalScore, form: PivotForm, knowledge: Knowledge, start: DAG | None, budget: Budget
    ) -> None:
        self._score, self._form, self._budget = score, form, budget
        self.names = score.schema.names
        columns = len(self.names)
        most = columns - 1 if knowledge.max_parents is None else min(columns - 1, knowledge.max_parents)
        self._forbidden = knowledge.forbidden_matrix(self.names)
        self._required = knowledge.required_matrix(self.names)
        self._limits = ClimbLimits(
            np.ascontiguousarray(self._forbidden.T), np.ascontiguousarray(self._required.T), most
        )
        self.evaluations = 0
        self.place(DAG.from_numpy(self._required, self.names) if start is None else start)

    def place(self, graph: DAG) -> None:
        """Move to another graph, which must obey the knowledge."""
        check_start(graph, self._forbidden, self._required, self._limits.max_parents)
        parents = [graph.parent_indices(child) for child in range(len(graph))]
        room = max(FIRST_ROOM, *(len(some) for some in parents))
        self._graph, self._room = ClimbedGraph.of(len(graph), room), Room.of(self._form, room)
        self.hash = np.uint64(0)
        for child, some in enumerate(parents):
            self._graph.parents[child, : len(some)] = some
            self._graph.sizes[child] = len(some)
            for parent in some:
                self.hash ^= np.uint64(edge_hash(parent, child))
        scores = self._score.families(list(enumerate(parents)))
        refuse_impossible(self._score, dict(enumerate(parents)), dict(enumerate(scores.tolist())))
        begin(self._graph, np.array(graph.order_indices, dtype=np.int64), scores)
        self._flips: list[tuple[int, int]] = []
        for first in range(0, len(graph), AT_ONCE):
            if self._budget.exhausted:
                return
            last = min(first + AT_ONCE, len(graph))
            refresh_some(self._form, self._graph, self._limits, self._room, first, last)
            self.evaluations += (last - first) * len(graph)

    @property
    def score(self) -> float:
        """The current graph's score."""
        return float(self._graph.own.sum())

    @property
    def graph(self) -> DAG:
        """The current graph."""
        return DAG.from_numpy(self._present(), self.names)

    @property
    def marked_graph(self) -> DAG:
        """The graph as it was when `mark` was last called, or where the climber was placed since."""
        present = self._present()
        for i, j in self._flips:
            present[i, j] ^= True
        return DAG.from_numpy(present, self.names)

    def mark(self) -> None:
        """Remember the current graph."""
        self._flips.clear()

    def step(self, tabu: NDArray[np.uint64] = NO_TABU, *, uphill: bool = True) -> bool:
        """Make the best legal move; False if there is none, or, with `uphill`, none that gains."""
        tolerance = TIE * abs(self.score)
        gain, kind, i, j = best_change(
            self._form, self._graph, self._limits, self._room, tolerance, self.hash, tabu
        )
        if kind == NONE or (uphill and gain <= tolerance):
            return False
        self.apply(kind, i, j)
        return True

    def apply(self, kind: int, i: int, j: int) -> None:
        """Add, delete or reverse i → j."""
        while not make_change(self._form, self._graph, self._limits, self._room, kind, i, j):
            wider = 2 * self._graph.parents.shape[1]
            self._graph, self._room = self._graph.with_room(wider), Room.of(self._form, wider)
        for tail, head in ((i, j), (j, i))[: 1 + (kind == REVERSE)]:
            self.hash ^= np.uint64(edge_hash(tail, head))
            self._flips.append((tail, head))
        self.evaluations += (1 + (kind == REVERSE)) * len(self.names)

    def random_walk(self, moves: int, rng: np.random.Generator) -> None:
        """Make some random moves that knowledge and acyclicity permit, whatever their gain."""
        made = 0
        for _ in range(100 * moves):  # fewer moves are made where hardly any is legal
            if self._budget.exhausted:
                return
            i, j = (int(k) for k in rng.integers(0, len(self.names), size=2))
            kind = ADD
            if has_bit(self._graph.below[i], j):
                kind = DELETE if rng.random() < 0.5 else REVERSE
            if self._permits(kind, i, j):
                self.apply(kind, i, j)
                made += 1
                if made == moves:
                    return

    def _permits(self, kind: int, i: int, j: int) -> bool:
        """Return True if knowledge, the number of rows and acyclicity permit a move."""
        if kind != ADD and self._required[i, j]:
            return False
        if kind == DELETE:
            return True
        tail, head = (j, i) if kind == REVERSE else (i, j)
        size = int(self._graph.sizes[head])
        if size >= self._limits.max_parents or self._form.size[self._form.group[head], size + 1] == -np.inf:
            return False
        if tail == head or self._forbidden[tail, head]:
            return False
        if kind == REVERSE:
            return not turn_closes_cycle(self._graph, i, j)
        return not has_bit(self._graph.above[i], j)

    def _present(self) -> NDArray[np.bool_]:
        present = np.zeros((len(self.names), len(self.names)), dtype=np.bool_)
        for child, size in enumerate(self._graph.sizes.tolist()):
            present[self._graph.parents[child, :size], child] = True
        return present
