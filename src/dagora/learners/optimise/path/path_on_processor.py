"""The steps of the smooth path on the processor: elastic nets in several threads, inverses by LAPACK.

With many variables the elastic nets are swept in blocks of coordinates. Within a block only the gradient of
its own coordinates is kept up to date; after it the column's whole gradient follows. Threads share the
columns, so the result does not depend on their number. LAPACK and matrix products have threads of their own,
which the number of jobs does not change.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgetrf, dgetri

from dagora.kernels.decorators import kernel
from dagora.learners.optimise.path.column_problem import SMALLEST_RESIDUAL, ColumnProblem, residual_variance
from dagora.learners.optimise.path.smooth_path import EXACT_TO, SWEEPS, PathProgram
from dagora.learners.optimise.path.workers import ALONE, ColumnWorkers
from dagora.scores.lasso_kernels import Matrix, Vector, add_rows, residual_gradient, solve_lasso, subtract_row

# Coordinates that are swept between two updates of a column's whole gradient.
BLOCK = 128
# Memory for LAPACK's inverse, in rows of the matrix: with the least that it needs it takes twice as long.
INVERSE_MEMORY = 64


@dataclass(frozen=True)
class PathOnProcessor:
    """The steps of a program's path, in NumPy and kernels."""

    program: PathProgram
    workers: ColumnWorkers = field(default=ALONE)

    def start(self) -> Matrix:
        """Weights that are all zero."""
        return np.zeros((len(self.program), len(self.program)))

    def solve(self, weights: Matrix, inverse: Matrix, c: float) -> Matrix:
        """The elastic nets of all columns with ridge 2c · inverseᵀ, started from `weights`."""
        return solve_columns(self.program, weights, 2 * c * inverse.T, self.workers)

    def between(self, weights: Matrix, target: Matrix, step: float) -> Matrix:
        """Weights on the way to a target."""
        return weights + step * (target - weights)

    def barrier(self, weights: Matrix) -> tuple[Matrix, float] | None:
        """The inverse and h at some weights, None where there is no barrier."""
        return barrier(self.program.squares(weights))

    def objective(self, weights: Matrix) -> float:
        """Loss and penalty."""
        return objective(self.program, weights, self.workers)

    def fetch(self, weights: Matrix) -> Matrix:
        """Weights as a matrix, which they are."""
        return weights


def barrier(squares: Matrix) -> tuple[Matrix, float] | None:
    """(I − A)⁻¹ and h = −ln det(I − A); None where I − A is no M-matrix, that is where Σ_k Aᵏ diverges."""
    matrix = np.eye(len(squares)) - squares
    factor, pivots, singular = dgetrf(np.asfortranarray(matrix), overwrite_a=True)
    diagonal = factor.diagonal()
    swaps = np.count_nonzero(pivots != np.arange(len(pivots)))
    if singular or (np.count_nonzero(diagonal < 0) + swaps) % 2:
        return None
    log_determinant = np.log(np.abs(diagonal)).sum()
    inverse = dgetri(factor, pivots, lwork=INVERSE_MEMORY * len(factor), overwrite_lu=True)[0]
    if not inverse.min() >= -1e-9 or not inverse.diagonal().min() >= 1 - 1e-9:
        return None
    return np.ascontiguousarray(np.maximum(inverse, 0.0)), -float(log_determinant)


def objective(program: PathProgram, weights: Matrix, workers: ColumnWorkers) -> float:
    """`PathProgram.objective`, by products of the weights that are not zero, shared by columns."""
    columns, variances = np.ascontiguousarray(weights.T), np.empty(len(program))

    def compute(part: NDArray[np.int64]) -> None:
        residual_variances(program.moments, columns, part, variances)

    workers.map(compute, workers.shares(np.arange(len(program))))
    return program.loss(variances) + program.lambda1 * float(np.abs(columns).sum())


@kernel
def residual_variances(moments: Matrix, columns: Matrix, some: NDArray[np.int64], variances: Vector) -> None:
    """Residual variances of some columns; row y of `columns` holds the weights into y."""
    gradient = np.empty(len(moments))
    for y in some:
        weights = columns[y]
        residual_gradient(moments, y, weights, gradient)
        variance = moments[y, y]
        for i in range(len(weights)):
            variance += weights[i] * (gradient[i] - moments[y, i])
        variances[y] = variance


def solve_columns(program: PathProgram, weights: Matrix, ridge: Matrix, workers: ColumnWorkers) -> Matrix:
    """The elastic nets of all columns, started from `weights`."""
    columns = weights.T.copy()
    ridges = np.ascontiguousarray(ridge.T)
    if len(program) <= EXACT_TO:
        problem = program.column_problem

        def solve(part: NDArray[np.int64]) -> None:
            elastic_nets(problem, ridges, columns, part)

        workers.map(solve, workers.parts(np.arange(len(program))))
    else:
        sweep_columns(program, ridges, columns, workers)
    return np.ascontiguousarray(columns.T)


