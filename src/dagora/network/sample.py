"""Draw rows from a network, parents before children (forward or ancestral sampling).

A discrete node is drawn by inverting the cumulative distribution given its parents, for all rows at once;
probabilities that do not sum to 1 exactly are normalised first. The columns are the nodes in their order. All
levels of the network are declared, in the network's order, whether they were drawn or not.
"""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING

import numpy as np

from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.errors import OptionError
from dagora.network.networks import DiscreteNetwork, GaussianNetwork, Network, require_network

if TYPE_CHECKING:
    from numpy.typing import NDArray


def sample(network: Network, rows: int, seed: int) -> Table:
    """Draw rows; the same network, number of rows and seed give the same table.

    >>> from dagora.graph.dag import DAG
    >>> coin = DiscreteNetwork(DAG(["coin"]), {"coin": ("tails", "heads")}, {"coin": np.array([0.2, 0.8])})
    >>> tosses = sample(coin, rows=1000, seed=0)
    >>> tosses.schema[0].levels, bool(750 < tosses.codes(0).sum() < 850)
    (('tails', 'heads'), True)
    """
    require_network(network)
    check_rows(rows)
    rng = np.random.default_rng(seed_sequence(seed))
    return (
        sample_discrete(network, rows, rng)
        if isinstance(network, DiscreteNetwork)
        else sample_gaussian(network, rows, rng)
    )


def check_rows(rows: int) -> None:
    """Refuse a number of rows that is no whole number of at least 1."""
    try:
        enough = index(rows) >= 1 and not isinstance(rows, bool)
    except TypeError:
        enough = False
    if not enough:
        raise OptionError(f"rows must be a whole number of at least 1, not {rows}")


def seed_sequence(seed: int) -> np.random.SeedSequence:
    """Turn a seed into numpy's source of random streams."""
    try:
        return np.random.SeedSequence(index(seed))
    except (TypeError, ValueError):
        raise OptionError(f"seed must be a whole number of at least 0, not {seed}") from None


def sample_discrete(network: DiscreteNetwork, rows: int, rng: np.random.Generator) -> Table:
    """Draw every node given the codes of its parents."""
    graph = network.graph
    codes: dict[str, NDArray[np.uint16]] = {}
    for node in graph.order:
        parents = graph.parents(node)
        table = network.tables[node]
        configuration = np.zeros(rows, dtype=np.int64)
        for parent, size in zip(parents, table.shape, strict=False):
            configuration *= size
            configuration += codes[parent]
        codes[node] = draw_levels(table.reshape(-1, table.shape[-1]), configuration, rng)
    schema = Schema(Variable(node, Kind.DISCRETE, tuple(network.levels[node])) for node in graph)
    return Table(schema, tuple(codes[node] for node in graph))


def draw_levels(
    table: NDArray[np.float64], configuration: NDArray[np.int64], rng: np.random.Generator
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


def sample_gaussian(network: GaussianNetwork, rows: int, rng: np.random.Generator) -> Table:
    """Draw every node from its regression on the values of its parents."""
    graph = network.graph
    values: dict[str, NDArray[np.float64]] = {}
    for node in graph.order:
        column = network.sds[node] * rng.standard_normal(rows)
        column += network.intercepts[node]
        for parent, coefficient in zip(graph.parents(node), network.coefficients[node], strict=True):
            column += coefficient * values[parent]
        values[node] = column
    return Table(
        Schema(Variable(node, Kind.CONTINUOUS) for node in graph), tuple(values[node] for node in graph)
    )
