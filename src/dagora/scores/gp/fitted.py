"""Fit a Gaussian-process network to a graph: every node's hyperparameters at their mode.

Kernel, priors and the search for modes are those of the scores `gp` and `gp2`. The mode is that of the
density of the parameters' logarithms, with μ integrated out; of several modes it is the one with the largest
evidence by Laplace. Effects take draws from their posterior instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dagora.base.errors import DataError
from dagora.data.schema import Kind
from dagora.graph.dag import DAG
from dagora.network.gaussian_process.network import GaussianProcessNetwork
from dagora.network.gaussian_process.regression import Process
from dagora.scores.gp.root import root_mode
from dagora.scores.gp.score import GaussianProcessScore
from dagora.scores.local_score import Family
from dagora.stats.statistics import Statistics
from dagora.stats.table import TableStatistics

DRAWS = 20  # of the hyperparameters of a node
MOST_ROWS = 5000
"""Rows of a fitted network: it keeps them, and solves a system of their number for every node."""


def fit_processes(
    graph: DAG, statistics: Statistics, score: str = "gp", *, published: bool = False, name: str = "network"
) -> GaussianProcessNetwork:
    """Fit the processes of a graph whose nodes are continuous columns; `score` is `gp` or `gp2`.

    >>> from dagora.data.table import Table
    >>> x = np.linspace(-2, 2, 60)
    >>> rows = np.column_stack([x, np.sin(2 * x) + 0.1 * np.cos(37 * x)])
    >>> network = fit_processes(DAG("xy", [("x", "y")]), TableStatistics(Table.from_numpy(rows, names="xy")))
    >>> bool(0.3 < network.processes["y"].scales[0] < 1.5), bool(network.processes["y"].noise < 0.3)
    (True, True)
    """
    return ProcessFits(statistics, graph.nodes, score, published=published).network(graph, name)


class ProcessFits:
    """Networks of many graphs on the same continuous columns; a family that they share is fitted once.

    >>> from dagora.data.table import Table
    >>> rows = np.random.default_rng(0).standard_normal((30, 2))
    >>> fits = ProcessFits(TableStatistics(Table.from_numpy(rows, names="xy")), "xy")
    >>> fits.network(DAG("xy", ["xy"])).graph.edges, fits.network(DAG("x")).graph.edges
    ((('x', 'y'),), ())
    """

    def __init__(
        self, statistics: Statistics, nodes: Sequence[str], score: str = "gp", *, published: bool = False
    ) -> None:
        if statistics.n_rows > MOST_ROWS:
            raise DataError(
                f"a Gaussian-process network keeps its rows and can have {MOST_ROWS:,} of them, not "
                f"{statistics.n_rows:,}: fit it to fewer rows"
            )
        for node in nodes:
            if statistics.schema[statistics.schema.index(node)].kind is not Kind.CONTINUOUS:
                raise DataError(f"the score {score} is for continuous columns, and '{node}' is discrete")
        self._name, self._published = score, published
        self._fitted: dict[Family, Process] = {}
        self._table = statistics.rows().select(nodes)
        self._score = GaussianProcessScore(
            TableStatistics(self._table),
            kernel="additive" if score == "gp" else "interactions",
            estimator="laplace",
            published=published,
        )

    def network(self, graph: DAG, name: str = "network") -> GaussianProcessNetwork:
        """The network of a graph whose nodes are among the columns."""
        processes = {node: self._process(node, graph.parents(node)) for node in graph.nodes}
        return GaussianProcessNetwork(graph, self._table.select(graph.nodes), processes, self._name, name)

    def _process(self, node: str, parents: Sequence[str]) -> Process:
        rows = self._table.n_rows
        if not parents:
            return Process(np.zeros(0), root_mode(rows, 0.0, rows - 1.0))
        child, *places = (self._table.names.index(name) for name in (node, *parents))
        family = child, tuple(places)
        if family not in self._fitted:
            points = [np.array(self._score.details(family).mode), *self._score.parameter_draws(family, DRAWS)]
            mode, *draws = (process_at(point, places, published=self._published) for point in points)
            self._fitted[family] = replace(mode, draws=tuple(draws))
        return self._fitted[family]


def process_at(mode: np.ndarray, parents: list[int], *, published: bool) -> Process:
    """The process of a score's parameters (ρ of each parent by its number, τ if any, σ), parents as given.

    >>> process = process_at(np.array([1.0, 2.0, 0.5, 3.0, 0.1]), [7, 4], published=False)
    >>> process.scales.tolist(), process.main, process.product, process.noise
    ([2.0, 1.0], 0.5, 3.0, 0.1)
    """
    size = len(parents)
    scales = np.empty(size)
    scales[np.argsort(parents)] = mode[:size]
    amplitudes = mode[size:-1]
    main = float(amplitudes[0]) if len(amplitudes) else 1.0
    product = float(amplitudes[1]) if len(amplitudes) > 1 else 0.0
    if published and len(amplitudes):
        main, product = main**2, product * main**4
    return Process(scales, float(mode[-1]), main, product)
