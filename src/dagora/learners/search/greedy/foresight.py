"""The moves that a greedy search is likely to make next, as far as the gains known so far tell.

A move changes the gains of one child, or of two. Those of all others stay as they are, so most of the next
moves can be foreseen. Where every question costs a pass over all rows, the families that they lead to are
scored together with those that are needed now.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from dagora.learners.search.greedy.moves import (
    ADD,
    NONE,
    REVERSE,
    best_move,
    edge_hash,
    reachability,
    topological_sort,
)

# Moves that are foreseen at a time: more would cost more to count than the passes they save.
FORESEEN = 12


def likely_parents(
    additions: NDArray[np.float64],
    deletions: NDArray[np.float64],
    present: NDArray[np.bool_],
    unknown: Collection[int],
    tolerance: float,
    graph: np.uint64,
    tabu: NDArray[np.uint64],
    *,
    uphill: bool,
) -> list[tuple[int, int, bool]]:
    """Changes (child, parent, added) that the next moves would make; the gains of `unknown` are not known.

    >>> additions = np.array([[-np.inf, 2.0, 1.0], [2.0, -np.inf, -1.0], [1.0, -1.0, -np.inf]])
    >>> nothing, none = np.full((3, 3), -np.inf), np.zeros((3, 3), dtype=np.bool_)
    >>> no_tabu = np.empty(0, dtype=np.uint64)
    >>> likely_parents(additions, nothing, none, [], 1e-9, np.uint64(0), no_tabu, uphill=True)
    [(1, 0, True), (2, 0, True)]
    """
    additions, deletions, present = additions.copy(), deletions.copy(), present.copy()
    found: list[tuple[int, int, bool]] = []
    for child in unknown:
        additions[:, child] = deletions[:, child] = -np.inf
    while len(found) < FORESEEN:
        reach = reachability(present, topological_sort(present))
        gain, kind, i, j = best_move(additions, deletions, present, reach, tolerance, graph, tabu)
        if kind == NONE or (uphill and gain <= tolerance):
            break
        found.append((j, i, kind == ADD))
        present[i, j] = kind == ADD
        graph ^= np.uint64(edge_hash(i, j))
        additions[:, j] = deletions[:, j] = -np.inf
        if kind == REVERSE:
            found.append((i, j, True))
            present[j, i] = True
            graph ^= np.uint64(edge_hash(j, i))
            additions[:, i] = deletions[:, i] = -np.inf
    return found
