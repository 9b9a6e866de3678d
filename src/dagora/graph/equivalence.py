"""Markov equivalence of graphs, as pure functions of boolean matrices.

Two DAGs imply the same independences exactly when they have the same skeleton and the same v-structures
a → c ← b with a and b not adjacent (Verma and Pearl 1990). A class is represented by a completed partially
directed graph (CPDAG), in which an edge is directed where all DAGs of the class agree on its direction. In a
matrix, [i, j] alone is i → j and [i, j] with [j, i] is i — j. The labelling of edges follows Chickering
(1995, "A transformational characterization of equivalent Bayesian network structures"), the orientation
rules Meek (1995), the extension Dor and Tarsi (1992). Inside, rows are Python integers used as bit sets: a
thousand nodes take milliseconds.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import GraphError
from dagora.graph.bit_sets import bit_rows, members, to_matrix
from dagora.graph.topological import topological_order

Matrix = NDArray[np.bool_]


def v_structures(dag: Matrix) -> list[tuple[int, int, int]]:
    """All a → c ← b with a and b not adjacent, as sorted triples (a, c, b) with a < b.

    >>> v_structures(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool))
    [(0, 2, 1)]
    """
    adjacent = bit_rows(dag | dag.T)
    found: list[tuple[int, int, int]] = []
    for collider, parents in enumerate(bit_rows(dag.T)):
        for a in members(parents):
            strangers = parents & ~adjacent[a] & ~((2 << a) - 1)
            found.extend((a, collider, b) for b in members(strangers))
    return sorted(found)


def cpdag_matrix(dag: Matrix) -> Matrix:
    """Completed partially directed graph of the class of a DAG.

    >>> cpdag_matrix(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)).astype(int)
    array([[0, 1, 0],
           [1, 0, 1],
           [0, 1, 0]])
    """
    order = topological_order(dag)
    if order is None:
        raise GraphError("the graph has a cycle: only a DAG has an equivalence class")
    sorted_dag = dag[np.ix_(order, order)]
    parents = bit_rows(sorted_dag.T)
    compelled = [0] * len(parents)
    for y, into in enumerate(parents):
        if not into:
            continue
        # The parent latest in the order decides for all: edges from the others were labelled at that parent.
        x = into.bit_length() - 1
        if compelled[x] & ~into or into & ~parents[x] & ~(1 << x):
            compelled[y] = into
        else:
            compelled[y] = compelled[x]
    directed = to_matrix(compelled).T
    result = np.zeros_like(dag)
    result[np.ix_(order, order)] = sorted_dag | (sorted_dag & ~directed).T
    return result


def meek_closure(matrix: Matrix) -> Matrix:
    """Orient every undirected edge that Meek's four rules compel.

    An edge a — b becomes a → b where
    1. c → a with c and b not adjacent (else a new v-structure),
    2. a → c → b (else a cycle),
    3. a — c → b and a — d → b with c and d not adjacent,
    4. a — c → d → b with c and b not adjacent, a and d adjacent.

    Where the rules contradict each other, the one that applies first, in the order of positions, wins.

    >>> meek_closure(np.array([[0, 1, 0], [0, 0, 1], [0, 1, 0]], dtype=bool)).astype(int)
    array([[0, 1, 0],
           [0, 0, 1],
           [0, 0, 0]])
    """
    adjacent, neighbours, children, parents = _neighbourhoods(matrix)
    waiting = {(int(a), int(b)): None for a, b in np.argwhere(matrix & matrix.T)}

    def compels(a: int, b: int) -> bool:
        if parents[a] & ~adjacent[b] & ~(1 << b) or children[a] & parents[b]:
            return True
        middle = neighbours[a] & parents[b]
        if any(middle & ~adjacent[c] & ~(1 << c) for c in members(middle)):
            return True
        far = neighbours[a] & ~adjacent[b] & ~(1 << b)
        return any(parents[d] & far for d in members(parents[b] & adjacent[a]))

    while waiting:
        a, b = next(iter(waiting))
        del waiting[a, b]
        if not neighbours[a] >> b & 1 or not compels(a, b):
            continue
        neighbours[a] ^= 1 << b
        neighbours[b] ^= 1 << a
        children[a] |= 1 << b
        parents[b] |= 1 << a
        # Only edges at a or b can be compelled by this, or (rule 4) from a neighbour of a to a child of b.
        for end in (a, b):
            for other in members(neighbours[end]):
                waiting[end, other] = waiting[other, end] = None
        for start in members(neighbours[a] & adjacent[b]):
            for other in members(neighbours[start] & children[b]):
                waiting[start, other] = None
    return to_matrix(children) | to_matrix(neighbours)


def consistent_extension(matrix: Matrix) -> Matrix | None:
    """Find a DAG with the same skeleton, v-structures and directed edges; None where there is none.

    A node can be a sink if no directed edge leaves it and each of its undirected neighbours is adjacent to
    all its other neighbours: then orienting its edges inwards makes no new v-structure. Such a node is
    removed, and the rest is solved in the same way.

    >>> consistent_extension(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=bool)).astype(int)
    array([[0, 1, 0],
           [0, 0, 1],
           [0, 0, 0]])
    """
    adjacent, neighbours, children, _ = _neighbourhoods(matrix)
    left = (1 << len(matrix)) - 1
    result = matrix & ~matrix.T
    # Later nodes become sinks first, so that edges follow the order of the columns where they may.
    candidates = [-node for node in range(len(matrix))]
    heapq.heapify(candidates)
    while candidates:
        sink = -heapq.heappop(candidates)
        around = adjacent[sink] & left
        if not left >> sink & 1 or children[sink] & left:
            continue
        if any(around & ~adjacent[other] & ~(1 << other) for other in members(neighbours[sink] & left)):
            continue
        for other in members(neighbours[sink] & left):
            result[other, sink] = True
        left ^= 1 << sink
        # A node that could not be a sink is tried again once one of its neighbours is removed.
        for other in members(around):
            heapq.heappush(candidates, -other)
    return None if left else result


def _neighbourhoods(matrix: Matrix) -> tuple[list[int], list[int], list[int], list[int]]:
    """For each node, bit sets of the nodes adjacent to it, undirected neighbours, children and parents."""
    directed = matrix & ~matrix.T
    return (
        bit_rows(matrix | matrix.T),
        bit_rows(matrix & matrix.T),
        bit_rows(directed),
        bit_rows(directed.T),
    )
