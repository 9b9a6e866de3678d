"""`dagora.check`: whether a graph is any good, judged by data."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from operator import index
from typing import Any

from dagora.api.graph_source import GraphSource, read_source
from dagora.base.errors import DataError, OptionError
from dagora.base.wording import col, option
from dagora.data.accepting import as_any_table
from dagora.data.columns.reading_options import split_reading, takes_reading
from dagora.data.interventions import GivenInterventions
from dagora.data.schema import Kind, Schema
from dagora.graph.any_graph import AnyGraph, require_any_graph
from dagora.learners.source import marked_column, read_rows
from dagora.network.networks import DiscreteNetwork, GaussianNetwork, MixedNetwork
from dagora.posterior.criticism.check import Check, check_rows

PERMUTATIONS, ALPHA, FOLDS = 200, 0.05, 5  # by default
MOST_PERMUTATIONS = 100_000
"""A p-value is then known to 1e-5; the tests of all relabelings are held in memory together."""


@takes_reading()
def check(
    graph: GraphSource,
    data: object,
    *,
    permutations: int = PERMUTATIONS,
    alpha: float = ALPHA,
    folds: int = FOLDS,
    seed: int = 0,
    interventions: GivenInterventions | None = None,
    **reading: Any,  # noqa: ANN401 - those of `read_table`
) -> Check:
    """Check a graph against data: what the data contradict, and what would be better.

    Four questions are asked. Are the independences that the graph claims violated less often than those of
    the graph with its nodes relabeled at random? How well does it predict rows held out, beside the empty
    graph, the graph of tabu search and random graphs? Do tables simulated from it look like the data? Which
    single change of an edge would raise the score?

    Parameters
    ----------
    graph : DAG, CPDAG, PAG, Result, network or file
        Columns of the data that are not nodes of it are ignored. Of a CPDAG one member is fitted. Of a PAG
        the independences are tested, and nothing else.
    {data}
    permutations : int, default 200
        Number of random relabelings.
    alpha : float, default 0.05
        Level of the tests of independence.
    folds : int, default 5
        Parts of the rows that are held out in turn.
    seed : int, default 0
        Decides relabelings, folds, random graphs and simulated tables.
    {interventions, reading}

    Returns
    -------
    Check
        `to_text()` says what was found, `to_json()` has every number, and the parts are `falsification`,
        `held_out`, `predictive` and `changes`.

    Examples
    --------
    >>> import dagora
    >>> truth = dagora.DAG("abcde", ["ac", "bc", "cd", "ce"])
    >>> rows = dagora.simulate(truth, "gaussian", rows=500, seed=1).table
    >>> found = check(truth, rows)
    >>> found.falsification.violated, found.falsification.p_value < 0.05
    (0, True)
    """
    check_options(permutations, alpha, folds, seed)
    known, purpose = graph_of(graph)
    options, unknown = split_reading(reading, **with_marks(purpose, interventions))
    if unknown:
        raise OptionError(f"check has no option '{next(iter(unknown))}'")
    options = replace(options, marks=marked_column(interventions))
    table = as_any_table(data, options)
    require_kinds(table.schema, purpose)
    rows = read_rows(table, interventions=interventions)
    return check_rows(known, rows, permutations=permutations, alpha=alpha, folds=folds, seed=seed)


def with_marks(purpose: dict[str, Any], interventions: GivenInterventions | None) -> dict[str, Any]:
    """The purpose of reading, with the column of marks among those to look at."""
    column = marked_column(interventions)
    return purpose if column is None else {**purpose, "only": (*purpose["only"], column)}


def check_options(permutations: int, alpha: float, folds: int, seed: int) -> None:
    """Refuse options that make no sense, before any work is done."""
    for name, value, least in (("permutations", permutations, 1), ("folds", folds, 2), ("seed", seed, 0)):
        most = MOST_PERMUTATIONS if name == "permutations" else inf
        try:
            fits = least <= index(value) <= most and not isinstance(value, bool)
        except TypeError:
            fits = False
        if not fits:
            where = f", {least} or more" if most == inf else f" from {least} to {most:,}"
            raise OptionError(option=name, value=value, must=f"be a whole number{where}")
    if not isinstance(alpha, int | float) or not 0 < alpha < 1:
        raise OptionError(option="alpha", value=alpha, must="be a number between 0 and 1")


def graph_of(source: GraphSource) -> tuple[AnyGraph, dict[str, Any]]:
    """The graph of a file, a result or a network, and how its columns are to be read.

    >>> from dagora import CPDAG
    >>> graph_of(CPDAG("ab", undirected=["ab"]))[1]["wanted"]
    ('a', 'b')
    """
    content = read_source(source)
    levels = content.levels if isinstance(content, DiscreteNetwork | MixedNetwork) else {}
    graph = require_any_graph(getattr(content, "graph", content))
    has_kinds = isinstance(content, DiscreteNetwork | GaussianNetwork | MixedNetwork)
    numbers = frozenset(graph.nodes) - set(levels) if has_kinds else frozenset()
    return graph, {"wanted": graph.nodes, "only": graph.nodes, "levels": levels, "numbers": numbers}


def require_kinds(schema: Schema, purpose: dict[str, Any]) -> None:
    """Refuse columns that were read as another kind than the network has."""
    for variable in schema:
        discrete = variable.kind is Kind.DISCRETE
        if variable.name in purpose["levels"] and not discrete:
            other, way = ("discrete", "continuous"), option("discrete")
        elif variable.name in purpose["numbers"] and discrete:
            other, way = ("continuous", "discrete"), option("continuous")
        else:
            continue
        raise DataError(
            f"{col(variable.name)} is {other[0]} in the network but was read as {other[1]}: use {way}"
        )
