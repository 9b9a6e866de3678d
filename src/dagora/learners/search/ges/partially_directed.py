"""Kernels on partially directed graphs, for searches that change a class of equivalent graphs step by step.

`graph.equivalence` has the same functions for single graphs; these are fast enough for thousands in a row.
Matrices are boolean: [i, j] alone is i → j, [i, j] with [j, i] is i — j. Edges are given as flat positions
i · d + j in ascending order (`np.flatnonzero`), so that the work of a kernel grows with the number of edges
and not with the size of the matrix.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel

Matrix = NDArray[np.bool_]
Positions = NDArray[np.int64]


def extend(matrix: Matrix) -> Matrix | None:
    """A member of the class: the consistent extension that `graph.equivalence` finds; None if there is none.

    >>> extend(np.array([[0, 1], [1, 0]], dtype=bool)).astype(int)
    array([[0, 1],
           [0, 0]])
    """
    result, found = extension_kernel(matrix, np.flatnonzero(matrix))
    return result if found else None


def complete(dag: Matrix) -> Matrix | None:
    """The completed graph of a DAG's class; None where the graph has a cycle.

    >>> complete(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)).astype(int)
    array([[0, 1, 0],
           [1, 0, 1],
           [0, 1, 0]])
    """
    result, found = completion_kernel(dag, np.flatnonzero(dag))
    return result if found else None


@kernel
def successor_lists(size: int, edges: Positions) -> tuple[Positions, Positions]:
    """Edges by their tails: node i leads to `heads[offsets[i]:offsets[i + 1]]`."""
    offsets = np.zeros(size + 1, dtype=np.int64)
    heads = np.empty(len(edges), dtype=np.int64)
    for k in range(len(edges)):
        offsets[edges[k] // size + 1] += 1
        heads[k] = edges[k] % size
    for i in range(size):
        offsets[i + 1] += offsets[i]
    return offsets, heads


@kernel
def predecessor_lists(size: int, edges: Positions) -> tuple[Positions, Positions]:
    """Edges by their heads: `tails[offsets[j]:offsets[j + 1]]`, ascending, lead to node j."""
    offsets = np.zeros(size + 1, dtype=np.int64)
    for k in range(len(edges)):
        offsets[edges[k] % size + 1] += 1
    for i in range(size):
        offsets[i + 1] += offsets[i]
    filled = offsets[:-1].copy()
    tails = np.empty(len(edges), dtype=np.int64)
    for k in range(len(edges)):
        head = edges[k] % size
        tails[filled[head]] = edges[k] // size
        filled[head] += 1
    return offsets, tails


@kernel
def is_last(
    node: int,
    matrix: Matrix,
    left: Matrix,
    offsets: Positions,
    heads: Positions,
    starts: Positions,
    tails: Positions,
) -> bool:
    """Return True if `node` can be the last of the nodes left.

    No edge may leave it, and all its neighbours must be adjacent to all nodes with an edge or line to it, so
    that directing its lines into it makes no new collider.
    """
    for k in range(offsets[node], offsets[node + 1]):
        if left[heads[k]] and not matrix[heads[k], node]:
            return False
    for k in range(offsets[node], offsets[node + 1]):
        other = heads[k]
        if not left[other]:
            continue
        for m in range(starts[node], starts[node + 1]):
            third = tails[m]
            if left[third] and third != other and not (matrix[third, other] or matrix[other, third]):
                return False
    return True


@kernel
def extension_kernel(matrix: Matrix, edges: Positions) -> tuple[Matrix, bool]:
    """Dor and Tarsi (1992): remove a node that can be last, the largest first, until none is left."""
    size = len(matrix)
    offsets, heads = successor_lists(size, edges)
    starts, tails = predecessor_lists(size, edges)
    result = matrix.copy()
    left = np.ones(size, dtype=np.bool_)
    remaining = size
    waiting = [-node for node in range(size - 1, -1, -1)]
    while len(waiting) > 0:
        node = -heapq.heappop(waiting)
        if not left[node] or not is_last(node, matrix, left, offsets, heads, starts, tails):
            continue
        left[node] = False
        remaining -= 1
        # All lines of this node now point to it. Nodes at its edges and lines that failed before may pass
        # now.
        for k in range(starts[node], starts[node + 1]):
            if left[tails[k]]:
                result[node, tails[k]] = False
                heapq.heappush(waiting, -tails[k])
    return result, remaining == 0


@kernel
def completion_kernel(dag: Matrix, edges: Positions) -> tuple[Matrix, bool]:
    """Label the edges of a DAG as directed or undirected, in topological order of their heads.

    The latest parent of a node decides for all edges into that node.
    """
    size = len(dag)
    offsets, heads = successor_lists(size, edges)
    starts, tails = predecessor_lists(size, edges)
    position = np.full(size, -1, dtype=np.int64)
    order = np.empty(size, dtype=np.int64)
    waiting = np.empty(size, dtype=np.int64)
    filled = 0
    for node in range(size):
        waiting[node] = starts[node + 1] - starts[node]
        if waiting[node] == 0:
            order[filled] = node
            filled += 1
    done = 0
    while done < filled:
        node = order[done]
        position[node] = done
        done += 1
        for k in range(offsets[node], offsets[node + 1]):
            waiting[heads[k]] -= 1
            if waiting[heads[k]] == 0:
                order[filled] = heads[k]
                filled += 1
    result = dag.copy()
    if filled < size:
        return result, False
    for done in range(size):
        y = order[done]
        first, last = starts[y], starts[y + 1]
        if first == last:
            continue
        x = tails[first]
        for k in range(first, last):
            if position[tails[k]] > position[x]:
                x = tails[k]
        compelled = False
        for k in range(first, last):
            compelled |= tails[k] != x and not dag[tails[k], x]
        for k in range(starts[x], starts[x + 1]):
            compelled |= not result[x, tails[k]] and not dag[tails[k], y]
        if compelled:
            continue
        # An edge w → y is compelled exactly if w → x is, that is, if `result` lacks its reverse.
        for k in range(first, last):
            w = tails[k]
            result[y, w] = w == x or result[x, w]
    return result, True


@kernel
def open_path(
    offsets: Positions, heads: Positions, start: int, goal: int, closed: Positions, direct: bool
) -> Positions:
    """A shortest path start, …, goal along edges and lines that avoids the `closed` nodes; empty if none.

    Without `direct`, the edge from start to goal itself does not count.
    """
    size = len(offsets) - 1
    came_from = np.full(size, -1, dtype=np.int64)
    for k in range(len(closed)):
        came_from[closed[k]] = closed[k]
    came_from[start] = start
    queue = np.empty(size, dtype=np.int64)
    queue[0] = start
    filled = 1
    done = 0
    while done < filled:
        node = queue[done]
        done += 1
        for k in range(offsets[node], offsets[node + 1]):
            head = heads[k]
            if came_from[head] >= 0 or (node == start and head == goal and not direct):
                continue
            came_from[head] = node
            if head == goal:
                length = 1
                while node != start:
                    node = came_from[node]
                    length += 1
                path = np.empty(length + 1, dtype=np.int64)
                node = goal
                for back in range(length, -1, -1):
                    path[back] = node
                    node = came_from[node]
                return path
            queue[filled] = head
            filled += 1
    return np.empty(0, dtype=np.int64)
