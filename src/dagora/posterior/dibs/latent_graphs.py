"""Graphs as continuous numbers: every variable has a vector as a tail and one as a head.

The edge i → j is there with probability σ(α ⟨u_i, v_j⟩), independently of all others. So a particle, the
vectors of all variables, stands for a distribution over directed graphs, cyclic ones included, which has
gradients; as α grows it becomes one graph, that of the pairs with a positive product. (Lorch, Rothfuss,
Schölkopf & Krause 2021, equation 6.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]
Graphs = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Latents:
    """Particles: `tails` and `heads` have the shape (particles, nodes, length); `free` edges are not settled.

    An edge that knowledge settles is there with probability 1 (`required`) or 0.

    >>> one = np.array([[[1.0], [2.0]]])
    >>> Latents(one, one, ~np.eye(2, dtype=bool), np.zeros((2, 2), bool)).graphs()[0].astype(int).tolist()
    [[0, 1], [1, 0]]
    """

    tails: Floats
    heads: Floats
    free: Graphs
    required: Graphs

    def products(self) -> Floats:
        """⟨u_i, v_j⟩ for every particle and pair."""
        return np.asarray(self.tails @ self.heads.transpose(0, 2, 1), dtype=np.float64)

    def probabilities(self, sharpness: float) -> Floats:
        """Probability of every edge, for every particle."""
        return np.where(self.free, expit(sharpness * self.products()), self.required)

    def graphs(self) -> Graphs:
        """The graph that each particle becomes in the end."""
        return np.where(self.free, self.products() > 0, self.required)

    def pull_back(self, by_product: Floats) -> tuple[Floats, Floats]:
        """The gradient by tails and heads, given that by the products of free edges."""
        masked = np.where(self.free, by_product, 0.0)
        return masked @ self.heads, masked.transpose(0, 2, 1) @ self.tails


def drawn_graphs(probabilities: Floats, number: int, rng: np.random.Generator) -> Graphs:
    """`number` graphs per particle, of the shape (particles, number, nodes, nodes)."""
    particles, nodes, _ = probabilities.shape
    uniform = rng.random((particles, number, nodes, nodes), dtype=np.float32)
    return uniform < probabilities[:, None].astype(np.float32)


def likelihood_gradient(probabilities: Floats, graphs: Graphs, scores: Floats) -> Floats:
    """Gradient of ln E[exp(score)] by the logits of edges, from graphs drawn for every particle.

    The estimate is Σ_m w_m (G_m − p), with w the shares of exp(score) among the graphs of a particle: it is
    biased, and where scores differ by many nats it is the best graph drawn that counts. A particle none of
    whose graphs can be scored gets no gradient.
    """
    best = scores.max(axis=1, keepdims=True)
    possible = np.isfinite(best)
    weights = np.exp(np.where(possible, scores - np.where(possible, best, 0.0), -np.inf))
    total = weights.sum(axis=1, keepdims=True)
    shares = weights / np.where(total > 0, total, 1.0)
    mean = np.einsum("pm,pmij->pij", shares, graphs, optimize=True)
    return np.asarray(mean - probabilities * shares.sum(axis=1)[:, None, None], dtype=np.float64)


def cycle_gradient(logits: Floats, number: int, rng: np.random.Generator) -> Floats:
    """Gradient of E[h(G)] by the logits of edges, h(G) = tr (I + G/d)^d − d, from `number` soft graphs each.

    A soft graph has σ(logit + noise) where a graph has 0 or 1, with logistic noise (Gumbel-softmax at
    temperature 1), so that the gradient passes through it.
    """
    particles, nodes, _ = logits.shape
    uniform = rng.random((particles, number, nodes, nodes))
    noise = np.log(np.maximum(uniform, 1e-300)) - np.log1p(-uniform)
    soft = expit(logits[:, None] + noise)
    soft[..., np.arange(nodes), np.arange(nodes)] = 0.0
    walks = np.linalg.matrix_power(np.eye(nodes) + soft / nodes, nodes - 1)
    by_entry = walks.swapaxes(-1, -2)
    return np.asarray((by_entry * soft * (1.0 - soft)).mean(axis=1), dtype=np.float64)
