"""Strongly connected sets of a few nodes: where a point of the linear program can have cycles that overlap.

A graph on a set of nodes is strongly connected if and only if it is a union of cycles, each of which meets
the ones before. So short cycles are listed first, and then joined with each other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

# A set of nodes is a number with one bit per node, so that no more nodes than this are looked at together.
MOST_NODES = 64


def strong_sets(arcs: NDArray[np.bool_], size: int, limit: int) -> NDArray[np.int64]:
    """Sets of `size` nodes, one per row and ascending, that arcs within the set connect strongly.

    `arcs[i, j]` says that there is an arc i → j. Of each strongly connected component the first
    64 nodes are looked at, with at most `limit` cycles; at most `limit` of its sets are returned.

    >>> arcs = np.zeros((4, 4), dtype=np.bool_)
    >>> arcs[[0, 1, 1, 2, 3], [1, 0, 2, 3, 1]] = True
    >>> strong_sets(arcs, 4, 100), strong_sets(arcs, 3, 100)
    (array([[0, 1, 2, 3]]), array([[1, 2, 3]]))
    """
    _, label = connected_components(csr_array(arcs), directed=True, connection="strong")
    found = [np.empty((0, size), dtype=np.int64)]
    for component in np.flatnonzero(np.bincount(label) >= size):
        members = np.flatnonzero(label == component)[:MOST_NODES]
        joined = join(short_cycles(arcs[np.ix_(members, members)], size, limit), size, 4 * limit)
        chosen = spread(joined[np.bitwise_count(joined) == size], limit)
        bits = chosen[:, None] >> np.arange(len(members), dtype=np.uint64) & np.uint64(1)
        found.append(members[np.nonzero(bits)[1]].reshape(len(chosen), size))
    return np.concatenate(found)


def join(cycles: NDArray[np.uint64], size: int, limit: int) -> NDArray[np.uint64]:
    """The cycles and unions of cycles, each of which meets the ones before, of at most `size` nodes.

    >>> join(np.array([0b11, 0b110, 0b11000], dtype=np.uint64), 4, 100)
    array([ 3,  6,  7, 24], dtype=uint64)
    """
    known = latest = np.unique(cycles)
    while len(latest) and len(known) < limit:
        meets = (latest[:, None] & cycles) != 0
        both = latest[:, None] | cycles
        new = np.setdiff1d(both[meets & (np.bitwise_count(both) <= size)], known)
        latest = spread(new, limit - len(known))
        known = np.union1d(known, latest)
    return known


def short_cycles(arcs: NDArray[np.bool_], most: int, limit: int) -> NDArray[np.uint64]:
    """The node sets of cycles of at most `most` nodes; of too many, the shortest.

    >>> short_cycles(np.array([[0, 1, 0], [1, 0, 1], [1, 0, 0]], dtype=np.bool_), 3, 100)
    array([3, 7], dtype=uint64)
    """
    heads = [np.flatnonzero(row).tolist() for row in arcs]
    # A path starts at its least node: first node, last node, all nodes.
    paths = [(x, x, 1 << x) for x in range(len(arcs))]
    cycles: dict[int, None] = {}
    while paths and most and len(cycles) < limit:
        longer: dict[tuple[int, int, int], None] = {}
        for first, last, nodes in paths:
            for head in heads[last]:
                if head == first:
                    cycles[nodes] = None
                elif head > first and not nodes >> head & 1:
                    longer[first, head, nodes | 1 << head] = None
        # Paths with the same ends over the same nodes close to cycles over the same nodes: one is enough.
        paths = list(longer)[:: 1 + len(longer) // (10 * limit)]
        most -= 1
    return np.array(list(cycles)[:limit], dtype=np.uint64)


def spread(numbers: NDArray[np.uint64], most: int) -> NDArray[np.uint64]:
    """At most so many of the numbers, evenly spread.

    >>> spread(np.arange(10, dtype=np.uint64), 4)
    array([0, 3, 6, 9], dtype=uint64)
    """
    return numbers[:: max(1, -(-len(numbers) // most))]
