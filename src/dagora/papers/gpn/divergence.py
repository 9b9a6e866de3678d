"""How far the shares of sampled graphs are from the enumerated posterior.

The divergence is the reverse one of figure 3, KL(q‖p) = Σ q(G) ln(q(G)/p(G)) in nats, with q the estimate,
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
    """Share of every graph among the first `count` draws of all chains, by their weights (eq. 14)."""
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
    """Mean divergence of independent draws of the truth itself, which no sampler can be expected to beat."""
    rng = np.random.default_rng(seed)
    return [
        float(np.mean([divergence(rng.multinomial(count, truth) / count, truth) for _ in range(repeats)]))
        for count in counts
    ]
