"""Grow-shrink trees: the parents that greedy growth and shrinkage choose among any set of predecessors.

A node of the tree of a child is a parent set, reached by always adding the best parent that is allowed and
improves the score; its branches are the improving additions, best first. So for any set of predecessors the
tree is followed along the first allowed branch until there is none; then parents are removed one by one
as long as that helps (Andrews et al. 2023). The nodes of all trees stand in flat arrays, the branches of a
node side by side, so that a kernel can follow them. A node is scored when a search first wants it.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from dagora.base.budget import Budget, OutOfTimeError
from dagora.learners.search.ges.operators import ClassLimits
from dagora.scores.local_score import TIE, LocalScore, families_at_once

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
T = TypeVar("T", bound=np.generic)

UNKNOWN = -1  # branches of a node that was not scored yet
WANTED = -2  # the same, but a search waits for it


class FlatTrees(NamedTuple):
    """Nodes of all trees: the one with the number c is the root of column c.

    `added[k]` is the column that node k adds to the set of its parent. Its branches are the `branches[k]`
    nodes from `first[k]` on. `value[k]` is the score of the set after shrinkage.
    """

    added: Ints
    first: Ints
    branches: Ints
    value: Floats


class GrowShrinkTrees:
    """The trees of all columns, as far as they have been wanted."""

    def __init__(self, score: LocalScore, rules: ClassLimits, budget: Budget) -> None:
        self._score = score
        self._rules = rules
        self._budget = budget
        self.names = score.schema.names
        self._left: dict[int, tuple[int, ...]] = {}  # what shrinkage leaves, where it takes something
        self.evaluations = self.used = len(score.schema)
        columns = np.arange(self.used)
        self._child = columns.copy()
        self._above = np.full(self.used, -1, dtype=np.int64)
        self._depth = np.zeros(self.used, dtype=np.int64)
        self._grown = score.families([(child, ()) for child in columns.tolist()])
        self.tolerance = TIE * abs(float(self._grown.sum()))
        self.flat = FlatTrees(
            np.full(self.used, -1, dtype=np.int64),
            np.zeros(self.used, dtype=np.int64),
            np.full(self.used, UNKNOWN, dtype=np.int64),
            self._grown.copy(),
        )

    def parents(self, node: int) -> tuple[int, ...]:
        """Parents of a node after shrinkage; before, where it was not scored yet."""
        grown = self._sets(np.array([node]), int(self._depth[node]))[0].tolist()
        return self._left.get(node, tuple(grown))

    def _sets(self, nodes: Ints, depth: int) -> Ints:
        """Parents of nodes of one depth, ascending in each row."""
        found = np.empty((len(nodes), depth), dtype=np.int64)
        for step in range(depth):
            found[:, step] = self.flat.added[nodes]
            nodes = self._above[nodes]
        found.sort(axis=1)
        return found

    def expand(self, nodes: Ints) -> None:
        """Score the branches of nodes, and what shrinkage makes of their sets.

        Raises `OutOfTimeError` when time is up; nodes that were not reached stay unknown.
        """
        for depth in np.unique(self._depth[nodes]).tolist():
            some = nodes[self._depth[nodes] == depth]
            sets = self._sets(some, depth)
            self._shrink(some, sets)
            self._grow(some, sets)

    def _grow(self, nodes: Ints, sets: Ints) -> None:
        """Give nodes of one size their branches: the additions that improve the score, best first."""
        depth = sets.shape[1]
        children = self._child[nodes]
        free = ~self._rules.forbidden[:, children].T
        free[np.arange(len(nodes)), children] = False
        np.put_along_axis(free, sets, values=False, axis=1)
        if depth >= self._rules.max_parents:
            free[:] = False
        row, column = np.nonzero(free)
        scores = self._scores(children[row], np.column_stack([sets[row], column]))
        better = scores > self._grown[nodes[row]] + self.tolerance
        row, column, scores = row[better], column[better], scores[better]
        order = np.lexsort((column, -scores, row))
        row, column, scores = row[order], column[order], scores[order]
        begin, end = self.used, self.used + len(row)
        while end > len(self._above):
            self._make_room()
        here = slice(begin, end)
        self._above[here], self._child[here], self._depth[here] = nodes[row], children[row], depth + 1
        self._grown[here] = scores
        self.flat.added[here], self.flat.value[here], self.flat.branches[here] = column, scores, UNKNOWN
        counts = np.bincount(row, minlength=len(nodes))
        self.flat.first[nodes] = begin + np.cumsum(counts) - counts
        self.flat.branches[nodes] = counts
        self.used = end

    def _shrink(self, nodes: Ints, sets: Ints) -> None:
        """Remove parents one by one, always the one whose loss helps most."""
        size = sets.shape[1]
        if size < 2:
            return
        others = np.array([[j for j in range(size) if j != i] for i in range(size)], dtype=np.int64)
        without = sets[:, others]
        scores = self._scores(np.repeat(self._child[nodes], size), without.reshape(-1, size - 1))
        scores = scores.reshape(-1, size)
        best = scores.argmax(axis=1)
        found = scores[np.arange(len(nodes)), best]
        better = np.flatnonzero(found > self.flat.value[nodes] + self.tolerance)
        self.flat.value[nodes[better]] = found[better]
        left = without[better, best[better]]
        for node, parents in zip(nodes[better].tolist(), left.tolist(), strict=True):
            self._left[node] = tuple(parents)
        if len(better):
            self._shrink(nodes[better], left)

    def _make_room(self) -> None:
        self._child, self._above, self._depth = map(double, (self._child, self._above, self._depth))
        self._grown = double(self._grown)
        added, first, branches, value = self.flat
        self.flat = FlatTrees(double(added), double(first), double(branches), double(value))

    def _scores(self, children: Ints, parents: Ints) -> Floats:
        """Scores of families of one size, whose parents stand in any order."""
        values = np.empty(len(children))
        ascending = np.sort(parents, axis=1)
        at_once, block = families_at_once(self._score, self._budget), self._score.capabilities.block
        for start in range(0, len(children), at_once):
            if self._budget.exhausted:
                raise OutOfTimeError
            some = slice(start, start + at_once)
            if parents.shape[1] and block is not None:
                values[some] = block(children[some], ascending[some])
            else:
                listed = zip(children[some].tolist(), ascending[some].tolist(), strict=True)
                values[some] = self._score.families(list(listed))
        self.evaluations += len(children)
        return values


def double(array: NDArray[T]) -> NDArray[T]:
    """The array with as much room again."""
    return np.concatenate([array, array])
