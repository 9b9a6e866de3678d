"""The probability or density of one node given its parents, row by row."""

from __future__ import annotations

from collections.abc import Mapping
from math import log, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.network.drawing import configurations, node_means, node_sds, stacked_numbers
from dagora.network.model import NetworkModel


def node_log_likelihoods(
    model: NetworkModel,
    node: str,
    columns: Mapping[str, NDArray[Any]],
    tables: Mapping[str, NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Log probability or density of a node's value in each row, given its parents.

    `tables` are those of the model, as they are or brought to sum to 1. Columns may be arrays of any shapes
    that broadcast. A node without noise has probability
    1 at its mean and 0 elsewhere.

    >>> from dagora.graph.dag import DAG
    >>> coin = NetworkModel(DAG(["coin"]), {"coin": ("tails", "heads")}, {"coin": np.array([0.25, 0.75])})
    >>> node_log_likelihoods(coin, "coin", {"coin": np.array([1])}, coin.tables).round(4)
    array([-0.2877])
    """
    with np.errstate(divide="ignore"):
        if node in model.tables:
            family = tuple(columns[member] for member in (*model.parents[node], node))
            return np.asarray(np.log(tables[node][family]))
        if node in model.choices:
            chosen = model.choices[node].log_probabilities(
                stacked_numbers(model, node, columns), configurations(model, node, columns)
            )
            shape = np.broadcast_shapes(chosen.shape[:-1], columns[node].shape)
            picked = np.broadcast_to(columns[node], shape)[..., None].astype(np.int64)
            whole = np.broadcast_to(chosen, (*shape, chosen.shape[-1]))
            return np.asarray(np.take_along_axis(whole, picked, axis=-1)[..., 0])
    sds = node_sds(model, model.lines[node], node, columns)
    off = columns[node] - node_means(model, model.lines[node], node, columns)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = -0.5 * (off / sds) ** 2 - np.log(sds) - 0.5 * log(2 * pi)
    return np.where(sds > 0, logs, np.where(off == 0, 0.0, -np.inf))
