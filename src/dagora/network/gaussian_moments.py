"""Mean and covariance that a Gaussian network implies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.network.model import NetworkModel

Array = NDArray[np.float64]


def implied_moments(model: NetworkModel) -> tuple[Array, Array]:
    """Mean and covariance of the nodes of a Gaussian network, in the order of its graph.

    >>> from dagora.graph.dag import DAG
    >>> from dagora.network.regressions import Lines
    >>> line = Lines(np.array(0.5), np.array([2.0]), np.array(1.0))
    >>> first = Lines(np.array(1.0), np.zeros(0), np.array(1.0))
    >>> implied_moments(NetworkModel(DAG("ab", [("a", "b")]), lines={"a": first, "b": line}))
    (array([1. , 2.5]), array([[1., 2.],
           [2., 5.]]))
    """
    place = {node: i for i, node in enumerate(model.graph)}
    mean = np.zeros(len(place))
    mixing = np.zeros((len(place), len(place)))  # each node as a sum of independent noises
    for node in model.order:
        i, line = place[node], model.lines[node]
        parents = [place[parent] for parent in model.parents[node]]
        mean[i] = line.intercepts + line.slopes @ mean[parents]
        mixing[i] = line.slopes @ mixing[parents]
        mixing[i, i] += line.sds
    return mean, mixing @ mixing.T
