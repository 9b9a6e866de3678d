"""The NOTEARS program along a path of growing penalties on cycles, on second moments alone.

For a growing sequence of c this minimises

    Σ_j loss_j(w_j) + λ ‖W‖₁ + c · h(A),      h(A) = −ln det(I − A),      A = W∘W

(h as in Bello, Aragam & Ravikumar 2022; the program is that of Zheng, Aragam, Ravikumar & Xing 2018). h is
replaced by its linearisation, h ≈ h₀ + ⟨G, A − A₀⟩ with G = (I − A₀)⁻ᵀ. Each step then solves one elastic net
per column, with ridge 2cG (`scores/lasso_kernels`), and a line search towards that solution follows. A step
costs one d × d inverse and d small solves, and needs no rows. A required edge adds 1 to its entry of A: it
counts as present whatever its weight, so no path may lead from its head to its tail.

The weights at the end of the path are nearly acyclic; only the order of the variables is taken from them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.compiled import kernel
from dagora.events import Event
from dagora.graph.dag import topological_order
from dagora.optimise.path.column_problem import SMALLEST_RESIDUAL, ColumnProblem, residual_variance
from dagora.optimise.path.workers import Workers
from dagora.run import Run
from dagora.scores.lasso_kernels import Matrix, Vector, residual_gradient, solve_lasso

# The ways of removing weak weights (`thresholding`). Each has its slack: the share by which the loss of
# removing them one by one may exceed that of removing them at once before the latter is preferred.
CUTS = {"guarded": 0.5, "one-by-one": np.inf, "at-once": -np.inf, "better": 0.0}
# The values of c, and the steps at each. The path need only end near a good order, which moves then improve,
# so a coarse schedule is enough.
FIRST_C, LAST_C, GROWTH = 0.1, 1e5, 3.0
STEPS_PER_C = 2
# A step that lowers the objective by less than this share of it is the last one at its c.
ENOUGH = 1e-2
# The path ends when every remaining cycle has a weight below this.
FAINT = 0.1
# Up to this many variables the elastic nets of a step are solved exactly; with more, by this many sweeps.
EXACT_TO, SWEEPS = 100, 4


@dataclass(frozen=True)
class PathProgram:
    """Second moments, the penalty λ, allowed and required edges, and whether variances are profiled."""

    moments: Matrix
    lambda1: float
    allowed: NDArray[np.bool_]
    required: NDArray[np.bool_]
    profile: bool = False

    def __len__(self) -> int:
        return len(self.moments)

    @property
    def column_problem(self) -> ColumnProblem:
        """The program as kernels take it."""
        return ColumnProblem(self.moments, self.allowed, self.required, self.lambda1, self.profile)

    def judged_after(self, threshold: float, cut: str) -> ColumnProblem:
        """The same with a threshold: columns are judged after a way of `CUTS` removed their weak weights."""
        return self.column_problem._replace(threshold=threshold, slack=CUTS[cut])

    def squares(self, weights: Matrix) -> Matrix:
        """A: the squared weights, plus 1 for each required edge."""
        return weights * weights + self.required

    def objective(self, weights: Matrix) -> float:
        """Loss and penalty of any weights."""
        residuals = np.eye(len(self)) - weights
        variances = (residuals * (self.moments @ residuals)).sum(axis=0)
        if self.profile:
            # With fewer rows than columns a residual variance can be zero; `column_problem` has the same
            # floor.
            variances = np.log(np.maximum(variances, SMALLEST_RESIDUAL * np.diag(self.moments)))
        loss = variances.sum()
        return float(0.5 * loss + self.lambda1 * np.abs(weights).sum())


def follow_path(program: PathProgram, run: Run, workers: Workers) -> tuple[Matrix, int]:
    """Weights at the end of the path, and the number of steps; when time runs out, the weights so far."""
    d = len(program)
    weights = np.zeros((d, d))
    inverse, h = np.eye(d), 0.0
    if program.required.any():
        inverse, h = barrier(program.squares(weights)) or (inverse, h)
    steps, c = 0, FIRST_C
    while c <= LAST_C:
        merit = program.objective(weights) + c * h
        for _ in range(STEPS_PER_C):
            if run.budget.exhausted:
                return weights, steps
            target = solve_columns(program, weights, 2 * c * inverse.T, workers)
            weights, inverse, h, lower = line_search(program, weights, target, inverse, h, c, merit)
            steps += 1
            gained, merit = merit - lower, lower
            if gained <= ENOUGH * abs(lower):
                break
        run.on_event(Event("following the path", steps))
        if not still_cyclic(program.squares(weights)):
            break
        c *= GROWTH
    return weights, steps


def still_cyclic(squares: Matrix) -> bool:
    """Whether the weights above `FAINT` form a cycle."""
    return topological_order(squares > FAINT**2) is None


def solve_columns(program: PathProgram, weights: Matrix, ridge: Matrix, workers: Workers) -> Matrix:
    """The elastic nets of all columns, started from `weights`."""
    columns = weights.T.copy()
    ridges = np.ascontiguousarray(ridge.T)
    problem = program.column_problem

    def solve(part: NDArray[np.int64]) -> None:
        elastic_nets(problem, ridges, columns, part)

    workers.map(solve, workers.parts(np.arange(len(program))))
    return np.ascontiguousarray(columns.T)


@kernel
def elastic_nets(
    problem: ColumnProblem, ridges: Matrix, columns: Matrix, some: NDArray[np.int64]
) -> None:
    """Solve some columns in place; row y of `columns` and `ridges` belongs to column y.

    With many variables a few sweeps over the coordinates replace the exact solution, which is expensive for
    dense columns. They lower the same objective, and the line search accepts any step that does.

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
    factor = np.empty((d, d) if d <= EXACT_TO else (1, 1))
    gradient = np.empty(d)
    free = np.empty(d, dtype=np.bool_)
    for y in some:
        for i in range(d):
            free[i] = allowed[i, y]
        scale = 1.0
        if problem.profile:
            scale = max(residual_variance(moments, y, columns[y]), SMALLEST_RESIDUAL * moments[y, y])
        if d <= EXACT_TO:
            solve_lasso(moments, y, free, lambda1 * scale, ridges[y] * scale, columns[y], gradient, factor)
        else:
            sweep_coordinates(moments, y, free, lambda1 * scale, ridges[y] * scale, columns[y], gradient)


