"""The program of NOTEARS-MLP: fit + λ₁ penalty + λ₂ ridge subject to h = 0, by an augmented Lagrangian.

The outer loop over α and ρ is `method_of_multipliers`; each of its problems is minimised by L-BFGS-B. As in
the published code, an entrywise L1 penalty is made smooth by writing w = w⁺ − w⁻ with w⁺, w⁻ ≥ 0; the group
penalty is smoothed near 0 instead and needs no bounds. Inputs that are not free are left out of the vector of
unknowns.

The minimisations on the way need not be exact, so they have few steps: each starts where the last one ended,
and the networks are fitted to convergence once the graph is known. That saves four of five evaluations.
Zheng et al. (2020).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from dagora.base.budget import OutOfTimeError
from dagora.learners.optimise.method_of_multipliers import (
    ConstrainedMinimum,
    Multipliers,
    ProblemMinimum,
    method_of_multipliers,
)
from dagora.learners.optimise.mlp.network import NetworkWeights, lagrangian_with_gradient

# Relative change of the objective at which a minimisation ends, and the largest number of its steps: for the
# problems of the outer loop, and for the fit of the final graph.
PATH_TOLERANCE, PATH_STEPS = 1e-9, 100
FIT_TOLERANCE, FIT_STEPS = 1e-9, 2000
# Stands for an infinite value, with which a line search cannot interpolate.
HUGE = 1e100

Vector = NDArray[np.float64]
Watch = Callable[[float], bool]


@dataclass(eq=False)
class MlpProgram:
    """Data and penalties; `watch` takes h at each evaluation and returns True to stop.

    A `required` edge counts as present in h, however weak it is: no path may lead from its head to its tail.
    """

    columns: NDArray[np.float64]
    lambda1: float
    lambda2: float
    penalty: str
    watch: Watch
    required: NDArray[np.bool_] | None = None
    evaluations: int = 0

    def __post_init__(self) -> None:
        import jax

        # JAX computes where its arrays are: these networks are too small for an accelerator.
        self._device_columns = jax.device_put(self.columns, jax.devices("cpu")[0])
        d = len(self.columns)
        self._required = np.zeros((d, d)) if self.required is None else self.required.astype(np.float64)

    def evaluate(
        self, weights: NetworkWeights, alpha: float, rho: float
    ) -> tuple[float, NetworkWeights, float, float]:
        """Value and gradient of the Lagrangian's smooth part, then h and fit + λ₂ ridge."""
        group_lambda = self.lambda1 if self.penalty == "group" else 0.0
        (value, (h, smooth)), gradient = lagrangian_with_gradient(
            weights, self._device_columns, self.lambda2, group_lambda, alpha, rho, self._required
        )
        self.evaluations += 1
        return float(value), NetworkWeights(*(np.asarray(part) for part in gradient)), float(h), float(smooth)

    def objective(self, weights: NetworkWeights) -> tuple[float, float]:
        """Return fit + λ₁ penalty + λ₂ ridge with the exact penalty, not the smoothed one; and h."""
        _, _, h, smooth = self.evaluate(weights, 0.0, 0.0)
        entries = np.asarray(weights.inward)
        size = strengths(weights).sum() if self.penalty == "group" else np.abs(entries).sum()
        return smooth + self.lambda1 * float(size), h


def strengths(weights: NetworkWeights) -> NDArray[np.float64]:
    """A, with the strength of the edge k → j at [k, j]."""
    norms: NDArray[np.float64] = np.sqrt(np.square(np.asarray(weights.inward)).sum(axis=0)).T
    return norms


