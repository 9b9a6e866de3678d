"""Fit parameters to tables with missing values by stochastic EM: for both kinds of columns, and wide graphs.

The missing values of several copies of the table are drawn from the current network, the network is fitted to
the filled copies, and so on. The parameters converge to the maximum likelihood and vary around it, the less
the more copies there are (Celeux & Diebolt 1985; Wei & Tanner 1990). The first network takes each family from
the rows in which it was observed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.base.budget import Budget
from dagora.data.incomplete import IncompleteTable
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.network.fit import fit_discrete, fit_mixed
from dagora.network.incomplete.filled_rows import FilledRows
from dagora.network.networks import DiscreteNetwork, MixedNetwork
from dagora.network.regressions import Lines, Softmax
from dagora.network.table_prior import TablePrior
from dagora.stats.table import TableStatistics

# Copies and rounds of drawing and fitting: few copies to get near, then more to reduce the random error.
COPIES, ROUNDS = 5, 20
MORE_COPIES, MORE_ROUNDS = 25, 10
# Equivalent sample size of every table between rounds: a level that was not drawn once can be drawn later.
SPREAD = 1.0
# Rows with the overall variance that are added to every regression between rounds: without them, a regression
# of few rows draws values close to its line and its variance shrinks to 0.
STEADY = 1.0
# Complete rows of a family that the first network needs.
ENOUGH = 10

Drawable = DiscreteNetwork | MixedNetwork


def fit_by_stochastic_em(
    graph: DAG,
    table: IncompleteTable,
    prior: TablePrior,
    name: str = "network",
    seed: int = 0,
    budget: Budget | None = None,
) -> Drawable:
    """Fit a network to a table that has missing values and discrete columns."""
    clock = budget or Budget()
    known = table.select(graph.nodes)
    few, more = FilledRows(known, COPIES, seed), FilledRows(known, MORE_COPIES, seed + 1)
    network = fit_in_rounds(graph, few, ROUNDS, clock, first_network(graph, known, clock))
    network = fit_in_rounds(graph, more, MORE_ROUNDS, clock, network)
    more.sweep(network.model, clock)
    return fit_completed(graph, more, prior, name, budget=clock)


def fit_in_rounds(
    graph: DAG, rows: FilledRows, rounds: int, budget: Budget, network: Drawable | None = None
) -> Drawable:
    """Draw the missing values and fit the network, in turns, from `network` or else from the filled rows.

    If time is up, `OutOfTimeError` is raised.
    """
    found = network or fit_in_round(graph, rows, budget)
    for _ in range(rounds):
        rows.sweep(found.model, budget)
        found = fit_in_round(graph, rows, budget)
    return found


def fit_in_round(graph: DAG, rows: FilledRows, budget: Budget) -> Drawable:
    """Fit a network to filled copies of rows, with the priors `SPREAD` and `STEADY`, to draw from it."""
    return fit_completed(graph, rows, TablePrior(ess=SPREAD), steady=STEADY, budget=budget)


def fit_completed(
    graph: DAG,
    rows: FilledRows,
    prior: TablePrior,
    name: str = "network",
    steady: float = 0.0,
    budget: Budget | None = None,
) -> Drawable:
    """Fit a network to filled copies of rows."""
    table, copies = rows.table(), rows.copies
    prior = prior.times(copies)
    if table.schema.kinds == {Kind.DISCRETE}:
        return fit_discrete(graph, TableStatistics(table), prior, name)
    statistics = TableStatistics(table)
    return fit_mixed(graph, statistics, prior, name, copies=copies, steady=steady * copies, budget=budget)


def first_network(graph: DAG, table: IncompleteTable, budget: Budget | None = None) -> MixedNetwork:
    """Fit each family to the rows in which all of it was observed; if few, to randomly filled rows.

    If time is up, `OutOfTimeError` is raised.
    """
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
        statistics = TableStatistics(rows.select(family.nodes))
        prior = TablePrior(ess=SPREAD)
        found = fit_mixed(family, statistics, prior, "first", steady=STEADY, budget=budget)
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
    """The number of free parameters."""
    model = network.model
    tables = sum(table.size - table.size // table.shape[-1] for table in model.tables.values())
    choices = sum(
        (one.intercepts.size + one.slopes.size) * (one.intercepts.shape[-1] - 1) // one.intercepts.shape[-1]
        for one in model.choices.values()
    )
    lines = sum(2 * one.intercepts.size + one.slopes.size for one in model.lines.values())
    return int(tables + choices + lines)
