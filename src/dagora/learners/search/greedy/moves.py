"""The single-edge change with the largest gain, from matrices of gains, and the changes likely to follow it.

`additions[i, j]` is the gain of adding i → j, `deletions[i, j]` that of removing it; −∞ marks what knowledge
forbids. Reversing i → j means removing it and adding j → i. `reach[i, j]` says that a directed path leads
from i to j. Gains within a tolerance of the largest count as equal; then the first (by tail, then head) is
taken.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel, patient
from dagora.kernels.random import mix_bits

ADD, DELETE, REVERSE, NONE = 0, 1, 2, 3

# Moves that are foreseen at a time: more would cost more to count than the passes they save.
FORESEEN = 12


@kernel
def reversal_closes_cycle(present: NDArray[np.bool_], reach: NDArray[np.bool_], i: int, j: int) -> bool:
    """Return True if a path other than the edge itself leads from i to j."""
    for k in range(len(present)):  # noqa: SIM110 - a kernel
        if k != j and present[i, k] and reach[k, j]:
            return True
    return False


def hashes_of(i: NDArray[np.int64], j: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The hashes of edges i → j, without a kernel."""
    words = ((i.astype(np.uint64) + np.uint64(1)) << np.uint64(32)) + j.astype(np.uint64)
    hashes: NDArray[np.uint64] = mix_bits.py_func(words)  # type: ignore[attr-defined]
    return hashes


@patient(lambda i, j: hashes_of(np.array([i]), np.array([j]))[0], lambda *_: 2e-5, 0.1)
@kernel
def edge_hash(i: int, j: int) -> np.uint64:
    """A hash of the edge i → j; different edges have different ones."""
    return mix_bits(((np.uint64(i) + np.uint64(1)) << np.uint64(32)) + np.uint64(j))


@kernel
def is_tabu(tabu: NDArray[np.uint64], graph: np.uint64) -> bool:
    """Return True if the hash of a graph is in the tabu list."""
    for entry in tabu:  # noqa: SIM110 - a kernel
        if entry == graph:
            return True
    return False


def best_move_plainly(
    additions: NDArray[np.float64],
    deletions: NDArray[np.float64],
    present: NDArray[np.bool_],
    reach: NDArray[np.bool_],
    tolerance: float,
    graph: np.uint64,
    tabu: NDArray[np.uint64],
) -> tuple[float, int, int, int]:
    """The same as `best_move`, without a kernel."""
    closes = present.astype(np.float64) @ reach > 0  # a path other than the edge leads from i to j
    # Of each pair, in the order of moves: adding or deleting its edge, and reversing it.
    gains = np.stack([np.where(present, deletions, additions), deletions + additions.T], axis=2)
    gains[..., 0][~present & reach.T] = -np.inf
    gains[..., 1][~present | closes] = -np.inf
    gains[present.T | np.eye(len(present), dtype=np.bool_)] = -np.inf
    legal = np.flatnonzero(gains > -np.inf)
    tails, heads, reversing = np.unravel_index(legal, gains.shape)
    if len(tabu):
        after = graph ^ hashes_of(tails, heads) ^ np.where(reversing, hashes_of(heads, tails), np.uint64(0))
        allowed = ~np.isin(after, tabu)
        legal, tails, heads, reversing = legal[allowed], tails[allowed], heads[allowed], reversing[allowed]
    if not len(legal):
        return -np.inf, NONE, -1, -1
    worth = gains.ravel()[legal]
    first = int(np.argmax(worth >= worth.max() - tolerance))
    i, j = int(tails[first]), int(heads[first])
    kind = REVERSE if reversing[first] else DELETE if present[i, j] else ADD
    return float(worth[first]), kind, i, j


