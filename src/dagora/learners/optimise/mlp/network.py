"""Multilayer perceptrons, one per variable, as pure JAX functions of the weights of all networks.

Network j predicts x_j = Σ_u v_ju [σ(Σ_k w_ukj x_k + b_uj) − ½] + c_j with sigmoid units u. Subtracting ½ does
not change the set of functions (the output's bias c absorbs it, and biases are not penalised), but units with
mean near 0 make the problem much better conditioned. The strength of the edge k → j is A_kj = (Σ_u w_ukj²)^½.

    fit      1/(2n) Σ_j ‖x_j − f_j(x)‖²
    ridge    ½ (Σ w² + Σ v²)
    h        tr exp(A∘A) − d, zero exactly where A is the matrix of a DAG
    group    Σ_kj (A_kj² + ε²)^½ − ε, the group lasso smoothed near 0

Zheng, Dan, Aragam, Ravikumar & Xing (2020), Learning sparse nonparametric DAGs.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax
from numpy.typing import ArrayLike

from dagora.kernels.jax import prepare_jax

prepare_jax()

# Up to this many hidden units the loop over them is unrolled, which runs faster; a longer loop compiles
# sooner.
UNROLL = 10
# Radius within which the group penalty is smoothed: small compared with any strength that makes an edge.
EPSILON = 1e-3
# Terms of the exponential's series: 1/19! ≈ 8·10⁻¹⁸ is below the precision of a double near 1.
TERMS = 18


class NetworkWeights(NamedTuple):
    """The weights of all networks: entry [u, j] is unit u of network j, [u, j, k] its weight of input k."""

    inward: ArrayLike
    inward_bias: ArrayLike
    outward: ArrayLike
    outward_bias: ArrayLike


def predictions(weights: NetworkWeights, columns: Array) -> Array:
    """Predicted columns; `columns` has one row per variable."""

    def add_unit(total: Array, unit: tuple[Array, Array, Array]) -> tuple[Array, None]:
        inward, bias, outward = unit
        active = jax.nn.sigmoid(inward @ columns + bias[:, None]) - 0.5
        return total + outward[:, None] * active, None

    start = jnp.broadcast_to(jnp.asarray(weights.outward_bias)[:, None], columns.shape)
    units = (jnp.asarray(weights.inward), jnp.asarray(weights.inward_bias), jnp.asarray(weights.outward))
    return lax.scan(add_unit, start, units, unroll=len(units[0]) <= UNROLL)[0]


def fit(weights: NetworkWeights, columns: Array) -> Array:
    """1/(2n) times the sum of squared residuals."""
    residuals = columns - predictions(weights, columns)
    return 0.5 / columns.shape[1] * jnp.sum(residuals * residuals)


def ridge(weights: NetworkWeights) -> Array:
    """Half the sum of all squared weights; biases are not penalised."""
    return 0.5 * (jnp.sum(jnp.asarray(weights.inward) ** 2) + jnp.sum(jnp.asarray(weights.outward) ** 2))


def squared_strengths(inward: ArrayLike) -> Array:
    """A∘A: entry [k, j] sums the squares of the weights of input k in network j."""
    return jnp.sum(jnp.asarray(inward) ** 2, axis=0).T


def group(squares: Array) -> Array:
    """Sum of strengths, smoothed near 0."""
    return jnp.sum(jnp.sqrt(squares + EPSILON**2) - EPSILON)


@jax.custom_vjp
def acyclicity(squares: Array) -> Array:
    """The measure of the cycles of a matrix A ≥ 0: tr exp(A) − d, with the gradient exp(A)ᵀ."""
    return jnp.trace(exponential_less_one(squares))


def exponential_less_one(matrix: Array) -> Array:
    """exp(A) − I for A ≥ 0 by scaling and squaring; no terms cancel, so h of weak cycles is precise."""
    identity = jnp.eye(len(matrix))
    norm = jnp.max(jnp.sum(matrix, axis=0))
    halvings = jnp.clip(jnp.ceil(jnp.log2(jnp.maximum(norm, 1.0))), 0, 60).astype(int)
    scaled = matrix / 2.0**halvings
    series = identity
    for term in range(TERMS, 1, -1):
        series = identity + scaled @ series / term
    # With F = exp(B) − I, exp(2B) − I = 2F + F².
    less: Array = lax.fori_loop(0, halvings, lambda _, power: 2.0 * power + power @ power, scaled @ series)
    return less


def _acyclicity_forward(squares: Array) -> tuple[Array, Array]:
    power = exponential_less_one(squares)
    return jnp.trace(power), power


def _acyclicity_backward(power: Array, cotangent: Array) -> tuple[Array]:
    return (cotangent * (power.T + jnp.eye(len(power))),)


acyclicity.defvjp(_acyclicity_forward, _acyclicity_backward)


def lagrangian(
    weights: NetworkWeights,
    columns: Array,
    lambda2: float,
    group_lambda: float,
    alpha: float,
    rho: float,
    required: ArrayLike,
) -> tuple[Array, tuple[Array, Array]]:
    """Smooth part of the augmented Lagrangian; also h, and fit + λ₂ ridge.

    `required` has a 1 for each edge that counts as present in h, whatever its strength.
    """
    squares = squared_strengths(weights.inward)
    h = acyclicity(squares + jnp.asarray(required))
    smooth = fit(weights, columns) + lambda2 * ridge(weights)
    value = smooth + group_lambda * group(squares) + (alpha + 0.5 * rho * h) * h
    return value, (h, smooth)


lagrangian_with_gradient = jax.jit(jax.value_and_grad(lagrangian, has_aux=True))
