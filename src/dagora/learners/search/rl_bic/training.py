"""Training of the policy of RL-BIC: REINFORCE with a critic, an entropy bonus, and Adam.

In a round, B samples of n rows are drawn with replacement; the policy draws a graph for each. Given their
rewards R, the loss is the mean over the samples of

    −(R − b − V) ln π(graph) − η H + (R − b − V)²,

with b a running mean of rewards, V the critic's forecast, of which the first term takes no gradient, H the
entropy of the edges and η its weight (Zhu, Ng & Chen 2020, section 4.3). An edge that knowledge settles is
neither drawn nor learned.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from numpy.typing import NDArray

from dagora.learners.search.rl_bic.policy import PolicyLayout, apply_policy

# The rate of Adam, and what it is multiplied by every so many rounds.
RATE, DECAY, DECAY_ROUNDS = 1e-3, 0.96, 5000
# Adam's usual numbers, and the largest norm of a gradient.
FIRST, SECOND, EPSILON = 0.9, 0.999, 1e-8
LARGEST_GRADIENT = 1.0
# What is kept of the running mean of rewards in a round, and the weight of the entropy.
KEPT, ENTROPY = 0.99, 1e-3


class TrainingState(NamedTuple):
    """Everything that changes from round to round; `samples` and `graphs` are those drawn last."""

    weights: Array
    mean: Array
    square: Array
    rounds: Array
    usual: Array
    samples: Array
    graphs: Array


class FixedInputs(NamedTuple):
    """The inputs that never change: the free edges, the required edges, and the bias of logits."""

    free: NDArray[np.bool_]
    required: NDArray[np.bool_]
    bias: np.float32


class Chance(NamedTuple):
    """The random numbers of a round: samples of rows (sample, variable, row), one in [0, 1) for every edge.

    Both are drawn by numpy, so that they are the same on every device, and a program does not depend on the
    number of rows.
    """

    samples: NDArray[np.float32]
    edges: NDArray[np.float32]

    @classmethod
    def draw(cls, rng: np.random.Generator, columns: NDArray[np.float32], batch: int, rows: int) -> Chance:
        """Sample, with replacement, the rows of `columns` (rows × variables)."""
        of, nodes = columns.shape
        chosen = rng.integers(of, size=(batch, rows))
        return cls(columns[chosen].swapaxes(1, 2), rng.random((batch, nodes, nodes), dtype=np.float32))


def initial_state(layout: PolicyLayout, rng: np.random.Generator, batch: int, nodes: int) -> TrainingState:
    """A state before the first graphs are drawn."""

    def zeros(*shape: int) -> Array:
        return jnp.asarray(np.zeros(shape, np.float32))

    return TrainingState(
        weights=jnp.asarray(layout.new(rng)),
        mean=zeros(layout.size),
        square=zeros(layout.size),
        rounds=zeros(),
        usual=zeros(),
        samples=zeros(batch, nodes, layout.rows),
        graphs=jnp.asarray(np.zeros((batch, nodes, nodes), np.bool_)),
    )


def loss(
    weights: Array, state: TrainingState, fixed: FixedInputs, rewards: Array, layout: PolicyLayout
) -> Array:
    """The loss of the graphs drawn last."""
    output = apply_policy(layout.unpack(weights), state.samples, layout.heads, fixed.bias)
    surprise = rewards - state.usual - output.expected
    chance = jax.nn.sigmoid(output.logits)
    likelihood = jnp.where(state.graphs, output.logits, 0.0) - jax.nn.softplus(output.logits)
    entropy = jax.nn.softplus(output.logits) - output.logits * chance
    free = fixed.free.astype(jnp.float32)
    gain = lax.stop_gradient(surprise) * (likelihood * free).sum(axis=(1, 2))
    bonus = ENTROPY * (entropy * free).sum(axis=(1, 2))
    return (jnp.square(surprise) - gain - bonus).mean()


@partial(jax.jit, static_argnames="layout", donate_argnums=0)
def one_round(
    state: TrainingState, fixed: FixedInputs, rewards: Array, chance: Chance, layout: PolicyLayout
) -> TrainingState:
    """Learn from the rewards of the graphs drawn last, then draw the next, all in one program.

    Rewards that are NaN teach nothing: with them the first graphs are drawn.
    """
    taught = jnp.isfinite(rewards).all()
    rewards = jnp.where(taught, rewards, 0.0)
    gradient = jax.grad(loss)(state.weights, state, fixed, rewards, layout)
    norm = jnp.sqrt(jnp.square(gradient).sum())
    gradient = gradient * jnp.where(taught, jnp.minimum(1.0, LARGEST_GRADIENT / (norm + EPSILON)), 0.0)
    mean = FIRST * state.mean + (1 - FIRST) * gradient
    square = SECOND * state.square + (1 - SECOND) * jnp.square(gradient)
    rounds = state.rounds + taught
    time = jnp.maximum(rounds, 1.0)
    rate = RATE * DECAY ** (time / DECAY_ROUNDS) * jnp.sqrt(1 - SECOND**time) / (1 - FIRST**time)
    weights = state.weights - rate * mean / (jnp.sqrt(square) + EPSILON)
    average = rewards.mean()
    usual = jnp.where(state.rounds == 0, average, KEPT * state.usual + (1 - KEPT) * average)
    samples = jnp.asarray(chance.samples)
    logits = apply_policy(layout.unpack(weights), samples, layout.heads, fixed.bias).logits
    drawn = chance.edges < jax.nn.sigmoid(logits)
    graphs = jnp.where(fixed.free, drawn, fixed.required)
    return TrainingState(weights, mean, square, rounds, usual, samples, graphs)
