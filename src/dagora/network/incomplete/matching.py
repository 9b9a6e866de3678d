"""Rows with missing values as codes and numbers in the order of a network's nodes and levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.base.wording import col
from dagora.data.incomplete import AnyTable, IncompleteTable
from dagora.data.schema import Kind, Schema, Variable
from dagora.network.networks import DiscreteNetwork, GaussianNetwork, MixedNetwork


def as_incomplete(table: AnyTable) -> IncompleteTable:
    """Return a table as one with missing values, though it may have none."""
    if isinstance(table, IncompleteTable):
        return table
    return IncompleteTable.of(table, np.ones((len(table.columns), table.n_rows), dtype=np.bool_))


def node_codes(network: DiscreteNetwork, table: AnyTable) -> NDArray[np.int32]:
    """Codes of the rows in the network's levels, a row for each node; missing is one above the last level.

    A node that is no column is missing in every row.
    """
    given = as_incomplete(table)
    return np.stack([level_codes(node, network.levels[node], given) for node in network.graph])


def level_codes(node: str, levels: Sequence[str], given: IncompleteTable) -> NDArray[np.int32]:
    """Codes of a column in a node's levels; missing is one above the last of them."""
    if node not in given.names:
        return np.full(given.n_rows, len(levels), dtype=np.int32)
    column = given.schema.index(node)
    variable = given.schema[column]
    if variable.kind is not Kind.DISCRETE and given.seen[column].any():
        raise DataError(f"{col(node)} is continuous, but discrete in the network: declare it discrete")
    place = {level: k for k, level in enumerate(levels)}
    recode = np.array([place.get(level, -1) for level in variable.levels] or [0], dtype=np.int32)
    found = np.where(given.seen[column], recode[given.columns[column].astype(np.int64)], len(levels))
    if (found < 0).any():
        unknown = variable.levels[given.columns[column][np.argmax(found < 0)]]
        raise DataError(f"{col(node)} has the level '{unknown}', which the network does not know")
    return found.astype(np.int32)


def node_values(network: GaussianNetwork, table: AnyTable) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Values of the network's nodes, a row for each case, and which of them were observed."""
    given = as_incomplete(table)
    values = np.zeros((given.n_rows, len(network.graph)))
    seen = np.zeros(values.shape, dtype=np.bool_)
    for i, node in enumerate(network.graph):
        values[:, i], seen[:, i] = column_values(node, given)
    return values, seen


def column_values(node: str, given: IncompleteTable) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Values of a continuous column, and which of them were observed."""
    if node not in given.names:
        return np.zeros(given.n_rows), np.zeros(given.n_rows, dtype=np.bool_)
    column = given.schema.index(node)
    if given.schema[column].kind is not Kind.CONTINUOUS and given.seen[column].any():
        raise DataError(f"{col(node)} is discrete, but continuous in the network: declare it continuous")
    return given.columns[column].astype(np.float64), given.seen[column]


def in_network_order(network: DiscreteNetwork | MixedNetwork, table: IncompleteTable) -> IncompleteTable:
    """The nodes of a network as columns, in its levels; a node that is no column is missing in every row."""
    variables, columns, seen = [], [], []
    for node in network.graph:
        if node in network.levels:
            codes = level_codes(node, network.levels[node], table)
            here = codes < len(network.levels[node])
            column: NDArray[Any] = np.where(here, codes, 0).astype(np.uint16)
            variables.append(Variable(node, Kind.DISCRETE, tuple(network.levels[node])))
        else:
            column, here = column_values(node, table)
            variables.append(Variable(node, Kind.CONTINUOUS))
        columns.append(column)
        seen.append(here)
    return IncompleteTable(Schema(variables), tuple(columns), np.stack(seen))