@dataclass(frozen=True, eq=False)
class WeightPacking:
    """Weights as one vector: free first-layer weights (twice, if split by sign), then the rest.

    `free[k, j]` is True if network j may use input k.
    """

    free: NDArray[np.bool_]
    hidden: int
    split: bool

    @property
    def entries(self) -> int:
        """Number of free first-layer weights."""
        return self.hidden * int(self.free.sum())

    def pack(self, weights: NetworkWeights) -> Vector:
        """The vector of given weights; those that are not free are left out."""
        inward = np.asarray(weights.inward)[:, self.free.T].ravel()
        signs = [np.maximum(inward, 0.0), np.maximum(-inward, 0.0)] if self.split else [inward]
        return np.concatenate([*signs, *(np.asarray(part).ravel() for part in weights[1:])])

    def unpack(self, vector: Vector) -> NetworkWeights:
        """The weights of a vector."""
        size, units, d = self.entries, self.hidden, len(self.free)
        rest = vector[size * (1 + self.split) :]
        entries = vector[:size] - vector[size : 2 * size] if self.split else vector[:size]
        inward = np.zeros((units, d, d))
        inward[:, self.free.T] = entries.reshape(units, -1)
        bias, outward, outward_bias = np.split(rest, [units * d, 2 * units * d])
        return NetworkWeights(inward, bias.reshape(units, d), outward.reshape(units, d), outward_bias)

    def gradient(self, gradient: NetworkWeights, lambda1: float) -> Vector:
        """Gradient in the vector's entries of smooth part + λ₁ Σ (w⁺ + w⁻)."""
        inward = np.asarray(gradient.inward)[:, self.free.T].ravel()
        signs = [inward + lambda1, lambda1 - inward] if self.split else [inward]
        return np.concatenate([*signs, *(np.asarray(part).ravel() for part in gradient[1:])])


def minimise(
    program: MlpProgram,
    start: NetworkWeights,
    free: NDArray[np.bool_],
    *,
    alpha: float = 0.0,
    rho: float = 0.0,
    tolerance: float = FIT_TOLERANCE,
    steps: int = FIT_STEPS,
) -> tuple[NetworkWeights, bool]:
    """Minimise the augmented Lagrangian over the free weights; return them, and False if time ran out."""
    from scipy.optimize import Bounds
    from scipy.optimize import minimize as scipy_minimise

    split = program.penalty == "l1"
    packing = WeightPacking(free, np.asarray(start.inward).shape[0], split)
    lambda1 = program.lambda1 if split else 0.0
    signed = 2 * packing.entries if split else 0
    latest = packing.pack(start)
    low = np.full(len(latest), -np.inf)
    low[:signed] = 0.0

    def function(vector: Vector) -> tuple[float, Vector]:
        value, gradient, h, _ = program.evaluate(packing.unpack(vector), alpha, rho)
        if program.watch(h):
            raise OutOfTimeError
        slope = packing.gradient(gradient, lambda1)
        if not (np.isfinite(value) and np.isfinite(slope).all()):
            return HUGE, np.zeros_like(vector)
        return value + lambda1 * float(vector[:signed].sum()), slope

    def keep(vector: Vector) -> None:
        nonlocal latest
        latest = vector.copy()

    try:
        found = scipy_minimise(
            function,
            latest,
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(low, np.inf),
            callback=keep,
            options={"ftol": tolerance, "maxiter": steps, "maxfun": 20 * steps},
        )
    except OutOfTimeError:
        return packing.unpack(latest), False
    return packing.unpack(cast("Vector", found.x)), True


def augmented_lagrangian(
    program: MlpProgram, start: NetworkWeights, free: NDArray[np.bool_]
) -> ConstrainedMinimum[NetworkWeights]:
    """Minimise from `start` under h = 0, until the networks' strengths form a DAG or nearly so."""

    def minimise_at(weights: NetworkWeights, at: Multipliers) -> ProblemMinimum[NetworkWeights]:
        found, in_time = minimise(
            program, weights, free, alpha=at.alpha, rho=at.rho, tolerance=PATH_TOLERANCE, steps=PATH_STEPS
        )
        return ProblemMinimum(found, program.evaluate(found, at.alpha, at.rho)[2], in_time)

    return method_of_multipliers(start, minimise_at)
