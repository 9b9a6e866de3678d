"""Rows with holes as codes and numbers in the order of a network's nodes and levels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.data.incomplete import AnyTable, IncompleteTable
from dagora.data.schema import Kind
from dagora.errors import DataError
from dagora.network.networks import DiscreteNetwork, GaussianNetwork


def with_holes(table: AnyTable) -> IncompleteTable:
    """A table as one with holes, though it may have none."""
    if isinstance(table, IncompleteTable):
        return table
    return IncompleteTable.of(table, np.ones((len(table.columns), table.n_rows), dtype=np.bool_))


def node_codes(network: DiscreteNetwork, table: AnyTable) -> NDArray[np.int32]:
    """The rows in the network's levels, a row for each node; a hole is one above a node's last level.

    A node that is no column is a hole in every row.
    """
    given = with_holes(table)
    codes = np.empty((len(network.graph), given.n_rows), dtype=np.int32)
    for i, node in enumerate(network.graph):
        levels = network.levels[node]
        if node not in given.names:
            codes[i] = len(levels)
            continue
        column = given.schema.index(node)
        variable = given.schema[column]
        if variable.kind is not Kind.DISCRETE and given.seen[column].any():
            raise DataError(
                f"column '{node}' is continuous, but discrete in the network: declare it discrete"
            )
        place = {level: k for k, level in enumerate(levels)}
        recode = np.array([place.get(level, -1) for level in variable.levels] or [0], dtype=np.int32)
        found = np.where(given.seen[column], recode[given.columns[column].astype(np.int64)], len(levels))
        if (found < 0).any():
            unknown = variable.levels[given.columns[column][np.argmax(found < 0)]]
            raise DataError(f"column '{node}' has the level '{unknown}', which the network does not know")
        codes[i] = found
    return codes


def node_values(network: GaussianNetwork, table: AnyTable) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The values of the network's nodes, a row for each case, and which of them were seen."""
    given = with_holes(table)
    values = np.zeros((given.n_rows, len(network.graph)))
    seen = np.zeros(values.shape, dtype=np.bool_)
    for i, node in enumerate(network.graph):
        if node in given.names:
            column = given.schema.index(node)
            if given.schema[column].kind is not Kind.CONTINUOUS and given.seen[column].any():
                raise DataError(
                    f"column '{node}' is discrete, but continuous in the network: declare it continuous"
                )
            values[:, i], seen[:, i] = given.columns[column], given.seen[column]
    return values, seen
