"""Receiver operating characteristic of edges: which are found as the threshold of their probability falls.

At a threshold a pair of nodes is joined, in its likelier direction, if the probability of that direction
reaches it. A reversed edge counts as half true and half false. The false positive rate is per true edge (the
published results' `FPR_P`), and can exceed 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# By hand; closer to each other at both ends.
THRESHOLDS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)


def rates(probability: NDArray[np.float64], truth: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """True and false positives per true edge at each of `THRESHOLDS`; none where the truth has no edge.

    >>> truth = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> sure = rates(np.where(truth, 1.0, 0.0), truth)
    >>> sure[0], sure[-1]
    ((1.0, 0.0), (1.0, 0.0))
    """
    edges = int(truth.sum())
    if not edges:
        return []
    likelier = np.where(probability >= probability.T, probability, 0.0)
    # Of two directions that are equally likely, the first stands.
    likelier[np.tril(probability == probability.T)] = 0.0
    found = []
    for threshold in THRESHOLDS:
        joined = likelier >= threshold
        turned = int((joined & truth.T).sum())
        right = int((joined & truth).sum())
        other = int(joined.sum()) - right - turned
        found.append(((right + turned / 2) / edges, (other + turned / 2) / edges))
    return found


def mean_rates(curves: Sequence[Sequence[Sequence[float]]]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean true and false positive rates over graphs, threshold by threshold."""
    kept = np.array([curve for curve in curves if curve])
    true_rate, false_rate = kept.mean(axis=0).T
    return tuple(true_rate.tolist()), tuple(false_rate.tolist())
