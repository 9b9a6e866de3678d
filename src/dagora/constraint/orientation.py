"""Directions from separating sets: a class of graphs for a skeleton.

A path a — c — b whose ends are not adjacent is a v-structure a → c ← b where c does not separate a and b. If
all these agree, they leave one class (Verma & Pearl 1990), found by a consistent extension (Dor & Tarsi
1992). Tests err, so they may not agree: then those found first stand, and the rest is directed so that few
new v-structures arise. What comes out is always the completed graph of a class.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dagora.graph.equivalence import Matrix, consistent_extension, cpdag_matrix

# Whether the second node is in the set that separates the first and the third.
Separates = Callable[[int, int, int], bool]


def orient(skeleton: Matrix, separates: Separates) -> tuple[Matrix, int, bool]:
    """Completed graph with this skeleton, how many v-structures were given up, and whether new ones arose.

    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=bool)
    >>> orient(path, lambda a, c, b: False)[0].astype(int)
    array([[0, 1, 0],
           [0, 0, 0],
           [0, 1, 0]])
    """
    directed = np.zeros_like(skeleton)
    reach = np.eye(len(skeleton), dtype=np.bool_)
    given_up = 0
    for a, c, b in colliders(skeleton, separates):
        if reach[c, a] or reach[c, b]:
            given_up += 1
            continue
        for tail in (a, b):
            directed[tail, c] = True
            reach |= np.outer(reach[:, tail], reach[c])
    partly = skeleton & ~directed.T
    dag = consistent_extension(partly)
    if dag is not None:
        return cpdag_matrix(dag), given_up, False
    return cpdag_matrix(direct_anyhow(partly)), given_up, True


def colliders(skeleton: Matrix, separates: Separates) -> list[tuple[int, int, int]]:
    """All a — c — b, a < b not adjacent, that c does not separate."""
    found: list[tuple[int, int, int]] = []
    for c in range(len(skeleton)):
        around = np.flatnonzero(skeleton[c])
        for position, a in enumerate(around.tolist()):
            strangers = around[position + 1 :][~skeleton[a, around[position + 1 :]]]
            found.extend((a, c, b) for b in strangers.tolist() if not separates(a, c, b))
    return found


def direct_anyhow(partly: Matrix) -> Matrix:
    """A DAG with the skeleton and the directed edges (which have no cycle), with few new v-structures.

    Nodes are taken off last, each time one that nothing leaves and at which the fewest strangers meet.
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
            strangers = int(apart.sum()) - len(joined)
            if fewest < 0 or strangers < fewest:
                best, fewest = node, strangers
        dag[lines[best] & left, best] = True
        left[best] = False
    return dag