@kernel
def elastic_nets(problem: ColumnProblem, ridges: Matrix, columns: Matrix, some: NDArray[np.int64]) -> None:
    """Solve some columns in place; row y of `columns` and `ridges` belongs to column y.

    Variable 1 on variable 0 with S_01 = 0.8, λ = 0.2 and ridge 1: the weight is soft(0.8, 0.2) / (1 + 1) =
    0.3.

    >>> moments, allowed = np.array([[1.0, 0.8], [0.8, 1.0]]), np.array([[False, True], [False, False]])
    >>> problem = ColumnProblem(moments, allowed, np.zeros_like(allowed), 0.2, profile=False)
    >>> columns = np.zeros((2, 2))
    >>> elastic_nets(problem, np.ones((2, 2)), columns, np.arange(2))
    >>> columns.round(9).tolist()
    [[0.0, 0.0], [0.3, 0.0]]
    """
    moments, allowed, lambda1 = problem.moments, problem.allowed, problem.lambda1
    d = len(moments)
    factor = np.empty((d, d))
    gradient = np.empty(d)
    free = np.empty(d, dtype=np.bool_)
    for y in some:
        for i in range(d):
            free[i] = allowed[i, y]
        scale = 1.0
        if problem.profile:
            scale = max(residual_variance(moments, y, columns[y]), SMALLEST_RESIDUAL * moments[y, y])
        solve_lasso(moments, y, free, lambda1 * scale, ridges[y] * scale, columns[y], gradient, factor)


def sweep_columns(program: PathProgram, ridges: Matrix, columns: Matrix, workers: ColumnWorkers) -> None:
    """Minimise the elastic nets over one weight after the other, in a few sweeps; in place."""
    moments, d = program.moments, len(program)
    gradients, scales = np.empty((d, d)), np.ones(d)

    def begin(part: NDArray[np.int64]) -> None:
        residual_gradients(moments, columns, part, gradients)

    workers.map(begin, workers.shares(np.arange(d)))
    if program.profile:
        variances = np.diag(moments) + (columns * (gradients - moments)).sum(axis=1)
        scales = np.maximum(variances, SMALLEST_RESIDUAL * np.diag(moments))
    allowed = np.ascontiguousarray(program.allowed.T)

    def sweep(part: NDArray[np.int64]) -> None:
        sweep_some(moments, allowed, program.lambda1, scales, ridges, gradients, columns, part)

    workers.map(sweep, workers.shares(np.arange(d)))


@kernel
def residual_gradients(moments: Matrix, columns: Matrix, some: NDArray[np.int64], gradients: Matrix) -> None:
    """Gradients of the squared losses of some columns; row y of both matrices belongs to column y."""
    for y in some:
        residual_gradient(moments, y, columns[y], gradients[y])


@kernel
def sweep_some(
    moments: Matrix,
    allowed: NDArray[np.bool_],
    lambda1: float,
    scales: Vector,
    ridges: Matrix,
    gradients: Matrix,
    columns: Matrix,
    some: NDArray[np.int64],
) -> None:
    """Sweep some columns, block by block, so that the moments of a block stay near while they are needed.

    Rows of all matrices but `moments` belong to columns of the program.
    """
    d = len(moments)
    for _ in range(SWEEPS):
        for start in range(0, d, BLOCK):
            stop = min(start + BLOCK, d)
            for y in some:
                sweep_block(
                    moments,
                    allowed[y],
                    lambda1 * scales[y],
                    scales[y],
                    ridges[y],
                    gradients[y],
                    columns[y],
                    start,
                    stop,
                )


@kernel
def sweep_block(
    moments: Matrix,
    free: NDArray[np.bool_],
    penalty: float,
    scale: float,
    ridge: Vector,
    gradient: Vector,
    weights: Vector,
    start: int,
    stop: int,
) -> None:
    """Minimise over the weights from `start` to `stop` of one column, then bring its gradient up to date."""
    near = gradient[start:stop].copy()
    changes = np.zeros(stop - start)
    for k in range(stop - start):
        i = start + k
        if not free[i]:
            continue
        row = moments[i, start:stop]
        curvature = row[k] + ridge[i] * scale
        aim = row[k] * weights[i] - near[k]
        best = np.sign(aim) * max(abs(aim) - penalty, 0.0) / curvature
        step = best - weights[i]
        if step != 0.0:
            weights[i] = best
            changes[k] = step
            subtract_row(near, -step, row)
    add_rows(gradient, changes, moments, start)
