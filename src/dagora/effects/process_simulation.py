"""Means of y where x is set, simulated by drawn functions of a Gaussian-process network.

Columns that x does not change are as in the rows, with weights drawn from a Dirichlet distribution (Rubin
1981). Those on the way from x to y are simulated in order: functions of their parents drawn from their
posterior, one function for all rows and for all values of x, plus normal noise, stratified over the rows and
the same for all values of x. Each draw of the functions gives a mean of y for every value of x (Giudice,
Kuipers & Moffa 2024, "Bayesian causal inference with Gaussian process networks").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.effects.contrast import EffectContrast, value_text
from dagora.graph.dag import DAG
from dagora.network.gaussian_process.function_draws import MARGIN, FunctionMixture
from dagora.network.gaussian_process.network import GaussianProcessNetwork

Array = NDArray[np.float64]

DRAWS = 1000
LEAST_SAMPLES = 500
"""Simulated rows of a draw: the rows as many times as that takes."""
BLOCK = 200_000  # numbers of one column that are simulated at once


@dataclass(frozen=True)
class SimulatedMeans:
    """The mean of y, [draw, value of x], and which share of each simulated column is beyond its rows."""

    means: Array
    outside: Mapping[str, float]

    @property
    def change(self) -> Array:
        """The difference between the first two values of x, for each draw."""
        return np.asarray(self.means[:, 0] - self.means[:, 1])


def simulate_means(
    network: GaussianProcessNetwork,
    table: Table,
    contrast: EffectContrast,
    values: Array,
    rng: np.random.Generator,
    draws: int | None = None,
) -> SimulatedMeans:
    """The mean of y among the rows of a table where x is set to values, [value, cause]."""
    refuse_far_values(network, contrast, values)
    draws = draws or DRAWS
    simulation = InterventionSimulation(network, table, contrast, values, draws, rng)
    step = max(1, BLOCK // (simulation.samples * len(values)))
    means = [simulation.means(slice(start, min(start + step, draws))) for start in range(0, draws, step)]
    outside = {node: count / simulation.simulated for node, count in simulation.outside.items()}
    return SimulatedMeans(network.in_units(contrast.y, np.concatenate(means)), outside)


class InterventionSimulation:
    """A network in which x is set: what is known, [1, value, sample], and drawn functions for the rest."""

    def __init__(
        self,
        network: GaussianProcessNetwork,
        table: Table,
        contrast: EffectContrast,
        values: Array,
        draws: int,
        rng: np.random.Generator,
    ) -> None:
        self._network, self._rng, self._outcome = network, rng, contrast.y
        self._rows, self._values = table.n_rows, len(values)
        self.samples = table.n_rows * -(-LEAST_SAMPLES // table.n_rows)
        self._nodes = simulated_nodes(network.graph, contrast.x, contrast.y)
        self._functions: dict[str, FunctionMixture] = {
            node: network.draw_functions(node, draws, rng) for node in self._nodes
        }
        self._known = {
            name: network.standardise(name, values[None, :, place, None])
            for place, name in enumerate(contrast.x)
        }
        for name in {parent for node in self._nodes for parent in network.graph.parents(node)}:
            if name not in self._known and name not in self._nodes:
                column = network.standardise(name, column_of(table, name))
                self._known[name] = np.tile(column, self.samples // self._rows)[None, None]
        self._ends = {node: ends_of(network, node) for node in self._nodes[:-1]}
        self.outside = dict.fromkeys(self._ends, 0)
        self.simulated = draws * self._values * self.samples

    def means(self, some: slice) -> Array:
        """The mean of y by some of the draws, [draw, value of x], standardised."""
        number, at = some.stop - some.start, dict(self._known)
        for node in self._nodes:
            parents = [at[parent] for parent in self._network.graph.parents(node)]
            at[node] = self._functions[node].at(some, parents)
            if node != self._outcome:
                sizes = self._functions[node].noise[some]
                at[node] = at[node] + (sizes[:, None] * self._stratified_normal(number))[:, None]
                low, high = self._ends[node]
                self.outside[node] += int(((at[node] < low) | (at[node] > high)).sum())
        weights = self._rng.dirichlet(np.ones(self._rows), number) * (self._rows / self.samples)
        weights = np.tile(weights, self.samples // self._rows)
        outcome = np.broadcast_to(at[self._outcome], (number, self._values, self.samples))
        means: Array = np.einsum("dvs,ds->dv", outcome, weights)
        return means

    def _stratified_normal(self, number: int) -> Array:
        """Normal numbers, [draw, sample]: one from each of as many equally likely intervals, in any order."""
        from scipy.special import ndtri

        places = self._rng.random((number, self.samples)).argsort(axis=1)
        return np.asarray(ndtri((places + self._rng.random(places.shape)) / self.samples))


def simulated_nodes(graph: DAG, causes: Sequence[str], outcome: str) -> list[str]:
    """The nodes on the way from what is set to the outcome, which is the last, in order.

    >>> simulated_nodes(DAG("abcd", ["ab", "bc", "ad", "dc"]), ["b", "a"], "c")
    ['d', 'c']
    """
    cut = DAG(graph.nodes, [(tail, head) for tail, head in graph.edges if head not in causes])
    after = frozenset().union(*(cut.descendants(name) for name in causes))
    return [node for node in cut.order if node in after and node in {outcome, *cut.ancestors(outcome)}]


def graph_of_paths(graph: DAG, causes: Sequence[str], outcome: str) -> DAG:
    """The nodes on the way from what is set to the outcome, and their parents without parents of these.

    >>> graph_of_paths(DAG("abcd", ["ab", "ac", "bc", "cd"]), ["b"], "c").edges
    (('a', 'c'), ('b', 'c'))
    """
    edges = [(tail, node) for node in simulated_nodes(graph, causes, outcome) for tail in graph.parents(node)]
    return DAG([node for node in graph if any(node in edge for edge in edges)], edges)


def column_of(table: Table, name: str) -> Array:
    """The numbers of a column that a function depends on."""
    if name not in table.names:
        raise DataError(f"'{name}' is no column of the data, and what lies between depends on it")
    place = table.names.index(name)
    if table.schema[place].kind is not Kind.CONTINUOUS:
        raise DataError(f"Gaussian processes are for continuous columns, and '{name}' is discrete")
    return table.values(place)


def ends_of(network: GaussianProcessNetwork, node: str) -> tuple[float, float]:
    """The least and the largest standardised value of a node in the rows of its network."""
    column = network.standardise(node, column_of(network.table, node))
    return float(column.min()), float(column.max())


def refuse_far_values(network: GaussianProcessNetwork, contrast: EffectContrast, values: Array) -> None:
    """Refuse to set a variable to a value beyond the intervals on which functions are drawn."""
    for name, some in zip(contrast.x, values.T, strict=True):
        column = column_of(network.table, name)
        low, high = float(column.min()), float(column.max())
        room = MARGIN * (high - low)
        far = some[(some < low - room) | (some > high + room)]
        if len(far):
            raise OptionError(
                f"{name}={value_text(float(far[0]))} is far from what the rows have ({value_text(low)} to "
                f"{value_text(high)}): they tell nothing about functions there"
            )
