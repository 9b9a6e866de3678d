"""Kernels that move one variable at a time to its best place in an order, on grow-shrink trees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.compiled import kernel
from dagora.search.order.grow_shrink_trees import UNKNOWN, WANTED, FlatTrees

Ints = NDArray[np.int64]

# What a search over one order remembers: whose turn it is, how many turns in a row brought nothing.
TURN, IDLE = 0, 1


@kernel
def follow(trees: FlatTrees, child: int, place: Ints, cut: int) -> int:
    """The node at which a child's tree ends if its parents come from the places before `cut`.

    A node that was not scored yet ends the way; it is marked as wanted.
    """
    node = child
    while True:
        if trees.branches[node] < 0:
            trees.branches[node] = WANTED
            return node
        begin = trees.first[node]
        end = begin + trees.branches[node]
        while begin < end and place[trees.added[begin]] >= cut:
            begin += 1
        if begin == end:
            return node
        node = begin


@kernel
def advance(
    trees: FlatTrees, order: Ints, state: Ints, place: Ints, sums: NDArray[np.float64], tolerance: float
) -> bool:
    """Move variables to their best places until none gains; False where nodes are wanted for that.

    `sums[0]` and `sums[1]` are room for a number per place and one more.
    """
    nodes = len(order)
    while state[IDLE] < nodes:
        moving = state[TURN]
        now = 0
        while order[now] != moving:
            now += 1
        for k in range(now, nodes - 1):  # without the one that moves
            order[k] = order[k + 1]
        for k in range(nodes - 1):
            place[order[k]] = k
        whole = True
        before, after = sums[0], sums[1]
        before[0] = 0.0
        place[moving] = nodes
        for k in range(nodes - 1):
            end = follow(trees, order[k], place, k)
            whole = whole and trees.branches[end] >= 0
            before[k + 1] = before[k] + trees.value[end]
        after[nodes - 1] = 0.0
        place[moving] = -1
        for k in range(nodes - 2, -1, -1):
            end = follow(trees, order[k], place, k)
            whole = whole and trees.branches[end] >= 0
            after[k] = after[k + 1] + trees.value[end]
        place[moving] = nodes
        for k in range(nodes):
            end = follow(trees, moving, place, k)
            whole = whole and trees.branches[end] >= 0
            before[k] += trees.value[end] + after[k]
        best = now
        if whole:
            for k in range(nodes):
                if before[k] > before[best] + tolerance:
                    best = k
        for k in range(nodes - 1, best, -1):
            order[k] = order[k - 1]
        order[best] = moving
        if not whole:
            return False
        state[IDLE] = 0 if best != now else state[IDLE] + 1
        state[TURN] = (moving + 1) % nodes
    return True


def wanted(trees: FlatTrees, used: int) -> Ints:
    """The nodes that searches wait for; they count as unknown again."""
    nodes = np.flatnonzero(trees.branches[:used] == WANTED)
    trees.branches[nodes] = UNKNOWN
    return nodes
