"""Vectors for states of the order graph, from random walks on it.

The paper learns "latent representations of states" by random walks and gives no details. DeepWalk (Perozzi,
Al-Rfou & Skiena 2014) would learn one vector for each state visited, but nearly all of the 2ⁿ states are
never visited. So here a state's vector is the sum of its members' vectors, v(U) = Σ E_x over x in U, which is
defined for every state. E is fitted by skip-grams with negative samples (Mikolov et al. 2013). Walks start
from the empty set and take uniform legal actions. States up to `WINDOW` steps apart on one walk should have a
large product v(U)·c(U′), states of unrelated walks a small one; c is a sum of context vectors, which are
fitted as well. (For the fit, v and c are means over the members instead of sums, so that large sets do not
outweigh small ones.) The walks depend on which actions are legal, but not on scores.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from numpy.typing import NDArray

from dagora.learners.search.rbnets.environment import OrderGraph
from dagora.learners.search.rbnets.network import single

# None of these numbers is published; window and negative samples are those usual for skip-grams.
WALKS, WINDOW, NEGATIVES = 100, 5, 5
DIMENSIONS = 64
STEPS, PAIRS, RATE, DECAY = 200, 256, 0.01, 0.9

Bits = NDArray[np.bool_]


def walk_embedding(graph: OrderGraph, rng: np.random.Generator) -> Array:
    """Member vectors E from random walks, scaled so that the entries of v have variance 1 along the walks."""
    walks = random_walks(graph, WALKS, rng)
    start = rng.normal(scale=0.1, size=(2, graph.size, DIMENSIONS))
    pairs = [skip_grams(WALKS, graph.size + 1, rng) for _ in range(STEPS)]
    centres, contexts = (np.stack(side) for side in zip(*pairs, strict=True))
    states = walks.reshape(-1, graph.size)
    fitted = np.asarray(fit(single(start), states, centres, contexts), dtype=np.float64)[0]
    # Walk by walk, for all of them together would be a gigabyte at a thousand variables.
    spread = np.concatenate([(walk @ fitted).astype(np.float32) for walk in walks]).std(dtype=np.float64)
    return single(fitted / spread if spread > 0 else fitted)


def random_walks(graph: OrderGraph, walks: int, rng: np.random.Generator) -> Bits:
    """States of uniform random walks from the empty set to the full one: walks × (n + 1) × n."""
    states = graph.start(walks)
    seen = [graph.members(states)]
    for _ in range(graph.size):
        graph.step(states, graph.random_actions(states, rng))
        seen.append(graph.members(states))
    return np.stack(seen, axis=1)


def skip_grams(
    count: int, length: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Random states, and for each a state near it on the same walk followed by states from any walks.

    A state is its place among all of `count` walks of `length` states, one walk after the other.
    """
    walk, place = rng.integers(count, size=PAIRS), rng.integers(length, size=PAIRS)
    apart = rng.integers(1, WINDOW + 1, size=PAIRS) * rng.choice([-1, 1], size=PAIRS)
    near = walk * length + np.clip(place + apart, 0, length - 1)
    shape = (PAIRS, NEGATIVES)
    far = rng.integers(count, size=shape) * length + rng.integers(length, size=shape)
    return walk * length + place, np.concatenate([near[:, None], far], axis=1)


def skip_gram_loss(vectors: Array, centre: Array, contexts: Array) -> Array:
    """Mean over the pairs of −ln σ(v·c) of the state nearby plus −ln σ(−v·c) of the others."""
    members = jnp.maximum(1.0, centre.sum(axis=1, keepdims=True))
    others = jnp.maximum(1.0, contexts.sum(axis=2, keepdims=True))
    products = jnp.einsum("bk,bck->bc", centre @ vectors[0] / members, contexts @ vectors[1] / others)
    signs = jnp.where(jnp.arange(products.shape[1]) == 0, 1.0, -1.0)
    return -jax.nn.log_sigmoid(signs * products).sum(axis=1).mean()


@jax.jit
def fit(vectors: Array, states: Array, centres: Array, contexts: Array) -> Array:
    """RMSProp on minibatches of skip-grams, one after the other."""

    def step(now: tuple[Array, Array], batch: tuple[Array, Array]) -> tuple[tuple[Array, Array], None]:
        fitted, squares = now
        centre, context = (states[rows].astype(jnp.float32) for rows in batch)
        gradient = jax.grad(skip_gram_loss)(fitted, centre, context)
        squares = DECAY * squares + (1 - DECAY) * gradient**2
        return (fitted - RATE * gradient / (jnp.sqrt(squares) + 1e-7), squares), None

    return lax.scan(step, (vectors, jnp.zeros_like(vectors)), (centres, contexts))[0][0]
