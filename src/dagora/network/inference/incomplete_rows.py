"""Log-likelihood of rows with missing values, which are summed or integrated out.

Discrete networks calibrate a junction tree on many rows at once. Gaussian ones take the normal distribution
of the observed nodes, pattern by pattern. Mixed ones compute the probability of each distinct row.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan, log, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.network.inference.components import joint_moments
from dagora.network.inference.exact import log_evidence
from dagora.network.inference.factors import MemoryLimit
from dagora.network.inference.junction_tree import JunctionTree
from dagora.network.inference.problem import NodeEvidence, set_up
from dagora.network.model import NetworkModel

Array = NDArray[np.float64]
Masks = Mapping[str, NDArray[np.bool_]]


def marginal_log_likelihoods(model: NetworkModel, columns: Mapping[str, NDArray[Any]], seen: Masks) -> Array:
    """Log probability or density of the observed values of each row; 0 for a row without any.

    >>> from dagora.graph.dag import DAG
    >>> coin = NetworkModel(DAG(["coin"]), {"coin": ("tails", "heads")}, {"coin": np.array([0.25, 0.75])})
    >>> marginal_log_likelihoods(coin, {"coin": np.array([1, 0])}, {"coin": np.array([True, True])}).round(4)
    array([-0.2877, -1.3863])
    """
    if model.kind == "discrete":
        return discrete_rows(model, columns, seen)
    if model.kind == "gaussian":
        return gaussian_rows(model, columns, seen)
    return mixed_rows(model, columns, seen)


def discrete_rows(model: NetworkModel, columns: Mapping[str, NDArray[Any]], seen: Masks) -> Array:
    """Discrete networks: by a junction tree, each distinct row once."""
    codes = np.stack(
        [np.where(seen[node], columns[node].astype(np.int64), -1) for node in model.graph], axis=1
    )
    different, which = np.unique(codes, axis=0, return_inverse=True)
    return np.asarray(JunctionTree(model).log_probabilities(different)[which.reshape(-1)])


def gaussian_rows(model: NetworkModel, columns: Mapping[str, NDArray[Any]], seen: Masks) -> Array:
    """Gaussian networks: by the normal distribution of the observed nodes, one pattern after the other."""
    nodes = model.order
    lines = set_up(model, nodes, NodeEvidence()).lines
    for line in lines:
        if (line.lines.sds == 0).any():
            raise DataError(f"'{line.node}' has a standard deviation of 0 in the network: it has no density")
    means, covariances = joint_moments(lines, (), {})
    values = np.stack([columns[node] for node in nodes], axis=1)
    masks = np.stack([seen[node] for node in nodes], axis=1)
    patterns, which = np.unique(masks, axis=0, return_inverse=True)
    logs = np.zeros(len(values))
    for number, pattern in enumerate(patterns):
        rows = which.reshape(-1) == number
        factor = np.linalg.cholesky(covariances[0][np.ix_(pattern, pattern)])
        white = np.linalg.solve(factor, (values[rows][:, pattern] - means[0][pattern]).T)
        scale = np.log(np.diag(factor)).sum() + 0.5 * log(2 * pi) * pattern.sum()
        logs[rows] = -0.5 * (white**2).sum(axis=0) - scale
    return logs


def mixed_rows(model: NetworkModel, columns: Mapping[str, NDArray[Any]], seen: Masks) -> Array:
    """Mixed networks: by one question per distinct row."""
    nodes = tuple(model.graph)
    values = np.stack([np.where(seen[node], columns[node], np.nan) for node in nodes], axis=1)
    different, which = np.unique(values, axis=0, return_inverse=True)
    logs = np.zeros(len(different))
    limits = MemoryLimit(asked="likelihood")
    for number, row in enumerate(different.tolist()):
        known = NodeEvidence(
            {node: value for node, value in zip(nodes, row, strict=True) if not isnan(value)}
        )
        logs[number] = log_evidence(model, known, limits)
    return np.asarray(logs[which.reshape(-1)])
