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

from dagora.kernels.decorators import kernel
from dagora.kernels.rows import copy_row
from dagora.learners.optimise.path.column_problem import (
    ColumnProblem,
    ColumnWorkspace,
    solve_column,
    solve_column_entering,
    threshold_of,
)
from dagora.learners.optimise.path.smooth_path import PathProgram
from dagora.learners.optimise.path.workers import ALONE, ColumnWorkers
from dagora.scores.lasso_kernels import Matrix, Vector, extend_factor, remove_from_factor, solve_factor

Support = NDArray[np.bool_]


def threshold_program(
    program: PathProgram,
    weights: Matrix,
    support: Support,
    threshold: float,
    cut: str = "guarded",
    workers: ColumnWorkers = ALONE,
) -> Matrix:
    """Solve the program on an acyclic support, starting at `weights`, and apply the threshold."""
    d = len(program)
    columns, problem = weights.T.copy(), program.thresholded_problem(threshold, cut)

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
    workspace: ColumnWorkspace,
) -> None:
    """Solve some columns in place and apply the threshold; row y of `columns` holds the weights into y.

    Two parents share one effect: together each has the weight 0.26, alone 0.5. With the threshold 0.3
    removing both at once leaves nothing, one by one keeps one of them.

    >>> from dagora.learners.optimise.path.column_problem import workspace_for
    >>> moments = np.array([[1.0, 0.95, 0.5], [0.95, 1.0, 0.5], [0.5, 0.5, 1.0]])
    >>> none, columns = np.zeros((3, 3), dtype=bool), np.zeros((3, 3))
    >>> problem = ColumnProblem(moments, ~none, none, 0.0, profile=False, threshold=0.3, slack=0.5)
    >>> threshold_columns(problem, ~np.eye(3, dtype=bool), columns, np.array([2]), workspace_for(3))
    >>> sorted(columns[2].round(6).tolist())
    [0.0, 0.0, 0.5]
    """
    d = len(columns)
    gradient = np.empty(d)
    free = np.empty(d, dtype=np.bool_)
    for y in some:
        for i in range(d):
            free[i] = support[i, y]
        loss, _ = solve_column(problem, y, free, columns[y], gradient, workspace)
        threshold_column(problem, y, loss, columns[y], workspace)


@kernel
def evaluate_column(
    problem: ColumnProblem,
    child: int,
    free: Support,
    weights: Vector,
    gradient: Vector,
    workspace: ColumnWorkspace,
    newcomer: int,
) -> tuple[float, float]:
    """Solve one column in place with its weak weights, but return the loss that it has without them.

    `newcomer` and the second value, the λ of its lasso, are those of `solve_column_entering`.
    """
    loss, penalty = solve_column_entering(problem, child, free, weights, gradient, workspace, newcomer)
    if has_weak(problem, child, weights):
        loss = threshold_column(problem, child, loss, weights.copy(), workspace)
    return loss, penalty


@kernel
def has_weak(problem: ColumnProblem, y: int, column: Vector) -> bool:
    """Return True if a weight that is not required is below the threshold."""
    for i in range(len(column)):
        if column[i] != 0.0 and abs(column[i]) < threshold_of(problem, i) and not problem.required[i, y]:
            return True
    return False


@kernel
def threshold_column(
    problem: ColumnProblem, y: int, loss: float, column: Vector, workspace: ColumnWorkspace
) -> float:
    """Remove the weak weights of a solved column in place, given its loss; return the loss afterwards."""
    if not has_weak(problem, y, column):
        return loss
    parents = parents_of(problem, y, column)
    part = family_problem(problem, y, parents)
    limits, few = np.empty(len(parents)), np.zeros(len(parents) + 1)
    for k in range(len(parents)):
        i = parents[k]
        limits[k] = np.inf if problem.required[i, y] else threshold_of(problem, i)
        few[k] = column[i]
    loss = threshold_family(part, limits, few, workspace)
    for k in range(len(parents)):
        column[parents[k]] = few[k]
    return loss


@kernel
def parents_of(problem: ColumnProblem, y: int, column: Vector) -> NDArray[np.int64]:
    """The variables with a weight in column y, and those that must have one."""
    parents = np.empty(len(column), dtype=np.int64)
    size = 0
    for i in range(len(column)):
        if column[i] != 0.0 or problem.required[i, y]:
            parents[size] = i
            size += 1
    return parents[:size].copy()


