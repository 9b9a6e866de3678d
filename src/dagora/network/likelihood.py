"""Log-likelihood of rows under a network: log P(row) = Σ over nodes of log p(x | its parents).

Columns are matched to nodes and levels to levels by name, so the table may order both differently and may
have further columns. Logarithms are natural. A row of probability zero has −∞. Probabilities are used as they
are, even where a file has rounded them so that they do not sum to one exactly.
"""

from __future__ import annotations

from math import log, pi
from typing import TYPE_CHECKING, Any

import numpy as np

from dagora.data.table import require_table
from dagora.errors import DataError
from dagora.network.drawing import level_probabilities, node_means, node_sds
from dagora.network.networks import Network, require_network

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from dagora.data.table import Table
    from dagora.network.model import Model


def log_likelihood(network: Network, table: Table) -> float:
    """Log-likelihood of all rows together.

    >>> from dagora.data.schema import Kind, Schema, Variable
    >>> from dagora.data.table import Table
    >>> from dagora.graph.dag import DAG
    >>> from dagora.network.networks import GaussianNetwork
    >>> network = GaussianNetwork(DAG("a"), {"a": 0.0}, {"a": np.zeros(0)}, {"a": 1.0})
    >>> table = Table(Schema([Variable("a", Kind.CONTINUOUS)]), (np.array([0.0, 1.0]),))
    >>> round(log_likelihood(network, table), 4)
    -2.3379
    """
    return float(log_likelihoods(network, table).sum())


def log_likelihoods(network: Network, table: Table) -> NDArray[np.float64]:
    """Log-likelihood of each row.

    >>> from dagora.data.schema import Kind, Schema, Variable
    >>> from dagora.data.table import Table
    >>> from dagora.graph.dag import DAG
    >>> from dagora.network.networks import DiscreteNetwork
    >>> coin = DiscreteNetwork(DAG(["coin"]), {"coin": ("tails", "heads")}, {"coin": np.array([1.0, 0.0])})
    >>> schema = Schema([Variable("coin", Kind.DISCRETE, ("heads", "tails"))])
    >>> tosses = Table(schema, (np.array([0, 1], dtype=np.uint16),))
    >>> log_likelihoods(coin, tosses)
    array([-inf,   0.])
    """
    require_network(network)
    require_table(table)
    model = network.model
    columns = {node: matched_column(model, table, node) for node in model.graph}
    total = np.zeros(table.n_rows)
    with np.errstate(divide="ignore"):
        for node in model.graph:
            if node in model.lines:
                total += log_densities(model, node, columns)
            elif node in model.choices:
                chosen = level_probabilities(model, node, columns)
                total += np.log(chosen[np.arange(table.n_rows), columns[node]])
            else:
                family = (*model.graph.parents(node), node)
                total += np.log(model.tables[node][tuple(columns[member] for member in family)])
    return total


def matched_column(model: Model, table: Table, node: str) -> NDArray[Any]:
    """The column of a node: codes in the network's order of levels, or values."""
    if node in model.levels:
        return matched_codes(table, node, model.levels[node])
    return table.values(table.schema.index(node))


def matched_codes(table: Table, node: str, levels: tuple[str, ...]) -> NDArray[np.uint32]:
    """Codes of a column in the network's order of levels; only levels that occur need to be known."""
    column = table.schema.index(node)
    position = {level: i for i, level in enumerate(levels)}
    recode = np.array([position.get(level, -1) for level in table.schema[column].levels], dtype=np.int64)
    codes = recode[table.codes(column)]
    if (codes < 0).any():
        unknown = table.schema[column].levels[table.codes(column)[np.argmax(codes < 0)]]
        raise DataError(f"column '{node}' has the level '{unknown}', which the network does not know")
    return codes.astype(np.uint32)


def log_densities(model: Model, node: str, columns: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
    """The logarithm of the normal density of a node's residual in each row."""
    lines = model.lines[node]
    sds = node_sds(model, lines, node, columns)
    if (sds == 0).any():
        raise DataError(f"'{node}' has a standard deviation of 0 in the network: it has no density")
    residual = (columns[node] - node_means(model, lines, node, columns)) / sds
    return np.asarray(-0.5 * residual * residual - np.log(sds) - 0.5 * log(2 * pi))
