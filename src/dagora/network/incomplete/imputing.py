"""Fill the missing cells of a table from a network, and say how certain each filled cell is.

A discrete cell gets the level that is most probable given all that was seen in its row, and that level's
probability; a continuous one its mean and standard deviation given the rest; in networks with both kinds of
nodes, by 400 draws. Draws fill all holes of a row
together, as they may have been: use several of them where a later step must know how uncertain the cells are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.data.incomplete import AnyTable, IncompleteTable
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.errors import DataError, OptionError
from dagora.network.incomplete.bucket_tree import MOST_CELLS, BucketTree
from dagora.network.incomplete.fitting import implied
from dagora.network.incomplete.gibbs import FilledRows
from dagora.network.incomplete.matching import node_codes, node_values, with_holes
from dagora.network.networks import DiscreteNetwork, GaussianNetwork, MixedNetwork, Network
from dagora.wording import option

# Copies that are filled together by Gibbs sampling, sweeps that are forgotten, and sweeps that are kept.
COPIES, FORGOTTEN, KEPT = 40, 10, 10


@dataclass(frozen=True, slots=True)
class FilledCell:
    """A cell that was missing: its data row (from 1), its column, what it was filled with, and how certain.

    A level has a probability, a number a standard deviation.
    """

    row: int
    column: str
    value: str | float
    probability: float | None = None
    sd: float | None = None


@dataclass(frozen=True, eq=False)
class Imputation:
    """A completed table, the cells that were filled, and completed tables drawn at random, if asked for."""

    table: Table
    cells: tuple[FilledCell, ...]
    draws: tuple[Table, ...] = ()


def impute_table(network: Network, table: AnyTable, draws: int = 0, seed: int = 0) -> Imputation:
    """Fill the holes of a table.

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
        raise OptionError(f"draws must be a whole number, 0 or more, not {draws!r}")
    given = with_holes(table)
    check_columns(network, given)
    if isinstance(network, DiscreteNetwork):
        return impute_levels(network, given, draws, seed)
    if isinstance(network, GaussianNetwork):
        return impute_numbers(network, given, draws, seed)
    return impute_both(network, given, draws, seed)


def check_columns(network: Network, table: IncompleteTable) -> None:
    """Refuse holes in columns that the network does not know."""
    known = set(network.graph)
    if not known & set(table.names):
        raise DataError("no column of the data is a node of the network: is it the right one?")
    for name, seen in zip(table.names, table.seen, strict=True):
        if name not in known and not seen.all():
            raise DataError(
                f"column '{name}' has missing cells but is no node of the network: leave it out "
                f"({option('drop', name)})"
            )


def impute_levels(network: DiscreteNetwork, table: IncompleteTable, draws: int, seed: int) -> Imputation:
    """Fill a discrete table: the most probable level of each cell, and draws."""
    tree = BucketTree(network)
    if not tree.fits:
        raise DataError(
            f"the network is too wide for exact probabilities ({tree.cells:,} cells, at most {MOST_CELLS:,})"
        )
    codes = node_codes(network, table)
    holes = (codes == tree.levels[:, None]).any(axis=0)
    impossible = np.flatnonzero(np.isneginf(tree.log_likelihoods(network, codes)) & holes)
    if len(impossible):
        raise DataError(
            f"data row {impossible[0] + 1} has probability 0 under the network: nothing can be expected of "
            "its missing cells; fit the network with a pseudocount"
        )
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
        completed(table, dict(zip(tree.nodes, filled, strict=True)), schema),
        in_order(cells, table),
        tuple(completed(table, dict(zip(tree.nodes, one, strict=True)), schema) for one in random),
    )


def impute_numbers(network: GaussianNetwork, table: IncompleteTable, draws: int, seed: int) -> Imputation:
    """Fill a continuous table: the mean of each cell given the rest of its row, and draws."""
    nodes = tuple(network.graph)
    values, seen = node_values(network, table)
    mean, covariance = implied(network)
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
        completed(table, dict(zip(nodes, filled.T, strict=True)), {}),
        in_order(cells, table),
        tuple(completed(table, dict(zip(nodes, one.T, strict=True)), {}) for one in random),
    )


