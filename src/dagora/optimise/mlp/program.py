"""The program of NOTEARS-MLP: fit + λ₁ penalty + λ₂ ridge subject to h = 0, by an augmented Lagrangian.

Each minimisation is by L-BFGS-B. An entrywise L1 penalty is made smooth by w = w⁺ − w⁻ with w⁺, w⁻ ≥ 0, as
in the published code; the group penalty is rounded off at 0 instead and needs no bounds. Inputs that are not
free are no variables at all. ρ is multiplied by 10 until h falls to a quarter, then α ← α + ρh; it ends at
h ≤ 10⁻⁸ or ρ = 10¹⁶. The minimisations on the way need not be exact, so they have few steps: each starts
where the last one ended, and the networks are fitted to the end once the graph is known. That saves four
evaluations of five. Zheng et al. (2020), section 4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from dagora.events import OutOfTimeError
from dagora.optimise.mlp.network import Weights, lagrangian_with_gradient

H_TOLERANCE = 1e-8
RHO_MAX = 1e16
PROGRESS = 0.25
GROWTH = 10.0
# Relative change of the objective at which a minimisation ends, and its most steps: on the path, at the end.
PATH_TOLERANCE, PATH_STEPS = 1e-9, 100
FIT_TOLERANCE, FIT_STEPS = 1e-9, 2000
# Stands for an infinite value, at which a line search cannot interpolate.
HUGE = 1e100

Vector = NDArray[np.float64]
Watch = Callable[[float], bool]


@dataclass(eq=False)
class MlpProgram:
    """Data and penalties; `watch` is told h at each evaluation and says whether to stop.

    A `required` edge counts as there in h, however weak it is: nothing may lead back along it.
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

        # An array that is put on the processor keeps the computation there.
        self._device_columns = jax.device_put(self.columns, jax.devices("cpu")[0])
        d = len(self.columns)
        self._required = np.zeros((d, d)) if self.required is None else self.required.astype(np.float64)

    def evaluate(self, weights: Weights, alpha: float, rho: float) -> tuple[float, Weights, float, float]:
        """Value and gradient of the Lagrangian's smooth part, then h and fit + λ₂ ridge."""
        group_lambda = self.lambda1 if self.penalty == "group" else 0.0
        (value, (h, smooth)), gradient = lagrangian_with_gradient(
            weights, self._device_columns, self.lambda2, group_lambda, alpha, rho, self._required
        )
        self.evaluations += 1
        return float(value), Weights(*(np.asarray(part) for part in gradient)), float(h), float(smooth)

    def objective(self, weights: Weights) -> tuple[float, float]:
        """Return fit + λ₁ penalty + λ₂ ridge with the penalty as it stands, not rounded off; and h."""
        _, _, h, smooth = self.evaluate(weights, 0.0, 0.0)
        entries = np.asarray(weights.inward)
        size = strengths(weights).sum() if self.penalty == "group" else np.abs(entries).sum()
        return smooth + self.lambda1 * float(size), h


def strengths(weights: Weights) -> NDArray[np.float64]:
    """A, with the strength of the edge k → j at [k, j]."""
    norms: NDArray[np.float64] = np.sqrt(np.square(np.asarray(weights.inward)).sum(axis=0)).T
    return norms


@dataclass(frozen=True, eq=False)
class Packing:
    """Weights as one vector: free inward weights (twice, if split by sign), then the rest.

    `free[k, j]` says whether network j may look at input k.
    """

    free: NDArray[np.bool_]
    hidden: int
    split: bool

    @property
    def entries(self) -> int:
        """Number of free inward weights."""
        return self.hidden * int(self.free.sum())

    def pack(self, weights: Weights) -> Vector:
        """The vector of some weights; what is not free is dropped."""
        inward = np.asarray(weights.inward)[:, self.free.T].ravel()
        signs = [np.maximum(inward, 0.0), np.maximum(-inward, 0.0)] if self.split else [inward]
        return np.concatenate([*signs, *(np.asarray(part).ravel() for part in weights[1:])])

    def unpack(self, vector: Vector) -> Weights:
        """The weights of a vector."""
        size, units, d = self.entries, self.hidden, len(self.free)
        rest = vector[size * (1 + self.split) :]
        entries = vector[:size] - vector[size : 2 * size] if self.split else vector[:size]
        inward = np.zeros((units, d, d))
        inward[:, self.free.T] = entries.reshape(units, -1)
        bias, outward, outward_bias = np.split(rest, [units * d, 2 * units * d])
        return Weights(inward, bias.reshape(units, d), outward.reshape(units, d), outward_bias)

    def gradient(self, gradient: Weights, lambda1: float) -> Vector:
        """Gradient in the vector's entries of smooth part + λ₁ Σ (w⁺ + w⁻)."""
        inward = np.asarray(gradient.inward)[:, self.free.T].ravel()
        signs = [inward + lambda1, lambda1 - inward] if self.split else [inward]
        return np.concatenate([*signs, *(np.asarray(part).ravel() for part in gradient[1:])])


def minimise(
    program: MlpProgram,
    start: Weights,
    free: NDArray[np.bool_],
    *,
    alpha: float = 0.0,
    rho: float = 0.0,
    tolerance: float = FIT_TOLERANCE,
    steps: int = FIT_STEPS,
) -> tuple[Weights, bool]:
    """Minimise the augmented Lagrangian over the free weights; say also whether there was time to end."""
    from scipy.optimize import Bounds
    from scipy.optimize import minimize as scipy_minimise

    split = program.penalty == "l1"
    packing = Packing(free, np.asarray(start.inward).shape[0], split)
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


@dataclass(frozen=True, eq=False)
class Path:
    """Where the augmented Lagrangian ended: weights, their h, updates of α, and whether there was time."""

    weights: Weights
    h: float
    rounds: int
    in_time: bool


def augmented_lagrangian(program: MlpProgram, start: Weights, free: NDArray[np.bool_]) -> Path:
    """Follow the path of ρ and α from `start` until the networks' strengths make a DAG, or nearly."""
    weights, h = start, np.inf
    rho, alpha, rounds = 1.0, 0.0, 0
    while h > H_TOLERANCE and rho < RHO_MAX:
        before = h
        while True:
            weights, in_time = minimise(
                program, weights, free, alpha=alpha, rho=rho, tolerance=PATH_TOLERANCE, steps=PATH_STEPS
            )
            h = program.evaluate(weights, alpha, rho)[2]
            if not in_time:
                return Path(weights, h, rounds, in_time=False)
            if h <= max(PROGRESS * before, H_TOLERANCE) or rho >= RHO_MAX:
                break
            rho *= GROWTH
        alpha += rho * h
        rounds += 1
    return Path(weights, h, rounds, in_time=True)
