"""Log-likelihood of rows under a network: log P(row) = Σ over nodes of log p(x | its parents).

Missing values are summed or integrated out.

Columns are matched to nodes and levels to levels by name, so the table may order both differently and may
have further columns. Logarithms are natural. A row of probability zero has −∞. Probabilities are used as they
are, even where a file has rounded them so that they do not sum to one exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dagora.base.errors import DataError
from dagora.base.wording import col
from dagora.data.table import Table, require_table
from dagora.network.drawing import node_sds
from dagora.network.inference.incomplete_rows import marginal_log_likelihoods
from dagora.network.networks import Network, require_network
from dagora.network.node_likelihood import node_log_likelihoods

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from dagora.data.interventions import Interventions
    from dagora.data.schema import Schema
    from dagora.network.model import NetworkModel


class TableWithMissing(Protocol):
    """A table with missing values; `seen` has a row per column."""

    @property
    def schema(self) -> Schema:
        """The columns' names and kinds."""

    @property
    def columns(self) -> tuple[NDArray[Any], ...]:
        """The columns; at missing values they hold any code or number of the column."""

    @property
    def seen(self) -> NDArray[np.bool_]:
        """True for each value that was observed."""


def log_likelihood(network: Network, table: Table | TableWithMissing) -> float:
    """Compute the log-likelihood of all rows together.

    Parameters
    ----------
    network : DiscreteNetwork, GaussianNetwork or MixedNetwork
        From `fit` or `read_network`.
    table : Table or IncompleteTable
        A column for each node, by name. Missing values are summed or integrated out.

    Returns
    -------
    float
        In natural logarithms; −inf if a row has probability zero.

    Examples
    --------
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


def log_likelihoods(
    network: Network, table: Table | TableWithMissing, marks: Interventions | None = None
) -> NDArray[np.float64]:
    """Log-likelihood of each row; of complete ones, without the variables that were set there (`marks`).

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
    model = require_network(network).model
    mask = getattr(table, "seen", None)
    whole = require_table(table) if mask is None else Table(table.schema, table.columns)
    seen = {
        node: np.ones(whole.n_rows, dtype=np.bool_) if mask is None else mask[whole.schema.index(node)]
        for node in model.graph
    }
    columns = {node: matched_column(model, whole, node, seen[node]) for node in model.graph}
    complete = np.logical_and.reduce([np.ones(whole.n_rows, dtype=np.bool_), *seen.values()])
    if complete.all():
        return complete_log_likelihoods(model, columns, whole.n_rows, marks)
    total = np.empty(whole.n_rows)
    total[complete] = complete_log_likelihoods(model, rows_of(columns, complete), int(complete.sum()))
    total[~complete] = marginal_log_likelihoods(model, rows_of(columns, ~complete), rows_of(seen, ~complete))
    return total


def rows_of(columns: Mapping[str, NDArray[Any]], rows: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """Some rows of all columns."""
    return {node: column[rows] for node, column in columns.items()}


def complete_log_likelihoods(
    model: NetworkModel, columns: Mapping[str, NDArray[Any]], rows: int, marks: Interventions | None = None
) -> NDArray[np.float64]:
    """Sum the logarithms of each node's probability or density, given its parents."""
    total = np.zeros(rows)
    for node in model.graph:
        if node in model.lines and (node_sds(model, model.lines[node], node, columns) == 0).any():
            raise DataError(f"'{node}' has a standard deviation of 0 in the network: it has no density")
        logs = node_log_likelihoods(model, node, columns, model.tables)
        total += logs if marks is None else np.where(marks.unset(node), logs, 0.0)
    return total


def matched_column(model: NetworkModel, table: Table, node: str, seen: NDArray[np.bool_]) -> NDArray[Any]:
    """The column of a node: codes in the network's order of levels, or values."""
    if node in model.levels:
        return matched_codes(table, node, model.levels[node], seen)
    return table.values(table.schema.index(node))


def matched_codes(
    table: Table, node: str, levels: tuple[str, ...], seen: NDArray[np.bool_]
) -> NDArray[np.uint32]:
    """Codes of a column in the network's order of levels; only levels that occur need to be known."""
    column = table.schema.index(node)
    position = {level: i for i, level in enumerate(levels)}
    recode = np.array([position.get(level, -1) for level in table.schema[column].levels], dtype=np.int64)
    codes = np.where(seen, recode[table.codes(column)], 0)
    if (codes < 0).any():
        unknown = table.schema[column].levels[table.codes(column)[np.argmax(codes < 0)]]
        raise DataError(f"{col(node)} has the level '{unknown}', which the network does not know")
    return codes.astype(np.uint32)