@kernel
def family_problem(problem: ColumnProblem, y: int, parents: NDArray[np.int64]) -> ColumnProblem:
    """The problem of a variable and its parents alone, which come first."""
    size = len(parents)
    moments = np.empty((size + 1, size + 1))
    for a in range(size):
        for b in range(size):
            moments[a, b] = problem.moments[parents[a], parents[b]]
        moments[a, size] = problem.moments[parents[a], y]
        moments[size, a] = problem.moments[y, parents[a]]
    moments[size, size] = problem.moments[y, y]
    none = np.zeros((0, 0), dtype=np.bool_)
    return ColumnProblem(
        moments, none, none, problem.lambda1, problem.profile, problem.threshold, problem.slack, 0, 0.0
    )


@kernel
def threshold_family(
    part: ColumnProblem, limits: Vector, column: Vector, workspace: ColumnWorkspace
) -> float:
    """Remove the weak weights of a solved family in place; return the loss afterwards.

    `limits` are the thresholds of the parents, infinite for those that are required.
    """
    if part.slack == np.inf:
        return cut_one_by_one(part, limits, column, workspace)
    rest = column.copy()
    loss = cut_at_once(part, limits, rest, workspace)
    if part.slack >= 0.0:
        other = cut_one_by_one(part, limits, column, workspace)
        # With `profile` the loss is half a logarithm, so a share of the variance becomes a difference.
        if other <= loss + (part.slack / 2 if part.profile else part.slack * loss):
            return other
    copy_row(rest, column)
    return loss


@kernel
def cut_at_once(part: ColumnProblem, limits: Vector, column: Vector, workspace: ColumnWorkspace) -> float:
    """Remove all weak weights of a solved family and solve it again; return its loss."""
    free = np.zeros(len(column), dtype=np.bool_)
    for k in range(len(limits)):
        free[k] = limits[k] == np.inf or (column[k] != 0.0 and abs(column[k]) >= limits[k])
        if not free[k]:
            column[k] = 0.0
    loss, _ = solve_column(part, len(limits), free, column, np.empty(len(column)), workspace)
    return loss


@kernel
def cut_one_by_one(part: ColumnProblem, limits: Vector, column: Vector, workspace: ColumnWorkspace) -> float:
    """Remove the weakest weight of a solved family and solve it again, while one is weak; return its loss."""
    free = np.zeros(len(column), dtype=np.bool_)
    gradient = np.empty(len(column))
    loss = np.inf
    if not part.profile:
        drop_while_signs_hold(part, limits, column, workspace)
    while True:
        weakest = weakest_weight(limits, column)
        if weakest < 0 and loss < np.inf:
            return loss
        for k in range(len(limits)):
            free[k] = (column[k] != 0.0 and k != weakest) or limits[k] == np.inf
        loss, _ = solve_column(part, len(limits), free, column, gradient, workspace)


@kernel
def weakest_weight(limits: Vector, column: Vector) -> int:
    """The weight that is the smallest share of its threshold; −1 if none is below it.

    Shares, because exogenous columns have another threshold.
    """
    weakest, least = -1, 1.0
    for k in range(len(limits)):
        if column[k] != 0.0 and limits[k] < np.inf and abs(column[k]) < least * limits[k]:
            weakest, least = k, abs(column[k]) / limits[k]
    return weakest


@kernel
def drop_while_signs_hold(
    part: ColumnProblem, limits: Vector, column: Vector, workspace: ColumnWorkspace
) -> None:
    """Remove the weakest weights of a lasso one by one, as long as no other weight changes its sign.

    Then the solution is that of a linear system, whose factor loses a row and a column at a time.
    """
    moments, factor, child = part.moments, workspace.factor, len(limits)
    active = np.empty(child, dtype=np.int64)
    size = 0
    for k in range(child):
        if column[k] != 0.0:
            active[size] = k
            size += 1
        elif limits[k] == np.inf:
            return  # it is required, and may take a weight when others lose theirs
    if extend_factor(moments, workspace.ridge, active, factor, 0, size) < size:
        return
    target = np.empty(child)
    while size > 0:
        weakest = weakest_weight(limits, column)
        if weakest < 0:
            return
        position = 0
        while active[position] != weakest:
            position += 1
        remove_from_factor(factor, size, position)
        size -= 1
        for a in range(position, size):
            active[a] = active[a + 1]
        for a in range(size):
            target[a] = moments[child, active[a]] - part.lambda1 * np.sign(column[active[a]])
        solve_factor(factor, size, target)
        for a in range(size):
            if part.lambda1 > 0.0 and target[a] * column[active[a]] <= 0.0:
                return
        column[weakest] = 0.0
        for a in range(size):
            column[active[a]] = target[a]
