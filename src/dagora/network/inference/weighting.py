"""Estimated answers from weighted samples.

Missing nodes are drawn from approximations of their distribution given the evidence, with importance weights
(`proposals/row_posteriors`). Where too many discrete nodes depend on each other for that, rows are drawn
forward with the evidence held fixed, and a row's weight is the likelihood of the observed values given their
parents (likelihood weighting; Fung and Chang 1990; Shachter and Peot 1990). Weighted shares and means are the
answer. With weights w, a mean m of f has the standard error √Σ w²(f − m)² / Σ w, and the effective number of
rows is (Σ w)² / Σ w².
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.graph.dag import DAG
from dagora.network.drawing import Columns, draw_node, seed_sequence
from dagora.network.inference.exact import impossible_evidence
from dagora.network.inference.problem import NodeEvidence, relevant_nodes
from dagora.network.model import NetworkModel
from dagora.network.node_likelihood import node_log_likelihoods
from dagora.network.proposals.row_posteriors import RowPosteriors, UnaffordableError, network_scales

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """Rows with weights that sum to 1."""

    columns: Columns
    weights: Array

    @property
    def effective(self) -> float:
        """The effective number of rows."""
        return float(1.0 / (self.weights**2).sum())

    def mean_and_error(self, values: Array) -> tuple[float, float]:
        """A weighted mean and its standard error."""
        mean = float(self.weights @ values)
        return mean, float(np.sqrt((self.weights**2) @ (values - mean) ** 2))


def draw_weighted_rows(
    model: NetworkModel, targets: list[str], known: NodeEvidence, samples: int, seed: int
) -> WeightedRows:
    """Draw the nodes that are relevant to the targets, given the evidence."""
    rng = np.random.default_rng(seed_sequence(seed))
    part = cut_out(model, targets, known)
    given = {
        node: np.array([value if node in model.lines else int(value)])
        for node, value in known.values.items()
        if node in part.graph.nodes
    }
    try:
        rows = RowPosteriors(part, given, 1, network_scales(part, known.do), known.do)
        drawn = rows.draw(samples, rng)
    except UnaffordableError:
        return draw_forward_weighted(model, targets, known, samples, rng)
    weights = drawn.weights(targets)[:, 0]
    if drawn.impossible.any() or not weights.sum() > 0:
        raise impossible_evidence(model, known)
    return WeightedRows({node: column[:, 0] for node, column in drawn.columns.items()}, weights)


def cut_out(model: NetworkModel, targets: list[str], known: NodeEvidence) -> NetworkModel:
    """The part of a model that is relevant to a question, without the arrows into nodes that are set."""
    relevant = set(relevant_nodes(model, targets, known))
    nodes = [node for node in model.graph if node in relevant]
    edges = [(parent, node) for node in nodes if node not in known.do for parent in model.parents[node]]
    return NetworkModel(DAG(nodes, edges), model.levels, model.tables, model.choices, model.lines)


def draw_forward_weighted(
    model: NetworkModel, targets: list[str], known: NodeEvidence, samples: int, rng: np.random.Generator
) -> WeightedRows:
    """Draw forward, with the evidence held fixed."""
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
        raise impossible_evidence(model, known)
    weights = np.exp(logs - logs.max())
    return WeightedRows(columns, weights / weights.sum())
