"""A class of equivalent graphs, and the classes that single-edge changes of its members lead to.

The class is represented by its completed graph, in which a line (an undirected edge) joins two nodes where
the members differ in direction; nodes joined by a line are neighbours. A change is an `Operator`: insert,
delete or turn x → y in a member of the class in which the neighbours of y that are its parents are exactly a
given clique. Which cliques reach every class once, and when the changed member is acyclic, is known from
Chickering (2002) and, for turning, Hauser & Bühlmann (2012).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from dagora.graph.interventions import directed_by_regimes
from dagora.learners.search.ges.partially_directed import (
    Matrix,
    Positions,
    complete,
    extend,
    open_path,
    successor_lists,
)

INSERT, DELETE, TURN = "insert", "delete", "turn"


@dataclass(frozen=True, slots=True)
class Operator:
    """A change: x → y is added (insert), replaces y → x (turn) or is removed (delete).

    `clique` are the neighbours of y that are its parents in the member that is changed.
    """

    kind: str
    x: int
    y: int
    clique: tuple[int, ...]


class ClassGraph:
    """The completed graph of a class, with the node sets that operators are made of.

    `separated_by_regimes[i, j]` says that interventions show the direction of an edge between i and j.
    """

    def __init__(self, matrix: Matrix, separated_by_regimes: Matrix | None = None) -> None:
        self.matrix = matrix
        self.separated_by_regimes = separated_by_regimes
        self._lines = matrix & matrix.T
        self.adjacent = matrix | matrix.T
        self._offsets, self._heads = successor_lists(len(matrix), np.flatnonzero(matrix))

    def __len__(self) -> int:
        return len(self.matrix)

    def neighbours(self, node: int) -> list[int]:
        """Nodes joined to `node` by a line, ascending."""
        found: list[int] = np.flatnonzero(self._lines[node]).tolist()
        return found

    def parents(self, node: int) -> list[int]:
        """Nodes with an edge to `node`, ascending."""
        found: list[int] = np.flatnonzero(self.matrix[:, node] & ~self._lines[node]).tolist()
        return found

    def children(self, node: int) -> list[int]:
        """Nodes that an edge from `node` leads to, ascending."""
        found: list[int] = np.flatnonzero(self.matrix[node] & ~self._lines[node]).tolist()
        return found

    def common(self, y: int, x: int) -> list[int]:
        """Neighbours of y that are adjacent to x, ascending."""
        found: list[int] = np.flatnonzero(self._lines[y] & self.adjacent[x]).tolist()
        return found

    def cliques(self, node: int, most: int) -> tuple[list[tuple[int, ...]], bool]:
        """Cliques among the neighbours of `node`, by size, then lexicographically, and whether these are all.

        If there are more than `most`, the larger ones are left out.
        """
        neighbours = self.neighbours(node)
        found: list[tuple[int, ...]] = [()]
        layer = found
        while layer:
            layer = list(self._larger(layer, neighbours, most - len(found) + 1))
            if len(found) + len(layer) > most:
                return found + layer[: most - len(found)], False
            found = found + layer
        return found, True

    def _larger(
        self, cliques: list[tuple[int, ...]], neighbours: list[int], most: int
    ) -> Iterator[tuple[int, ...]]:
        made = 0
        for clique in cliques:
            for node in neighbours:
                if (not clique or node > clique[-1]) and all(self.adjacent[node, other] for other in clique):
                    yield (*clique, node)
                    made += 1
                    if made == most:
                        return

    def separates(self, y: int, one: Collection[int], other: Collection[int], by: Collection[int]) -> bool:
        """Return True if, among the neighbours of y, every path between `one` and `other` passes `by`."""
        unseen = set(self.neighbours(y)) - set(by)
        stack = [node for node in one if node in unseen]
        unseen -= set(stack)
        while stack:
            node = stack.pop()
            reached = [far for far in unseen if self.adjacent[node, far]]
            unseen -= set(reached)
            stack += reached
        return unseen.issuperset(other)

    def path_against(self, operator: Operator) -> Positions:
        """A path from y to x that would close a cycle in the changed member; empty if there is none."""
        x, y = operator.x, operator.y
        if operator.kind == DELETE or (operator.kind == TURN and self._lines[x, y]):
            return np.empty(0, dtype=np.int64)
        closed = operator.clique
        if operator.kind == TURN:
            closed = (*closed, *self.neighbours(x))
        barred = np.array(closed, dtype=np.int64)
        return open_path(self._offsets, self._heads, y, x, barred, operator.kind != TURN)

    def after(self, operator: Operator) -> ClassGraph | None:
        """The class of the changed member; None if there is no such member."""
        x, y, line = operator.x, operator.y, bool(self._lines[operator.x, operator.y])
        pattern = self.matrix.copy()
        into_y = (*operator.clique, x) if operator.kind == DELETE and line else operator.clique
        self._orient(pattern, y, into_y)
        if operator.kind == TURN:
            shared = [node for node in operator.clique if self.adjacent[node, x]]
            self._orient(pattern, x, (*shared, y) if line else ())
        member = extend(pattern)
        if member is None:
            return None
        member[x, y] = operator.kind != DELETE
        member[y, x] = False
        return class_of(member, self.separated_by_regimes)

    def _orient(self, pattern: Matrix, node: int, into: Collection[int]) -> None:
        """Direct the lines at `node`: those from `into` towards it, the others away from it."""
        for other in self.neighbours(node):
            if other in into:
                pattern[node, other] = False
            else:
                pattern[other, node] = False

    def member(self) -> Matrix:
        """The DAG that represents the class when it is scored."""
        dag = extend(self.matrix)
        assert dag is not None, "a completed graph has members"
        return dag

    def changed_nodes(self, after: ClassGraph) -> list[int]:
        """Nodes whose parents, neighbours, or edges among their neighbours differ in another class."""
        different = self.matrix != after.matrix
        touched = different.any(axis=0) | different.any(axis=1)
        joined = np.flatnonzero((self.adjacent != after.adjacent).any(axis=0)).tolist()
        touched[list(chain.from_iterable(after.neighbours(node) for node in joined))] = True
        found: list[int] = np.flatnonzero(touched).tolist()
        return found

    def narrowed_nodes(self, after: ClassGraph) -> NDArray[np.int64]:
        """Nodes that some edge or line can no longer be followed from in another class."""
        return np.flatnonzero((self.matrix & ~after.matrix).any(axis=1))


def class_of(dag: Matrix, separated_by_regimes: Matrix | None) -> ClassGraph | None:
    """The class of a DAG; None where the graph has a cycle."""
    completed = complete(dag)
    if completed is not None and separated_by_regimes is not None:
        completed = directed_by_regimes(completed, dag, separated_by_regimes)
    return None if completed is None else ClassGraph(completed, separated_by_regimes)
