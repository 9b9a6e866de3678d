"""Fill the missing values of a table from a network, with the uncertainty of each.

A discrete value becomes the most probable level given the row's observed values, with its probability; a
continuous one its mean and standard deviation given them. Networks with both kinds of nodes, and wide
discrete ones, are exact where that is possible and else use draws (`sampled_imputation`). Random completions
draw all missing values of a row jointly: use several of them if a later step must know the uncertainty.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dagora.base.errors import DataError, OptionError
from dagora.base.wording import col, option
from dagora.data.incomplete import AnyTable, IncompleteTable
from dagora.network.gaussian_moments import implied_moments
from dagora.network.incomplete.bucket_tree import BucketTree
from dagora.network.incomplete.imputation import (
    FilledCell,
    Imputation,
    complete_table,
    impossible_row,
    in_order,
    skip_warnings,
)
from dagora.network.incomplete.matching import as_incomplete, node_codes, node_values
from dagora.network.incomplete.sampled_imputation import impute_rows
from dagora.network.networks import DiscreteNetwork, GaussianNetwork, Network


def impute_table(network: Network, table: AnyTable, draws: int = 0, seed: int = 0) -> Imputation:
    """Fill the missing values of a table.

    >>> from dagora.data.table import Table
    >>> from dagora.graph.dag import DAG
    >>> slopes = {"a": np.zeros(0), "b": np.array([2.0])}
    >>> network = GaussianNetwork(DAG("ab", [("a", "b")]), {"a": 0.0, "b": 1.0}, slopes, {"a": 1.0, "b": 0.5})
    >>> whole = Table.from_numpy([[1.5, 0.0], [0.5, 2.0]], names="ab", continuous=["all"])
    >>> filled = impute_table(network, IncompleteTable.of(whole, [[True, True], [False, True]]))
    >>> filled.cells
    (FilledCell(row=1, column='b', value=4.0, probability=None, sd=0.5),)
    >>> filled.table.values(1)
    array([4., 2.])
    """
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < 0:
        raise OptionError(option="draws", value=draws, must="be a whole number, 0 or more")
    given, constants = fill_constants(network, as_incomplete(table))
    check_columns(network, given)
    if isinstance(network, DiscreteNetwork):
        filled = impute_levels(network, given, draws, seed)
    elif isinstance(network, GaussianNetwork):
        filled = impute_numbers(network, given, draws, seed)
    else:
        filled = impute_rows(network, given, draws, seed)
    if network.origin is not None and network.origin.skipped:
        told = skip_warnings(network.origin.skipped, filled)
        filled = replace(filled, warnings=(*filled.warnings, *told))
    return replace(filled, cells=in_order([*constants, *filled.cells], given)) if constants else filled


def fill_constants(network: Network, table: IncompleteTable) -> tuple[IncompleteTable, list[FilledCell]]:
    """Fill constant columns that are no node of the network: learning leaves constant columns out."""
    columns, seen, cells = list(table.columns), table.seen.copy(), []
    for i, variable in enumerate(table.schema):
        known = columns[i][seen[i]]
        gone = np.flatnonzero(~seen[i])
        if variable.name in network.graph.nodes or not len(gone):
            continue
        if len(known) < 2 or (known != known[0]).any():
            continue
        columns[i] = np.full_like(columns[i], known[0])
        seen[i] = True
        cells += [
            FilledCell(row + 1, variable.name, variable.levels[known[0]], probability=1.0)
            if variable.levels
            else FilledCell(row + 1, variable.name, float(known[0]), sd=0.0)
            for row in gone.tolist()
        ]
    return replace(table, columns=tuple(columns), seen=seen), cells


def check_columns(network: Network, table: IncompleteTable) -> None:
    """Refuse missing values in columns that are no node of the network."""
    known = set(network.graph)
    if not known & set(table.names):
        raise DataError("no column of the data is a node of the network: is it the right one?")
    for name, seen in zip(table.names, table.seen, strict=True):
        if name not in known and not seen.all():
            raise DataError(
                f"{col(name)} has missing values but is no node of the network: leave it out "
                f"({option('drop', name)})"
            )


def impute_levels(network: DiscreteNetwork, table: IncompleteTable, draws: int, seed: int) -> Imputation:
    """Fill a discrete table: the most probable level of each missing value, and draws."""
    tree = BucketTree(network)
    if not tree.fits:
        return impute_rows(network, table, draws, seed)
    codes = node_codes(network, table)
    incomplete = (codes == tree.levels[:, None]).any(axis=0)
    impossible = np.flatnonzero(np.isneginf(tree.log_likelihoods(network, codes)) & incomplete)
    if len(impossible):
        raise impossible_row(int(impossible[0]))
    filled = codes.copy()
    cells: list[FilledCell] = []
    for i, (node, chances) in enumerate(zip(tree.nodes, tree.marginals(network, codes), strict=True)):
        rows = np.flatnonzero(codes[i] == tree.levels[i])
        best = chances.argmax(axis=1)
        filled[i, rows] = best
        if node in table.names:
            levels = network.levels[node]
            cells += [
                FilledCell(row + 1, node, levels[level], probability=chance)
                for row, level, chance in zip(
                    rows.tolist(), best.tolist(), chances.max(axis=1).tolist(), strict=True
                )
            ]
    random = [tree.draw(network, codes, (seed, k)) for k in range(draws)]
    schema = network.levels
    return Imputation(
        complete_table(table, dict(zip(tree.nodes, filled, strict=True)), schema),
        in_order(cells, table),
        tuple(complete_table(table, dict(zip(tree.nodes, one, strict=True)), schema) for one in random),
    )


def impute_numbers(network: GaussianNetwork, table: IncompleteTable, draws: int, seed: int) -> Imputation:
    """Fill a continuous table: the mean of each missing value given the row's observed ones, and draws."""
    nodes = tuple(network.graph)
    values, seen = node_values(network, table)
    mean, covariance = implied_moments(network.model)
    filled = values.copy()
    random = [values.copy() for _ in range(draws)]
    rng = np.random.default_rng([seed, 23])
    cells: list[FilledCell] = []
    patterns, place = np.unique(seen, axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns):
        here, gone = np.flatnonzero(pattern), np.flatnonzero(~pattern)
        if not len(gone):
            continue
        rows = np.flatnonzero(place.ravel() == k)
        weights = (
            np.linalg.pinv(covariance[np.ix_(here, here)], hermitian=True) @ covariance[np.ix_(here, gone)]
        )
        expected = mean[gone] + (values[np.ix_(rows, here)] - mean[here]) @ weights
        left = covariance[np.ix_(gone, gone)] - covariance[np.ix_(gone, here)] @ weights
        sds = np.sqrt(np.maximum(np.diag(left), 0.0))
        filled[np.ix_(rows, gone)] = expected
        for one in random:
            noise = rng.multivariate_normal(np.zeros(len(gone)), left, size=len(rows), method="svd")
            one[np.ix_(rows, gone)] = expected + noise
        for a, i in enumerate(gone):
            if nodes[i] in table.names:
                cells += [
                    FilledCell(row + 1, nodes[i], value, sd=float(sds[a]))
                    for row, value in zip(rows.tolist(), expected[:, a].tolist(), strict=True)
                ]
    return Imputation(
        complete_table(table, dict(zip(nodes, filled.T, strict=True)), {}),
        in_order(cells, table),
        tuple(complete_table(table, dict(zip(nodes, one.T, strict=True)), {}) for one in random),
    )
