"""One acyclic graph that represents a posterior: its probable edges, as far as they form no cycle.

Of all acyclic graphs it has the largest Σ (p − threshold) over its edges, p the posterior probabilities. At
threshold ½ no DAG has a smaller expected number of wrong directed edges. Edges above the threshold can form
cycles (three of them may each have probability ⅔). Only inside the strongly connected components of those
edges is there anything to decide: the best order of a component, found by dynamic programming over its
subsets (Lawler 1964) if it has up to 16 nodes. In a larger component the graph is not the best one but a
greedy one: edges are taken by falling probability, and those that would close a cycle are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.graph.dag import DAG

LARGEST_EXACT = 16  # nodes of a cyclic part: `best_order` holds a number per node and subset, 8 MiB

Floats = NDArray[np.float64]


def consensus(names: Sequence[str], probability: Floats, threshold: float = 0.5) -> DAG:
    """Acyclic graph of the edges above the threshold; [i, j] is the probability of i → j.

    >>> round_trip = np.array([[0, 0.66, 0], [0, 0, 0.66], [0.6, 0, 0]])
    >>> consensus("abc", round_trip).edges
    (('a', 'b'), ('b', 'c'))
    """
    check_threshold(threshold)
    gain = np.where(probability > threshold, probability - threshold, 0.0)
    np.fill_diagonal(gain, 0.0)
    kept = gain > 0
    component = components(kept)
    for label in np.unique(component):
        members = np.flatnonzero(component == label)
        if len(members) > 1:
            inside = np.ix_(members, members)
            solve = best_order if len(members) <= LARGEST_EXACT else strongest_first
            kept[inside] &= solve(gain[inside])
    return DAG.from_numpy(kept, names)


def check_threshold(threshold: float) -> None:
    """Refuse a threshold that is no probability."""
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold < 1:
        raise OptionError(f"the threshold must be a probability, 0 or more and below 1, not {threshold!r}")


def components(edges: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Strongly connected component of each node, named by its first node."""
    reach = edges | np.eye(len(edges), dtype=np.bool_)
    for through in range(len(edges)):
        reach |= reach[:, through, None] & reach[None, through, :]
    return np.asarray((reach & reach.T).argmax(axis=1), dtype=np.int64)


def best_order(gain: Floats) -> NDArray[np.bool_]:
    """Pairs (i, j) with i before j in the order whose forward gains sum to the most.

    >>> best_order(np.array([[0, 1.0], [2.0, 0]])).astype(int)
    array([[0, 0],
           [1, 0]])
    """
    nodes = len(gain)
    subsets = np.arange(1 << nodes)
    into = np.zeros((nodes, 1 << nodes))  # sum of gains from the members of a subset into each node
    for node in range(nodes):
        bit = 1 << node
        into[:, bit : 2 * bit] = into[:, :bit] + gain[node][:, None]
    best = np.full(1 << nodes, -np.inf)
    best[0] = 0.0
    last = np.zeros(1 << nodes, dtype=np.int64)
    # A subset without its last node is smaller by one, so subsets are handled by size.
    sizes = np.bitwise_count(subsets)
    for size in range(1, nodes + 1):
        of_size = subsets[sizes == size]
        for node in range(nodes):
            holding = of_size[of_size >> node & 1 == 1]
            before = holding ^ (1 << node)
            total = best[before] + into[node, before]
            better = total >= best[holding]
            best[holding[better]] = total[better]
            last[holding[better]] = node
    position = np.empty(nodes, dtype=np.int64)
    left = (1 << nodes) - 1
    for place in reversed(range(nodes)):
        position[last[left]] = place
        left ^= 1 << int(last[left])
    return np.asarray(position[:, None] < position[None, :], dtype=np.bool_)


def strongest_first(gain: Floats) -> NDArray[np.bool_]:
    """Take edges by falling gain, each unless it closes a cycle with those taken before."""
    nodes = len(gain)
    taken = np.zeros((nodes, nodes), dtype=np.bool_)
    reach = np.eye(nodes, dtype=np.bool_)
    for position in np.argsort(-gain, axis=None, kind="stable"):
        tail, head = divmod(int(position), nodes)
        if gain[tail, head] <= 0:
            break
        if not reach[head, tail]:
            taken[tail, head] = True
            reach |= reach[:, tail, None] & reach[None, head, :]
    return taken
