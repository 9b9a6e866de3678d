"""Orders of many columns that are improved by moving one column at a time.

The moves are those of `moment_places`: a column goes where the score is highest. Here some columns are looked
at side by side, on the same order, by several threads. Then those that gain move, one after the other; each
move is checked on the order as it is by then, so the score rises with every move. How many columns are looked
at together depends on their number alone: the graph is the same for any number of threads.

After a sweep over all columns only those are looked at again near which something changed. Where none of them
gains, all are looked at once more; an order is finished when that finds no move.
"""

from __future__ import annotations

from collections.abc import Sequence
from queue import SimpleQueue

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Edges, Event
from dagora.graph.dag import DAG
from dagora.kernels.threads import Threads
from dagora.learners.run import Run
from dagora.learners.search.alarm import Alarm, Flag
from dagora.learners.search.ges.operators import ClassLimits
from dagora.learners.search.order.pivot_path import SCORED
from dagora.learners.search.order.wide.growth import GrownParents, GrowthLimits
from dagora.learners.search.order.wide.growth_rows import Bench
from dagora.learners.search.order.wide.growth_trees import GrowthTrees, fill_parents
from dagora.learners.search.order.wide.turns import (
    Order,
    Turns,
    answer,
    choose,
    find_touched,
    move_some,
    regrow,
)
from dagora.scores.local_score import TIE, PivotForm
from dagora.scores.pivot_form import family_score

Ints = NDArray[np.int64]

# Parents for which there is room at first; it is doubled where a column adds more.
FIRST_ROOM = 16
# One in so many columns is looked at together with others. Of columns looked at together few touch each
# other; with too few of them, threads wait for each other.
TOGETHER = 50
# Columns that a thread takes at once, and pieces into which all scores of columns looked at together are cut.
PIECE, PIECES = 8, 16