def impute_both(network: MixedNetwork, table: IncompleteTable, draws: int, seed: int) -> Imputation:
    """Fill a table with both kinds of columns: by Gibbs sampling, in many copies of it."""
    known = in_terms_of(network, table)
    rows, n = FilledRows(known, COPIES, seed), known.n_rows
    rows.begin(network.model)
    for _ in range(FORGOTTEN):
        rows.sweep(network.model)
    values: dict[str, list[NDArray[np.generic]]] = {node: [] for node in known.names}
    for _ in range(KEPT):
        rows.sweep(network.model)
        for node in known.names:
            values[node] += list(rows.columns[node].reshape(COPIES, n).copy())
    filled = {node: rows.columns[node][:n].copy() for node in known.names}
    cells: list[FilledCell] = []
    for node, seen in zip(known.names, known.seen, strict=True):
        gone = np.flatnonzero(~seen)
        drawn = np.stack(values[node])[:, gone]
        if node in network.levels:
            number = len(network.levels[node])
            shares = np.stack([(drawn == level).mean(axis=0) for level in range(number)], axis=1)
            best = shares.argmax(axis=1)
            filled[node][gone] = best
            named = [network.levels[node][level] for level in best.tolist()]
            cells += [
                FilledCell(row + 1, node, level, probability=share)
                for row, level, share in zip(gone.tolist(), named, shares.max(axis=1).tolist(), strict=True)
            ]
        else:
            means, sds = drawn.mean(axis=0), drawn.std(axis=0, ddof=1)
            filled[node][gone] = means
            cells += [
                FilledCell(row + 1, node, value, sd=sd)
                for row, value, sd in zip(gone.tolist(), means.tolist(), sds.tolist(), strict=True)
            ]
    # Draws far apart in the run, each of another copy.
    random = [
        {node: values[node][COPIES * (k // COPIES % KEPT) + k % COPIES] for node in known.names}
        for k in range(draws)
    ]
    return Imputation(
        completed(table, filled, network.levels),
        in_order(cells, table),
        tuple(completed(table, one, network.levels) for one in random),
    )


def in_terms_of(network: MixedNetwork, table: IncompleteTable) -> IncompleteTable:
    """The columns that are nodes of a network, in its levels; nodes that are no columns are refused."""
    variables, columns, seen = [], [], []
    for node in network.graph:
        if node not in table.names:
            raise DataError(f"'{node}' is a node of the network but no column of the data: add it, empty")
        place = table.schema.index(node)
        variable, column = table.schema[place], table.columns[place]
        if (variable.kind is Kind.DISCRETE) != (node in network.levels) and table.seen[place].any():
            kind = "discrete" if node in network.levels else "continuous"
            raise DataError(f"column '{node}' is {kind} in the network: declare it {kind}")
        if node in network.levels:
            order = {level: k for k, level in enumerate(network.levels[node])}
            codes = np.array([order.get(level, -1) for level in variable.levels] or [0])[column.astype(int)]
            wrong = np.flatnonzero((codes < 0) & table.seen[place])
            if len(wrong):
                unknown = variable.levels[column[wrong[0]]]
                raise DataError(f"column '{node}' has the level '{unknown}', which the network does not know")
            column = np.where(table.seen[place], codes, 0).astype(np.uint16)
            variable = Variable(node, Kind.DISCRETE, tuple(network.levels[node]))
        variables.append(variable)
        columns.append(column)
        seen.append(table.seen[place])
    return IncompleteTable(Schema(variables), tuple(columns), np.stack(seen))


def in_order(cells: list[FilledCell], table: IncompleteTable) -> tuple[FilledCell, ...]:
    """Cells by row, then by column."""
    place = {name: i for i, name in enumerate(table.names)}
    return tuple(sorted(cells, key=lambda cell: (cell.row, place[cell.column])))


def completed(
    table: IncompleteTable,
    filled: Mapping[str, NDArray[np.generic]],
    levels: Mapping[str, tuple[str, ...]],
) -> Table:
    """The table with the columns of the network filled; discrete ones have the network's levels."""
    variables, columns = [], []
    for variable, column in zip(table.schema, table.columns, strict=True):
        values = filled.get(variable.name)
        if values is None:
            variables.append(variable)
            columns.append(column)
        elif variable.name in levels:
            variables.append(Variable(variable.name, Kind.DISCRETE, tuple(levels[variable.name])))
            columns.append(values.astype(np.uint16))
        else:
            variables.append(Variable(variable.name, Kind.CONTINUOUS))
            columns.append(np.ascontiguousarray(values, dtype=np.float64))
    return Table(Schema(variables), tuple(columns))
