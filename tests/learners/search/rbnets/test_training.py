"""Double Q-learning: targets and steps against numbers worked out by hand and by finite differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dagora.learners.search.rbnets.network import Layer, new_network, q_values, single
from dagora.learners.search.rbnets.replay import Transitions
from dagora.learners.search.rbnets.training import (
    DECAY,
    EPSILON,
    RATE,
    double_q_targets,
    learn,
    loss,
    new_learner,
    update,
)

IDENTITY = single(np.eye(2))
step_once, quick_loss = jax.jit(update), jax.jit(loss)


def linear(weights, biases):
    """A network without hidden layers: Q(s) = bits · weights + biases."""
    return (Layer(single(np.array(weights, dtype=float)), single(np.array(biases, dtype=float))),)


def batch():
    """Three transitions: s′ with both actions legal, with the first alone, and a terminal one."""
    return Transitions(
        states=np.array([[0, 0], [0, 0], [0, 1]], dtype=bool),
        actions=np.array([0, 1, 0]),
        rewards=np.array([1.0, 2.0, 3.0], dtype=np.float32),
        next_states=np.array([[1, 0], [0, 1], [1, 1]], dtype=bool),
        next_legal=np.array([[1, 1], [1, 0], [0, 0]], dtype=bool),
    )


def test_targets_by_hand():
    own = linear([[1.0, 4.0], [2.0, 9.0]], [0.0, 0.0])
    other = linear([[10.0, 20.0], [30.0, 40.0]], [0.5, 0.25])
    # s′ = {0}: own values (1, 4), so action 1, which the other values at 20.25.
    # s′ = {1}: own values (2, 9), but action 1 is illegal, so action 0, valued at 30.5.
    targets = double_q_targets(own, other, IDENTITY, batch())
    assert np.asarray(targets).tolist() == [1.0 + 20.25, 2.0 + 30.5, 3.0]


def test_the_loss_by_hand():
    own = linear([[1.0, 4.0], [2.0, 9.0]], [0.5, -0.5])
    targets = jnp.array([1.0, 1.0, 1.0], dtype=jnp.float32)
    # Values of the actions taken: 0.5, −0.5, and 2.5.
    assert float(loss(own, IDENTITY, batch(), targets)) == pytest.approx((0.25 + 2.25 + 2.25) / 3)


def test_one_step_of_rmsprop():
    """The first step moves every weight by rate / √(1 − decay) against its gradient's sign."""
    network = new_network(np.random.default_rng(0), (2, 2))
    before = new_learner(network)
    after = step_once(before, IDENTITY, batch())
    targets = double_q_targets(network, network, IDENTITY, batch())
    step = 1e-3
    for row in range(2):
        for column in range(2):
            shifted = [
                (Layer(network[0].weights.at[row, column].add(sign * step), network[0].biases),)
                for sign in (1.0, -1.0)
            ]
            high, low = (float(quick_loss(net, IDENTITY, batch(), targets)) for net in shifted)
            slope = (high - low) / (2 * step)
            moved = float(after.network[0].weights[row, column] - network[0].weights[row, column])
            root = np.sqrt((1 - DECAY) * slope**2) + EPSILON
            assert moved == pytest.approx(-RATE * slope / root, rel=0.02, abs=1e-6)
    assert int(after.steps) == 1


def test_the_target_network_is_copied_every_300_steps():
    network = new_network(np.random.default_rng(1), (2, 2))
    batches = Transitions(*(np.stack([part] * 299) for part in batch()))
    learner, _ = learn(new_learner(network), IDENTITY, batches, np.zeros((1, 2), dtype=bool))
    assert (np.asarray(learner.target[0].weights) == np.asarray(network[0].weights)).all()
    assert not (np.asarray(learner.network[0].weights) == np.asarray(network[0].weights)).all()
    learner = step_once(learner, IDENTITY, batch())
    assert (np.asarray(learner.target[0].weights) == np.asarray(learner.network[0].weights)).all()
    assert int(learner.steps) == 300


def test_the_network_is_what_its_formula_says():
    rng = np.random.default_rng(2)
    network = new_network(rng, (3, 5, 5, 4))
    embedding = rng.normal(size=(4, 3))
    states = rng.random((6, 4)) < 0.5
    active = states @ embedding
    for layer in network[:-1]:
        active = np.maximum(0.0, active @ np.asarray(layer.weights) + np.asarray(layer.biases))
    expected = active @ np.asarray(network[-1].weights)
    found = q_values(network, single(embedding), jnp.asarray(states))
    assert found.dtype == jnp.float32
    assert np.asarray(found) == pytest.approx(expected, abs=1e-5)
