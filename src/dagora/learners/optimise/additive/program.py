"""The program of NOTEARS-SOB on second moments: fit + λ₁ group norms + λ₂ ridge subject to h = 0.

With coefficients w_irj of function r of column i in the sum for column j,

    fit = ½ Σ_j Var(x_j − Σ_ir w_irj u_ir),    A_ij = ‖w_i·j‖,    h(A) = tr exp(A∘A) − d,

and the penalty is λ₁ Σ A_ij + (λ₂/2) Σ w². The fit is a quadratic form in w whose matrix is the covariance of
the functions, so no evaluation depends on the number of rows. Near 0 the norm A_ij is smoothed. The outer
loop over α and ρ is `method_of_multipliers`; each problem is minimised by L-BFGS, the first one from w = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from dagora.base.budget import OutOfTimeError
from dagora.learners.optimise.acyclicity import Acyclicity
from dagora.learners.optimise.additive.orthonormal import OrthonormalBasis
from dagora.learners.optimise.method_of_multipliers import (
    ConstrainedMinimum,
    Multipliers,
    ProblemMinimum,
    method_of_multipliers,
)

Matrix = NDArray[np.float64]
Support = NDArray[np.bool_]

# Norms are √(‖w‖² + ε²) − ε: small compared with any strength that makes an edge.
EPSILON = 1e-6
# Relative change of the objective at which a minimisation ends, and the largest number of its steps: for the
# problems of the outer loop, and for the fit of the final graph.
PATH_TOLERANCE, PATH_STEPS = 1e-9, 100
FIT_TOLERANCE, FIT_STEPS = 1e-12, 2000
# Directions from which L-BFGS estimates the curvature.
MEMORY = 20
# Stands for an infinite value, with which a line search cannot interpolate.
HUGE = 1e100


class Evaluation(NamedTuple):
    """Value and gradient of the augmented Lagrangian with smoothed norms, and h."""

    value: float
    gradient: Matrix
    h: float


@dataclass(eq=False)
class AdditiveProgram:
    """Moments and penalties; `watch` takes h at each evaluation and returns True to stop.

    Coefficients have the shape [column, function, target].
    """

    basis: OrthonormalBasis
    lambda1: float
    lambda2: float
    acyclicity: Acyclicity
    watch: Callable[[float], bool]
    evaluations: int = 0

    def evaluate(self, w: Matrix, alpha: float, rho: float) -> Evaluation:
        """The Lagrangian fit + penalties + α h + (ρ/2) h² at coefficients `w`."""
        self.evaluations += 1
        fit, slopes = self.fit(w)
        squares = np.square(w).sum(axis=1)
        sizes = np.sqrt(squares)
        h, cycles = self.acyclicity(sizes)
        # ∂h/∂w = (∂h/∂A) w/A, and ∂h/∂A has the factor A.
        steepness = np.divide(cycles, sizes, out=np.zeros_like(sizes), where=sizes > 0)
        rounded = np.sqrt(squares + EPSILON**2)
        value = fit + self.lambda1 * float((rounded - EPSILON).sum())
        value += 0.5 * self.lambda2 * float(squares.sum()) + (alpha + 0.5 * rho * h) * h
        factor = self.lambda1 / rounded + self.lambda2 + (alpha + rho * h) * steepness
        return Evaluation(value, slopes + w * factor[:, None, :], h)

    def fit(self, w: Matrix) -> tuple[float, Matrix]:
        """Half the variance of all residuals, and its gradient."""
        b = self.basis.functions
        # Column j itself is the first of its functions.
        residual = -w.reshape(len(self.basis.covariance), -1)
        residual[np.arange(len(w)) * b, np.arange(len(w))] += 1.0
        pulled = self.basis.covariance @ residual
        return 0.5 * float(np.vdot(residual, pulled)), -pulled.reshape(w.shape)

    def objective(self, w: Matrix) -> float:
        """Fit and penalties with exact norms."""
        ridge = 0.5 * self.lambda2 * float(np.square(w).sum())
        return self.fit(w)[0] + self.lambda1 * float(strengths(w).sum()) + ridge


def strengths(w: Matrix) -> Matrix:
    """A, with the strength of the edge i → j at [i, j]."""
    norms: Matrix = np.sqrt(np.square(w).sum(axis=1))
    return norms


def minimise(
    program: AdditiveProgram,
    start: Matrix,
    free: Support,
    *,
    alpha: float = 0.0,
    rho: float = 0.0,
    tolerance: float = FIT_TOLERANCE,
    steps: int = FIT_STEPS,
) -> tuple[Matrix, bool]:
    """Minimise over the coefficients of free edges; return them, and False if time ran out."""
    from scipy.optimize import minimize as scipy_minimise

    b = program.basis.functions

    def unpack(entries: Matrix) -> Matrix:
        w = np.zeros((len(free), len(free), b))
        w[free] = entries.reshape(-1, b)
        return np.ascontiguousarray(w.transpose(0, 2, 1))

    def pack(w: Matrix) -> Matrix:
        entries: Matrix = w.transpose(0, 2, 1)[free].ravel()
        return entries

    latest = pack(start)
    if latest.size == 0:
        return np.zeros_like(start), True

    def function(entries: Matrix) -> tuple[float, Matrix]:
        found = program.evaluate(unpack(entries), alpha, rho)
        if program.watch(found.h):
            raise OutOfTimeError
        if not (np.isfinite(found.value) and np.isfinite(found.gradient).all()):
            return HUGE, np.zeros_like(entries)
        return found.value, pack(found.gradient)

    def keep(entries: Matrix) -> None:
        nonlocal latest
        latest = entries.copy()

    options = {"ftol": tolerance, "maxiter": steps, "maxfun": 10 * steps, "maxcor": MEMORY}
    try:
        found = scipy_minimise(function, latest, jac=True, method="L-BFGS-B", callback=keep, options=options)
    except OutOfTimeError:
        return unpack(latest), False
    return unpack(cast("Matrix", found.x)), True


def follow_multipliers(program: AdditiveProgram, free: Support) -> ConstrainedMinimum[Matrix]:
    """Minimise from w = 0 under h = 0, until the strengths form a DAG or nearly so."""

    def minimise_at(w: Matrix, at: Multipliers) -> ProblemMinimum[Matrix]:
        found, in_time = minimise(
            program, w, free, alpha=at.alpha, rho=at.rho, tolerance=PATH_TOLERANCE, steps=PATH_STEPS
        )
        return ProblemMinimum(found, program.acyclicity(strengths(found))[0], in_time)

    d, b = program.basis.columns, program.basis.functions
    return method_of_multipliers(np.zeros((d, b, d)), minimise_at)
