"""A network in time as a model of steps: which distribution a variable has at step 0, 1, 2, … of a series.

The network is one of a window of lags + 1 steps, the nodes of its last step being x, y, …. From step `lags`
on a variable x has the distribution of the node x, given its parents at that step and before: the same at
every step. The first `lags` steps have those of the nodes x[t-lags], …, x[t-1], the initial distribution.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import GraphError
from dagora.graph.lagged_graph import LaggedGraph, lagged_name, split_name
from dagora.network.model import NetworkModel

At = tuple[str, int]
"""A variable at a step."""


@dataclass(frozen=True, eq=False)
class StepModel:
    """The model of a window, read as one of any number of steps.

    >>> graph = LaggedGraph(("x",), 1, [("x", "x", 1)])
    >>> stay = np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> tables = {"x": stay, "x[t-1]": np.array([0.5, 0.5])}
    >>> levels = {"x": ("a", "b"), "x[t-1]": ("a", "b")}
    >>> steps = StepModel(NetworkModel(graph.unrolled(2), levels, tables))
    >>> steps.node("x", 0), steps.node("x", 5), steps.parents("x", 5)
    ('x[t-1]', 'x', (('x', 4),))
    """

    model: NetworkModel

    @cached_property
    def graph(self) -> LaggedGraph:
        """The graph in time."""
        found = LaggedGraph.of_unrolled(self.model.graph)
        if found is None:
            raise GraphError(
                "this is no network in time: its nodes are x, x[t-1], …, the same for every variable, and no "
                "edge leads back in time"
            )
        levels = self.model.levels
        for node in self.model.graph:
            now = split_name(node)[0]
            if levels.get(node) != levels.get(now):
                raise GraphError(f"'{node}' and '{now}' are one variable, but have different levels")
        return found

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables."""
        return self.graph.variables

    @property
    def lags(self) -> int:
        """The number of steps that a variable may depend on."""
        return self.graph.lags

    def node(self, variable: str, step: int) -> str:
        """The node of the window that has the distribution of a variable at a step."""
        return lagged_name(variable, max(0, self.lags - step))

    def parents(self, variable: str, step: int) -> tuple[At, ...]:
        """The parents of a variable at a step, in the order of its table or regression."""
        return tuple(
            (name, max(step, self.lags) - lag) for name, lag in self._parents[self.node(variable, step)]
        )

    @cached_property
    def _parents(self) -> dict[str, tuple[At, ...]]:
        return {node: tuple(map(split_name, found)) for node, found in self.model.parents.items()}

    @cached_property
    def _orders(self) -> list[tuple[str, ...]]:
        ordered = [split_name(node) for node in self.model.order]
        return [tuple(name for name, lag in ordered if lag == self.lags - s) for s in range(self.lags + 1)]

    def order(self, step: int) -> tuple[str, ...]:
        """The variables of a step, causes before effects."""
        return self._orders[min(step, self.lags)]

    @cached_property
    def is_discrete(self) -> NDArray[np.bool_]:
        """True for each variable that has levels."""
        return np.array([name in self.model.levels for name in self.variables], dtype=np.bool_)

    def place(self, variable: str) -> int:
        """The position of a variable."""
        return self._places[variable]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.variables)}
