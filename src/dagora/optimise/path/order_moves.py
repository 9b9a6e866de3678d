"""Orders of the variables for the NOTEARS program: the exact lassos that they permit, and moves along them.

Given an order, the program falls into one lasso per column on the variables before it, solved exactly.
Moving one variable x changes the column of x, and of the variables it passes only where x enters or leaves
their solution: x enters column y where it violates that column's optimality condition, |S_xᵀ(w_y − e_y)| >
λ, and leaves it where its weight was not zero. All other columns stay solved, so that a move costs a few
small solves.

With a threshold in the program's problem, columns are solved all the same, but judged by their loss without
weak weights (`thresholding`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.compiled import kernel
from dagora.optimise.path.column_problem import ColumnProblem, Workspace, workspace_for
from dagora.optimise.path.thresholding import judge_column
from dagora.scores.lasso_kernels import Matrix, Vector


class OrderSolution(NamedTuple):
    """An order with its solved columns: row y of `columns` holds the weights into y.

    `gradients` has the slopes of each column's loss, `losses` what it is judged by (loss with penalty),
    `penalties` the penalty on the scale of its loss. Kernels change all of them in place.
    """

    order: NDArray[np.int64]
    columns: Matrix
    gradients: Matrix
    losses: Vector
    penalties: Vector

    @property
    def objective(self) -> float:
        """Loss and penalty."""
        return float(self.losses.sum())

    @property
    def weights(self) -> Matrix:
        """Weights, [i, j] for the edge i → j."""
        return np.ascontiguousarray(self.columns.T)

    def copy(self) -> OrderSolution:
        """A copy that stays as it is."""
        return OrderSolution(
            self.order.copy(),
            self.columns.copy(),
            self.gradients.copy(),
            self.losses.copy(),
            self.penalties.copy(),
        )

    def become(self, other: OrderSolution) -> None:
        """Take over another solution, in the same arrays."""
        for mine, theirs in zip(self, other, strict=True):
            mine[...] = theirs


@kernel
def solve_order(problem: ColumnProblem, at: OrderSolution) -> float:
    """Solve every column on what stands before it, from the weights that are there; return the sum."""
    d = len(at.order)
    workspace = workspace_for(d)
    free = np.zeros(d, dtype=np.bool_)
    before = np.zeros(d, dtype=np.bool_)
    for y in at.order:
        solve_in_place(problem, at, y, before, free, workspace)
        before[y] = True
    return float(at.losses.sum())


@kernel
def solve_in_place(
    problem: ColumnProblem,
    at: OrderSolution,
    y: int,
    before: NDArray[np.bool_],
    free: NDArray[np.bool_],
    workspace: Workspace,
) -> None:
    """Solve column y on the variables `before` it that may be its parents."""
    for i in range(len(before)):
        free[i] = before[i] and problem.allowed[i, y]
    at.losses[y], at.penalties[y] = judge_column(problem, y, free, at.columns[y], at.gradients[y], workspace)


@kernel
def reinsert(order: NDArray[np.int64], position: int, place: int) -> None:
    """Move the variable at `position` to `place`, shifting those between."""
    x = order[position]
    if place < position:
        for p in range(position, place, -1):
            order[p] = order[p - 1]
    else:
        for p in range(position, place):
            order[p] = order[p + 1]
    order[place] = x


@kernel
def find_places(order: NDArray[np.int64], required: NDArray[np.bool_], x: int) -> tuple[int, int, int]:
    """Where x stands, and the first and the last place that required edges leave it."""
    position, lowest, highest = 0, 0, len(order) - 1
    while order[position] != x:
        position += 1
    for p in range(len(order)):
        if required[order[p], x]:
            lowest = p + 1
        if required[x, order[p]]:
            highest = p - 1
            break
    return position, lowest, highest


@kernel
def move_to_best_place(
    problem: ColumnProblem, at: OrderSolution, x: int, tolerance: float, workspace: Workspace
) -> float:
    """Move x to the place where the sum of the losses is smallest, if that gains; return the gain."""
    allowed, order, columns, gradients = problem.allowed, at.order, at.columns, at.gradients
    losses, penalties = at.losses, at.penalties
    d = len(order)
    position, lowest, highest = find_places(order, problem.required, x)
    free = np.zeros(d, dtype=np.bool_)
    trial = np.empty(d)
    slope = np.empty(d)
    # What each other variable saves by having x before it, where that touches its column.
    saving = np.zeros(d)
    touched = np.zeros(d, dtype=np.bool_)
    before = np.zeros(d, dtype=np.bool_)
    for p in range(d):
        y = order[p]
        if p != position and allowed[x, y] and lowest <= p <= highest:
            if p < position:
                touched[y] = abs(gradients[y, x]) > penalties[y] * (1 + 1e-9)
            else:
                touched[y] = columns[y, x] != 0.0
            if touched[y]:
                for i in range(d):
                    free[i] = before[i] and allowed[i, y]
                free[x] = p < position
                trial[:] = columns[y]
                loss, _ = judge_column(problem, y, free, trial, slope, workspace)
                saving[y] = losses[y] - loss if p < position else loss - losses[y]
        before[y] = True
    # Change of the sum for x at each place, from where it stands, leftwards and then rightwards; of places
    # that are equally good, but for rounding, the first counts.
    best, place = 0.0, position
    for direction in (-1, 1):
        for i in range(d):
            free[i] = False
        for p in range(position):
            free[order[p]] = allowed[order[p], x]
        trial[:] = columns[x]
        slope[:] = gradients[x]
        own, penalty, passed = losses[x], penalties[x], 0.0
        target = position + direction
        while lowest <= target <= highest:
            y = order[target]
            if direction < 0:
                passed -= saving[y]
                free[y] = False
                again = trial[y] != 0.0
            else:
                passed += saving[y]
                free[y] = allowed[y, x]
                again = free[y] and abs(slope[y]) > penalty * (1 + 1e-9)
            if again:
                own, penalty = judge_column(problem, x, free, trial, slope, workspace)
            change = passed + own - losses[x]
            if change < best - tolerance:
                best, place = change, target
            target += direction
    if place == position:
        return 0.0
    reinsert(order, position, place)
    for i in range(d):
        before[i] = False
    for p in range(d):
        y = order[p]
        if y == x or touched[y]:
            solve_in_place(problem, at, y, before, free, workspace)
        before[y] = True
    return -best


@kernel
def descend(
    problem: ColumnProblem, at: OrderSolution, sequence: NDArray[np.int64], tolerance: float, idle: int
) -> int:
    """Try to move the variables of `sequence`, one after the other; return how many in a row did not gain.

    `idle` is that number before; the descent is over when it reaches the number of variables.
    """
    d = len(at.order)
    workspace = workspace_for(d)
    for x in sequence:
        gain = move_to_best_place(problem, at, x, tolerance, workspace)
        idle = 0 if gain > 0.0 else idle + 1
        if idle >= d:
            break
    return idle
