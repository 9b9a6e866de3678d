"""The divergence of the relative frequencies of sampled graphs from the enumerated posterior.

It is the reverse divergence of figure 3, KL(q‖p) = Σ q(G) ln(q(G)/p(G)) in nats, where q is the estimate,
which is zero on graphs that were not drawn, and p the truth.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.posterior.draws import Draws
from dagora.posterior.exact.enumeration import Enumeration

Floats = NDArray[np.float64]


def shares(draws: Draws, count: int, graphs: Enumeration) -> Floats:
    """Weighted relative frequency of every graph among the first `count` draws of all chains (eq. 14)."""
    per_chain = count // draws.chains
    places = graphs.find(draws.parents[:, :per_chain]).ravel()
    logs = np.zeros(len(places)) if draws.log_weights is None else draws.log_weights[:, :per_chain].ravel()
    total = np.bincount(places, np.exp(logs - logs.max()), minlength=len(graphs.masks))
    return np.asarray(total / total.sum(), dtype=np.float64)


def divergence(q: Floats, p: Floats) -> float:
    """KL(q‖p).

    >>> round(divergence(np.array([0.5, 0.5, 0.0]), np.array([0.25, 0.25, 0.5])), 4)
    0.6931
    """
    seen = q > 0
    return float((q[seen] * np.log(q[seen] / p[seen])).sum())


def floor(truth: Floats, counts: Sequence[int], seed: int, repeats: int = 20) -> list[float]:
    """Mean divergence of so many independent draws from the truth, a lower bound for any sampler's."""
    rng = np.random.default_rng(seed)
    return [
        float(np.mean([divergence(rng.multinomial(count, truth) / count, truth) for _ in range(repeats)]))
        for count in counts
    ]
