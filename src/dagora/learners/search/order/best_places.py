"""Orders in which one variable at a time moves to its best place, on grow-shrink trees of any score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.base.budget import OutOfTimeError
from dagora.base.events import Edges, Event
from dagora.graph.dag import DAG
from dagora.kernels.decorators import kernel
from dagora.learners.run import Run
from dagora.learners.search.order.grow_shrink_trees import UNKNOWN, WANTED, FlatTrees, GrowShrinkTrees

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


def wanted_nodes(trees: FlatTrees, used: int) -> Ints:
    """The nodes that searches wait for; they count as unknown again."""
    nodes = np.flatnonzero(trees.branches[:used] == WANTED)
    trees.branches[nodes] = UNKNOWN
    return nodes


class ListedOrders:
    """Several orders that are improved side by side, on any score; they wait for the same batches."""

    def __init__(
        self, trees: GrowShrinkTrees, run: Run, starts: int, first: Sequence[int] | None = None
    ) -> None:
        self._trees = trees
        self._run = run
        nodes = len(trees.flat.value)
        random = np.random.default_rng(run.seed)
        self.orders = [random.permutation(nodes) for _ in range(starts)]
        if first is not None:
            self.orders[0][:] = first
        self._states = [np.array([order[0], 0], dtype=np.int64) for order in self.orders]
        self._place = np.empty(nodes, dtype=np.int64)
        self._sums = np.empty((2, nodes + 1))
        self.ended = [False] * starts

    @property
    def evaluations(self) -> int:
        """Families scored so far."""
        return self._trees.evaluations

    def finish(self) -> bool:
        """Improve the orders until none gains; False where time was up before."""
        rounds, trees = 0, self._trees
        while not all(self.ended):
            if self._run.budget.exhausted:
                return False
            for k, order in enumerate(self.orders):
                if not self.ended[k]:
                    self.ended[k] = advance(
                        self._trees.flat,
                        order,
                        self._states[k],
                        self._place,
                        self._sums,
                        self._trees.tolerance,
                    )
            try:
                trees.expand(wanted_nodes(trees.flat, trees.used))
            except OutOfTimeError:
                return False
            rounds += 1
            progress = f"{sum(self.ended)} of {len(self.ended)} orders"
            self._run.on_event(Event("orders", rounds, message=progress, edges=self.edges))
        return True

    def edges(self) -> Edges:
        """The edges of the best graph so far, by name."""
        return DAG.from_numpy(self.best()[0], self._trees.names).edges

    def best(self) -> tuple[NDArray[np.bool_], float]:
        """The graph of the order with the highest score, as far as its trees are known, and that score."""
        totals = [
            sum(float(self._trees.flat.value[node]) for node in self._ends(order)) for order in self.orders
        ]
        chosen = int(np.argmax(totals))
        dag = np.zeros((len(self._place), len(self._place)), dtype=np.bool_)
        order = self.orders[chosen]
        for child, node in zip(order.tolist(), self._ends(order), strict=True):
            dag[list(self._trees.parents(node)), child] = True
        return dag, totals[chosen]

    def _ends(self, order: Ints) -> list[int]:
        """The nodes that stand for the parents of each variable."""
        self._place[order] = np.arange(len(order))
        ends = [int(follow(self._trees.flat, int(child), self._place, k)) for k, child in enumerate(order)]
        wanted_nodes(self._trees.flat, self._trees.used)
        return ends
