"""One graph that most samples agree on: pairs that are joined often enough, in their usual directions.

Usual directions can form a cycle. Inside the strongly connected components of those, the nodes are put in
the order that agrees with most samples, and each pair is directed along it, so that no pair is lost.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.posterior.summary.consensus import (
    LARGEST_EXACT,
    best_order,
    check_threshold,
    components,
    strongest_first,
)

Floats = NDArray[np.float64]
Marks = NDArray[np.bool_]

# Less than any difference between votes: so every pair gets a direction, and the vote decides which.
LEAST = 1e-9


def agreed_dag(names: Sequence[str], arrows: Floats, threshold: float, samples: int) -> DAG:
    """Pairs joined in more than a share of the samples; `arrows[i, j]` is how many of them have i → j.

    Numbers and not shares, since their sums are exact: 0.1 + 0.2 is more than 0.3.

    >>> circle = np.array([[0, 9, 4], [1, 0, 8], [6, 1, 0]])
    >>> agreed_dag("abc", circle, 0.5, samples=10).edges
    (('a', 'b'), ('a', 'c'), ('b', 'c'))
    """
    check_threshold(threshold)
    joined = (arrows + arrows.T) / samples > threshold
    np.fill_diagonal(joined, val=False)
    return DAG.from_numpy(direct_pairs(arrows, joined), names)


def agreed_class(
    names: Sequence[str], arrows: Floats, lines: Floats, threshold: float, samples: int
) -> CPDAG:
    """The same for classes, where `lines[i, j]` is how many have i — j; the more frequent mark wins.

    Its directed edges form no cycle, but it need not be the completed graph of a class.

    >>> arrows = np.array([[0, 7, 0], [0, 0, 2], [0, 1, 0]])
    >>> lines = np.array([[0, 3, 0], [3, 0, 6], [0, 6, 0]])
    >>> found = agreed_class("abc", arrows, lines, 0.5, samples=10)
    >>> found.edges, found.undirected
    ((('a', 'b'),), (('b', 'c'),))
    """
    check_threshold(threshold)
    joined = (arrows + arrows.T + lines) / samples > threshold
    np.fill_diagonal(joined, val=False)
    pointed = joined & (np.maximum(arrows, arrows.T) > lines)
    return CPDAG.from_numpy(direct_pairs(arrows, pointed) | (joined & ~pointed), names)


def direct_pairs(votes: Floats, pairs: Marks) -> Marks:
    """Each of these pairs in one direction, the one with more votes where that closes no cycle.

    Of a pair with as many votes both ways, the earlier node is the parent.
    """
    earlier = np.triu(np.ones_like(pairs))
    chosen: Marks = pairs & ((votes > votes.T) | ((votes == votes.T) & earlier))
    component = components(chosen)
    for label in np.unique(component):
        members = np.flatnonzero(component == label)
        if len(members) > 1:
            inside = np.ix_(members, members)
            gain = np.where(pairs[inside], votes[inside] + LEAST, 0.0)
            solve = best_order if len(members) <= LARGEST_EXACT else strongest_first
            chosen[inside] = pairs[inside] & solve(gain)
    return chosen
