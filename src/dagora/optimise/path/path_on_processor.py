"""The steps of the smooth path on the processor: elastic nets in several threads, inverses by LAPACK.

With many variables the elastic nets are swept in blocks of coordinates. Within a block every column goes on
alone; after it one matrix product brings the gradients of all columns up to date. Threads share the columns,
so the result does not depend on their number. LAPACK and matrix products have threads of their own, which the
number of jobs does not change.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dgemm
from scipy.linalg.lapack import dgetrf, dgetri

from dagora.compiled import kernel
from dagora.optimise.path.column_problem import SMALLEST_RESIDUAL, ColumnProblem, residual_variance
from dagora.optimise.path.smooth_path import EXACT_TO, SWEEPS, PathProgram
from dagora.optimise.path.workers import ALONE, Workers
from dagora.scores.lasso_kernels import Matrix, Vector, solve_lasso, subtract_row

# Coordinates that are swept between two updates of all gradients.
BLOCK = 128


@dataclass(frozen=True)
class PathOnProcessor:
    """The steps of a program's path, in NumPy and kernels."""

    program: PathProgram
    workers: Workers = field(default=ALONE)

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
        return self.program.objective(weights)

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
    inverse = dgetri(factor, pivots, overwrite_lu=True)[0]
    if not inverse.min() >= -1e-9 or not inverse.diagonal().min() >= 1 - 1e-9:
        return None
    return np.ascontiguousarray(np.maximum(inverse, 0.0)), -float(log_determinant)


def solve_columns(program: PathProgram, weights: Matrix, ridge: Matrix, workers: Workers) -> Matrix:
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


def sweep_columns(program: PathProgram, ridges: Matrix, columns: Matrix, workers: Workers) -> None:
    """Minimise the elastic nets over one weight after the other, in a few sweeps; in place."""
    moments, d = program.moments, len(program)
    gradients = columns @ moments - moments
    scales = np.ones(d)
    if program.profile:
        variances = np.diag(moments) + (columns * (gradients - moments)).sum(axis=1)
        scales = np.maximum(variances, SMALLEST_RESIDUAL * np.diag(moments))
    allowed = np.ascontiguousarray(program.allowed.T)
    parts = workers.parts(np.arange(d))
    starts = range(0, d, BLOCK)
    for sweep in range(SWEEPS):
        for start in starts:
            stop = min(start + BLOCK, d)
            changes = np.zeros((d, stop - start))

            def advance(part: NDArray[np.int64], start: int = start, changes: Matrix = changes) -> None:
                sweep_block(
                    moments,
                    allowed,
                    program.lambda1,
                    scales,
                    ridges,
                    gradients,
                    columns,
                    changes,
                    start,
                    part,
                )

            workers.map(advance, parts)
            if sweep < SWEEPS - 1 or stop < d:
                # gradients += changes @ moments[start:stop], in place: BLAS sees the transposes.
                dgemm(1.0, moments[start:stop].T, changes.T, 1.0, gradients.T, overwrite_c=True)


@kernel
def sweep_block(
    moments: Matrix,
    allowed: NDArray[np.bool_],
    lambda1: float,
    scales: Vector,
    ridges: Matrix,
    gradients: Matrix,
    columns: Matrix,
    changes: Matrix,
    start: int,
    some: NDArray[np.int64],
) -> None:
    """Sweep the coordinates from `start` on of some columns; write how the weights change to `changes`.

    Rows of all matrices but `moments` belong to columns of the program. `gradients` stay as they are.
    """
    size = changes.shape[1]
    for y in some:
        gradient = gradients[y, start : start + size].copy()
        weights, change = columns[y, start : start + size], changes[y]
        ridge, free = ridges[y, start : start + size], allowed[y, start : start + size]
        penalty, scale = lambda1 * scales[y], scales[y]
        for k in range(size):
            if not free[k]:
                continue
            row = moments[start + k, start : start + size]
            curvature = row[k] + ridge[k] * scale
            aim = row[k] * weights[k] - gradient[k]
            best = np.sign(aim) * max(abs(aim) - penalty, 0.0) / curvature
            step = best - weights[k]
            if step != 0.0:
                weights[k] = best
                change[k] = step
                subtract_row(gradient, -step, row)
