"""Facets of the polytope of DAGs on four nodes, and the search for those that a point violates.

Describe a DAG on four nodes by the 0/1 vector I(x, S), one entry per node x and non-empty set S of its
parents: 28 entries. The hull of the 543 DAGs has 135 facets: 28 say I(x, S) ≥ 0, four say that a node has one
parent set, and the other 103 (15 up to relabelling) forbid cycles; among them are the cluster inequalities
(Cussens, Järvisalo, Korhonen & Bartlett 2017). A facet Σ a(x, S) I(x, S) ≤ b holds for larger networks too:
on any four of their nodes C, Σ a(x, P ∩ C) I(x, P) ≤ b, as a subgraph of a DAG is a DAG.

Example: let each of three nodes have both others as its parents with value ½. The second class says that at
most one of the three may have both others as parents, but the values sum to 3/2: an excess of ½ over the side
1. Each node has two coefficients of 1, for the sets with and without the fourth node, so the norm is √6 and
the point is 0.5 / √6 ≈ 0.204 beyond the facet. See `violated_facets` for this in code.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.graph.bit_kernels import has_bit
from dagora.kernels.decorators import kernel
from dagora.kernels.rows import copy_row
from dagora.learners.search.exact.cluster_cuts import LpPoint

# One facet of each class: its right-hand side, then for each node the coefficients of the eight sets of the
# other three, where bit j of a set's number stands for the j-th of these. Non-decreasing in S, all of them.
CLASSES = (
    (1, "01010101 01010101 00000000 00000000"),  # two nodes: not both arcs
    (1, "00010001 00010001 00010001 00000000"),  # three nodes: one at most has both others as parents
    (2, "01110111 01110111 01110111 00000000"),  # three nodes: one has no parents among them
    (1, "00000001 00000001 00000001 00000001"),  # the same for four: at most one has three parents
    (2, "00010111 00010111 00010111 00010111"),  # at most two have two or more
    (3, "01111111 01111111 01111111 01111111"),  # one has none
    (2, "00010112 00010101 00010101 00010101"),
    (2, "01010111 01010111 00000111 00000111"),
    (2, "01110111 00000111 00000111 00000011"),
    (2, "01110112 00000101 00000101 00000001"),
    (3, "01121222 01010111 01010111 01010111"),
    (3, "01111112 01111112 00010001 00010001"),
    (3, "01121112 01010101 01010101 01111111"),
    (3, "01121112 01011112 00010001 00110011"),
    (4, "01121112 01011112 01011112 01111122"),
)

# A point that is less than this beyond a facet is not worth a cut.
LEAST_DISTANCE = 1e-3

# Room for violated facets in one round.
MOST_FOUND = 4096


@cache
def facets() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """All 103 facets: coefficients [facet, 8 · node + set], as in `CLASSES`, and right-hand sides.

    >>> coefficients, sides = facets()
    >>> coefficients.shape, sorted(set(sides.tolist()))
    ((103, 32), [1.0, 2.0, 3.0, 4.0])
    """
    rows: dict[tuple[int, ...], int] = {}
    for side, text in CLASSES:
        table = [[int(digit) for digit in word] for word in text.split()]
        for labels in permutations(range(4)):
            row = [0] * 32
            for x in range(4):
                for code in range(8):
                    row[8 * labels[x] + relabel(x, code, labels)] = table[x][code]
            rows.setdefault(tuple(row), side)
    return np.array(list(rows), dtype=np.float64), np.array(list(rows.values()), dtype=np.float64)


def relabel(x: int, code: int, labels: tuple[int, ...]) -> int:
    """Number of a set of the nodes other than x after node i was named labels[i]."""
    others = [y for y in range(4) if y != x]
    named = [labels[others[j]] for j in range(3) if code >> j & 1]
    return sum(1 << (y - (y > labels[x])) for y in named)


class Separators(NamedTuple):
    """Facets to look for: first `triples` facets of three nodes (given on nodes 0, 1, 2), then those of four.

    Facet f is Σ `coefficients[f, k]` · point[k] ≤ `sides[f]`; `lengths[f]` is the norm of its coefficients.
    """

    coefficients: NDArray[np.float64]
    sides: NDArray[np.float64]
    lengths: NDArray[np.float64]
    triples: int


@cache
def separators() -> Separators:
    """All facets but those of two nodes, which are few enough to be there from the start.

    >>> found = separators()
    >>> found.triples, len(found.sides)
    (2, 91)
    """
    coefficients, sides = facets()
    active: NDArray[np.bool_] = np.any(coefficients.reshape(-1, 4, 8) > 0, axis=2)
    triples = np.flatnonzero(active[:, :3].all(axis=1) & ~active[:, 3])
    chosen = np.concatenate([triples, np.flatnonzero(active.all(axis=1))])
    lengths = np.sqrt((coefficients[chosen] ** 2).sum(axis=1))
    return Separators(coefficients[chosen], sides[chosen], lengths, len(triples))


@kernel
def set_code(mask: NDArray[np.uint64], nodes: NDArray[np.int64], x: int, size: int) -> int:
    """Number of the set that a parent set leaves on the nodes other than the x-th."""
    code = 0
    bit = 0
    for y in range(size):
        if y != x:
            if has_bit(mask, nodes[y]):
                code |= 1 << bit
            bit += 1
    return code


@kernel
def project(point: LpPoint, nodes: NDArray[np.int64], size: int, projected: NDArray[np.float64]) -> None:
    """Sum a point's values over parent sets that agree on the first `size` nodes; `facets` has the layout."""
    projected[:] = 0.0
    for x in range(size):
        for k in range(point.starts[nodes[x]], point.starts[nodes[x] + 1]):
            code = set_code(point.masks[point.rows[k]], nodes, x, size)
            projected[8 * x + code] += point.values[k]