@kernel
def sweep_coordinates(
    moments: Matrix,
    child: int,
    free: NDArray[np.bool_],
    penalty: float,
    ridge: Vector,
    weights: Vector,
    gradient: Vector,
) -> None:
    """Minimise the elastic net over one weight after the other, in a few sweeps."""
    d = len(weights)
    residual_gradient(moments, child, weights, gradient)
    for _ in range(SWEEPS):
        for i in range(d):
            if not free[i]:
                continue
            curvature = moments[i, i] + ridge[i]
            aim = curvature * weights[i] - gradient[i] - ridge[i] * weights[i]
            best = np.sign(aim) * max(abs(aim) - penalty, 0.0) / curvature
            step = best - weights[i]
            if step != 0.0:
                weights[i] = best
                row = moments[i]
                for k in range(d):
                    gradient[k] += step * row[k]


def line_search(
    program: PathProgram,
    weights: Matrix,
    target: Matrix,
    inverse: Matrix,
    h: float,
    c: float,
    merit: float,
) -> tuple[Matrix, Matrix, float, float]:
    """Step towards `target`; halve the step until loss + penalty + c · h falls."""
    step = 1.0
    while step > 1e-4:
        trial = weights + step * (target - weights)
        found = barrier(program.squares(trial))
        if found is not None:
            trial_inverse, trial_h = found
            lower = program.objective(trial) + c * trial_h
            if lower < merit:
                return trial, trial_inverse, trial_h, lower
        step /= 2
    return weights, inverse, h, merit


def barrier(squares: Matrix) -> tuple[Matrix, float] | None:
    """(I − A)⁻¹ and h = −ln det(I − A); None where I − A is no M-matrix, that is where Σ_k Aᵏ diverges."""
    matrix = np.eye(len(squares)) - squares
    sign, log_determinant = np.linalg.slogdet(matrix)
    if sign <= 0:
        return None
    inverse = np.linalg.inv(matrix)
    if inverse.min() < -1e-9 or inverse.diagonal().min() < 1 - 1e-9:
        return None
    return np.maximum(inverse, 0.0), -float(log_determinant)
