"""Moves along an order of many variables: weighed in batches by several threads, then made one by one.

`quick_moves` estimates the best place of a variable and checks it by solving all columns that change. With
many variables most checks fail, and nearly all of the time goes into them. So a move is first weighed: the
column of the moved variable x is solved for its new place, then the columns that x passes, those with the
largest estimates first, until the verdict is clear. To the right every passed column can only lose, so losses
add up to a sure refusal; to the left every one can only win, so gains add up to a sure approval. What is not
solved yet counts as its estimate, except with profiled variances, whose estimates are too rough. A variable
that was refused is weighed again once it promises more than it did then.

The variables of a batch are weighed on one and the same state, in any number of threads. Those that seem to
gain are then moved, in turn, beside the neighbour that they were weighed for, and every move is checked by
solving all that it changes. Moves over parts of the order that have no place in common do not touch each
other: each changes what is before the columns of its own part alone. They are made at the same time. The
savings of the columns that changed are estimated anew after the batch. The size of a batch does not depend on
the number of threads, nor does the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.learners.optimise.path.column_problem import ColumnProblem, Workspace, solve_column_entering
from dagora.learners.optimise.path.order_moves import (
    OrderSolution,
    changed_columns,
    find_places,
    reinsert,
)
from dagora.learners.optimise.path.quick_moves import best_place, estimate_savings
from dagora.learners.optimise.path.workers import Workers
from dagora.scores.lasso_kernels import Matrix, Vector

# Variables that a thread weighs before it looks at the clock.
FEW = 4


def never() -> bool:
    """There is no time limit."""
    return False


class Wish(NamedTuple):
    """A variable that should go to the right of another one, or to its left."""

    variable: int
    neighbour: int
    rightward: bool


class Move(NamedTuple):
    """A variable that goes from its position to another place."""

    variable: int
    position: int
    place: int

    @property
    def first(self) -> int:
        """The first place of the order that changes."""
        return min(self.position, self.place)

    @property
    def last(self) -> int:
        """The last place of the order that changes."""
        return max(self.position, self.place)


class WideMoves:
    """The moves of one order, whose solution they improve in place, unless it is `late`."""

    def __init__(
        self,
        problem: ColumnProblem,
        at: OrderSolution,
        workers: Workers,
        late: Callable[[], bool] = never,
    ) -> None:
        d = len(at.order)
        self.problem, self.at, self.workers, self.late = problem, at, workers, late
        self.savings = np.empty((d, d))
        self.prepare()

    def prepare(self) -> None:
        """Rank the variables and estimate the savings anew, after the solution became another one."""
        self.rank = np.argsort(self.at.order)
        self.refused = np.zeros(len(self.rank))
        self._estimate(np.arange(len(self.rank)))

    def disturb(self, variables: NDArray[np.int64], heights: Vector) -> None:
        """Move variables to random places; `heights` in [0, 1) choose among the places that each may have."""
        for x, height in zip(variables.tolist(), heights.tolist(), strict=True):
            position, lowest, highest = find_places(self.problem, self.at.order, x)
            place = lowest + int(height * (highest - lowest + 1))
            if place != position:
                self._estimate(self._move([Move(x, position, place)], -np.inf)[0])

    def __call__(self, batch: NDArray[np.int64], tolerance: float, idle: int) -> int:
        """Try to move the variables of a batch; return how many in a row did not gain, `idle` before it."""
        wanted = self._weigh(batch, tolerance)
        gained: set[int] = set()
        stale = [np.empty(0, dtype=np.int64)]
        while wanted and not self.late():
            together, wanted = self._apart(wanted)
            for move, changed in zip(together, self._move(together, tolerance), strict=True):
                if len(changed):
                    gained.add(move.variable)
                    stale.append(changed)
        self._estimate(np.unique(np.concatenate(stale)))
        for x in batch.tolist():
            idle = 0 if x in gained else idle + 1
            if idle >= len(self.rank):
                break
        return idle

    def _weigh(self, batch: NDArray[np.int64], tolerance: float) -> list[Wish]:
        """The variables of a batch that seem to gain, and where they should go, in the batch's order."""
        places = np.full(len(self.rank), -1)

        def weigh(part: NDArray[np.int64]) -> None:
            if self.late():
                return
            workspace = self.workers.workspace(len(self.rank))
            for_each = (self.problem, self.at, self.savings, self.rank, self.refused)
            weigh_moves(*for_each, part, places, tolerance, workspace)

        # In small parts, between which the clock is looked at.
        self.workers.map(weigh, [batch[k : k + FEW] for k in range(0, len(batch), FEW)])
        return [
            Wish(x, int(self.at.order[places[x]]), bool(places[x] > self.rank[x]))
            for x in batch.tolist()
            if places[x] >= 0
        ]

    def _apart(self, wanted: list[Wish]) -> tuple[list[Move], list[Wish]]:
        """Moves over parts of the order that have no place in common, the first ones first; and the rest.

        Wishes that other moves have fulfilled, or made impossible, are in neither.
        """
        together: list[Move] = []
        rest: list[Wish] = []
        for wish in wanted:
            x, place = wish.variable, int(self.rank[wish.neighbour])
            position, lowest, highest = find_places(self.problem, self.at.order, x)
            if (place > position) != wish.rightward or not lowest <= place <= highest:
                continue
            move = Move(x, position, place)
            if any(move.first <= other.last and other.first <= move.last for other in together):
                rest.append(wish)
            else:
                together.append(move)
        return together, rest

    def _move(self, together: list[Move], tolerance: float) -> list[NDArray[np.int64]]:
        """Make moves that have no place in common and solve the columns that change, which are returned.

        A move by which the losses do not fall by `tolerance` is undone; it changes nothing.
        """
        at = self.at
        if not together:
            return []
        changed = [changed_columns(self.problem, at, move.position, move.place) for move in together]
        newcomers = [
            np.where(columns != move.variable, move.variable if move.place < move.position else -1, -1)
            for move, columns in zip(together, changed, strict=True)
        ]
        every, newcomer = np.concatenate(changed), np.concatenate(newcomers)
        before = OrderSolution(
            at.order.copy(), at.columns[every], at.gradients[every], at.losses[every], at.penalties[every]
        )
        for move in together:
            reinsert(at.order, move.position, move.place)
            self._rank(move)

        def solve(part: NDArray[np.int64]) -> None:
            workspace = self.workers.workspace(len(self.rank))
            solve_changed(self.problem, at, self.rank, every[part], newcomer[part], workspace)

        self.workers.map(solve, self.workers.shares(np.arange(len(every))))
        start = 0
        for k, move in enumerate(together):
            columns, own = changed[k], slice(start, start + len(changed[k]))
            start += len(columns)
            if float((before.losses[own] - at.losses[columns]).sum()) > tolerance:
                continue
            at.order[move.first : move.last + 1] = before.order[move.first : move.last + 1]
            self._rank(move)
            at.columns[columns], at.gradients[columns] = before.columns[own], before.gradients[own]
            at.losses[columns], at.penalties[columns] = before.losses[own], before.penalties[own]
            changed[k] = columns[:0]
        return changed

    def _rank(self, move: Move) -> None:
        """Rank the variables again that a move shifts."""
        self.rank[self.at.order[move.first : move.last + 1]] = np.arange(move.first, move.last + 1)

    def _estimate(self, columns: NDArray[np.int64]) -> None:
        """Estimate the savings of some columns."""

        def estimate(part: NDArray[np.int64]) -> None:
            workspace = self.workers.workspace(len(self.rank))
            estimate_some(self.problem, self.at, part, self.savings, workspace)

        self.workers.map(estimate, self.workers.shares(columns))


