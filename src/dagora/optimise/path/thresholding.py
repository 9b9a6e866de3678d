"""What is left of a solution when weights below the threshold go.

One by one: the weakest edge goes, the rest is solved again under the same program, and so on until no weight
is below the threshold. At once, as published: all small weights go and the rest is solved again; some may
then lie below the threshold that they reached before, and a true edge whose effect was shared with
neighbours goes with them. The better of both, column by column, is the one with the lower loss; it keeps
more edges, of which few are true where the penalty is small.

One by one can end in a landslide: a small weight on a parent of large variance carries much of the loss, and
once it has gone others fall below the threshold in turn. Guarded, the default: one by one, but at once in
a column that would else lose more than half as much again. Required edges stay in any case.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dagora.compiled import kernel
from dagora.optimise.path.column_problem import ColumnProblem, Workspace, solve_column, workspace_for
from dagora.optimise.path.smooth_path import PathProgram
from dagora.scores.lasso_kernels import Matrix, Vector

Support = NDArray[np.bool_]


def threshold_program(
    program: PathProgram, weights: Matrix, support: Support, threshold: float, cut: str = "guarded"
) -> Matrix:
    """Solve on an acyclic support, from any weights, and thin; return the weights that are left."""
    columns = weights.T.copy()
    threshold_columns(program.judged_after(threshold, cut), support, columns)
    return np.ascontiguousarray(columns.T)


def threshold_one_by_one(
    refit: Callable[[Support], Matrix], support: Support, required: Support, threshold: float
) -> tuple[Matrix, Support]:
    """One at a time, for any loss that can be refitted on a support; return weights and support."""
    support = support.copy()
    while True:
        weights = refit(support)
        strength = np.where(support & ~required, np.abs(weights), np.inf)
        weakest = strength.argmin(axis=0)
        columns = np.flatnonzero(strength.min(axis=0, initial=np.inf) < threshold)
        if len(columns) == 0:
            return weights, support
        support[weakest[columns], columns] = False


@kernel
def threshold_columns(problem: ColumnProblem, support: Support, columns: Matrix) -> None:
    """Solve and thin every column in place; row y of `columns` holds the weights into y."""
    d = len(columns)
    workspace = workspace_for(d)
    gradient = np.empty(d)
    free = np.empty(d, dtype=np.bool_)
    for y in range(d):
        for i in range(d):
            free[i] = support[i, y]
        loss, _ = solve_column(problem, y, free, columns[y], gradient, workspace)
        threshold_column(problem, y, loss, columns[y], workspace)


@kernel
def judge_column(
    problem: ColumnProblem, child: int, free: Support, weights: Vector, gradient: Vector, workspace: Workspace
) -> tuple[float, float]:
    """Solve one column in place, weak weights and all, but return the loss that it has without them.

    The second value is the penalty on the scale of its loss, as of `solve_column`.
    """
    loss, penalty = solve_column(problem, child, free, weights, gradient, workspace)
    if has_weak(problem, child, weights):
        loss = threshold_column(problem, child, loss, weights.copy(), workspace)
    return loss, penalty


@kernel
def has_weak(problem: ColumnProblem, y: int, column: Vector) -> bool:
    """Whether a weight below the threshold may go."""
    for i in range(len(column)):
        if column[i] != 0.0 and abs(column[i]) < problem.threshold and not problem.required[i, y]:
            return True
    return False


@kernel
def threshold_column(problem: ColumnProblem, y: int, loss: float, column: Vector, workspace: Workspace) -> float:
    """Thin a solved column in place, given its loss; return the loss of what is left."""
    if not has_weak(problem, y, column):
        return loss
    if problem.slack == np.inf:
        return cut_one_by_one(problem, y, column, workspace)
    rest = column.copy()
    loss = cut_at_once(problem, y, rest, workspace)
    if problem.slack >= 0.0:
        other = cut_one_by_one(problem, y, column, workspace)
        # With `profile` the loss is half a logarithm, and a share of the variance a difference.
        if other <= loss + (problem.slack / 2 if problem.profile else problem.slack * loss):
            return other
    column[:] = rest
    return loss


@kernel
def cut_at_once(problem: ColumnProblem, y: int, column: Vector, workspace: Workspace) -> float:
    """Drop all weak weights of a solved column, and solve it again; return its loss."""
    d = len(column)
    gradient = np.empty(d)
    free = np.empty(d, dtype=np.bool_)
    for i in range(d):
        strong = column[i] != 0.0 and abs(column[i]) >= problem.threshold
        free[i] = strong or problem.required[i, y]
        if not free[i]:
            column[i] = 0.0
    loss, _ = solve_column(problem, y, free, column, gradient, workspace)
    return loss


@kernel
def cut_one_by_one(problem: ColumnProblem, y: int, column: Vector, workspace: Workspace) -> float:
    """Drop the weakest weight of a solved column and solve it again while one is weak; return its loss."""
    d = len(column)
    required = problem.required
    gradient = np.empty(d)
    free = np.empty(d, dtype=np.bool_)
    loss = np.inf
    while True:
        weakest = -1
        for i in range(d):
            if column[i] == 0.0 or required[i, y]:
                continue
            if weakest < 0 or abs(column[i]) < abs(column[weakest]):
                weakest = i
        if weakest < 0 or abs(column[weakest]) >= problem.threshold:
            return loss
        for i in range(d):
            free[i] = (column[i] != 0.0 and i != weakest) or required[i, y]
        loss, _ = solve_column(problem, y, free, column, gradient, workspace)
