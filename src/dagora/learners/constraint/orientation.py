"""From a skeleton and separating sets to a CPDAG.

A path a — c — b whose ends are not adjacent is a v-structure a → c ← b if c is not in the set that separates
a and b. If all v-structures are consistent, they determine one equivalence class (Verma & Pearl 1990), found
by a consistent extension (Dor & Tarsi 1992). Tests err, so they may not be consistent: then those found first
are kept, and the other edges are directed so that few new v-structures arise. The result is always the CPDAG
of some DAG, with the directions added that are known and those that follow from them (Meek 1995).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dagora.graph.equivalence import Matrix, consistent_extension, cpdag_matrix, meek_closure

# (a, c, b) → True if c is in the set that separates a and b.
Separates = Callable[[int, int, int], bool]


def orient(
    skeleton: Matrix,
    separates: Separates,
    known: Matrix | None = None,
    first: Callable[[int, int], float] | None = None,
) -> tuple[Matrix, int, bool]:
    """A CPDAG with this skeleton, the number of v-structures given up, and True if new ones were needed.

    Edges of `known` have that direction; they form no cycle. Of v-structures that contradict each other, the
    one is kept whose ends have the smallest number `first`, and of equal ones the one that is found first.

    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=bool)
    >>> orient(path, lambda a, c, b: False)[0].astype(int)
    array([[0, 1, 0],
           [0, 0, 0],
           [0, 1, 0]])
    """
    directed = np.zeros_like(skeleton)
    reach = np.eye(len(skeleton), dtype=np.bool_)

    def direct(tail: int, head: int) -> None:
        directed[tail, head] = True
        reach[:] |= np.outer(reach[:, tail], reach[head])

    for tail, head in [] if known is None else np.argwhere(known & skeleton).tolist():
        direct(tail, head)
    given_up = 0
    found = colliders(skeleton, separates)
    if first is not None:
        found.sort(key=lambda path: first(path[0], path[2]))
    for a, c, b in found:
        if reach[c, a] or reach[c, b]:
            given_up += 1
            continue
        for tail in (a, b):
            direct(tail, c)
    partly = skeleton & ~directed.T
    dag = consistent_extension(partly)
    new = dag is None
    matrix = cpdag_matrix(extend_with_few_colliders(partly) if dag is None else dag)
    if known is not None and known.any():
        matrix = meek_closure(matrix & ~known.T)
    return matrix, given_up, new


def orient_in_haste(skeleton: Matrix, known: Matrix) -> Matrix:
    """The CPDAG of some DAG with this skeleton and these known directions, without tests.

    Sinks are removed one by one, each time the node with the fewest neighbours left: that makes few
    v-structures, and takes little time.

    >>> ring = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]], dtype=bool)
    >>> orient_in_haste(ring, np.zeros_like(ring)).astype(int).tolist()
    [[0, 0, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]
    """
    partly = skeleton & ~known.T
    dag = partly & ~partly.T
    children = dag.sum(axis=1)
    neighbours = skeleton.sum(axis=1)
    left: NDArray[np.bool_] = np.ones(len(skeleton), dtype=np.bool_)
    for _ in range(len(skeleton)):
        free = np.flatnonzero(left & (children == 0))
        sink = free[np.argmin(neighbours[free])]
        left[sink] = False
        around = skeleton[sink] & left
        neighbours -= around
        children -= dag[:, sink]
        dag[around, sink] = True
    matrix = cpdag_matrix(dag)
    return meek_closure(matrix & ~known.T) if known.any() else matrix


def colliders(skeleton: Matrix, separates: Separates | None = None) -> list[tuple[int, int, int]]:
    """All paths a — c — b with a < b not adjacent and c not in their separating set (None: all)."""
    found: list[tuple[int, int, int]] = []
    for c in range(len(skeleton)):
        around = np.flatnonzero(skeleton[c])
        for position, a in enumerate(around.tolist()):
            not_adjacent = around[position + 1 :][~skeleton[a, around[position + 1 :]]]
            found.extend(
                (a, c, b) for b in not_adjacent.tolist() if separates is None or not separates(a, c, b)
            )
    return found


def extend_with_few_colliders(partly: Matrix) -> Matrix:
    """A DAG with this skeleton and these directed edges (which form no cycle), with few new v-structures.

    Sinks are removed one by one, as in a consistent extension: each time a node without outgoing edges whose
    undirected edges, directed into it, make the fewest new pairs of parents that are not adjacent.
    """
    dag = partly & ~partly.T
    lines = partly & partly.T
    adjacent = partly | partly.T
    left: NDArray[np.bool_] = np.ones(len(partly), dtype=np.bool_)
    while left.any():
        best, fewest = -1, -1
        for node in np.flatnonzero(left & ~(dag & left).any(axis=1))[::-1].tolist():
            joined = np.flatnonzero(lines[node] & left)
            around = np.flatnonzero(adjacent[node] & left)
            apart = ~adjacent[np.ix_(joined, around)]
            colliders_made = int(apart.sum()) - len(joined)
            if fewest < 0 or colliders_made < fewest:
                best, fewest = node, colliders_made
        dag[lines[best] & left, best] = True
        left[best] = False
    return dag
