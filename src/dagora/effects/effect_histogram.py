"""Histogram of an effect over graphs and parameters: shares of the weight in intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BINS = 24  # by hand
ENDS = (0.002, 0.998)
"""Quantiles between which the intervals lie, so that a few far draws do not make all others one bar."""


@dataclass(frozen=True)
class EffectHistogram:
    """The share of the weight between each two edges; the first and last interval hold what is beyond.

    >>> EffectHistogram.of(np.array([1.0, 2.0, 2.0]), np.full(3, 0.2)).shares[-1]
    0.4
    """

    edges: tuple[float, ...]
    shares: tuple[float, ...]

    @classmethod
    def of(cls, values: Array, weights: Array) -> EffectHistogram | None:
        """That of draws with weights; None where there are none, or all are alike."""
        finite = np.isfinite(values)
        values, weights = values[finite], weights[finite]
        if not len(values):
            return None
        order = np.argsort(values)
        reached = np.cumsum(weights[order])
        low, high = values[order][np.searchsorted(reached, np.array(ENDS) * reached[-1])]
        if not high - low > 1e-12 * max(abs(low), abs(high)):
            return None
        counts, edges = np.histogram(np.clip(values, low, high), BINS, (low, high), weights=weights)
        return cls(tuple(edges.tolist()), tuple(counts.tolist()))

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {"edges": list(self.edges), "shares": list(self.shares)}
