"""The policy of RL-BIC: a neural network that turns sampled rows into the probability of every edge.

Zhu, Ng & Chen (2020), section 4.1. A variable is a token: the vector of its values in n sampled rows. An
encoder of attention blocks (Vaswani et al. 2017) lets the tokens see each other; units are normalised over
all tokens of a batch, without which nothing is learned (see `normalise`). The decoder is one layer:

    logit of i → j = uᵀ tanh(W₁ e_i + W₂ e_j) + c,   e = encoded tokens, c = a constant bias,

and the graph is drawn edge by edge from these logits. A critic of two layers sees the mean of the encoded
tokens and forecasts the reward. All numbers have single precision; scores are not computed from them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from numpy.typing import NDArray

from dagora.kernels.jax import prepare_jax

prepare_jax()

# Units of the decoder's layer and of the critic's, and how many times wider a block is inside.
DECODER, CRITIC, WIDER = 16, 64, 4
# Keeps a variance away from zero.
LEAST = 1e-5


class AttentionBlock(NamedTuple):
    """Weights of attention blocks, or their shapes: the first axis of each is the block."""

    queries: Any
    keys: Any
    values: Any
    merged: Any
    widened: Any
    widened_bias: Any
    narrowed: Any
    narrowed_bias: Any
    scales: Any
    shifts: Any


class EdgePolicy(NamedTuple):
    """Weights of encoder, decoder and critic, or their shapes."""

    embedding: Any
    blocks: AttentionBlock
    tails: Any
    heads: Any
    edges: Any
    critic: Any
    critic_bias: Any
    forecast: Any
    forecast_bias: Any


class PolicyOutput(NamedTuple):
    """The output of the policy for some samples of rows: logits of edges, and the expected rewards."""

    logits: Array
    expected: Array


@dataclass(frozen=True)
class PolicyLayout:
    """The sizes of a policy: rows in a sample, units of a token, attention blocks, and heads of each.

    All weights are kept in one vector, so that a step of the optimiser is one operation.

    >>> PolicyLayout(rows=8, hidden=4, blocks=1, heads=2).size
    789
    """

    rows: int
    hidden: int
    blocks: int
    heads: int

    @property
    def shapes(self) -> EdgePolicy:
        """The shape of every part."""
        rows, hidden, blocks, wide = self.rows, self.hidden, self.blocks, WIDER * self.hidden
        stacked = AttentionBlock(
            queries=(blocks, hidden, hidden),
            keys=(blocks, hidden, hidden),
            values=(blocks, hidden, hidden),
            merged=(blocks, hidden, hidden),
            widened=(blocks, hidden, wide),
            widened_bias=(blocks, 1, wide),
            narrowed=(blocks, wide, hidden),
            narrowed_bias=(blocks, 1, hidden),
            scales=(blocks, 2, hidden),
            shifts=(blocks, 2, hidden),
        )
        return EdgePolicy(
            embedding=(rows, hidden),
            blocks=stacked,
            tails=(hidden, DECODER),
            heads=(hidden, DECODER),
            edges=(DECODER, 1),
            critic=(hidden, CRITIC),
            critic_bias=(1, CRITIC),
            forecast=(CRITIC, 1),
            forecast_bias=(1, 1),
        )

    @property
    def size(self) -> int:
        """The number of weights."""
        return sum(math.prod(shape) for shape in self._flat)

    @property
    def _flat(self) -> list[tuple[int, ...]]:
        first, blocks, *others = self.shapes
        return [first, *blocks, *others]

    def unpack(self, vector: Array) -> EdgePolicy:
        """Split a vector of all weights into its parts."""
        ends = np.cumsum([math.prod(shape) for shape in self._flat])
        parts = [
            vector[end - math.prod(shape) : end].reshape(shape)
            for end, shape in zip(ends, self._flat, strict=True)
        ]
        count = len(AttentionBlock._fields)
        return EdgePolicy(parts[0], AttentionBlock(*parts[1 : count + 1]), *parts[count + 1 :])

    def new(self, rng: np.random.Generator) -> NDArray[np.float32]:
        """Random weights, uniform with variance 2 / (inputs + outputs) (Glorot & Bengio 2010); no biases."""
        names = [EdgePolicy._fields[0], *AttentionBlock._fields, *EdgePolicy._fields[2:]]
        parts = []
        for name, shape in zip(names, self._flat, strict=True):
            limit = np.sqrt(6.0 / (shape[-2] + shape[-1]))
            drawn = rng.uniform(-limit, limit, shape)
            constant = 1.0 if name == "scales" else 0.0 if name == "shifts" or name.endswith("bias") else None
            parts.append(drawn if constant is None else np.full(shape, constant))
        return np.concatenate([part.ravel() for part in parts]).astype(np.float32)


def normalise(tokens: Array, scale: Array, shift: Array) -> Array:
    """Give every unit mean 0 and variance 1 over all tokens of all samples, then scale and shift it.

    Normalising token by token instead would remove each variable's variance, by which the policy recognises
    the variables: samples of rows are new in every round.
    """
    centred = tokens - tokens.mean(axis=(0, 1))
    spread = lax.rsqrt(jnp.square(centred).mean(axis=(0, 1)) + LEAST)
    return centred * spread * scale + shift


def attend(tokens: Array, block: AttentionBlock, heads: int) -> Array:
    """Multi-head attention of every token to all tokens; `tokens` has axes sample, variable, unit."""
    samples, nodes, hidden = tokens.shape
    split = (samples, nodes, heads, hidden // heads)
    queries, keys, values = (
        (tokens @ weights).reshape(split) for weights in (block.queries, block.keys, block.values)
    )
    alike = jnp.einsum("bihk,bjhk->bhij", queries, keys) / np.float32(np.sqrt(hidden // heads))
    taken = jnp.einsum("bhij,bjhk->bihk", jax.nn.softmax(alike, axis=-1), values)
    merged: Array = taken.reshape(tokens.shape) @ block.merged
    return merged


def encode(policy: EdgePolicy, samples: Array, heads: int) -> Array:
    """Return the tokens after all blocks; `samples` has axes sample, variable, row."""

    def through(tokens: Array, block: AttentionBlock) -> tuple[Array, None]:
        tokens = normalise(tokens + attend(tokens, block, heads), block.scales[0], block.shifts[0])
        inner = jax.nn.relu(tokens @ block.widened + block.widened_bias)
        tokens = tokens + inner @ block.narrowed + block.narrowed_bias
        return normalise(tokens, block.scales[1], block.shifts[1]), None

    seen: Array = lax.scan(through, samples @ policy.embedding, policy.blocks)[0]
    return seen


def apply_policy(policy: EdgePolicy, samples: Array, heads: int, bias: Array | np.float32) -> PolicyOutput:
    """Compute the logits of all edges, [sample, i, j] of i → j, and the rewards that the critic expects."""
    tokens = encode(policy, samples, heads)
    joint = (tokens @ policy.tails)[:, :, None] + (tokens @ policy.heads)[:, None]
    logits = jnp.tanh(joint) @ policy.edges[:, 0] + bias
    # What the critic learns does not shape the encoder.
    mean = lax.stop_gradient(tokens.mean(axis=1))
    forecast = jax.nn.relu(mean @ policy.critic + policy.critic_bias) @ policy.forecast
    return PolicyOutput(logits, (forecast + policy.forecast_bias)[:, 0])
