"""The operators of greedy equivalence search, with the change of score that each one makes.

With Pa, Ne, Ad for parents, neighbours and adjacent nodes in the completed graph, s for the local score, and
C a clique among the neighbours of y:

insert x → y, not adjacent:   Ne(y) ∩ Ad(x) ⊆ C, every path from y to x meets C;
                              s(y, Pa(y) ∪ C ∪ x) − s(y, Pa(y) ∪ C)
delete x → y or x — y:        C ⊆ Ne(y) ∩ Ad(x);
                              s(y, Pa(y) ∪ C − x) − s(y, Pa(y) ∪ C ∪ x)
turn y → x to x → y:          Ne(y) ∩ Ad(x) ⊆ C, every other path from y to x meets C ∪ Ne(x);
                              s(y, Pa(y) ∪ C ∪ x) − s(y, Pa(y) ∪ C) + s(x, Pa(x) − y) − s(x, Pa(x))
turn y — x to x → y:          with N = Ne(y) ∩ Ne(x): x not in C, C − N not empty, and among the
                              neighbours of y cut off from N − C by C ∩ N;
                              s(y, Pa(y) ∪ C ∪ x) − s(y, Pa(y) ∪ C)
                              + s(x, Pa(x) ∪ (C ∩ N)) − s(x, Pa(x) ∪ (C ∩ N) ∪ y)

(Chickering 2002, theorems 15 and 17, with C = NA ∪ T and C = NA − H; Hauser & Bühlmann 2012, propositions 31
and 34.) Paths follow edges, and lines in either direction. They depend on distant parts of the graph, so they
are checked last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.learners.search.ges.class_graph import DELETE, INSERT, ClassGraph, Operator
from dagora.learners.search.ges.family_memory import Additions, FamilyMemory, Key

# The most cliques among the neighbours of one node that are tried: as many as ten adjacent neighbours have.
MOST_CLIQUES = 1024


@dataclass(frozen=True)
class ClassLimits:
    """Limits from knowledge: `forbidden[i, j]` says that i must not be a parent of j.

    That is so in both directions, but for nodes that can have no parents at all.
    """

    forbidden: NDArray[np.bool_]
    max_parents: int

    @property
    def exogenous(self) -> NDArray[np.bool_]:
        """Marks of the nodes that can have no parents."""
        return np.asarray(self.forbidden.all(axis=0))


@dataclass(frozen=True)
class Offers:
    """Operators of one kind into node y: the k-th has node `x[k]` and clique `cliques[choice[k]]`."""

    kind: str
    y: int
    cliques: list[tuple[int, ...]]
    gains: NDArray[np.float64]
    x: NDArray[np.int64]
    choice: NDArray[np.int64]
    all_cliques: bool = True

    def operator(self, position: int) -> Operator:
        """One of the operators."""
        return Operator(self.kind, int(self.x[position]), self.y, self.cliques[self.choice[position]])


def offers(
    kind: str, graph: ClassGraph, memory: FamilyMemory, limits: ClassLimits, nodes: Sequence[int]
) -> list[Offers]:
    """All operators of a kind into some nodes, scored together; their paths are not checked yet."""
    if kind == INSERT:
        return insertions(graph, memory, limits, nodes)
    return changes(kind, graph, memory, limits, nodes)


def insertions(
    graph: ClassGraph, memory: FamilyMemory, limits: ClassLimits, nodes: Sequence[int]
) -> list[Offers]:
    """All insertions of edges into some nodes."""
    questions: list[Additions] = []
    found: list[tuple[int, list[tuple[int, ...]], bool]] = []
    for y in nodes:
        parents, neighbours = graph.parents(y), graph.neighbours(y)
        cliques, everything = graph.cliques(y, MOST_CLIQUES)
        cliques = [clique for clique in cliques if len(parents) + len(clique) < limits.max_parents]
        found.append((y, cliques, everything))
        free = ~(graph.adjacent[y] | limits.forbidden[:, y])
        free[y] = False
        for clique in cliques:
            outside = [node for node in neighbours if node not in clique]
            wanted = free & ~graph.adjacent[outside].any(axis=0) if outside else free
            questions.append(Additions(y, ascending(parents, clique), wanted))
    answers = iter(memory.gains(questions))
    results = []
    for y, cliques, everything in found:
        gains = np.array([next(answers) for _ in cliques]).reshape(len(cliques), len(graph))
        choice, x = np.nonzero(gains > -np.inf)
        results.append(Offers(INSERT, y, cliques, gains[choice, x], x, choice, everything))
    return results


def changes(
    kind: str, graph: ClassGraph, memory: FamilyMemory, limits: ClassLimits, nodes: Sequence[int]
) -> list[Offers]:
    """All deletions, or all turns, of edges and lines at some nodes."""
    describe = deletions if kind == DELETE else turns
    families: list[Key] = []
    found: list[tuple[int, list[tuple[int, ...]], list[tuple[int, int, int]], bool]] = []
    for y in nodes:
        cliques, everything = graph.cliques(y, MOST_CLIQUES)
        listed = []
        for x, choice, plus, minus in describe(graph, limits, y, cliques):
            listed.append((x, choice, len(plus)))
            families += plus
            families += minus
        found.append((y, cliques, listed, everything))
    values = iter(memory.values(families).tolist())
    results = []
    for y, cliques, listed, everything in found:
        gains = np.empty(len(listed))
        for position, (_, _, size) in enumerate(listed):
            after = sum(next(values) for _ in range(size))
            before = sum(next(values) for _ in range(size))
            gains[position] = after - before if before > -np.inf else -np.inf
        columns = np.array(listed, dtype=np.int64).reshape(len(listed), 3)
        results.append(Offers(kind, y, cliques, gains, columns[:, 0], columns[:, 1], everything))
    return results


# An operator's x, the number of its clique, and the families after and before the change.
Change = tuple[int, int, list[Key], list[Key]]


def deletions(graph: ClassGraph, limits: ClassLimits, y: int, cliques: list[tuple[int, ...]]) -> list[Change]:  # noqa: ARG001
    """Edges and lines at y that may be deleted."""
    parents = graph.parents(y)
    found: list[Change] = []
    for x in (*parents, *graph.neighbours(y)):
        common = set(graph.common(y, x))
        others = [parent for parent in parents if parent != x]
        for choice, clique in enumerate(cliques):
            if common.issuperset(clique):
                without = ascending(others, clique)
                found.append((x, choice, [(y, without)], [(y, ascending(without, (x,)))]))
    return found


def turns(graph: ClassGraph, limits: ClassLimits, y: int, cliques: list[tuple[int, ...]]) -> list[Change]:
    """Edges y → x and lines at y that may become x → y."""
    parents, neighbours = graph.parents(y), graph.neighbours(y)
    found: list[Change] = []
    for x in (*graph.children(y), *neighbours):
        if limits.forbidden[x, y]:
            continue
        line = x in neighbours
        common = set(graph.common(y, x))
        parents_of_x = graph.parents(x)
        for choice, clique in enumerate(cliques):
            if len(parents) + len(clique) >= limits.max_parents:
                continue
            shared = common.intersection(clique)
            if line:
                strangers = set(clique) - common
                if x in clique or not strangers:
                    continue
                if not graph.separates(y, strangers, common - shared, shared):
                    continue
                with_y = ascending(parents_of_x, (*shared, y))
            elif len(shared) < len(common):
                continue
            else:
                with_y = tuple(parents_of_x)
            base = ascending(parents, clique)
            without_y = tuple(parent for parent in with_y if parent != y)
            plus = [(y, ascending(base, (x,))), (x, without_y)]
            found.append((x, choice, plus, [(y, base), (x, with_y)]))
    return found


def ascending(one: Sequence[int], other: Sequence[int]) -> tuple[int, ...]:
    """Two disjoint sets as one, in ascending order."""
    return tuple(sorted((*one, *other)))
