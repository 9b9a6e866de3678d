"""Fit parameters to what was seen by stochastic EM: for both kinds of columns, and for wide graphs.

The missing cells of several copies of the table are drawn from the current network, the network is fitted to
the filled copies, and so on. The parameters come to those of largest likelihood and wander about them, the
less the more copies there are (Celeux & Diebolt 1985; Wei & Tanner 1990). The first network takes each
family from the rows in which it was seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Budget
from dagora.data.incomplete import IncompleteTable
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.network.fit import fit_discrete, fit_mixed
from dagora.network.incomplete.filled_rows import FilledRows
from dagora.network.networks import DiscreteNetwork, MixedNetwork
from dagora.network.regressions import Lines, Softmax
from dagora.stats.table import TableStatistics

# Copies and rounds of drawing and fitting, then those that follow where parameters are kept.
COPIES, ROUNDS = 5, 20
MORE_COPIES, MORE_ROUNDS = 25, 10
# On the way, as many rows are spread over every table, so that what was not drawn once can be drawn later.
SPREAD = 1.0
# And as many rows with the spread over all rows are added to every line's: else a line of few rows may draw
# those that are close to it, and close up on them.
STEADY = 1.0
# Rows without a hole in a family that the first network needs of it.
ENOUGH = 10

Drawable = DiscreteNetwork | MixedNetwork


@dataclass(frozen=True)
class Prior:
    """What is added to the cells of probability tables: to each the same, or one number spread over all."""

    pseudocount: float = 0.0
    ess: float | None = None


def fit_by_draws(
    graph: DAG, table: IncompleteTable, prior: Prior, name: str = "network", seed: int = 0
) -> Drawable:
    """Fit a network to what was seen of a table that has discrete columns."""
    known = table.select(graph.nodes)
    few, more = FilledRows(known, COPIES, seed), FilledRows(known, MORE_COPIES, seed + 1)
    network = fit_in_rounds(graph, few, ROUNDS, Budget(), first_network(graph, known))
    network = fit_in_rounds(graph, more, MORE_ROUNDS, Budget(), network)
    more.sweep(network.model)
    return fit_filled(graph, more, prior, name)


def fit_in_rounds(
    graph: DAG, rows: FilledRows, rounds: int, budget: Budget, network: Drawable | None = None
) -> Drawable:
    """Draw the holes and fit the network, in turns, from a network or else from the rows as they are.

    Where time is up, `OutOfTimeError` is raised.
    """
    found = network or fit_on_the_way(graph, rows)
    for _ in range(rounds):
        rows.sweep(found.model, budget)
        found = fit_on_the_way(graph, rows)
    return found


def fit_on_the_way(graph: DAG, rows: FilledRows) -> Drawable:
    """Fit a network to filled copies of rows, to draw from it."""
    return fit_filled(graph, rows, Prior(ess=SPREAD), steady=STEADY)


def fit_filled(
    graph: DAG, rows: FilledRows, prior: Prior, name: str = "network", steady: float = 0.0
) -> Drawable:
    """Fit a network to filled copies of rows."""
    table, copies = rows.table(), rows.copies
    pseudocount, ess = prior.pseudocount * copies, None if prior.ess is None else prior.ess * copies
    if table.schema.kinds == {Kind.DISCRETE}:
        return fit_discrete(graph, TableStatistics(table), pseudocount, ess, name)
    return fit_mixed(
        graph, TableStatistics(table), pseudocount, ess, name, copies=copies, steady=steady * copies
    )


def first_network(graph: DAG, table: IncompleteTable) -> MixedNetwork:
    """Each family from the rows in which all of it was seen; where these are few, from draws of columns."""
    levels: dict[str, tuple[str, ...]] = {}
    tables: dict[str, NDArray[np.float64]] = {}
    choices: dict[str, Softmax] = {}
    lines: dict[str, Lines] = {}
    filled = FilledRows(table, 1, 0).table()
    for node in graph:
        family = DAG(
            [one for one in graph if one == node or one in graph.parents(node)],
            [(parent, node) for parent in graph.parents(node)],
        )
        columns = [table.schema.index(one) for one in family]
        seen = table.seen[columns].all(axis=0)
        rows = Table(table.schema, table.columns).take(seen) if seen.sum() >= ENOUGH else filled
        found = fit_mixed(
            family, TableStatistics(rows.select(family.nodes)), 0.0, SPREAD, "first", steady=STEADY
        )
        if node in found.levels:
            levels[node] = found.levels[node]
        if node in found.tables:
            tables[node] = found.tables[node]
        elif node in found.choices:
            choices[node] = found.choices[node]
        else:
            lines[node] = found.lines[node]
    return MixedNetwork(graph, levels, tables, choices, lines)


def parameters_of(network: Drawable) -> int:
    """Number of free parameters."""
    model = network.model
    tables = sum(table.size - table.size // table.shape[-1] for table in model.tables.values())
    choices = sum(
        (one.intercepts.size + one.slopes.size) * (one.intercepts.shape[-1] - 1) // one.intercepts.shape[-1]
        for one in model.choices.values()
    )
    lines = sum(2 * one.intercepts.size + one.slopes.size for one in model.lines.values())
    return int(tables + choices + lines)
