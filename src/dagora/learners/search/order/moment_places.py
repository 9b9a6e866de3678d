"""Orders in which one variable at a time moves to its best place, on grow-shrink trees of pivots.

The same moves as in `best_places`, but the trees grow within the kernel, so nothing waits for scores. A tree
is followed again only where that can matter: a column that was not passed over on the last way changes
nothing by becoming allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Edges, Event
from dagora.graph.dag import DAG
from dagora.kernels.decorators import kernel
from dagora.learners.run import Run
from dagora.learners.search.alarm import Alarm, Flag
from dagora.learners.search.ges.operators import ClassLimits
from dagora.learners.search.order.best_places import IDLE, TURN
from dagora.learners.search.order.grow_shrink_trees import double
from dagora.learners.search.order.moment_trees import NO_ROOM, NOT_GROWN, MomentTrees, TreeLimits, follow
from dagora.learners.search.order.pivot_path import DEPTH, SCORED, STAMP, Way
from dagora.scores.local_score import TIE, PivotForm
from dagora.scores.pivot_form import family_score

Ints = NDArray[np.int64]

# What a search over one order remembers besides TURN and IDLE: how many turns there were.
TURNS = 2
# How a kernel ended: there is more to do; the arrays of the trees are full; no variable gains by moving.
MORE, FULL, ENDED = 0, 1, 2
# Room for branches at first, how many a node has room for, and the most that are remembered: 440 MB in all.
FIRST_ROOM, BRANCHES_PER_NODE, MOST_BRANCHES = 1 << 14, 4, 1 << 25


@kernel
def improve(
    form: PivotForm,
    trees: MomentTrees,
    limits: TreeLimits,
    way: Way,
    order: Ints,
    state: Ints,
    sums: NDArray[np.float64],
    turns: int,
    stop: Flag,
) -> int:
    """Move variables to their best places: so many turns, or until none gains, or until `stop[0]` is true.

    `sums[0]` and `sums[1]` are room for a number per place and one more. Where the trees have no room, the
    order is what it was before the turn.
    """
    nodes = len(order)
    place, skipped, at = way.place, way.skipped, way.at
    before, after = sums[0], sums[1]
    while state[IDLE] < nodes:
        if turns == 0 or stop[0]:
            return MORE
        turns -= 1
        moving = state[TURN]
        now = 0
        while order[now] != moving:
            now += 1
        for k in range(now, nodes - 1):  # without the one that moves
            order[k] = order[k + 1]
        for k in range(nodes - 1):
            place[order[k]] = k
        room = True
        before[0] = 0.0
        after[nodes - 1] = 0.0
        for k in range(nodes - 1):
            place[moving] = nodes
            end = follow(form, trees, limits, way, order[k], k)
            room = end != NO_ROOM
            if not room:
                break
            before[k + 1] = before[k] + trees.value[end]
            if skipped[moving] == at[STAMP]:
                place[moving] = -1
                end = follow(form, trees, limits, way, order[k], k)
                room = end != NO_ROOM
                if not room:
                    break
            after[k] = trees.value[end]
        for k in range(nodes - 2, -1, -1):
            after[k] += after[k + 1]
        best = now
        end = NO_ROOM
        if room:
            for k in range(nodes):
                if k == 0 or skipped[order[k - 1]] == at[STAMP]:
                    end = follow(form, trees, limits, way, moving, k)
                    room = end != NO_ROOM
                    if not room:
                        break
                before[k] += trees.value[end] + after[k]
        if room:
            for k in range(nodes):
                if before[k] > before[best] + limits.tolerance:
                    best = k
        for k in range(nodes - 1, best, -1):
            order[k] = order[k - 1]
        order[best] = moving
        if not room:
            return FULL
        state[IDLE] = 0 if best != now else state[IDLE] + 1
        state[TURN] = (moving + 1) % nodes
        state[TURNS] += 1
    return ENDED


@kernel
def graph_of(
    form: PivotForm, trees: MomentTrees, limits: TreeLimits, way: Way, order: Ints, dag: NDArray[np.bool_]
) -> float:
    """Fill in the graph that the trees give an order; return its score, NaN where there is no room."""
    total = 0.0
    for k in range(len(order)):
        way.place[order[k]] = k
    for k in range(len(order)):
        child = order[k]
        end = follow(form, trees, limits, way, child, k)
        if end == NO_ROOM:
            return np.nan
        trees.value[end] = np.nan  # so that shrinkage is done again, on the path
        follow(form, trees, limits, way, child, k)
        total += trees.value[end]
        for parent in way.path[: way.at[DEPTH]]:
            dag[parent, child] = True
    return total


class MomentOrders:
    """Several orders that are improved one after the other; they share the trees."""

    def __init__(
        self,
        form: PivotForm,
        rules: ClassLimits,
        run: Run,
        starts: int,
        names: Sequence[str] = (),
        first: Sequence[int] | None = None,
    ) -> None:
        self._form = form
        self._names = names
        self._run = run
        nodes = len(form.group)
        alone = [
            family_score(form, x, 0, 0.0, float(form.matrix[group, x, x]))
            for x, group in enumerate(form.group.tolist())
        ]
        most = min(rules.max_parents, nodes - 1)
        self._limits = TreeLimits(rules.forbidden.T.copy(), most, TIE * abs(sum(alone)))
        self._way = Way.of(nodes, nodes)
        self._sums = np.empty((2, nodes + 1))
        self._trees = bare_trees(nodes, max(FIRST_ROOM, 4 * nodes))
        self._turns_kept = 0  # turns since the trees were last forgotten
        random = np.random.default_rng(run.seed)
        self.orders = [random.permutation(nodes) for _ in range(starts)]
        if first is not None:
            self.orders[0][:] = first
        self.ended = [False] * starts
        self._seen: dict[
            int, tuple[NDArray[np.bool_], float]
        ] = {}  # graphs of orders that somebody looked at

    @property
    def evaluations(self) -> int:
        """Families scored so far."""
        return int(self._way.at[SCORED])

    def finish(self) -> bool:
        """Improve the orders until none gains; False where time was up before."""
        rounds = 0
        with Alarm(self._run.budget) as stop:
            for k, order in enumerate(self.orders):
                state = np.array([order[0], 0, 0], dtype=np.int64)
                while not self.ended[k]:
                    if self._run.budget.exhausted:
                        self._limits = self._limits._replace(max_parents=0)  # nothing grows any more
                        return False
                    self.ended[k] = self._sweep(order, state, stop)
                    rounds += 1
                    progress = f"{sum(self.ended)} of {len(self.ended)} orders"
                    self._run.on_event(
                        Event("orders", rounds, message=progress, edges=self.edges if self._names else None)
                    )
        return True

    def _sweep(self, order: Ints, state: Ints, stop: Flag) -> bool:
        """A turn for every variable; whether none gains any more."""
        before = state[TURNS]
        how = improve(
            self._form, self._trees, self._limits, self._way, order, state, self._sums, len(order), stop
        )
        self._turns_kept += int(state[TURNS] - before)
        if how == FULL:
            self._make_room()
        return how == ENDED

    def _make_room(self) -> None:
        """As much room again; or, where that would be too much, forget the trees, but not in every sweep."""
        trees, nodes = self._trees, len(self._way.place)
        if len(trees.added) >= MOST_BRANCHES and self._turns_kept >= nodes:
            self._turns_kept = 0
            trees.used[:] = nodes, 0
            trees.branches[:nodes] = NOT_GROWN
            trees.value[:nodes] = np.nan
        else:
            self._trees = MomentTrees(
                double(trees.added),
                double(trees.leads),
                double(trees.first),
                double(trees.branches),
                double(trees.value),
                trees.used,
            )

    def best(self) -> tuple[NDArray[np.bool_], float]:
        """The graph of the order with the highest score, as far as its trees are known, and that score."""
        graphs = [self.graph(order) for order in self.orders]
        return max(graphs, key=lambda graph: graph[1])

    def edges(self) -> Edges:
        """The edges of the best graph so far, by name; with other trees, so the search stays as it was."""
        aside = copy(self).starting_afresh()
        for k, order in enumerate(self.orders[: sum(self.ended) + 1]):
            if k not in self._seen or not self.ended[k]:
                self._seen[k] = aside.graph(order)
        return DAG.from_numpy(max(self._seen.values(), key=lambda graph: graph[1])[0], self._names).edges

    def starting_afresh(self) -> Self:
        """The same with trees of which only the roots are known."""
        nodes = len(self._way.place)
        self._way, self._trees = Way.of(nodes, nodes), bare_trees(nodes, max(FIRST_ROOM, 4 * nodes))
        return self

    def graph(self, order: Ints) -> tuple[NDArray[np.bool_], float]:
        """The graph of an order, and its score."""
        while True:
            dag = np.zeros((len(order), len(order)), dtype=np.bool_)
            score = graph_of(self._form, self._trees, self._limits, self._way, order, dag)
            if not np.isnan(score):
                return dag, score
            self._make_room()


def bare_trees(columns: int, branches: int) -> MomentTrees:
    """Trees of which only the roots are known, and room for so many branches."""
    nodes = columns + branches // BRANCHES_PER_NODE
    return MomentTrees(
        added=np.zeros(branches, dtype=np.int32),
        leads=np.zeros(branches, dtype=np.int32),
        first=np.zeros(nodes, dtype=np.int64),
        branches=np.full(nodes, NOT_GROWN, dtype=np.int32),
        value=np.full(nodes, np.nan),
        used=np.array([columns, 0], dtype=np.int64),
    )
