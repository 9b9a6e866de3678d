"""Orders of the variables for the NOTEARS program: the exact lassos of an order, and the effects of a move.

Given an order, the program splits into one lasso per column on the variables before it, solved exactly.
Moving a variable x changes the column of x. It changes the column of a variable y that x passes only where x
enters or leaves y's solution: x enters where it violates the optimality condition of column y, |S_xᵀ(w_y −
e_y)| > λ, and leaves where its weight was not zero. All other columns stay solved, so a move costs a few
small solves.

With a threshold in the column problem, columns are solved in the same way, but their loss is that without
weak weights (`thresholding`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.learners.optimise.path.column_problem import ColumnProblem, ColumnWorkspace
from dagora.learners.optimise.path.thresholding import evaluate_column
from dagora.scores.lasso_kernels import Matrix, Vector


class OrderSolution(NamedTuple):
    """An order with its solved columns: row y of `columns` holds the weights into y.

    For each column, `gradients` has the slopes of its loss, `losses` the loss with penalty, and `penalties`
    the λ of its lasso. Kernels change all of them in place.
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
        """An independent copy."""
        return OrderSolution(
            self.order.copy(),
            self.columns.copy(),
            self.gradients.copy(),
            self.losses.copy(),
            self.penalties.copy(),
        )

    def become(self, other: OrderSolution) -> None:
        """Copy another solution into these arrays."""
        for mine, theirs in zip(self, other, strict=True):
            mine[...] = theirs


@kernel
def solve_some(
    problem: ColumnProblem, at: OrderSolution, some: NDArray[np.int64], workspace: ColumnWorkspace
) -> None:
    """Solve some columns, each on the variables before it, from its present weights.

    With b = 2a + noise of variance 1, the order a, b fits b by soft(2, 0.5)/1 = 1.5: the losses are ½ of a's
    variance 1, and ½·(5 − 2·1.5·2 + 1.5²) + 0.5·1.5 = 1.375.

    >>> from dagora.learners.optimise.path.column_problem import workspace_for
    >>> none = np.zeros((2, 2), dtype=bool)
    >>> problem = ColumnProblem(np.array([[1.0, 2.0], [2.0, 5.0]]), ~none, none, 0.5, profile=False)
    >>> at = OrderSolution(np.array([0, 1]), np.zeros((2, 2)), np.zeros((2, 2)), np.zeros(2), np.zeros(2))
    >>> solve_some(problem, at, at.order, workspace_for(2))
    >>> at.columns.round(9).tolist(), at.losses.round(9).tolist()
    ([[0.0, 0.0], [1.5, 0.0]], [0.5, 1.375])
    """
    d = len(at.order)
    wanted = np.zeros(d, dtype=np.bool_)
    for y in some:
        wanted[y] = True
    free = np.zeros(d, dtype=np.bool_)
    before = np.zeros(d, dtype=np.bool_)
    for y in at.order:
        if wanted[y]:
            solve_in_place(problem, at, y, before, free, workspace)
        before[y] = True


@kernel
def solve_in_place(
    problem: ColumnProblem,
    at: OrderSolution,
    y: int,
    before: NDArray[np.bool_],
    free: NDArray[np.bool_],
    workspace: ColumnWorkspace,
) -> None:
    """Solve column y on the variables `before` it that may be its parents."""
    for i in range(len(before)):
        free[i] = before[i] and problem.allowed[i, y]
    at.losses[y], at.penalties[y] = evaluate_column(
        problem, y, free, at.columns[y], at.gradients[y], workspace, -1
    )


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
def find_places(problem: ColumnProblem, order: NDArray[np.int64], x: int) -> tuple[int, int, int]:
    """The position of x, and the first and the last position that the required edges permit.

    Exogenous columns come first and stay there.
    """
    required = problem.required
    position, lowest, highest = 0, problem.exogenous, len(order) - 1
    while order[position] != x:
        position += 1
    for p in range(len(order)):
        if required[order[p], x]:
            lowest = max(lowest, p + 1)
        if required[x, order[p]]:
            highest = p - 1
            break
    return position, lowest, highest


@kernel
def changed_columns(
    problem: ColumnProblem, at: OrderSolution, position: int, place: int
) -> NDArray[np.int64]:
    """The variable at `position`, and the columns that it enters or leaves on its way to `place`."""
    x = at.order[position]
    first, last = min(position, place), max(position, place)
    changed = np.empty(last - first + 1, dtype=np.int64)
    changed[0] = x
    number = 1
    for p in range(first, last + 1):
        y = at.order[p]
        if place < position:
            matters = abs(at.gradients[y, x]) > at.penalties[y] * (1 + 1e-9) and problem.allowed[x, y]
        else:
            matters = at.columns[y, x] != 0.0
        if y != x and matters:
            changed[number] = y
            number += 1
    return changed[:number].copy()
