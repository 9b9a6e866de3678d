"""Moves along an order of many variables: screened in batches by several threads, then made one by one.

`quick_moves` estimates the best place of a variable and checks it by solving all columns that change. With
many variables most checks fail, and take nearly all of the time. So a move is first screened: the column of
the moved variable x is solved for its new place, then the columns that x passes, those with the largest
estimates first, until the sign of the change is clear. To the right every passed column can only lose, to the
left every one can only gain, which gives bounds. A column that is not solved yet counts with its estimate,
except with profiled variances, whose estimates are too rough. A variable that was refused is screened again
once its estimated gain is larger than it was then.

The variables of a batch are screened on the same state, in any number of threads. Those that seem to gain are
then moved, in turn, next to the neighbour of their best place, and every move is checked by solving all
columns that it changes. Moves over parts of the order without a common place do not affect each other and are
made at the same time. The savings of the columns that changed are estimated anew after the batch. Neither the
size of a batch nor the result depends on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.kernels.rows import copy_row
from dagora.learners.optimise.path.column_problem import ColumnProblem, ColumnWorkspace, solve_column_entering
from dagora.learners.optimise.path.order_moves import OrderSolution, changed_columns, find_places, reinsert
from dagora.learners.optimise.path.quick_moves import best_place, estimate_savings
from dagora.learners.optimise.path.workers import ColumnWorkers
from dagora.scores.lasso_kernels import Matrix, Vector

# Variables that a thread screens between two checks of the time limit.
SCREENED_PER_CHECK = 4


def no_time_limit() -> bool:
    """Return False: time is never up."""
    return False


class ProposedMove(NamedTuple):
    """A variable that should go to the right of a neighbour, or to its left."""

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
    """The moves of one order, whose solution they improve in place, until it is `late`."""

    def __init__(
        self,
        problem: ColumnProblem,
        at: OrderSolution,
        workers: ColumnWorkers,
        late: Callable[[], bool] = no_time_limit,
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
        proposals = self._screen(batch, tolerance)
        gained: set[int] = set()
        stale = [np.empty(0, dtype=np.int64)]
        while proposals and not self.late():
            together, proposals = self._disjoint(proposals)
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

    def _screen(self, batch: NDArray[np.int64], tolerance: float) -> list[ProposedMove]:
        """The variables of a batch that seem to gain, and where they should go, in the batch's order."""
        places = np.full(len(self.rank), -1)

        def screen(part: NDArray[np.int64]) -> None:
            if self.late():
                return
            workspace = self.workers.workspace(len(self.rank))
            for_each = (self.problem, self.at, self.savings, self.rank, self.refused)
            screen_moves(*for_each, part, places, tolerance, workspace)

        # In small parts, between which the time limit is checked.
        step = SCREENED_PER_CHECK
        self.workers.map(screen, [batch[k : k + step] for k in range(0, len(batch), step)])
        return [
            ProposedMove(x, int(self.at.order[places[x]]), bool(places[x] > self.rank[x]))
            for x in batch.tolist()
            if places[x] >= 0
        ]

    def _disjoint(self, proposals: list[ProposedMove]) -> tuple[list[Move], list[ProposedMove]]:
        """Moves over parts of the order without a common place, the first ones first; and the rest.

        Proposals that other moves have fulfilled or made impossible are in neither.
        """
        together: list[Move] = []
        rest: list[ProposedMove] = []
        for proposal in proposals:
            x, place = proposal.variable, int(self.rank[proposal.neighbour])
            position, lowest, highest = find_places(self.problem, self.at.order, x)
            if (place > position) != proposal.rightward or not lowest <= place <= highest:
                continue
            move = Move(x, position, place)
            if any(move.first <= other.last and other.first <= move.last for other in together):
                rest.append(proposal)
            else:
                together.append(move)
        return together, rest

    def _move(self, together: list[Move], tolerance: float) -> list[NDArray[np.int64]]:
        """Make moves without a common place and solve the columns that change, which are returned.

        A move that does not lower the losses by `tolerance` is undone; it changes nothing.
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
            solve_columns_again(self.problem, at, self.rank, every[part], newcomer[part], workspace)

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
    problem: ColumnProblem,
    at: OrderSolution,
    some: NDArray[np.int64],
    savings: Matrix,
    workspace: ColumnWorkspace,
) -> None:
    """Estimate the savings of some columns."""
    for y in some:
        estimate_savings(problem, at, y, savings, workspace)


@kernel
def solve_columns_again(
    problem: ColumnProblem,
    at: OrderSolution,
    rank: NDArray[np.int64],
    changed: NDArray[np.int64],
    newcomers: NDArray[np.int64],
    workspace: ColumnWorkspace,
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
    """The position of x, and the places where passed columns lose less, by estimates, than x can gain."""
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
def screen_moves(
    problem: ColumnProblem,
    at: OrderSolution,
    savings: Matrix,
    rank: NDArray[np.int64],
    refused: Vector,
    some: NDArray[np.int64],
    places: NDArray[np.int64],
    tolerance: float,
    workspace: ColumnWorkspace,
) -> None:
    """Write the new places of some variables to `places`; −1 for those that stay."""
    for x in some:
        places[x] = screen_move(problem, at, savings, rank, refused, x, tolerance, workspace)


@kernel
def screen_move(
    problem: ColumnProblem,
    at: OrderSolution,
    savings: Matrix,
    rank: NDArray[np.int64],
    refused: Vector,
    x: int,
    tolerance: float,
    workspace: ColumnWorkspace,
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
    workspace: ColumnWorkspace,
) -> bool:
    """Return True if the variable at `position` seems to gain at `place`; solves as few columns as it can."""
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
        copy_row(at.columns[y], trial)
        copy_row(at.gradients[y], slope)
        newcomer = -1 if rightward or y == x else x
        loss, _ = solve_column_entering(problem, y, free, trial, slope, workspace, newcomer)
        change += loss - at.losses[y]
        if y != x:
            open_ = open_ - estimates[k]
        # The columns that are not solved lose between 0 and `open_` to the right, and gain that to the left.
        least = change if rightward else change - open_
        most = change + open_ if rightward else change
        if least >= -tolerance:
            return False
        if most < -tolerance:
            return True
    return change < -tolerance
