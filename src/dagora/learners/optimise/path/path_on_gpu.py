"""The steps of the smooth path on a GPU, by JAX in double precision: the same sweeps as on the processor.

Coordinates are swept in blocks (`path_on_processor`): within a block all columns go on at once, each on its
own, and after it one matrix product brings the gradients up to date. Matrices are padded to whole blocks by
variables that may have no edge.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from dagora.base.errors import OptionError
from dagora.base.extras import JAX_GPU
from dagora.base.wording import setting
from dagora.learners.optimise.path.column_problem import SMALLEST_RESIDUAL
from dagora.learners.optimise.path.smooth_path import SWEEPS, PathProgram
from dagora.scores.lasso_kernels import Matrix

# Arrays, devices and compiled functions of JAX, which is imported only where it is used.
Array = Any
Device = Any

# Coordinates that are swept between two updates of all gradients.
BLOCK = 32
# In JAX's error when the memory of a device is used up.
OUT_OF_MEMORY = "RESOURCE_EXHAUSTED"


def find_gpu() -> Device | None:
    """The first GPU that JAX sees; None without JAX or without a GPU."""
    if not JAX_GPU.is_installed:
        return None
    import jax

    try:
        return jax.devices("gpu")[0]
    except RuntimeError:
        return None


def require_gpu() -> Device:
    """The first GPU that JAX sees; raises if there is none."""
    JAX_GPU.require(setting("device", "gpu"))
    gpu = find_gpu()
    if gpu is None:
        raise OptionError(
            f"{setting('device', 'gpu')} needs a GPU, and JAX sees none: install JAX for your GPU "
            f"(docs/benchmarks.md says how), or take {setting('device', 'cpu')}"
        )
    return gpu


def double_precision() -> AbstractContextManager[object]:
    """JAX in double precision within a block, and as it was after it."""
    import jax

    name = "enable_x64"
    # Before version 0.8 it was among the experiments.
    home: Any = jax if hasattr(jax, name) else import_module("jax.experimental")
    switch: AbstractContextManager[object] = getattr(home, name)(True)
    return switch


def is_out_of_memory(error: Exception) -> bool:
    """Return True if an error of JAX says that a device has no memory left."""
    return OUT_OF_MEMORY in str(error) or "out of memory" in str(error).lower()


class PathOnGpu:
    """The steps of a program's path on a device of JAX (in tests the processor)."""

    def __init__(self, program: PathProgram, device: Device) -> None:
        import jax

        self.program = program
        d = len(program)
        size = -(-d // BLOCK) * BLOCK
        self._size, self._device = size, device
        moments = np.eye(size)
        moments[:d, :d] = program.moments
        allowed, required = (np.zeros((size, size), dtype=np.bool_) for _ in range(2))
        allowed[:d, :d], required[:d, :d] = program.allowed, program.required
        with double_precision():
            self._moments = jax.device_put(moments, device)
            self._allowed = jax.device_put(allowed, device)
            self._required = jax.device_put(required.astype(np.float64), device)
        self._solve = jax.jit(partial(solve_nets, lambda1=program.lambda1, profile=program.profile))
        self._between = jax.jit(lambda weights, target, step: weights + step * (target - weights))
        self._barrier = jax.jit(invert)
        self._objective = jax.jit(partial(evaluate, d=d, lambda1=program.lambda1, profile=program.profile))

    def start(self) -> Array:
        """Weights that are all zero."""
        import jax

        with double_precision():
            return jax.device_put(np.zeros((self._size, self._size)), self._device)

    def solve(self, weights: Array, inverse: Array, c: float) -> Array:
        """The elastic nets of all columns with ridge 2c · inverseᵀ, started from `weights`."""
        with double_precision():
            return self._solve(self._moments, self._allowed, weights, inverse, c)

    def between(self, weights: Array, target: Array, step: float) -> Array:
        """Weights on the way to a target."""
        with double_precision():
            return self._between(weights, target, step)

    def barrier(self, weights: Array) -> tuple[Array, float] | None:
        """The inverse and h at some weights, None where there is no barrier."""
        with double_precision():
            inverse, sign, logarithm, least, least_diagonal = self._barrier(weights, self._required)
            if float(sign) <= 0 or not float(least) >= -1e-9 or not float(least_diagonal) >= 1 - 1e-9:
                return None
            return inverse, -float(logarithm)

    def objective(self, weights: Array) -> float:
        """Loss and penalty."""
        with double_precision():
            return float(self._objective(self._moments, weights))

    def fetch(self, weights: Array) -> Matrix:
        """Weights as a matrix on the processor."""
        d = len(self.program)
        return np.ascontiguousarray(np.asarray(weights)[:d, :d])


def solve_nets(
    moments: Array, allowed: Array, weights: Array, inverse: Array, c: Array, *, lambda1: float, profile: bool
) -> Array:
    """Sweep the elastic nets of all columns; [i, j] of every matrix belongs to the edge i → j."""
    import jax.numpy as jnp
    from jax import lax

    size = len(moments)
    gradients = moments @ weights - moments
    own = jnp.diag(moments)
    scales = jnp.ones(size)
    if profile:
        variances = own + (weights * (gradients - moments)).sum(axis=0)
        scales = jnp.maximum(variances, SMALLEST_RESIDUAL * own)
    ridges = 2 * c * inverse.T * scales
    penalties = lambda1 * scales

    def rows(matrix: Array, start: Array) -> Array:
        return lax.dynamic_slice_in_dim(matrix, start, BLOCK)

    def advance(block: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        weights, gradients = state
        start = (block % (size // BLOCK)) * BLOCK
        among = rows(moments, start)
        square = lax.dynamic_slice_in_dim(among, start, BLOCK, axis=1)
        ridge, free = rows(ridges, start), rows(allowed, start)
        before = rows(weights, start)

        def sweep(k: Array, inner: tuple[Array, Array]) -> tuple[Array, Array]:
            mine, gradient = inner
            moment = square[k]
            aim = moment[k] * mine[k] - gradient[k]
            best = jnp.sign(aim) * jnp.maximum(jnp.abs(aim) - penalties, 0.0) / (moment[k] + ridge[k])
            step = jnp.where(free[k], best - mine[k], 0.0)
            return mine.at[k].add(step), gradient + moment[:, None] * step[None, :]

        after, _ = lax.fori_loop(0, BLOCK, sweep, (before, rows(gradients, start)))
        gradients = gradients + among.T @ (after - before)
        return lax.dynamic_update_slice_in_dim(weights, after, start, axis=0), gradients

    return lax.fori_loop(0, SWEEPS * (size // BLOCK), advance, (weights, gradients))[0]


def invert(weights: Array, required: Array) -> tuple[Array, Array, Array, Array, Array]:
    """(I − A)⁻¹ without its rounding below zero, sign and logarithm of det(I − A), and its least entries."""
    import jax
    import jax.numpy as jnp

    size = len(weights)
    factor, pivots = jax.scipy.linalg.lu_factor(jnp.eye(size) - weights * weights - required)
    diagonal = jnp.diag(factor)
    swaps = (pivots != jnp.arange(size)).sum()
    sign = jnp.prod(jnp.sign(diagonal)) * (1 - 2 * (swaps % 2))
    inverse = jax.scipy.linalg.lu_solve((factor, pivots), jnp.eye(size))
    logarithm = jnp.log(jnp.abs(diagonal)).sum()
    return jnp.maximum(inverse, 0.0), sign, logarithm, inverse.min(), jnp.diag(inverse).min()


def evaluate(moments: Array, weights: Array, *, d: int, lambda1: float, profile: bool) -> Array:
    """Loss and penalty of the first d columns."""
    import jax.numpy as jnp

    residuals = jnp.eye(len(weights)) - weights
    variances = (residuals * (moments @ residuals)).sum(axis=0)[:d]
    if profile:
        variances = jnp.log(jnp.maximum(variances, SMALLEST_RESIDUAL * jnp.diag(moments)[:d]))
    return 0.5 * variances.sum() + lambda1 * jnp.abs(weights).sum()
