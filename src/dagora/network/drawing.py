"""Draw nodes given their parents, for all rows at once: what forward sampling is made of.

A discrete node is drawn by inverting the cumulative distribution given its parents; probabilities that do
not sum to 1 exactly are normalised first.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.network.model import NetworkModel
from dagora.network.regressions import Lines


class Noise(Protocol):
    """A source of random numbers, such as numpy's generators."""

    def random(self, size: Any = None) -> Any:  # noqa: ANN401 - as numpy has it
        """Uniform random numbers."""

    def standard_normal(self, size: Any = None) -> Any:  # noqa: ANN401 - as numpy has it
        """Normal random numbers."""


Columns = dict[str, NDArray[Any]]
"""Codes of discrete nodes and values of continuous ones, one array of rows each."""


def check_rows(rows: int) -> None:
    """Refuse a number of rows that is no whole number of at least 1."""
    try:
        enough = index(rows) >= 1 and not isinstance(rows, bool)
    except TypeError:
        enough = False
    if not enough:
        raise OptionError(option="rows", value=rows, must="be a whole number of at least 1")


def seed_sequence(seed: int) -> np.random.SeedSequence:
    """Turn a seed into numpy's source of random streams."""
    try:
        return np.random.SeedSequence(index(seed))
    except (TypeError, ValueError):
        raise OptionError(option="seed", value=seed, must="be a whole number of at least 0") from None


def draw_forward(model: NetworkModel, rows: int, rng: np.random.Generator) -> Columns:
    """Draw every node, parents before children.

    >>> from dagora.graph.dag import DAG
    >>> coin = NetworkModel(DAG(["coin"]), {"coin": ("tails", "heads")}, {"coin": np.array([0.0, 1.0])})
    >>> draw_forward(coin, 3, np.random.default_rng(0))["coin"].tolist()
    [1, 1, 1]
    """
    columns: Columns = {}
    for node in model.graph.order:
        columns[node] = draw_node(model, node, columns, rows, rng)
    return columns


def draw_node(
    model: NetworkModel, node: str, columns: Mapping[str, NDArray[Any]], rows: int, rng: Noise
) -> NDArray[Any]:
    """Draw one node given the columns of its parents."""
    if node in model.lines:
        lines = model.lines[node]
        column = np.asarray(node_sds(model, lines, node, columns) * rng.standard_normal(rows))
        column += node_means(model, lines, node, columns)
        return column
    if node in model.choices:
        return draw_levels(level_probabilities(model, node, columns), np.arange(rows), rng)
    table = model.tables[node]
    configuration = np.zeros(rows, dtype=np.int64)
    for parent, size in zip(model.graph.parents(node), table.shape, strict=False):
        configuration *= size
        configuration += columns[parent]
    return draw_levels(table.reshape(-1, table.shape[-1]), configuration, rng)


def configurations(
    model: NetworkModel, node: str, columns: Mapping[str, NDArray[Any]]
) -> tuple[NDArray[Any], ...]:
    """The codes of the discrete parents, to pick a regression per row."""
    return tuple(columns[parent] for parent in model.discrete_parents(node))


def node_means(
    model: NetworkModel, lines: Lines, node: str, columns: Mapping[str, NDArray[Any]]
) -> NDArray[np.float64]:
    """The expected value of a continuous node in each row, given its parents."""
    chosen = configurations(model, node, columns)
    means = lines.intercepts[chosen]
    slopes = lines.slopes[chosen]
    for position, parent in enumerate(model.continuous_parents(node)):
        means = means + slopes[..., position] * columns[parent]
    return np.asarray(means)


def node_sds(
    model: NetworkModel, lines: Lines, node: str, columns: Mapping[str, NDArray[Any]]
) -> NDArray[np.float64]:
    """The standard deviation of a continuous node in each row, given its parents."""
    return np.asarray(lines.sds[configurations(model, node, columns)])


def level_probabilities(
    model: NetworkModel, node: str, columns: Mapping[str, NDArray[Any]]
) -> NDArray[np.float64]:
    """The distribution of a discrete node in each row, given its parents; some of them are continuous."""
    values = stacked_numbers(model, node, columns)
    return model.choices[node].probabilities(values, configurations(model, node, columns))


def stacked_numbers(
    model: NetworkModel, node: str, columns: Mapping[str, NDArray[Any]]
) -> NDArray[np.float64]:
    """The continuous parents of a node along a last axis."""
    return np.stack(
        np.broadcast_arrays(*(columns[parent] for parent in model.continuous_parents(node))), axis=-1
    )


def draw_levels(
    table: NDArray[np.float64], configuration: NDArray[np.int64], rng: Noise
) -> NDArray[np.uint16]:
    """Draw a level per row from the distribution `table[configuration]`, by bisection in all rows at once.

    The drawn level is the number of cumulative probabilities at or below a uniform number u in [0, 1), so a
    level of probability 0 is never drawn.
    """
    levels = table.shape[-1]
    cumulative = np.cumsum(table, axis=1)
    cumulative /= cumulative[:, -1:].copy()
    flat = cumulative.reshape(-1)
    uniform = rng.random(len(configuration))
    start = configuration * levels
    drawn = np.zeros(len(configuration), dtype=np.int64)
    step = 1 << (levels - 1).bit_length() >> 1
    while step:
        ahead = np.minimum(drawn + step, levels)
        drawn += step * (flat[start + ahead - 1] <= uniform)
        step >>= 1
    return drawn.astype(np.uint16)


def as_drawn_table(model: NetworkModel, columns: Mapping[str, NDArray[Any]]) -> Table:
    """Make a table of the nodes in their order; all levels are declared, in the network's order."""
    schema = Schema(
        Variable(node, Kind.DISCRETE, tuple(model.levels[node]))
        if node in model.levels
        else Variable(node, Kind.CONTINUOUS)
        for node in model.graph
    )
    return Table(schema, tuple(columns[node] for node in model.graph))