@patient(best_move_plainly, lambda additions, *_: 1e-4 + 3e-8 * additions.size, 0.6)
@kernel
def best_move(
    additions: NDArray[np.float64],
    deletions: NDArray[np.float64],
    present: NDArray[np.bool_],
    reach: NDArray[np.bool_],
    tolerance: float,
    graph: np.uint64,
    tabu: NDArray[np.uint64],
) -> tuple[float, int, int, int]:
    """Gain, kind, tail and head of the best legal move; kind NONE where there is none.

    The hash of a graph is the exclusive or of its edges' hashes; a move to a graph whose hash is in `tabu` is
    not legal.

    >>> nothing, present = np.full((2, 2), -np.inf), np.zeros((2, 2), dtype=np.bool_)
    >>> additions = np.array([[-np.inf, 2.0], [3.0, -np.inf]])
    >>> no_tabu = np.empty(0, dtype=np.uint64)
    >>> best_move(additions, nothing, present, present, 0.1, np.uint64(0), no_tabu)  # add 1 → 0
    (3.0, 0, 1, 0)
    """
    d = len(present)
    best = -np.inf
    for attempt in range(2):
        # First find the largest gain, then the first move that comes within the tolerance of it.
        settled = attempt == 1
        bound = best - tolerance
        for i in range(d):
            for j in range(d):
                edge = present[i, j]
                # Most pairs end here: so nothing else is looked at before.
                if not edge and not (additions[i, j] > best or (settled and additions[i, j] >= bound)):
                    continue
                for kind in range(DELETE, NONE) if edge else range(ADD, DELETE):
                    if kind == ADD:
                        gain = additions[i, j]
                    elif kind == DELETE:
                        gain = deletions[i, j]
                    else:
                        gain = deletions[i, j] + additions[j, i]
                    if not (gain > best or (settled and gain >= bound)) or i == j or present[j, i]:
                        continue
                    if kind == ADD and reach[j, i]:
                        continue
                    if kind == REVERSE and reversal_closes_cycle(present, reach, i, j):
                        continue
                    if len(tabu):
                        after = graph ^ edge_hash(i, j)
                        if kind == REVERSE:
                            after ^= edge_hash(j, i)
                        if is_tabu(tabu, after):
                            continue
                    if settled:
                        return gain, kind, i, j
                    best = gain
        if best == -np.inf:
            break
    return -np.inf, NONE, -1, -1


def reachability_plainly(present: NDArray[np.bool_], order: NDArray[np.int64]) -> NDArray[np.bool_]:
    """The same as `reachability`, without a kernel."""
    reach = present.copy()
    for i in order[::-1]:
        reach[i] |= reach[present[i]].any(axis=0)
    return reach


@patient(reachability_plainly, lambda present, _: len(present) * (1e-5 + 1e-9 * len(present)), 0.2)
@kernel
def reachability(present: NDArray[np.bool_], order: NDArray[np.int64]) -> NDArray[np.bool_]:
    """All pairs (i, j) with a directed path from i to j; `order` is a topological order, used backwards."""
    d = len(present)
    reach = np.zeros((d, d), dtype=np.bool_)
    for position in range(d - 1, -1, -1):
        i = order[position]
        for j in range(d):
            if present[i, j]:
                reach[i, j] = True
                for k in range(d):
                    reach[i, k] |= reach[j, k]
    return reach


def extend_reach_plainly(reach: NDArray[np.bool_], i: int, j: int) -> None:
    """The same as `extend_reach`, without a kernel."""
    above = reach[:, i].copy()
    above[i] = True
    reach[above, j] = True
    reach[above] |= reach[j]


@patient(extend_reach_plainly, lambda reach, *_: 2e-5 + 1e-9 * reach.size, 0.1)
@kernel
def extend_reach(reach: NDArray[np.bool_], i: int, j: int) -> None:
    """Update the paths after adding i → j."""
    d = len(reach)
    for a in range(d):
        if a == i or reach[a, i]:
            reach[a, j] = True
            for b in range(d):
                reach[a, b] |= reach[j, b]


def topological_sort_plainly(present: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The same as `topological_sort`, without a kernel."""
    waiting = present.sum(axis=0)
    order = np.flatnonzero(waiting == 0).tolist()
    for i in order:
        heads = np.flatnonzero(present[i])
        waiting[heads] -= 1
        order += heads[waiting[heads] == 0].tolist()
    return np.array(order, dtype=np.int64)


@patient(topological_sort_plainly, lambda present: len(present) * 8e-6, 0.2)
@kernel
def topological_sort(present: NDArray[np.bool_]) -> NDArray[np.int64]:
    """A topological order of an acyclic graph; compiled, for climbers ask after every edge they remove."""
    d = len(present)
    waiting = np.zeros(d, dtype=np.int64)
    for i in range(d):
        for j in range(d):
            waiting[j] += present[i, j]
    order = np.empty(d, dtype=np.int64)
    filled = 0
    for i in range(d):
        if waiting[i] == 0:
            order[filled] = i
            filled += 1
    done = 0
    while done < filled:
        i = order[done]
        done += 1
        for j in range(d):
            if present[i, j]:
                waiting[j] -= 1
                if waiting[j] == 0:
                    order[filled] = j
                    filled += 1
    return order


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

    A move changes the gains of one child or two, so most of the next moves can be foreseen. Where every
    question costs a pass over all rows, the families that they lead to are scored with those needed now.

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
