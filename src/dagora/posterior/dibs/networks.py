"""The model of DiBS+ with neural networks: each variable is a network of its parents, plus normal noise.

x_j = b₂ + w₂ · relu(W₁ (parents of j) + b₁) + noise, with a network of its own for every j; all weights have
a normal prior with mean 0, those of the first layer only where there is an edge (Lorch, Rothfuss, Schölkopf &
Krause 2021, section 6.1, and the authors' package). A soft graph, with numbers between 0 and 1 for edges,
weights the parents, so that there are gradients by edges too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from dagora.posterior.dibs.stein import KEPT, LEAST

HALF_LOG_TWO_PI = 0.5 * float(np.log(2.0 * np.pi))


class NetWeights(NamedTuple):
    """The weights of one network for each node: `[node, hidden, input]`, `[node, hidden]` (twice), `[node]`.

    Those of several particles have one axis more, in front.
    """

    inner: Array
    inner_bias: Array
    outer: Array
    outer_bias: Array

    @classmethod
    def from_prior(
        cls, rng: np.random.Generator, particles: int, nodes: int, hidden: int, sd: float = 1.0
    ) -> NetWeights:
        """Weights from their prior."""
        shapes = ((nodes, hidden, nodes), (nodes, hidden), (nodes, hidden), (nodes,))
        drawn = (rng.normal(0.0, sd, (particles, *shape)) for shape in shapes)
        return cls(*(jnp.asarray(each.astype(np.float32)) for each in drawn))


class Particles(NamedTuple):
    """The particles, and the running mean squares of their steps; two embeddings (tails, heads) in front."""

    latents: Array  # [2, particle, node, length]
    weights: NetWeights
    latent_squares: Array
    weight_squares: NetWeights


class NeuralModel(NamedTuple):
    """The constants of a run: rows, edges that are free or required, and the parameters of the model.

    `scale_free` is 1 under the scale-free prior over graphs, else 0.
    """

    rows: Array
    free: Array
    required: Array
    noise: Array
    edge_penalty: Array
    spread: Array
    weight_sd: Array
    scale_free: Array


class StepPlan(NamedTuple):
    """The settings of one step: sharpness of edges, penalty of cycles, step size, widths of the kernels."""

    sharpness: Array | np.floating[Any]
    cycle_penalty: Array | np.floating[Any]
    step: float
    latent_width: float
    weight_width: float


def log_joint(graph: Array, weights: NetWeights, terms: NeuralModel) -> Array:
    """Ln p(D, Θ | G) and the prior of the number of edges, for one graph, soft or not.

    >>> nobody = NetWeights(*(jnp.zeros(shape) for shape in ((2, 1, 2), (2, 1), (2, 1), (2,))))
    >>> rows, ones, none = jnp.ones((3, 2)), jnp.ones((2, 2), bool), jnp.zeros((2, 2), bool)
    >>> terms = NeuralModel(rows, ones, none, *map(jnp.asarray, (1.0, 0.0, 1.0, 1.0, 0.0)))
    >>> round(float(log_joint(jnp.zeros((2, 2)), nobody, terms)), 3)  # 6 cells off by 1, and 6 weights of 0
    -14.027
    """
    masked = weights.inner * graph.T[:, None, :]
    before = jnp.einsum("ni,jhi->njh", terms.rows, masked) + weights.inner_bias
    means = jnp.einsum("njh,jh->nj", jax.nn.relu(before), weights.outer) + weights.outer_bias
    misses = (terms.rows - means) ** 2 / terms.noise + jnp.log(terms.noise)
    likelihood = -0.5 * misses.sum() - HALF_LOG_TWO_PI * terms.rows.size
    prior = (log_normal(weights.inner, terms.weight_sd) * graph.T[:, None, :]).sum()
    prior += sum(log_normal(each, terms.weight_sd).sum() for each in weights[1:])
    return likelihood + prior - terms.edge_penalty * graph.sum()


def log_normal(values: Array, sd: Array) -> Array:
    """The logarithm of the normal density with mean 0."""
    return -0.5 * (values / sd) ** 2 - jnp.log(sd) - HALF_LOG_TWO_PI


def log_scale_free(graph: Array) -> Array:
    """The scale-free prior of the authors' package, p(G) ∝ Π_j (1 + parents of j)⁻³, soft graphs included.

    >>> round(float(log_scale_free(jnp.array([[0.0, 1.0], [0.0, 0.0]]))), 4)  # 3 ln ½
    -2.0794
    """
    return -3.0 * jnp.log1p(graph.sum(axis=0)).sum()


def edge_logits(latents: Array, terms: NeuralModel, sharpness: Array | np.floating[Any]) -> Array:
    """Logits of all edges of one particle; ±∞ where knowledge settles an edge."""
    products = sharpness * (latents[0] @ latents[1].T)
    return jnp.where(terms.free, products, jnp.where(terms.required, jnp.inf, -jnp.inf))


def embedding_objective(
    latents: Array, weights: NetWeights, noise: Array, cycles: Array, terms: NeuralModel, pace: StepPlan
) -> Array:
    """A particle's objective as a function of its two embeddings: ln p(Z) + ln E[p(D, Θ | G)] − β E[h(G)].

    Under the scale-free prior p(Z) has that of the edges' probabilities as a factor. Graphs are soft. `noise`
    and `cycles` are logistic noise, [graph, node, node], for the two expectations.
    """
    logits = edge_logits(latents, terms, pace.sharpness)
    values = jax.vmap(lambda graph: log_joint(graph, weights, terms))(jax.nn.sigmoid(logits + noise))
    cyclic = jax.vmap(cyclicity)(jax.nn.sigmoid(logits + cycles)).mean()
    prior = -0.5 * ((latents / terms.spread) ** 2).sum()
    prior += terms.scale_free * log_scale_free(jax.nn.sigmoid(logits))  # of the probabilities, as in the code
    return prior + jax.nn.logsumexp(values) - pace.cycle_penalty * cyclic


def weight_objective(
    weights: NetWeights, latents: Array, noise: Array, terms: NeuralModel, pace: StepPlan
) -> Array:
    """A particle's objective as a function of its weights: ln E[p(D, Θ | G)], with the same noise."""
    graphs = (edge_logits(latents, terms, pace.sharpness) + noise > 0).astype(jnp.float32)
    return jax.nn.logsumexp(jax.vmap(lambda graph: log_joint(graph, weights, terms))(graphs))


