"""The NOTEARS program along a path of growing penalties on cycles, on second moments alone.

For a growing sequence of c this minimises

    Σ_j loss_j(w_j) + λ ‖W‖₁ + c · h(A),      h(A) = −ln det(I − A),      A = W∘W

(h as in Bello, Aragam & Ravikumar 2022; the program is that of Zheng, Aragam, Ravikumar & Xing 2018). h is
replaced by its linearisation, h ≈ h₀ + ⟨G, A − A₀⟩ with G = (I − A₀)⁻ᵀ. Each step then solves one elastic net
per column, with ridge 2cG, and a line search towards that solution follows. A step costs one d × d inverse
and d small solves, and needs no rows; the processor does them (`path_on_processor`) or a GPU (`path_on_gpu`).
A required edge adds 1 to its entry of A: it counts as present whatever its weight, so no path may lead from
its head to its tail.

The weights at the end of the path are nearly acyclic; only the order of the variables is taken from them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Event
from dagora.graph.topological import topological_order
from dagora.learners.optimise.path.column_problem import SMALLEST_RESIDUAL, ColumnProblem
from dagora.learners.optimise.progress import EdgeMaker, lazy_edges
from dagora.learners.run import Run
from dagora.scores.lasso_kernels import Matrix, Vector

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
# Up to this many variables the elastic nets of a step are solved exactly; with more, by this many sweeps over
# the coordinates, since exact solutions of dense columns are expensive. Sweeps lower the same objective, and
# the line search accepts any step that does.
EXACT_TO, SWEEPS = 100, 4
# The ridge of regressions on exogenous columns, as a share of their variances.
RIDGE = 1e-6

A = TypeVar("A")


@dataclass(frozen=True)
class PathProgram:
    """Second moments, the penalty λ, allowed and required edges, and whether variances are profiled.

    No edge into the last `exogenous` columns may be allowed (`ColumnProblem`).
    `edge_maker` makes the edges in events.
    """

    moments: Matrix
    lambda1: float
    allowed: NDArray[np.bool_]
    required: NDArray[np.bool_]
    profile: bool = False
    exogenous: int = 0
    exogenous_threshold: float = 0.0
    edge_maker: EdgeMaker | None = field(default=None, compare=False)

    def __len__(self) -> int:
        return len(self.moments)

    @property
    def movable(self) -> int:
        """The number of columns that are not exogenous; they come first."""
        return len(self) - self.exogenous

    def without_exogenous(self) -> PathProgram:
        """The program on the residuals of least squares on the exogenous columns.

        If their edges are unpenalised and all allowed, it has the same solutions; otherwise nearly the same,
        which is good enough to start from.

        >>> moments, nothing = np.array([[5.0, 2.0], [2.0, 1.0]]), np.zeros((2, 2), dtype=bool)
        >>> program = PathProgram(moments, 0.1, nothing, nothing, exogenous=1)
        >>> program.without_exogenous().moments.round(4)  # 5 − 2²/1
        array([[1.]])
        """
        if not self.exogenous:
            return self
        d = self.movable
        inside, across, outside = self.moments[:d, :d], self.moments[:d, d:], self.moments[d:, d:]
        # Where there are fewer rows than columns, the ridge leaves some variance to be explained inside.
        ridge = np.diag(np.diag(outside)) * RIDGE
        left = inside - across @ np.linalg.solve(outside + ridge, across.T)
        return PathProgram(
            np.ascontiguousarray((left + left.T) / 2),
            self.lambda1,
            np.ascontiguousarray(self.allowed[:d, :d]),
            np.ascontiguousarray(self.required[:d, :d]),
            self.profile,
        )

    @property
    def column_problem(self) -> ColumnProblem:
        """The program as a record for kernels."""
        return ColumnProblem(
            self.moments, self.allowed, self.required, self.lambda1, self.profile, exogenous=self.exogenous
        )

    def thresholded_problem(self, threshold: float, cut: str) -> ColumnProblem:
        """The same with a threshold: the loss of a column is that after `cut` removed its weak weights."""
        return self.column_problem._replace(
            threshold=threshold, slack=CUTS[cut], exogenous_threshold=self.exogenous_threshold
        )

    def squares(self, weights: Matrix) -> Matrix:
        """A: the squared weights, plus 1 for each required edge."""
        return weights * weights + self.required

    def objective(self, weights: Matrix) -> float:
        """Loss and penalty of any weights."""
        residuals = np.eye(len(self)) - weights
        variances = (residuals * (self.moments @ residuals)).sum(axis=0)
        return self.loss(variances) + self.lambda1 * float(np.abs(weights).sum())

    def loss(self, variances: Vector) -> float:
        """The loss of all columns, given their residual variances."""
        variances = variances[: self.movable]
        if self.profile:
            # With fewer rows than columns a residual variance can be zero; `column_problem` has the same
            # floor.
            floor = SMALLEST_RESIDUAL * np.diag(self.moments)[: self.movable]
            variances = np.log(np.maximum(variances, floor))
        return 0.5 * float(variances.sum())


class PathSteps(Protocol[A]):
    """The arithmetic of the path, on arrays of some type `A`."""

    @property
    def program(self) -> PathProgram:
        """The program whose path it is."""

    def start(self) -> A:
        """Weights that are all zero."""

    def solve(self, weights: A, inverse: A, c: float) -> A:
        """The elastic nets of all columns with ridge 2c · inverseᵀ, started from `weights`."""

    def between(self, weights: A, target: A, step: float) -> A:
        """Weights on the way to a target."""

    def barrier(self, weights: A) -> tuple[A, float] | None:
        """(I − A)⁻¹ and h = −ln det(I − A); None if I − A is no M-matrix (Σ_k Aᵏ diverges)."""

    def objective(self, weights: A) -> float:
        """Loss and penalty."""

    def fetch(self, weights: A) -> Matrix:
        """Weights as a matrix."""


@dataclass(frozen=True)
class PathPoint(Generic[A]):
    """Weights on the path, with their inverse and h."""

    weights: A
    inverse: A
    h: float


def follow_path(steps: PathSteps[A], run: Run) -> tuple[Matrix, int]:
    """Weights at the end of the path, and the number of steps; when time runs out, the weights so far."""
    program, weights = steps.program, steps.start()
    found = steps.barrier(weights)
    if found is None:
        raise AssertionError("required edges have no cycle")
    at = PathPoint(weights, *found)
    number, c = 0, FIRST_C
    while c <= LAST_C:
        merit = steps.objective(at.weights) + c * at.h
        for _ in range(STEPS_PER_C):
            if run.budget.exhausted:
                return steps.fetch(at.weights), number
            target = steps.solve(at.weights, at.inverse, c)
            at, lower = line_search(steps, at, target, c, merit)
            number += 1
            gained, merit = merit - lower, lower
            if gained <= ENOUGH * abs(lower):
                break
        edges = lazy_edges(program.edge_maker, partial(steps.fetch, at.weights))
        run.on_event(Event("following the path", number, edges=edges))
        if not is_cyclic(program.squares(steps.fetch(at.weights))):
            break
        c *= GROWTH
    return steps.fetch(at.weights), number


def is_cyclic(squares: Matrix) -> bool:
    """Return True if the weights above `FAINT` form a cycle."""
    return topological_order(squares > FAINT**2) is None


def line_search(
    steps: PathSteps[A], at: PathPoint[A], target: A, c: float, merit: float
) -> tuple[PathPoint[A], float]:
    """Step towards `target`; halve the step until loss + penalty + c · h falls."""
    step = 1.0
    while step > 1e-4:
        trial = steps.between(at.weights, target, step)
        found = steps.barrier(trial)
        if found is not None:
            lower = steps.objective(trial) + c * found[1]
            if lower < merit:
                return PathPoint(trial, *found), lower
        step /= 2
    return at, merit
