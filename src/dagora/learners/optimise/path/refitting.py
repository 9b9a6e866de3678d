"""The weights of a given graph: every column solved on its parents, with the penalty of the program."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.learners.optimise.path.column_problem import ColumnProblem, ColumnWorkspace, solve_column
from dagora.learners.optimise.path.workers import ALONE, ColumnWorkers
from dagora.scores.lasso_kernels import Matrix


def refit_columns(
    covariance: Matrix,
    support: NDArray[np.bool_],
    lambda1: float,
    *,
    profile: bool,
    workers: ColumnWorkers = ALONE,
) -> Matrix:
    """Solve every column on an acyclic support, starting from zero; [i, j] is the weight of i → j."""
    moments = np.ascontiguousarray(covariance)
    d = len(moments)
    problem = ColumnProblem(
        moments, np.ascontiguousarray(support), np.zeros(support.shape, dtype=np.bool_), lambda1, profile
    )
    columns = np.zeros((d, d))

    def refit(part: NDArray[np.int64]) -> None:
        refit_some(problem, columns, part, workers.workspace(d))

    workers.map(refit, workers.parts(np.arange(d)))
    return np.ascontiguousarray(columns.T)


@kernel
def refit_some(
    problem: ColumnProblem, columns: Matrix, some: NDArray[np.int64], workspace: ColumnWorkspace
) -> None:
    """Solve some columns on the parents that are allowed; row y of `columns` holds the weights into y."""
    d = len(columns)
    gradient = np.empty(d)
    free = np.empty(d, dtype=np.bool_)
    for y in some:
        for i in range(d):
            free[i] = problem.allowed[i, y]
        solve_column(problem, y, free, columns[y], gradient, workspace)
