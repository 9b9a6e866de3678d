"""Fit the parameters of a graph in time: those of a step given the steps before it, the same at all steps.

Rows are windows of lags + 1 successive steps. The variables of the last step of a window have the parameters
of `dagora.network.fit`, which is maximum likelihood conditional on the first `lags` steps of each series. The
first steps themselves have the initial distribution: each variable given those of its parents that are not
earlier than the first step, estimated from all windows, so as if the series had begun long ago. Where all
parents are there, it is the same mechanism and gets the same parameters.

Where cells are missing, EM runs on the windows as rows. Windows overlap, so that this is the maximum of a
composite likelihood and not of that of the whole series.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dagora.base.errors import DataError, GraphError
from dagora.base.phrases import amount
from dagora.base.wording import option
from dagora.data.incomplete import IncompleteTable
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.series import Timing
from dagora.data.table import Table
from dagora.graph.directions import Directions
from dagora.graph.lagged_graph import LaggedGraph, lagged_name, split_name
from dagora.network.fit import fit
from dagora.network.incomplete.fitting import fit_with_missing_values
from dagora.network.networks import DiscreteNetwork, GaussianNetwork, Network
from dagora.network.table_prior import TablePrior
from dagora.network.time.histories import Histories
from dagora.stats.observed.statistics import IncompleteStatistics


def fit_window(
    graph: LaggedGraph,
    histories: Histories,
    prior: TablePrior,
    name: str = "network",
    seed: int = 0,
    directions: Directions | None = None,
) -> Network:
    """The network of a window of lags + 1 steps, with the initial distribution on its first ones."""
    if not graph.lags:
        raise GraphError("the graph has no edges from earlier steps: fit it without a time")
    dag = graph.unrolled(graph.lags + 1)
    windows = window_rows(histories, graph)
    check_rows(graph, windows)
    network: Network
    if windows.missing:
        network = fit_with_missing_values(
            dag, IncompleteStatistics(windows), prior=prior, name=name, seed=seed, directions=directions
        )
    else:
        network = fit(
            dag,
            Table(windows.schema, windows.columns),
            pseudocount=prior.pseudocount,
            ess=prior.ess,
            name=name,
            directions=directions,
        )
    if network.origin is not None:
        network = replace(network, origin=replace(network.origin, step=histories.step))
    return with_tied_steps(network, graph)


def check_rows(graph: LaggedGraph, windows: IncompleteTable) -> None:
    """Refuse regressions that leave nothing of the rows to tell the noise by."""
    for name in graph.variables:
        parents = sum(head == name for _, head, _ in graph.edges)
        continuous = windows.schema[windows.schema.index(name)].kind is Kind.CONTINUOUS
        if continuous and windows.n_rows <= parents + 1:
            are = "is" if windows.n_rows == 1 else "are"
            raise DataError(
                f"'{name}' has {amount(parents, 'parent')}, and there {are} "
                f"{amount(windows.n_rows, 'window')}: more rows are needed"
            )


def window_rows(histories: Histories, graph: LaggedGraph) -> IncompleteTable:
    """The windows of all series as rows; none reaches over a step without a row."""
    lags, blocks, seen = graph.lags, [], []
    for history in histories.series:
        there = history.rows >= 0
        whole = np.ones(max(0, history.steps - lags), dtype=np.bool_)
        for back in range(lags + 1):
            whole &= there[lags - back : history.steps - back]
        last = np.flatnonzero(whole) + lags
        slices = [last - back for back in range(lags + 1)]
        blocks.append(np.concatenate([history.values[at] for at in slices], axis=1))
        seen.append(np.concatenate([history.seen[at] for at in slices], axis=1))
    values, known = np.concatenate(blocks), np.concatenate(seen)
    if not len(values):
        longest = max(history.steps for history in histories.series)
        raise DataError(
            f"no series has {lags + 1} steps in a row ({option('lags', lags)}): the longest has {longest}, "
            "with gaps; a graph with fewer lags needs fewer"
        )
    schema = histories.table.schema
    variables, columns = [], []
    for back in range(lags + 1):
        for k, name in enumerate(graph.variables):
            own = schema[schema.index(name)]
            column = values[:, back * len(graph.variables) + k]
            variables.append(Variable(lagged_name(name, back), own.kind, own.levels, own.ordered))
            discrete = own.kind is Kind.DISCRETE
            columns.append(column.astype(np.uint16) if discrete else np.ascontiguousarray(column))
    return IncompleteTable(Schema(variables), tuple(columns), np.ascontiguousarray(known.T))


def with_tied_steps(network: Network, graph: LaggedGraph) -> Network:
    """The network with one mechanism for a variable at all steps of the window that have all its parents."""
    reach = dict.fromkeys(graph.variables, 0)
    for _, head, lag in graph.edges:
        reach[head] = max(reach[head], lag)
    same = {
        node: name
        for node in network.graph
        for name, lag in [split_name(node)]
        if lag and lag + reach[name] <= graph.lags
    }
    if not same:
        return network

    def tied(part: Any) -> dict[str, Any]:  # noqa: ANN401 - parameters by node
        return {node: part[same.get(node, node)] for node in part}

    if isinstance(network, DiscreteNetwork):
        return replace(network, tables=tied(network.tables))
    if isinstance(network, GaussianNetwork):
        return replace(
            network,
            intercepts=tied(network.intercepts),
            coefficients=tied(network.coefficients),
            sds=tied(network.sds),
        )
    return replace(
        network, tables=tied(network.tables), choices=tied(network.choices), lines=tied(network.lines)
    )


def variables_and_levels(
    table: IncompleteTable, graph: LaggedGraph, timing: Timing
) -> dict[str, tuple[str, ...]]:
    """The levels of the discrete variables of a graph, as a table has them; missing columns are refused."""
    for name in graph.variables:
        if name not in table.names:
            raise DataError(f"there is no column '{name}', which is a variable of the graph")
        if name in timing.columns:
            raise DataError(f"'{name}' is a variable of the graph, and the column of time or series, too")
    return {
        variable.name: variable.levels
        for variable in table.schema
        if variable.kind is Kind.DISCRETE and variable.name in graph.variables
    }
