"""Estimated answers by likelihood weighting (Fung and Chang 1990; Shachter and Peot 1990).

Rows are drawn forward with what is known held fixed; a row weighs as much as what was seen is likely given
its parents in that row. Weighted shares and means are the answer. With weights w, a mean m of f has the
standard error √Σ w²(f − m)² / Σ w, and the rows are as good as (Σ w)² / Σ w² rows without weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.network.drawing import Columns, draw_node, seed_sequence
from dagora.network.inference.exact import impossible
from dagora.network.inference.problem import Known, relevant_nodes
from dagora.network.model import Model
from dagora.network.node_likelihood import node_log_likelihoods

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Weighted:
    """Rows with weights that sum to 1."""

    columns: Columns
    weights: Array

    @property
    def effective(self) -> float:
        """How many rows without weights are as good."""
        return float(1.0 / (self.weights**2).sum())

    def mean_and_error(self, values: Array) -> tuple[float, float]:
        """A weighted mean and its standard error."""
        mean = float(self.weights @ values)
        return mean, float(np.sqrt((self.weights**2) @ (values - mean) ** 2))


def draw_weighted(model: Model, targets: list[str], known: Known, samples: int, seed: int) -> Weighted:
    """Draw the nodes that bear on the targets; what is known is held fixed."""
    rng = np.random.default_rng(seed_sequence(seed))
    columns: Columns = {}
    logs = np.zeros(samples)
    for node in relevant_nodes(model, targets, known):
        if node in known.seen or node in known.do:
            value = known.values[node]
            columns[node] = np.full(samples, value if node in model.lines else int(value))
            if node in known.seen:
                logs += node_log_likelihoods(model, node, columns, model.distributions)
        else:
            columns[node] = draw_node(model, node, columns, samples, rng)
    if logs.max() == -np.inf:
        raise impossible(model, known)
    weights = np.exp(logs - logs.max())
    return Weighted(columns, weights / weights.sum())
