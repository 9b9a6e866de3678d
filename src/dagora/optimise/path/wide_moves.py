"""Moves along an order of many variables: weighed in batches by several threads, then made one by one.

`quick_moves` estimates the best place of a variable and checks it by solving all columns that change. With
many variables most checks fail, and nearly all of the time goes into them. So a move is first weighed: the
column of the moved variable x is solved for its new place, then the columns that x passes, those with the
largest estimates first, until the verdict is clear. To the right every passed column can only lose, so losses
add up to a sure refusal; to the left every one can only win, so gains add up to a sure approval. What is not
solved yet counts as its estimate, except with profiled variances, whose estimates are too rough. A variable
that was refused is weighed again once it promises more than it did then.

The variables of a batch are weighed on one and the same state, in any number of threads. Those that seem to
gain are then moved one after the other, each checked on the state that the moves before it left behind. The
size of a batch does not depend on the number of threads, nor does the result.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.compiled import kernel
from dagora.optimise.path.column_problem import ColumnProblem, Workspace, solve_column_entering
from dagora.optimise.path.order_moves import (
    OrderSolution,
    changed_columns,
    find_places,
    reinsert,
    solve_changed,
)
from dagora.optimise.path.quick_moves import best_place, estimate_savings
from dagora.optimise.path.workers import Workers
from dagora.scores.lasso_kernels import Matrix, Vector


class WideMoves:
    """The moves of one order, whose solution they improve in place."""

    def __init__(self, problem: ColumnProblem, at: OrderSolution, workers: Workers) -> None:
        d = len(at.order)
        self.problem, self.at, self.workers = problem, at, workers
        self.savings = np.empty((d, d))
        self.prepare()

    def prepare(self) -> None:
        """Rank the variables and estimate the savings anew, after the solution became another one."""
        self.rank = np.argsort(self.at.order)
        self.refused = np.zeros(len(self.rank))
        self.workers.map(self._estimate, self.workers.parts(np.arange(len(self.rank))))

    def disturb(self, variables: NDArray[np.int64], heights: Vector) -> None:
        """Move variables to random places; `heights` in [0, 1) choose among the places that each may have."""
        for x, height in zip(variables.tolist(), heights.tolist(), strict=True):
            position, lowest, highest = find_places(self.problem, self.at.order, x)
            place = lowest + int(height * (highest - lowest + 1))
            if place != position:
                self._move(x, place, -np.inf)

    def __call__(self, batch: NDArray[np.int64], tolerance: float, idle: int) -> int:
        """Try to move the variables of a batch; return how many in a row did not gain, `idle` before it."""

        def weigh(x: int) -> int:
            workspace = self.workers.workspace(len(self.rank))
            return weigh_move(
                self.problem, self.at, self.savings, self.rank, self.refused, x, tolerance, workspace
            )

        places = self.workers.map(weigh, batch.tolist())
        moved = False
        for x, place in zip(batch.tolist(), places, strict=True):
            gained = False
            if place >= 0:
                if moved:
                    place = weigh(x)  # noqa: PLW2901 (the state is another one now)
                gained = place >= 0 and self._move(x, place, tolerance)
                moved = moved or gained
            idle = 0 if gained else idle + 1
            if idle >= len(self.rank):
                break
        return idle

    def _move(self, x: int, place: int, tolerance: float) -> bool:
        """Move x and solve the columns that change; undo it unless the losses fall by `tolerance`."""
        at, position = self.at, int(self.rank[x])
        changed = changed_columns(self.problem, at, position, place)
        before = OrderSolution(
            at.order.copy(),
            at.columns[changed],
            at.gradients[changed],
            at.losses[changed],
            at.penalties[changed],
        )
        reinsert(at.order, position, place)
        first, last = min(position, place), max(position, place)
        self.rank[at.order[first : last + 1]] = np.arange(first, last + 1)
        newcomer = x if place < position else -1

        def solve(part: NDArray[np.int64]) -> None:
            workspace = self.workers.workspace(len(self.rank))
            solve_changed(self.problem, at, self.rank, part, newcomer, workspace)

        self.workers.map(solve, self.workers.parts(changed))
        if float((before.losses - at.losses[changed]).sum()) > tolerance:
            self.workers.map(self._estimate, self.workers.parts(changed))
            return True
        at.order[:] = before.order
        self.rank[at.order[first : last + 1]] = np.arange(first, last + 1)
        at.columns[changed], at.gradients[changed] = before.columns, before.gradients
        at.losses[changed], at.penalties[changed] = before.losses, before.penalties
        return False

    def _estimate(self, part: NDArray[np.int64]) -> None:
        """Estimate the savings of some columns."""
        workspace = self.workers.workspace(len(self.rank))
        estimate_some(self.problem, self.at, part, self.savings, workspace)


@kernel
def estimate_some(
    problem: ColumnProblem, at: OrderSolution, some: NDArray[np.int64], savings: Matrix, workspace: Workspace
) -> None:
    """Estimate the savings of some columns."""
    for y in some:
        estimate_savings(problem, at, y, savings, workspace)


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
