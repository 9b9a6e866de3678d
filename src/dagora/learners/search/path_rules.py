"""Paths that knowledge says to be in a graph (`causes`), or not to be (`not_causes`)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import KnowledgeError
from dagora.graph.dag import Edge
from dagora.graph.knowledge import Knowledge

Matrix = NDArray[np.bool_]
Pair = tuple[int, int]
# By hand: how often each cause may fail before the search for paths gives up.
TURNS = 4


@dataclass(frozen=True)
class PathRules:
    """Pairs of positions between which a path must lead, and others between which none may.

    >>> rules = PathRules.of(Knowledge(causes=[("a", "c")]), "abc")
    >>> chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=np.bool_)
    >>> rules.obeyed(chain), rules.obeyed(np.zeros((3, 3), dtype=np.bool_))
    (True, False)
    """

    names: tuple[str, ...]
    causes: tuple[Pair, ...]
    not_causes: tuple[Pair, ...]

    @classmethod
    def of(cls, knowledge: Knowledge, names: Sequence[str]) -> PathRules | None:
        """The rules of knowledge; None where it has none."""
        if not knowledge.ancestral:
            return None
        place = {name: k for k, name in enumerate(names)}

        def placed(pairs: tuple[Edge, ...]) -> tuple[Pair, ...]:
            return tuple((place[a], place[c]) for a, c in pairs)

        return cls(tuple(names), placed(knowledge.causes), placed(knowledge.not_causes))

    def obeyed(self, present: Matrix) -> bool:
        """Return True if a graph has the paths that it must have, and none that it may not."""
        reach = reached(present)
        return all(reach[a, c] for a, c in self.causes) and not any(reach[a, c] for a, c in self.not_causes)

    def obeyed_without(self, present: Matrix, edge: Pair, *, turned: bool) -> bool:
        """Return True if they are obeyed when an edge is left out, or turned."""
        after = present.copy()
        after[edge] = False
        if turned:
            after[edge[1], edge[0]] = True
        return self.obeyed(after)

    def obeyed_with(self, present: Matrix, edge: Pair) -> bool:
        """Return True if they are obeyed when an edge is added."""
        after = present.copy()
        after[edge] = True
        return self.obeyed(after)

    def complete(self, present: Matrix, forbidden: Matrix, most: int) -> Matrix:
        """A graph with shortest paths added for all causes; an error where none is found.

        A cause for which none is left is tried before the others. `most` is the largest number of parents.
        """
        causes = list(self.causes)
        for _ in range(1 + TURNS * len(causes)):
            found, failed = self._joined(present, forbidden, most, causes)
            if failed is None:
                break
            causes.remove(failed)
            causes.insert(0, failed)
        else:
            a, c = causes[0]
            raise KnowledgeError(
                f"no graph was found in which {self.names[a]} is a cause of {self.names[c]} beside "
                "the rest of the knowledge: leave out some of it, or start from a graph that obeys it"
            )
        if not self.obeyed(found):
            a, c = next((a, c) for a, c in self.not_causes if reached(found)[a, c])
            raise KnowledgeError(
                f"no graph was found in which {self.names[a]} is no cause of {self.names[c]} beside the rest "
                "of the knowledge: leave out some of it, or start from a graph that obeys it"
            )
        return found

    def _joined(
        self, present: Matrix, forbidden: Matrix, most: int, causes: Sequence[Pair]
    ) -> tuple[Matrix, Pair | None]:
        """A graph with a path for each cause in turn, and the first cause for which there is none."""
        found = present.copy()
        for a, c in causes:
            while not reached(found)[a, c]:
                path = self._shortest(found, forbidden, most, a, c)
                if path is None:
                    return found, (a, c)
                for edge in path:
                    found[edge] = True
        return found, None

    def _shortest(self, present: Matrix, forbidden: Matrix, most: int, a: int, c: int) -> list[Pair] | None:
        """The edges to add for a shortest path; each alone closes no cycle and makes no wrong path."""
        reach = reached(present)
        itself = np.eye(len(present), dtype=np.bool_)
        leads = reach | itself
        apart = np.zeros_like(present)
        for i, j in self.not_causes:
            # An edge u → v would make the path where i leads to u and v leads to j.
            apart |= np.outer(leads[i], leads[:, j])
        full = present.sum(axis=0) >= most
        allowed = present | (~forbidden & ~leads.T & ~apart & ~full[None, :])
        before: dict[int, int] = {a: a}
        queue = deque([a])
        while queue:
            u = queue.popleft()
            for v in np.flatnonzero(allowed[u]).tolist():
                if v not in before:
                    before[v] = u
                    queue.append(v)
        if c not in before:
            return None
        path, at = [], c
        while at != a:
            path.append((before[at], at))
            at = before[at]
        edges = [edge for edge in path if not present[edge]]
        after = present.copy()
        for edge in edges:
            after[edge] = True
        return edges if edges and not np.diagonal(reached(after)).any() else None


def reached(present: Matrix) -> Matrix:
    """Boolean matrix whose entry [i, j] says that a path of one edge or more leads from i to j."""
    reach = present.copy()
    steps = 1
    while steps < len(present):
        further = reach | ((reach.astype(np.float32) @ reach.astype(np.float32)) > 0)
        if np.array_equal(further, reach):
            break
        reach, steps = further, 2 * steps
    return reach
