"""Topological orders and cycles, as pure functions of adjacency matrices: entry [i, j] is i → j."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

# Nodes from which a shortest cycle is looked for: each takes a search of the whole graph.
MOST_STARTS = 100
# Nodes of a cycle that a message names.
MOST_NAMED = 12


def topological_order(matrix: NDArray[np.bool_]) -> NDArray[np.int64] | None:
    """Lexicographically smallest topological order of an adjacency matrix; None where there is a cycle."""
    d = len(matrix)
    tails, heads = np.nonzero(matrix)
    first = np.searchsorted(tails, np.arange(d + 1)).tolist()
    waiting = np.bincount(heads, minlength=d).tolist()
    children = heads.tolist()
    ready = [node for node in range(d) if not waiting[node]]
    order: list[int] = []
    while ready:
        node = heapq.heappop(ready)
        order.append(node)
        for child in children[first[node] : first[node + 1]]:
            waiting[child] -= 1
            if not waiting[child]:
                heapq.heappush(ready, child)
    return np.array(order, dtype=np.int64) if len(order) == len(matrix) else None


def cycle_in_words(named: list[str]) -> str:
    """A sentence on a cycle, whose last node is its first.

    >>> cycle_in_words(["a", "b", "a"])
    'the graph has a cycle: a → b → a'
    """
    if len(named) > MOST_NAMED:
        named[MOST_NAMED // 2 : -MOST_NAMED // 2] = [f"… ({len(named) - 1} nodes)"]
    return "the graph has a cycle: " + " → ".join(named)


def find_cycle(matrix: NDArray[np.bool_]) -> list[int]:
    """Nodes of a directed cycle, in order; an empty list where there is none.

    It is a shortest one where at most `MOST_STARTS` nodes cannot be sorted. Where more cannot, it is the
    shortest through some nodes of one cycle.
    """
    left = unsorted_nodes(matrix)
    starts = np.flatnonzero(left).tolist()
    if len(starts) > MOST_STARTS:
        starts = walk_back(matrix, left)[:MOST_STARTS]
    children = [np.flatnonzero(row).tolist() for row in matrix]
    best: list[int] = []
    for start in starts:
        came_from: dict[int, int] = {}
        frontier = [start]
        while frontier and start not in came_from:
            following = []
            for node in frontier:
                for child in children[node]:
                    if child not in came_from:
                        came_from[child] = node
                        following.append(child)
            frontier = following
        if start not in came_from:
            continue
        cycle = [start]
        while came_from[cycle[-1]] != start:
            cycle.append(came_from[cycle[-1]])
        if not best or len(cycle) < len(best):
            best = [cycle[0], *reversed(cycle[1:])]
    return best


def unsorted_nodes(matrix: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The nodes that have no place in a topological order: those of cycles, and below them."""
    waiting = matrix.sum(axis=0)  # parents that are not sorted yet
    left = np.ones(len(matrix), dtype=np.bool_)
    sources = np.flatnonzero(waiting == 0).tolist()
    while sources:
        node = sources.pop()
        left[node] = False
        children = np.flatnonzero(matrix[node])
        waiting[children] -= 1
        sources += children[waiting[children] == 0].tolist()
    return left


def walk_back(matrix: NDArray[np.bool_], left: NDArray[np.bool_]) -> list[int]:
    """Nodes of some cycle: each of those left has a parent among them, so that a walk to parents returns."""
    walk = [int(left.argmax())]
    place = {walk[0]: 0}
    while (parent := int((matrix[:, walk[-1]] & left).argmax())) not in place:
        place[parent] = len(walk)
        walk.append(parent)
    return walk[place[parent] :]
