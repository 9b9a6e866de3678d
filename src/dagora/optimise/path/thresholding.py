"""Remove the weights of a solution that are below the threshold, in one of four ways (the option `cut`).

- `one-by-one`: remove the weakest edge and solve the rest again under the same program, until no weight is
  below the threshold.
- `at-once`: remove all weak weights and solve the rest again. Afterwards some of the rest may be below the
  threshold. A true edge whose effect was shared with another parent can be lost.
- `better`: column by column, whichever of these two has the lower loss. It keeps more edges, few of which are
  true where the penalty is small.
- `guarded`, the default: one by one, except in columns where its loss would be more than 1.5 times that of
  removing at once. One by one can go wrong: a small weight of a parent with large variance can matter much,
  and once it is removed, others fall below the threshold in turn.

Required edges are never removed. Algorithm 1 of Zheng et al. (2018) does none of this: it sets weak weights
to zero and leaves the others as they are (`published`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dagora.compiled import kernel
from dagora.kernel_rows import copy_row
from dagora.optimise.path.column_problem import (
    ColumnProblem,
    Workspace,
    solve_column,
    solve_column_entering,
    threshold_of,
)
from dagora.optimise.path.smooth_path import PathProgram
from dagora.optimise.path.workers import ALONE, Workers
from dagora.scores.lasso_kernels import Matrix, Vector

Support = NDArray[np.bool_]

# A threshold of zero, where weights are compared by their shares of it.
SMALLEST = 1e-300


def threshold_program(
    program: PathProgram,
    weights: Matrix,
    support: Support,
    threshold: float,
    cut: str = "guarded",
    workers: Workers = ALONE,
) -> Matrix:
    """Solve the program on an acyclic support, starting at `weights`, and apply the threshold."""
    d = len(program)
    columns, problem = weights.T.copy(), program.judged_after(threshold, cut)

    def apply(part: NDArray[np.int64]) -> None:
        threshold_columns(problem, support, columns, part, workers.workspace(d))

    workers.map(apply, workers.parts(np.arange(d)))
    return np.ascontiguousarray(columns.T)


def threshold_one_by_one(
    refit: Callable[[Support], Matrix], support: Support, required: Support, threshold: float
) -> tuple[Matrix, Support]:
    """Remove weak edges one by one per column, for any loss with a `refit`; return weights and support."""
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
def threshold_columns(
    problem: ColumnProblem,
    support: Support,
    columns: Matrix,
    some: NDArray[np.int64],
    workspace: Workspace,
) -> None:
    """Solve some columns in place and apply the threshold; row y of `columns` holds the weights into y."""
    d = len(columns)
    gradient = np.empty(d)
    free = np.empty(d, dtype=np.bool_)
    for y in some:
        for i in range(d):
            free[i] = support[i, y]
        loss, _ = solve_column(problem, y, free, columns[y], gradient, workspace)
        threshold_column(problem, y, loss, columns[y], workspace)


@kernel
def judge_column(
    problem: ColumnProblem,
    child: int,
    free: Support,
    weights: Vector,
    gradient: Vector,
    workspace: Workspace,
    newcomer: int,
) -> tuple[float, float]:
    """Solve one column in place and keep its weak weights, but return the loss that it has without them.

    `newcomer` and the second value, the λ of its lasso, are those of `solve_column_entering`.
    """
    loss, penalty = solve_column_entering(problem, child, free, weights, gradient, workspace, newcomer)
    if has_weak(problem, child, weights):
        loss = threshold_column(problem, child, loss, weights.copy(), workspace)
    return loss, penalty


@kernel
def has_weak(problem: ColumnProblem, y: int, column: Vector) -> bool:
    """Whether a weight that is not required is below the threshold."""
    for i in range(len(column)):
        if column[i] != 0.0 and abs(column[i]) < threshold_of(problem, i) and not problem.required[i, y]:
            return True
    return False


@kernel
def threshold_column(
    problem: ColumnProblem, y: int, loss: float, column: Vector, workspace: Workspace
) -> float:
    """Remove the weak weights of a solved column in place, given its loss; return the loss afterwards.

    Two parents share one effect: together each has the weight 0.26, alone 0.5. With the threshold 0.3
    removing both at once leaves nothing (loss ½), one by one keeps one of them (loss ½·0.75).

    >>> from dagora.optimise.path.column_problem import workspace_for
    >>> moments = np.array([[1.0, 0.95, 0.5], [0.95, 1.0, 0.5], [0.5, 0.5, 1.0]])
    >>> none, column = np.zeros((3, 3), dtype=bool), np.array([0.5, 0.5, 0.0]) / 1.95
    >>> problem = ColumnProblem(moments, ~none, none, 0.0, profile=False, threshold=0.3, slack=0.5)
    >>> loss = threshold_column(problem, 2, 0.5 * (1 - 0.5 / 1.95), column, workspace_for(3))
    >>> round(loss, 6), sorted(column.round(6).tolist())
    (0.375, [0.0, 0.0, 0.5])
    """
    if not has_weak(problem, y, column):
        return loss
    if problem.slack == np.inf:
        return cut_one_by_one(problem, y, column, workspace)
    rest = column.copy()
    loss = cut_at_once(problem, y, rest, workspace)
    if problem.slack >= 0.0:
        other = cut_one_by_one(problem, y, column, workspace)
        # With `profile` the loss is half a logarithm, so a share of the variance becomes a difference.
        if other <= loss + (problem.slack / 2 if problem.profile else problem.slack * loss):
            return other
    copy_row(rest, column)
    return loss


@kernel
def cut_at_once(problem: ColumnProblem, y: int, column: Vector, workspace: Workspace) -> float:
    """Remove all weak weights of a solved column and solve it again; return its loss."""
    d = len(column)
    gradient = np.empty(d)
    free = np.empty(d, dtype=np.bool_)
    for i in range(d):
        strong = column[i] != 0.0 and abs(column[i]) >= threshold_of(problem, i)
        free[i] = strong or problem.required[i, y]
        if not free[i]:
            column[i] = 0.0
    loss, _ = solve_column(problem, y, free, column, gradient, workspace)
    return loss


@kernel
def cut_one_by_one(problem: ColumnProblem, y: int, column: Vector, workspace: Workspace) -> float:
    """Remove the weakest weight of a solved column and solve it again, while one is weak; return its loss."""
    d = len(column)
    required = problem.required
    gradient = np.empty(d)
    free = np.empty(d, dtype=np.bool_)
    loss = np.inf
    while True:
        weakest, least = -1, np.inf
        for i in range(d):
            if column[i] == 0.0 or required[i, y]:
                continue
            # As shares of their thresholds: columns given from outside have another one.
            share = abs(column[i]) / max(threshold_of(problem, i), SMALLEST)
            if weakest < 0 or share < least:
                weakest, least = i, share
        if weakest < 0 or abs(column[weakest]) >= threshold_of(problem, weakest):
            return loss
        for i in range(d):
            free[i] = (column[i] != 0.0 and i != weakest) or required[i, y]
        loss, _ = solve_column(problem, y, free, column, gradient, workspace)
