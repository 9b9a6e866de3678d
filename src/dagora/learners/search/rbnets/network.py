"""The Q-network: from a set of placed variables to the value of placing each variable next.

A state is given as n bits b; a fixed matrix E embeds it (see `embedding`; None stands for the identity, which
need not be multiplied by), and two hidden layers of rectified units follow:

    Q(s, ·) = W₃ relu(W₂ relu(W₁ E'b + c₁) + c₂) + c₃.

The paper gives no sizes. All numbers have single precision; the scores of networks are not computed from
them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from dagora.kernels.jax import prepare_jax

prepare_jax()


class Layer(NamedTuple):
    """Weights and biases of one layer."""

    weights: Array
    biases: Array


Network = tuple[Layer, ...]


def new_network(rng: np.random.Generator, sizes: tuple[int, ...]) -> Network:
    """Random weights of variance 2 / inputs (He et al. 2015), and biases of zero."""
    layers = []
    for inputs, outputs in pairwise(sizes):
        weights = rng.normal(scale=np.sqrt(2.0 / inputs), size=(inputs, outputs))
        layers.append(Layer(single(weights), single(np.zeros(outputs))))
    return tuple(layers)


def single(values: NDArray[np.float64]) -> Array:
    """An array in single precision, on the CPU."""
    placed: Array = jax.device_put(values.astype(np.float32), jax.devices("cpu")[0])
    return placed


def q_values(network: Network, embedding: Array | None, states: Array) -> Array:
    """Values of all actions, row by row of `states` (booleans)."""
    *hidden, last = network
    bits = states.astype(jnp.float32)
    active = bits if embedding is None else bits @ embedding
    for layer in hidden:
        active = jax.nn.relu(active @ layer.weights + layer.biases)
    return active @ last.weights + last.biases