@kernel
def estimate_some(
    problem: ColumnProblem, at: OrderSolution, some: NDArray[np.int64], savings: Matrix, workspace: Workspace
) -> None:
    """Estimate the savings of some columns."""
    for y in some:
        estimate_savings(problem, at, y, savings, workspace)


@kernel
def solve_changed(
    problem: ColumnProblem,
    at: OrderSolution,
    rank: NDArray[np.int64],
    changed: NDArray[np.int64],
    newcomers: NDArray[np.int64],
    workspace: Workspace,
) -> None:
    """Solve columns in place on the variables before them, each with a new parent or none (−1)."""
    d = len(rank)
    free = np.empty(d, dtype=np.bool_)
    for k in range(len(changed)):
        y = changed[k]
        for i in range(d):
            free[i] = rank[i] < rank[y] and problem.allowed[i, y]
        at.losses[y], at.penalties[y] = solve_column_entering(
            problem, y, free, at.columns[y], at.gradients[y], workspace, newcomers[k]
        )


@kernel
def reachable_places(
    problem: ColumnProblem, at: OrderSolution, savings: Matrix, x: int, tolerance: float
) -> tuple[int, int, int]:
    """The position of x, and the places where, by the estimates, passed columns lose less than x can win."""
    position, lowest, highest = find_places(problem, at.order, x)
    if problem.profile:
        return position, lowest, highest
    passed = 0.0
    for target in range(position + 1, highest + 1):
        passed += savings[at.order[target], x]
        if passed > at.losses[x] - tolerance:
            return position, lowest, target - 1
    return position, lowest, highest