class WideOrders:
    """Several orders, improved one after the other: `first`, if given, and random ones."""

    def __init__(
        self,
        form: PivotForm,
        rules: ClassLimits,
        run: Run,
        starts: int,
        names: Sequence[str] = (),
        first: Ints | None = None,
    ) -> None:
        self._form, self._run, self._names = form, run, names
        columns = len(form.group)
        alone = [
            family_score(form, x, 0, 0.0, float(form.matrix[group, x, x]))
            for x, group in enumerate(form.group.tolist())
        ]
        most = min(rules.max_parents, columns - 1)
        self._alone = sum(alone)
        tolerance = TIE * abs(self._alone)
        self._limits = GrowthLimits(rules.forbidden.T.copy(), bool(rules.forbidden.any()), most, tolerance)
        random = np.random.default_rng(run.seed)
        begins = [random.permutation(columns) for _ in range(starts - (first is not None))]
        self.orders = [Order.of(each) for each in ([] if first is None else [first]) + begins]
        self.ended = [False] * starts
        self._best: tuple[NDArray[np.bool_], float] | None = None
        self._growth = GrownParents.of(columns, 0)
        self._scored = 0
        self._benches: list[Bench] = []
        self._rounds = 0
        self._make_room(min(FIRST_ROOM, columns))

    @property
    def evaluations(self) -> int:
        """Families scored so far."""
        return self._scored + sum(int(bench.way.at[SCORED]) for bench in self._benches)

    def finish(self) -> bool:
        """Improve the orders until none gains; False where time was up before."""
        with Alarm(self._run.budget) as stop, Threads(self._run.jobs) as threads:
            for k, order in enumerate(self.orders):
                if not self._regrow(order, stop):
                    return False
                self.ended[k] = self._improve(order, threads, stop)
                found = self._graph()
                if self._best is None or found[1] > self._best[1]:
                    self._best = found
                if not self.ended[k]:
                    return False
        return True

    def best(self) -> tuple[NDArray[np.bool_], float]:
        """The graph of the order with the highest score, and that score; no edges if there was no time."""
        if self._best is not None:
            return self._best
        columns = len(self._form.group)
        return np.zeros((columns, columns), dtype=np.bool_), self._alone

    def edges(self) -> Edges:
        """The edges of the best graph so far, by name."""
        now = self._graph()
        best = now if self._best is None or now[1] > self._best[1] else self._best
        return DAG.from_numpy(best[0], self._names).edges

    def _improve(self, order: Order, threads: Threads, stop: Flag) -> bool:
        """Move columns until none gains; False where time was up before."""
        columns = len(order.place)
        everyone = np.ones(columns, dtype=np.bool_)
        waiting = everyone.copy()
        is_check = True
        while True:
            moves, changed = 0, np.zeros(columns, dtype=np.bool_)
            looked_at = np.flatnonzero(waiting)
            size = max(PIECE, columns // TOGETHER)
            for first in range(0, len(looked_at), size):
                looked = self._look(order, looked_at[first : first + size], threads, stop)
                if looked is None:
                    return False
                moves += self._move(order, *looked, changed)
                self._tell(moves)
            if moves == 0 and is_check:
                return True
            is_check = moves == 0
            waiting = everyone if is_check else changed

    def _look(self, order: Order, some: Ints, threads: Threads, stop: Flag) -> tuple[Turns, Ints] | None:
        """Where each of some columns should move; None if time is up."""
        columns, found = len(order.place), len(some)
        while True:
            turns = Turns.of(some, columns)

            def touch(first: int, turns: Turns = turns) -> None:
                bench = self._free.get()
                last = min(first + PIECE, found)
                find_touched(
                    self._form, self._limits, self._growth, bench.row, turns, order.place, first, last
                )
                self._free.put(bench)

            threads.map(touch, range(0, found, PIECE))
            rows, slots = turns.questions()

            def score(piece: slice, turns: Turns = turns, rows: Ints = rows, slots: Ints = slots) -> bool:
                bench = self._free.get()
                room = answer(
                    self._form,
                    self._limits,
                    self._trees,
                    bench,
                    turns,
                    order.place,
                    rows[piece],
                    slots[piece],
                    stop,
                )
                self._free.put(bench)
                return room

            if all(threads.map(score, turns.pieces(rows, slots, PIECES))):
                break
            self._make_room(2 * self._growth.path.shape[1])
        if stop[0]:
            return None
        behind = np.empty(found, dtype=np.int64)
        choose(self._growth, turns, order, self._limits.tolerance, behind)
        return turns, behind

    def _move(self, order: Order, turns: Turns, behind: Ints, changed: NDArray[np.bool_]) -> int:
        """Move columns if that gains, and mark what changed with them; return how many moved."""
        moves = first = 0
        while True:
            moved, first = move_some(
                self._form,
                self._limits,
                self._growth,
                self._trees,
                self._benches[0],
                turns,
                order,
                behind,
                first,
                changed,
            )
            moves += moved
            if first < 0:
                return moves
            self._make_room(2 * self._growth.path.shape[1])
            self._regrow(order, np.zeros(1, dtype=np.bool_))

    def _regrow(self, order: Order, stop: Flag) -> bool:
        """Grow all columns anew; False where time was up before."""
        columns = np.arange(len(order.place))
        done = 0
        while done < len(columns):
            if stop[0]:
                return False
            some = columns[done : done + PIECE]
            bench = self._benches[0]
            if regrow(self._form, self._limits, self._growth, self._trees, bench, order.place, some):
                done += len(some)
            else:
                self._make_room(2 * self._growth.path.shape[1])
        return True

    def _make_room(self, room: int) -> None:
        """Make room for so many parents; what was grown stays."""
        old = self._growth
        self._growth = GrownParents.of(len(self._form.group), room)
        for name in GrownParents._fields:
            before, after = getattr(old, name), getattr(self._growth, name)
            after[tuple(slice(size) for size in before.shape)] = before
        self._scored = self.evaluations
        self._trees = GrowthTrees.of(len(self._form.group), room)
        self._benches = [Bench.of(self._form, room) for _ in range(self._run.jobs)]
        self._free: SimpleQueue[Bench] = SimpleQueue()
        for bench in self._benches:
            self._free.put(bench)

    def _graph(self) -> tuple[NDArray[np.bool_], float]:
        """The graph of the order that is being improved, and its score; the search stays as it is."""
        columns = len(self._form.group)
        dag = np.zeros((columns, columns), dtype=np.bool_)
        bench = Bench.of(self._form, self._growth.path.shape[1])
        fill_parents(self._form, self._limits, self._growth, bench, dag)
        return dag, float(self._growth.value.sum())

    def _tell(self, moves: int) -> None:
        self._rounds += 1
        score = max(float(self._growth.value.sum()), -np.inf if self._best is None else self._best[1])
        progress = f"{sum(self.ended)} of {len(self.ended)} orders, {moves} moves in this sweep"
        edges = self.edges if self._names else None
        self._run.on_event(Event("orders", self._rounds, score=score, message=progress, edges=edges))
