"""A graph with its parameters: conditional probability tables, or linear-Gaussian regressions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.errors import GraphError
from dagora.graph.dag import DAG


@dataclass(frozen=True, eq=False)
class DiscreteNetwork:
    """Conditional probability tables.

    `tables[x]` has one axis per parent, in the order of `graph.parents(x)`, and the levels of `x` last; it
    sums to one along that last axis.

    >>> graph = DAG(["rain", "wet"], [("rain", "wet")])
    >>> levels = {"rain": ("no", "yes"), "wet": ("no", "yes")}
    >>> tables = {"rain": np.array([0.8, 0.2]), "wet": np.array([[0.9, 0.1], [0.3, 0.7]])}
    >>> network = DiscreteNetwork(graph, levels, tables)
    >>> network.tables["wet"][1]  # given that it rains
    array([0.3, 0.7])
    """

    graph: DAG
    levels: Mapping[str, tuple[str, ...]]
    tables: Mapping[str, NDArray[np.float64]]
    name: str = "network"

    def __post_init__(self) -> None:
        for node in self.graph:
            if node not in self.levels or node not in self.tables:
                raise GraphError(f"'{node}' has no levels or no table")
            expected = tuple(len(self.levels[name]) for name in (*self.graph.parents(node), node))
            table = self.tables[node]
            if table.shape != expected:
                raise GraphError(f"the table of '{node}' has shape {table.shape}, not {expected}")
            if (
                not np.isfinite(table).all()
                or (table < 0).any()
                or not np.allclose(table.sum(axis=-1), 1, atol=1e-3)
            ):
                raise GraphError(f"the table of '{node}' is not made of probabilities that sum to 1")


@dataclass(frozen=True, eq=False)
class GaussianNetwork:
    """Linear regressions with Gaussian noise: x = intercept + Σ coefficient · parent + sd · N(0, 1).

    `coefficients[x]` follows the order of `graph.parents(x)`.

    >>> graph = DAG(["dose", "effect"], [("dose", "effect")])
    >>> slopes = {"dose": np.zeros(0), "effect": np.array([1.5])}
    >>> network = GaussianNetwork(graph, {"dose": 0.0, "effect": 1.0}, slopes, {"dose": 1.0, "effect": 0.5})
    >>> network.coefficients["effect"], network.sds["effect"]
    (array([1.5]), 0.5)
    """

    graph: DAG
    intercepts: Mapping[str, float]
    coefficients: Mapping[str, NDArray[np.float64]]
    sds: Mapping[str, float]
    name: str = "network"

    def __post_init__(self) -> None:
        for node in self.graph:
            if node not in self.intercepts or node not in self.coefficients or node not in self.sds:
                raise GraphError(f"'{node}' has no regression")
            if len(self.coefficients[node]) != len(self.graph.parents(node)):
                raise GraphError(f"'{node}' needs one coefficient per parent")
            numbers = [self.intercepts[node], self.sds[node], *self.coefficients[node]]
            if not np.isfinite(numbers).all() or self.sds[node] < 0:
                raise GraphError(
                    f"the regression of '{node}' needs finite numbers and a standard deviation ≥ 0"
                )


Network = DiscreteNetwork | GaussianNetwork


def require_network(value: object) -> Network:
    """Return a network as it is; refuse anything else with the way to get one.

    >>> require_network(DAG("ab"))
    Traceback (most recent call last):
    dagora.errors.GraphError: a network with parameters is needed, not a DAG: fit(graph, data) makes one
    """
    if isinstance(value, DiscreteNetwork | GaussianNetwork):
        return value
    raise GraphError(
        f"a network with parameters is needed, not a {type(value).__name__}: fit(graph, data) makes one"
    )
