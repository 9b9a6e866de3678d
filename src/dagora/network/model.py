"""The one form to which inference and drawing bring every network: tables, lines and choices by node.

A discrete network has tables alone, a Gaussian one has lines without discrete parents, a mixed network has
them all. What is below the networks works on this form, and need not know their classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dagora.graph.dag import DAG
from dagora.network.origin import Origin
from dagora.network.regressions import Lines, Softmax


@dataclass(frozen=True, eq=False)
class NetworkModel:
    """A graph with the parameters of every node; the fields are those of `MixedNetwork`.

    >>> graph = DAG(["rain", "wet"], [("rain", "wet")])
    >>> tables = {"rain": np.array([0.8, 0.2]), "wet": np.array([[0.9, 0.1], [0.3, 0.7]])}
    >>> model = NetworkModel(graph, {"rain": ("no", "yes"), "wet": ("no", "yes")}, tables)
    >>> model.kind, model.discrete_parents("wet"), model.continuous_parents("wet")
    ('discrete', ('rain',), ())
    """

    graph: DAG
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tables: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    choices: Mapping[str, Softmax] = field(default_factory=dict)
    lines: Mapping[str, Lines] = field(default_factory=dict)
    origin: Origin | None = None

    @cached_property
    def kind(self) -> str:
        """`discrete`, `gaussian`, `clg` (mixed, but no discrete node has a continuous parent) or `mixed`."""
        if self.choices:
            return "mixed"
        if not self.lines:
            return "discrete"
        return "clg" if self.tables else "gaussian"

    @cached_property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """The parents of every node."""
        return {node: self.graph.parents(node) for node in self.graph}

    @cached_property
    def order(self) -> tuple[str, ...]:
        """A topological order."""
        return self.graph.order

    @cached_property
    def distributions(self) -> dict[str, NDArray[np.float64]]:
        """The tables, brought to sum to 1 exactly: files round them."""
        return {node: table / table.sum(axis=-1, keepdims=True) for node, table in self.tables.items()}

    def discrete_parents(self, node: str) -> tuple[str, ...]:
        """Parents that have levels, in the order of the graph."""
        return tuple(parent for parent in self.parents[node] if parent in self.levels)

    def continuous_parents(self, node: str) -> tuple[str, ...]:
        """Continuous parents, in the order of the graph."""
        return tuple(parent for parent in self.parents[node] if parent not in self.levels)