@kernel
def find_most_violated(
    separators: Separators, low: int, high: int, projected: NDArray[np.float64]
) -> tuple[int, float]:
    """The facet among low … high − 1 that a point is farthest beyond, and how far; −1 where there is none."""
    best, farthest = -1, LEAST_DISTANCE
    for f in range(low, high):
        total = -separators.sides[f]
        for k in range(32):
            total += separators.coefficients[f, k] * projected[k]
        if total > farthest * separators.lengths[f]:
            best, farthest = f, total / separators.lengths[f]
    return best, farthest


@kernel
def all_may_be_on_cycles(arcs: NDArray[np.bool_], nodes: NDArray[np.int64], size: int) -> bool:
    """Return True if each of the first `size` nodes has an arc from and an arc to another of them.

    A node that lacks either is on no cycle, so that the facets of the other nodes are enough.
    """
    for x in range(size):
        enters = False
        leaves = False
        for y in range(size):
            enters = enters or arcs[nodes[y], nodes[x]]
            leaves = leaves or arcs[nodes[x], nodes[y]]
        if not (enters and leaves):
            return False
    return True


@kernel
def violated_facets(
    point: LpPoint, arcs: NDArray[np.bool_], separators: Separators, limit: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """For every three or four nodes that may be on cycles, the facet that a point is farthest beyond.

    `arcs[i, j]` says that the point has an arc i → j. Sets of nodes that are connected by arcs are enumerated
    once each (Wernicke 2006), at most `limit` of them. Returns, for each set found, the nodes (the last is −1
    where there are three), the facet and the distance.

    >>> from dagora.learners.search.exact.cluster_cuts import positive_part
    >>> masks = np.array([[6], [0], [5], [0], [3], [0]], dtype=np.uint64)  # both others, or none
    >>> point = positive_part(masks, np.array([0, 2, 4, 6]), np.full(6, 0.5))
    >>> nodes, facet, distance = violated_facets(point, ~np.eye(3, dtype=np.bool_), separators(), 10)
    >>> nodes, separators().sides[facet], distance.round(3)
    (array([[ 0,  2,  1, -1]]), array([1.]), array([0.204]))
    """
    d = len(arcs)
    linked = arcs | arcs.T
    found = np.empty((MOST_FOUND, 4), dtype=np.int64)
    which = np.empty(MOST_FOUND, dtype=np.int64)
    distances = np.empty(MOST_FOUND, dtype=np.float64)
    count = 0
    projected = np.empty(32)
    nodes = np.empty(4, dtype=np.int64)
    # Nodes that may still be added after 1, 2 and 3 are chosen, and how many.
    waiting = np.empty((3, d), dtype=np.int64)
    sizes = np.zeros(3, dtype=np.int64)
    # near[k, y]: whether y is one of the first k + 1 chosen nodes, or linked to one of them.
    near = np.zeros((4, d), dtype=np.bool_)
    looked = 0
    for root in range(d):
        nodes[0] = root
        sizes[0] = 0
        for y in range(d):
            near[0, y] = y == root or linked[root, y]
            if linked[root, y] and y > root:
                waiting[0, sizes[0]] = y
                sizes[0] += 1
        depth = 0
        while depth >= 0:
            if sizes[depth] == 0 or count == MOST_FOUND or looked >= limit:
                depth -= 1
                continue
            sizes[depth] -= 1
            y = waiting[depth, sizes[depth]]
            nodes[depth + 1] = y
            size = depth + 2
            if size >= 3:
                looked += 1
                if all_may_be_on_cycles(arcs, nodes, size):
                    project(point, nodes, size, projected)
                    triples = separators.triples
                    low, high = (0, triples) if size == 3 else (triples, len(separators.sides))
                    facet, distance = find_most_violated(separators, low, high, projected)
                    if facet >= 0 and count < MOST_FOUND:
                        copy_row(nodes, found[count])
                        if size == 3:
                            found[count, 3] = -1
                        which[count] = facet
                        distances[count] = distance
                        count += 1
            if size < 4:
                # Next may come those that still wait, and the new node's own neighbours.
                sizes[depth + 1] = sizes[depth]
                copy_row(waiting[depth, : sizes[depth]], waiting[depth + 1])
                for z in range(d):
                    near[depth + 1, z] = near[depth, z] or linked[y, z]
                    if linked[y, z] and z > root and not near[depth, z]:
                        waiting[depth + 1, sizes[depth + 1]] = z
                        sizes[depth + 1] += 1
                depth += 1
    return found[:count], which[:count], distances[:count]


@kernel
def facet_row(
    masks: NDArray[np.uint64],
    offsets: NDArray[np.int64],
    nodes: NDArray[np.int64],
    coefficients: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """A facet on some nodes for all candidate sets: the rows with a coefficient, and the coefficients."""
    size = 3 if nodes[3] < 0 else 4
    room = 0
    for x in range(size):
        room += offsets[nodes[x] + 1] - offsets[nodes[x]]
    rows = np.empty(room, dtype=np.int64)
    weights = np.empty(room)
    count = 0
    for x in range(size):
        for row in range(offsets[nodes[x]], offsets[nodes[x] + 1]):
            weight = coefficients[8 * x + set_code(masks[row], nodes, x, size)]
            if weight != 0.0:
                rows[count] = row
                weights[count] = weight
                count += 1
    return rows[:count], weights[:count]