@kernel
def weigh_moves(
    problem: ColumnProblem,
    at: OrderSolution,
    savings: Matrix,
    rank: NDArray[np.int64],
    refused: Vector,
    some: NDArray[np.int64],
    places: NDArray[np.int64],
    tolerance: float,
    workspace: Workspace,
) -> None:
    """Write to `places` where some variables should move."""
    for x in some:
        places[x] = weigh_move(problem, at, savings, rank, refused, x, tolerance, workspace)


@kernel
def weigh_move(
    problem: ColumnProblem,
    at: OrderSolution,
    savings: Matrix,
    rank: NDArray[np.int64],
    refused: Vector,
    x: int,
    tolerance: float,
    workspace: Workspace,
) -> int:
    """The place to which x should move, −1 if it seems to gain nowhere.

    Changes nothing but `workspace` and x's own entry of `refused`, the estimated gain at the last refusal.
    """
    position, lowest, highest = reachable_places(problem, at, savings, x, tolerance)
    place, gain = best_place(problem, at, savings, position, lowest, highest, tolerance, workspace)
    if place == position or gain <= refused[x]:
        return -1
    if seems_to_gain(problem, at, savings, rank, position, place, tolerance, workspace):
        refused[x] = 0.0
        return place
    refused[x] = gain
    return -1


@kernel
def seems_to_gain(
    problem: ColumnProblem,
    at: OrderSolution,
    savings: Matrix,
    rank: NDArray[np.int64],
    position: int,
    place: int,
    tolerance: float,
    workspace: Workspace,
) -> bool:
    """Solve columns for the variable at `position` in another place until it is clear whether it gains."""
    x = at.order[position]
    d = len(rank)
    changed = changed_columns(problem, at, position, place)
    estimates = np.empty(len(changed))
    rightward = place > position
    for k in range(len(changed)):
        estimates[k] = savings[changed[k], x]
    estimates[0] = np.inf  # x itself comes first, with a change of its own
    free = np.empty(d, dtype=np.bool_)
    trial, slope = np.empty(d), np.empty(d)
    change, open_ = 0.0, np.inf if problem.profile else estimates[1:].sum()
    for k in np.argsort(-estimates, kind="mergesort"):
        y = changed[k]
        if y == x:
            for i in range(d):
                before = rank[i] <= place if rightward else rank[i] < place
                free[i] = before and i != x and problem.allowed[i, x]
        else:
            for i in range(d):
                free[i] = rank[i] < rank[y] and problem.allowed[i, y]
            free[x] = not rightward
        trial[:] = at.columns[y]
        slope[:] = at.gradients[y]
        newcomer = -1 if rightward or y == x else x
        loss, _ = solve_column_entering(problem, y, free, trial, slope, workspace, newcomer)
        change += loss - at.losses[y]
        if y != x:
            open_ = open_ - estimates[k]
        # The rest: to the right it loses between nothing and what is open, to the left it wins that.
        least = change if rightward else change - open_
        most = change + open_ if rightward else change
        if least >= -tolerance:
            return False
        if most < -tolerance:
            return True
    return change < -tolerance