def cyclicity(graph: Array) -> Array:
    """h(G) = tr (I + G/d)^d − d of a soft graph."""
    nodes = len(graph)
    return (
        jnp.trace(jnp.linalg.matrix_power(jnp.eye(nodes, dtype=graph.dtype) + graph / nodes, nodes)) - nodes
    )


@jax.jit
def take_step(
    particles: Particles, noise: Array, cycles: Array, terms: NeuralModel, pace: StepPlan
) -> Particles:
    """One step of all particles: gradients, Stein's direction under a sum of two kernels, RMSprop."""
    latents = jnp.swapaxes(particles.latents, 0, 1)
    by_latents = jax.vmap(jax.grad(embedding_objective), (0, 0, 0, 0, None, None))(
        latents, particles.weights, noise, cycles, terms, pace
    )
    by_weights = jax.vmap(jax.grad(weight_objective), (0, 0, 0, None, None))(
        particles.weights, latents, noise, terms, pace
    )
    number = len(latents)
    flat = latents.reshape(number, -1)
    all_weights = jnp.concatenate([each.reshape(number, -1) for each in particles.weights], axis=1)
    near = kernel(flat, pace.latent_width)
    alike = kernel(all_weights, pace.weight_width)
    both = near + alike
    latent_step = both @ by_latents.reshape(number, -1) + push(flat, near, pace.latent_width)
    pushed = push(all_weights, alike, pace.weight_width)
    slopes = jnp.concatenate([each.reshape(number, -1) for each in by_weights], axis=1)
    weight_step = both @ slopes + pushed
    latent_step = jnp.swapaxes((latent_step / number).reshape(latents.shape), 0, 1)
    moved_latents, latent_squares = rmsprop_step(
        particles.latents, particles.latent_squares, latent_step, pace.step
    )
    steps = split_like(weight_step / number, particles.weights)
    ends = [
        rmsprop_step(weight, square, step, pace.step)
        for weight, square, step in zip(particles.weights, particles.weight_squares, steps, strict=True)
    ]
    weights, weight_squares = (NetWeights(*each) for each in zip(*ends, strict=True))
    return Particles(moved_latents, weights, latent_squares, weight_squares)


def rmsprop_step(values: Array, squares: Array, direction: Array, size: float) -> tuple[Array, Array]:
    """A step of RMSprop, as `stein.Ascent` takes it: where it leads, and the new mean squares."""
    squares = KEPT * squares + (1 - KEPT) * direction**2
    return values + size * direction / jnp.sqrt(squares + LEAST), squares


def kernel(positions: Array, width: float) -> Array:
    """exp(−|q − p|² / width) for all pairs of particles."""
    apart = positions[:, None] - positions[None]
    return jnp.exp(-(apart**2).sum(axis=2) / width)


def push(positions: Array, near: Array, width: float) -> Array:
    """The sum over q of the gradient of the kernel by q: it drives particles apart."""
    return (2.0 / width) * (near.sum(axis=1)[:, None] * positions - near @ positions)


def split_like(flat: Array, weights: NetWeights) -> NetWeights:
    """Rows of numbers as weights again."""
    ends = np.cumsum([int(np.prod(each.shape[1:])) for each in weights])[:-1]
    parts = jnp.split(flat, ends, axis=1)
    return NetWeights(*(part.reshape(each.shape) for part, each in zip(parts, weights, strict=True)))


@jax.jit
def joint_of(graphs: Array, weights: NetWeights, terms: NeuralModel) -> Array:
    """Ln p(D, Θ, G), up to a constant, of each particle that became a graph."""
    return jax.vmap(
        lambda graph, own: log_joint(graph, own, terms) + terms.scale_free * log_scale_free(graph)
    )(graphs.astype(terms.rows.dtype), weights)
