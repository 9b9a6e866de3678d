"""A graph whose nodes are Gaussian processes of their parents: prediction, functions with bands, sampling."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, GraphError, OptionError
from dagora.data.accepting import as_table
from dagora.data.columns.reading_options import ReadingOptions, as_names, split_reading
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.network.drawing import check_rows, seed_sequence
from dagora.network.gaussian_process.function_draws import FunctionMixture
from dagora.network.gaussian_process.regression import Process, Regression

Array = NDArray[np.float64]

GRID = 80  # points of a function


def refuse_absent(parents: Mapping[str, str], names: Collection[str]) -> None:
    """Refuse data in which a parent is absent; `parents` says for each which node is predicted from it."""
    for parent, node in parents.items():
        if parent not in names:
            raise DataError(
                f"'{node}' is predicted from '{parent}', which is no column of the data: "
                "add it, or name other nodes"
            )


@dataclass(frozen=True, eq=False)
class Prediction:
    """A node's expected value for each row, and standard deviations.

    `sd` is that of a new observation; `mean_sd` that of the expected value, which more rows make smaller.

    >>> Prediction(np.array([1.0]), np.array([0.5]), np.array([0.1])).mean.tolist()
    [1.0]
    """

    mean: Array
    sd: Array
    mean_sd: Array


@dataclass(frozen=True, eq=False)
class ParentFunction:
    """A child's dependence on one parent: posterior mean and sd at `x`, in the units of the columns.

    The function runs through the child's average. `data_x` and `data_y` are the rows: the parent, and the
    child less what its other parents explain. With one parent these are the child's own values.

    >>> ParentFunction("y", "x", *[np.zeros(2)] * 5).child
    'y'
    """

    child: str
    parent: str
    x: Array
    mean: Array
    sd: Array
    data_x: Array
    data_y: Array


@dataclass(frozen=True, eq=False)
class GaussianProcessNetwork:
    """Every node is μ + f(parents) + noise, with f a Gaussian process given the rows of `table`.

    `processes[x]` has the hyperparameters of x, in standardised columns and in the order of
    `graph.parents(x)`. `fit(graph, data, score="gp")` finds them.

    >>> graph = DAG("ab", [("a", "b")])
    >>> a = np.linspace(-2, 2, 40)
    >>> table = Table.from_numpy(np.column_stack([a, np.sin(a)]), names="ab")
    >>> processes = {"a": Process(np.zeros(0), 1.0), "b": Process(np.array([1.0]), 0.1)}
    >>> network = GaussianProcessNetwork(graph, table, processes)
    >>> network.predict({"a": [0.5]}, nodes=["b"])["b"].mean.round(2).tolist()
    [0.48]
    >>> network.sample(rows=3, seed=1).names
    ('a', 'b')
    >>> [(curve.parent, curve.child, len(curve.x)) for curve in network.functions()]
    [('a', 'b', 80)]
    """

    graph: DAG
    table: Table = field(repr=False)
    processes: Mapping[str, Process]
    score: str = "gp"
    name: str = "network"

    def __post_init__(self) -> None:
        for node in self.graph:
            if node not in self.processes:
                raise GraphError(f"'{node}' has no process")
            if len(self.processes[node].scales) != len(self.graph.parents(node)):
                raise GraphError(f"'{node}' needs one length-scale per parent")

    def predict(
        self,
        data: object,
        nodes: Iterable[str] | None = None,
        **reading: Any,  # noqa: ANN401 - those of `read_table`
    ) -> dict[str, Prediction]:
        """Predict nodes (by default all of them) from their parents, which must be columns of the data.

        The data are of any kind that `fit` takes, such as a table, a frame or a mapping of columns; other
        columns are ignored. Options of `read_table`, such as `missing`, say how they are to be understood.
        """
        chosen = self.graph.nodes if nodes is None else as_names("nodes", nodes)
        table = as_table(data, self._reading_of_parents(data, chosen, reading))
        found = {}
        for node in chosen:
            values = [table.values(table.names.index(parent)) for parent in self.graph.parents(node)]
            found[node] = self._predict(node, values, table.n_rows)
        return found

    def _reading_of_parents(
        self, data: object, nodes: Sequence[str], reading: Mapping[str, Any]
    ) -> ReadingOptions:
        """Read the nodes' parents as numbers, and nothing else; the types of a table are settled."""
        parents = {parent: node for node in nodes for parent in self.graph.parents(node)}
        if isinstance(data, Mapping | Table):
            refuse_absent(parents, {*map(str, data.names if isinstance(data, Table) else data)})
        numbers = {} if isinstance(data, Table) else {"continuous": tuple(parents)}
        options, unknown = split_reading({**numbers, **reading}, parents, only=parents or None)
        if unknown:
            raise OptionError(f"predict has no option '{next(iter(unknown))}'")
        return options

    def functions(self) -> list[ParentFunction]:
        """The posterior function of every edge, over the range of the parent's values."""
        return [curve for node in self.graph for curve in self._functions_of(node)]

    def sample(self, rows: int, seed: int) -> Table:
        """Draw rows, parents before children, each node from its prediction.

        A row is a prediction of its own: function and noise are drawn for it alone.
        """
        check_rows(rows)
        rng = np.random.default_rng(seed_sequence(seed))
        values: dict[str, Array] = {}
        for node in self.graph.order:
            found = self._predict(node, [values[parent] for parent in self.graph.parents(node)], rows)
            values[node] = found.mean + found.sd * rng.standard_normal(rows)
        schema = Schema(Variable(node, Kind.CONTINUOUS) for node in self.graph)
        return Table(schema, tuple(values[node] for node in self.graph))

    def draw_functions(self, node: str, number: int, rng: np.random.Generator) -> FunctionMixture:
        """Draw functions of a node's parents from their posterior, with noise, in standardised units."""
        values = [self._columns[parent] for parent in self.graph.parents(node)]
        x, y = self._matrix(node, values, self.table.n_rows), self.standardise(node, self._columns[node])
        return FunctionMixture(self.processes[node], x, y, number, rng)

    def standardise(self, node: str, values: Array) -> Array:
        """Values of a node less the mean of its rows, in units of their standard deviation."""
        column = self._columns[node]
        scaled: Array = (values - column.mean()) / column.std(ddof=1)
        return scaled

    def in_units(self, node: str, scaled: Array) -> Array:
        """Standardised values of a node in the units of its column."""
        column = self._columns[node]
        values: Array = column.mean() + column.std(ddof=1) * scaled
        return values

    @property
    def has_draws(self) -> bool:
        """True if hyperparameters are known as draws from their posterior besides their mode."""
        return any(process.draws for process in self.processes.values())

    @cached_property
    def _columns(self) -> dict[str, Array]:
        return {node: self.table.values(self.table.names.index(node)) for node in self.graph}

    def _matrix(self, node: str, values: Sequence[Array], rows: int) -> Array:
        parents = self.graph.parents(node)
        scaled = [self.standardise(parent, some) for parent, some in zip(parents, values, strict=True)]
        return np.column_stack(scaled) if scaled else np.zeros((rows, 0))

    def _regression(self, node: str) -> tuple[Regression, Array]:
        values = [self._columns[parent] for parent in self.graph.parents(node)]
        x = self._matrix(node, values, self.table.n_rows)
        return Regression(self.processes[node], x, self.standardise(node, self._columns[node])), x

    def _predict(self, node: str, values: Sequence[Array], rows: int) -> Prediction:
        regression, _ = self._regression(node)
        mean, variance = regression.predict(self._matrix(node, values, rows))
        column = self._columns[node]
        unit = float(column.std(ddof=1))
        noisy = np.sqrt(variance + self.processes[node].noise ** 2)
        return Prediction(column.mean() + unit * mean, unit * noisy, unit * np.sqrt(variance))

    def _functions_of(self, node: str) -> list[ParentFunction]:
        parents = self.graph.parents(node)
        if not parents:
            return []
        regression, x = self._regression(node)
        column = self._columns[node]
        unit, level = float(column.std(ddof=1)), float(column.mean())
        fitted, _ = regression.predict(x)
        left = self.standardise(node, column) - fitted
        middle = float(fitted.mean())
        curves = []
        for k, parent in enumerate(parents):
            own = self._columns[parent]
            grid = np.linspace(own.min(), own.max(), GRID)
            mean, variance = regression.effect(k, self.standardise(parent, grid))
            at_rows, _ = regression.effect(k, x[:, k])
            curves.append(
                ParentFunction(
                    node, parent, grid, level + unit * (middle + mean), unit * np.sqrt(variance),
                    own, level + unit * (middle + at_rows + left),
                )
            )  # fmt: skip
        return curves
