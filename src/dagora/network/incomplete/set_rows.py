"""Fill the missing values of rows in which variables were set from outside.

In such a row a variable does not follow its parents: its value says nothing about them, and all about what
depends on it. So each group of rows is filled from the network without the arrows into the variables that
were set there (Pearl 2009, chapter 3). What a variable was set to is known to no network: it must be there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError
from dagora.base.wording import col
from dagora.data.incomplete import AnyTable, IncompleteTable
from dagora.data.interventions import GivenInterventions, Interventions, Marks
from dagora.data.schema import Schema
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.network.incomplete.imputation import Imputation, in_order
from dagora.network.incomplete.imputing import fill_constants, impute_table
from dagora.network.incomplete.matching import as_incomplete
from dagora.network.networks import DiscreteNetwork, GaussianNetwork, Network
from dagora.network.regressions import Lines

EMPTY = "none"


def impute_set_rows(
    network: Network, table: AnyTable, interventions: Interventions, draws: int = 0, seed: int = 0
) -> Imputation:
    """Fill a table in some of whose rows variables were set.

    >>> slopes = {"a": np.zeros(0), "b": np.array([2.0])}
    >>> network = GaussianNetwork(DAG("ab", [("a", "b")]), {"a": 1.0, "b": 0.0}, slopes, {"a": 1.0, "b": 0.1})
    >>> whole = Table.from_numpy([[0.5, 6.0], [0.5, 6.0]], names="ab", continuous=["all"])
    >>> holes = IncompleteTable.of(whole, [[False, False], [True, True]])
    >>> set_there = Interventions.of_rows([None, "b"], "ab")
    >>> impute_set_rows(network, holes, set_there).table.values(0).round(2)  # b tells of a, unless it was set
    array([3., 1.])
    """
    given, constants = fill_constants(network, as_incomplete(table))
    filled = []
    groups = []
    for k, targets in enumerate(interventions.regimes):
        rows = np.flatnonzero(interventions.of_row == k)
        part = given.take(rows)
        refuse_unknown_values(part, targets, rows)
        filled.append(impute_table(without_arrows_into(network, targets), part, draws, seed + k))
        groups.append(rows)
    back = np.argsort(np.concatenate(groups), kind="stable")
    cells = [
        replace(cell, row=int(rows[cell.row - 1]) + 1)
        for rows, one in zip(groups, filled, strict=True)
        for cell in one.cells
    ]
    return Imputation(
        join([one.table for one in filled], back),
        in_order([*constants, *cells], given),
        tuple(join([one.draws[d] for one in filled], back) for d in range(draws)),
        "; ".join(dict.fromkeys(one.message for one in filled if one.message)),
        tuple(dict.fromkeys(line for one in filled for line in one.warnings)),
    )


def read_set_rows(given: GivenInterventions, table: AnyTable, nodes: Collection[str]) -> Interventions:
    """The variables that were set in each row, from a column without missing cells or a list."""
    if not isinstance(given, str | Mapping):
        if len(given) != table.n_rows:
            raise OptionError(f"interventions has {len(given)} entries for {table.n_rows} rows")
        return Interventions.of_rows(given, tuple(nodes))
    marks = Marks.read(given)
    wanted = [name for name in table.names if name in nodes or name == marks.column]
    part = as_incomplete(table).select(wanted)
    return marks.split(Table(part.schema, part.columns))[1]


def name_empty_marks(table: AnyTable, column: str | None) -> AnyTable:
    """Write "none" into the empty cells of a column of marks: nothing was set, nothing is missing."""
    if column is None or not isinstance(table, IncompleteTable) or column not in table.names:
        return table
    place = table.schema.index(column)
    variable, seen = table.schema[place], table.seen.copy()
    if seen[place].all() or not variable.levels:
        return table
    levels = variable.levels if EMPTY in variable.levels else (*variable.levels, EMPTY)
    columns, variables = list(table.columns), list(table.schema)
    columns[place] = np.where(seen[place], columns[place], levels.index(EMPTY)).astype(np.uint16)
    variables[place] = replace(variable, levels=levels)
    seen[place] = True
    return replace(table, schema=Schema(variables), columns=tuple(columns), seen=seen)


def refuse_unknown_values(part: IncompleteTable, targets: Sequence[str], rows: NDArray[np.intp]) -> None:
    """Refuse rows in which a variable was set, and nobody knows to what."""
    for name in targets:
        if name not in part.names:
            continue
        gone = np.flatnonzero(~part.seen[part.schema.index(name)])
        if len(gone):
            raise DataError(
                f"{col(name)} was set in data row {int(rows[gone[0]]) + 1}, and its value is missing: no "
                "network says what it was set to; write it there, or leave the row out"
            )


def without_arrows_into(network: Network, targets: Sequence[str]) -> Network:
    """The network with these nodes as roots; their own distribution is any, since their values are known."""
    if not targets:
        return network
    graph = DAG(network.graph.nodes, [edge for edge in network.graph.edges if edge[1] not in targets])
    if isinstance(network, GaussianNetwork):
        return replace(
            network,
            graph=graph,
            intercepts={**network.intercepts, **dict.fromkeys(targets, 0.0)},
            coefficients={**network.coefficients, **{node: np.zeros(0) for node in targets}},
            sds={**network.sds, **dict.fromkeys(targets, 1.0)},
        )
    levels = network.levels
    even = {node: np.full(len(levels[node]), 1 / len(levels[node])) for node in targets if node in levels}
    tables = {**network.tables, **even}
    if isinstance(network, DiscreteNetwork):
        return replace(network, graph=graph, tables=tables)
    lines = {node: Lines(np.zeros(()), np.zeros(0), np.ones(())) for node in targets if node not in levels}
    choices = {node: choice for node, choice in network.choices.items() if node not in targets}
    return replace(network, graph=graph, tables=tables, choices=choices, lines={**network.lines, **lines})


def join(tables: Sequence[Table], back: NDArray[np.intp]) -> Table:
    """Tables of the same columns as one, with the rows in another order."""
    columns = zip(*(table.columns for table in tables), strict=True)
    return Table(tables[0].schema, tuple(np.concatenate(parts)[back] for parts in columns))
