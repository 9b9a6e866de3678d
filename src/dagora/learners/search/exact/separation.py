"""Cuts: inequalities that every network keeps and a point of the linear program violates.

Clusters and facets of three and four nodes come first. Where they are few and the problem is not small,
larger sets of nodes are searched, from five nodes on, until some size gives a cut.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.learners.search.exact.cluster_cuts import (
    LEAST_VALUE,
    LpPoint,
    arc_weights,
    cluster_row,
    violated_clusters,
)
from dagora.learners.search.exact.dag_cover import cover_inequality, cover_row, violated_covers
from dagora.learners.search.exact.dag_facets import facet_row, separators, violated_facets
from dagora.learners.search.exact.strong_sets import strong_sets

# Cuts of each kind in one round: more of them slow the linear programs down more than they improve the bound.
CLUSTERS_A_ROUND = 20
FACETS_A_ROUND = 15
COVERS_A_ROUND = 30

# Connected sets of three or four nodes that are examined in one round.
SETS_A_ROUND = 200_000

# With fewer other cuts than this, larger sets are searched: of these sizes, and so many of each size.
# Problems of fewer nodes are solved sooner without.
FEW = 10
LEAST_NODES = 16
COVER_SIZES = (5, 6, 7)
COVERED_SETS = 250


class ProgramSets(NamedTuple):
    """Parent sets of a linear program: those of x are rows `offsets[x]` to `offsets[x + 1]` of `masks`."""

    masks: NDArray[np.uint64]
    offsets: NDArray[np.int64]


class Cut(NamedTuple):
    """An inequality Σ weights · I(rows) ≤ side, and where it comes from: clusters, facets or covers."""

    rows: NDArray[np.int64]
    weights: NDArray[np.float64]
    side: float
    kind: str

    def renumber(self, place: NDArray[np.int64]) -> Cut:
        """The cut after row k has become `place[k]`; rows that become −1 are left out."""
        there = place[self.rows]
        return self._replace(rows=there[there >= 0], weights=self.weights[there >= 0])


def separate(point: LpPoint, sets: ProgramSets, *, facets: bool, integral: bool = False) -> list[Cut]:
    """Cuts that a point violates, at most a round's worth of each kind; of an integral point, clusters only.

    >>> from dagora.learners.search.exact.cluster_cuts import positive_part
    >>> sets = ProgramSets(np.array([[2], [0], [1], [0]], dtype=np.uint64), np.array([0, 2, 4]))  # {b}; {a}
    >>> [cut] = separate(positive_part(*sets, np.array([1.0, 0.0, 1.0, 0.0])), sets, facets=True)
    >>> cut.rows, cut.weights, cut.side, cut.kind
    (array([1, 3]), array([-1., -1.]), -1.0, 'clusters')
    """
    weights = arc_weights(point)
    cuts = clusters(point, weights, sets)
    if facets and not integral:
        arcs = weights > LEAST_VALUE
        cuts += facets_of_four(point, arcs, sets)
        if len(cuts) < FEW and len(weights) >= LEAST_NODES:
            cuts += covers(point, arcs, sets)
    return cuts


def clusters(point: LpPoint, weights: NDArray[np.float64], sets: ProgramSets) -> list[Cut]:
    """The clusters that a point violates most, each in the shorter of its two forms."""
    found, violations = violated_clusters(point, weights)
    cuts = []
    for k in largest(violations, CLUSTERS_A_ROUND):
        meeting, free, size = cluster_row(*sets, found[k])
        if len(free) <= len(meeting):
            cuts.append(Cut(free, np.full(len(free), -1.0), -1.0, "clusters"))
        else:
            cuts.append(Cut(meeting, np.ones(len(meeting)), size - 1.0, "clusters"))
    return cuts


def facets_of_four(point: LpPoint, arcs: NDArray[np.bool_], sets: ProgramSets) -> list[Cut]:
    """The facets of three and four nodes that a point is farthest beyond."""
    known = separators()
    nodes, which, distances = violated_facets(point, arcs, known, SETS_A_ROUND)
    cuts = []
    for k in largest(distances, FACETS_A_ROUND):
        rows, weights = facet_row(*sets, nodes[k], known.coefficients[which[k]])
        cuts.append(Cut(rows, weights, float(known.sides[which[k]]), "facets"))
    return cuts


def covers(point: LpPoint, arcs: NDArray[np.bool_], sets: ProgramSets) -> list[Cut]:
    """The inequalities on five or more nodes that a point is farthest beyond, from the fewest nodes up."""
    cuts: list[Cut] = []
    for size in COVER_SIZES:
        places = strong_sets(arcs, size, COVERED_SETS)
        which, distances = violated_covers(point, places)
        for k in largest(distances, COVERS_A_ROUND):
            nodes = places[which[k]]
            table, side = cover_inequality(point, nodes)
            if side >= 0.0:
                cuts.append(Cut(*cover_row(*sets, nodes, table), side, "covers"))
        if len(cuts) >= FEW:
            break
    return cuts


def largest(numbers: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """Positions of the largest numbers, at most so many, largest first; of equal ones, the first."""
    return np.argsort(-numbers, kind="stable")[:most]
