"""`dagora.check`: whether a graph is any good, judged by data."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from dagora.api.graph_source import GraphSource, read_source
from dagora.base.errors import DataError, OptionError
from dagora.base.wording import col, option
from dagora.criticism.check import Check
from dagora.criticism.falsification import falsify
from dagora.criticism.held_out import hold_out
from dagora.criticism.predictive import predict
from dagora.criticism.single_change import MOST_COLUMNS, best_changes
from dagora.data.accepting import as_any_table
from dagora.data.columns.reading_options import split_reading, takes_reading
from dagora.data.schema import Kind
from dagora.data.table import Table, require_table
from dagora.graph.ancestral.pag import PAG
from dagora.graph.any_graph import AnyGraph, require_any_graph
from dagora.graph.cpdag import CPDAG
from dagora.network.networks import DiscreteNetwork, GaussianNetwork, MixedNetwork
from dagora.scores.registry import default_score
from dagora.stats.table import TableStatistics

# Rows beyond which those held out and simulated are drawn from the table.
MOST_ROWS = 100_000
# Fewer rows than these, in all and for each fold, tell nothing: a few columns explain them by chance.
LEAST_ROWS, ROWS_PER_FOLD = 20, 4


@takes_reading()
def check(
    graph: GraphSource,
    data: object,
    *,
    permutations: int = 200,
    alpha: float = 0.05,
    folds: int = 5,
    seed: int = 0,
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
    {reading}

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
    options, unknown = split_reading(reading, **purpose)
    if unknown:
        raise OptionError(f"check has no option '{next(iter(unknown))}'")
    table = require_table(as_any_table(data, options))
    require_kinds(table, purpose)
    return check_table(known, table, permutations=permutations, alpha=alpha, folds=folds, seed=seed)


def check_table(
    graph: AnyGraph, table: Table, *, permutations: int, alpha: float, folds: int, seed: int
) -> Check:
    """Check a graph against a table that has a column for each of its nodes."""
    if table.n_rows < LEAST_ROWS:
        raise DataError(f"{table.n_rows} rows are too few to check a graph: {LEAST_ROWS} or more are needed")
    table = table.select(graph.nodes)
    found = falsify(graph, table, permutations=permutations, alpha=alpha, seed=seed)
    if isinstance(graph, PAG):
        notes = ["a PAG allows for hidden causes: it has no likelihood, and no rows can be simulated from it"]
        return Check(graph, table.n_rows, seed, found, notes=tuple(notes))
    dag = graph.extension() if isinstance(graph, CPDAG) else graph
    notes = []
    some = table
    if table.n_rows > MOST_ROWS:
        chosen = np.sort(np.random.default_rng(seed).choice(table.n_rows, MOST_ROWS, replace=False))
        some = table.take(chosen)
        notes.append(f"rows were held out and simulated for {MOST_ROWS} rows, drawn at random")
    held_out = predictive = None
    try:
        if table.n_rows < folds * ROWS_PER_FOLD:
            raise DataError(f"{table.n_rows} rows are too few for {folds} folds")
        held_out = hold_out(dag, some, folds=folds, seed=seed)
    except DataError as error:
        notes.append(f"no rows were held out: {error}")
    try:
        predictive = predict(dag, some, seed=seed)
    except DataError as error:
        notes.append(f"no tables were simulated: {error}")
    entry = default_score(table.schema)
    changes = best_changes(entry.make(TableStatistics(table)), dag)
    if changes is None:
        notes.append(f"single changes are not tried with more than {MOST_COLUMNS} columns")
    return Check(graph, table.n_rows, seed, found, held_out, predictive, changes, entry.name, tuple(notes))


def check_options(permutations: int, alpha: float, folds: int, seed: int) -> None:
    """Refuse options that make no sense, before any work is done."""
    for name, value, least in (("permutations", permutations, 1), ("folds", folds, 2), ("seed", seed, 0)):
        try:
            enough = index(value) >= least and not isinstance(value, bool)
        except TypeError:
            enough = False
        if not enough:
            raise OptionError(option=name, value=value, must=f"be a whole number, {least} or more")
    if not isinstance(alpha, int | float) or not 0 < alpha < 1:
        raise OptionError(option="alpha", value=alpha, must="be a number between 0 and 1")


def graph_of(source: GraphSource) -> tuple[AnyGraph, dict[str, Any]]:
    """The graph of a file, a result or a network, and how its columns are to be read.

    >>> graph_of(CPDAG("ab", undirected=["ab"]))[1]["wanted"]
    ('a', 'b')
    """
    content = read_source(source)
    levels = content.levels if isinstance(content, DiscreteNetwork | MixedNetwork) else {}
    graph = require_any_graph(getattr(content, "graph", content))
    has_kinds = isinstance(content, DiscreteNetwork | GaussianNetwork | MixedNetwork)
    numbers = frozenset(graph.nodes) - set(levels) if has_kinds else frozenset()
    return graph, {"wanted": graph.nodes, "only": graph.nodes, "levels": levels, "numbers": numbers}


def require_kinds(table: Table, purpose: dict[str, Any]) -> None:
    """Refuse columns that were read as another kind than the network has."""
    for variable in table.schema:
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
