"""Deep double Q-learning: targets, loss and optimiser, as Algorithm 1 of Zheng et al. (2023) has them.

For a transition (s, a, r, s′) the target is

    y = r                                                       where s′ is terminal, else
    y = r + γ Q(s′, argmax over legal a′ of Q(s′, a′; θ); θ⁻),   γ = 1,

(van Hasselt, Guez & Silver 2016), and the loss the mean of (y − Q(s, a; θ))² over a minibatch. θ takes a step
of RMSProp with rate 0.001; θ⁻ becomes a copy of θ every 300 steps. Of RMSProp the paper gives only the rate:
here squares decay by 0.99 and 10⁻⁸ is added to their root, as is common.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from dagora.learners.search.rbnets.network import Layer, Network, q_values, single
from dagora.learners.search.rbnets.replay import Transitions

# The paper's rate and steps between two targets; decay and epsilon are the usual ones of RMSProp.
RATE = 0.001
DECAY, EPSILON = 0.99, 1e-8
TARGET_EVERY = 300


class Learner(NamedTuple):
    """Parameters θ and θ⁻, running means of squared gradients, and the number of steps so far."""

    network: Network
    target: Network
    squares: Network
    steps: Array


def new_learner(network: Network) -> Learner:
    """A learner before its first step."""
    # Zeros by numpy: for zeros by JAX, a program would be compiled for every shape.
    squares = tuple(Layer(*(single(np.zeros(part.shape)) for part in layer)) for layer in network)
    return Learner(network, network, squares, jnp.int32(0))


def double_q_targets(network: Network, target: Network, embedding: Array | None, batch: Transitions) -> Array:
    """The targets y of a minibatch."""
    legal = jnp.asarray(batch.next_legal)
    following = jnp.asarray(batch.next_states)
    own = jnp.where(legal, q_values(network, embedding, following), -jnp.inf)
    target_values = q_values(target, embedding, following)
    future = jnp.take_along_axis(target_values, own.argmax(axis=1)[:, None], axis=1)[:, 0]
    return jnp.asarray(batch.rewards) + jnp.where(legal.any(axis=1), future, 0.0)


def loss(network: Network, embedding: Array | None, batch: Transitions, targets: Array) -> Array:
    """Mean squared difference between targets and the values of the actions taken."""
    values = q_values(network, embedding, jnp.asarray(batch.states))
    taken = jnp.take_along_axis(values, jnp.asarray(batch.actions)[:, None], axis=1)[:, 0]
    return jnp.square(targets - taken).mean()


def update(learner: Learner, embedding: Array | None, batch: Transitions) -> Learner:
    """One step of RMSProp on a minibatch; every `TARGET_EVERY` steps the target network is replaced."""
    targets = double_q_targets(learner.network, learner.target, embedding, batch)
    gradient = jax.grad(loss)(learner.network, embedding, batch, targets)
    squares = jax.tree.map(lambda m, g: DECAY * m + (1 - DECAY) * g * g, learner.squares, gradient)
    network = jax.tree.map(
        lambda w, g, m: w - RATE * g / (jnp.sqrt(m) + EPSILON), learner.network, gradient, squares
    )
    steps = learner.steps + 1
    due = steps % TARGET_EVERY == 0
    target = jax.tree.map(lambda new, old: jnp.where(due, new, old), network, learner.target)
    return Learner(network, target, squares, steps)


@jax.jit
def learn(
    learner: Learner, embedding: Array | None, batches: Transitions, asked: Array
) -> tuple[Learner, Array]:
    """Take one gradient step per minibatch, then return the values of all actions in the states `asked`.

    Both are done in one call, as an episode needs nothing else between two actions.
    """
    taught, _ = lax.scan(lambda now, batch: (update(now, embedding, batch), None), learner, batches)
    return taught, q_values(taught.network, embedding, asked)


ask = jax.jit(q_values)
