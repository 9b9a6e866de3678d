"""A graph learned from a table and its parameters, for estimators that use a network."""

from __future__ import annotations

from typing import Any

from dagora.api.fit import fit
from dagora.api.learn import learn
from dagora.data.incomplete import AnyTable, IncompleteTable
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.learners.result import Result
from dagora.network.networks import Network


def complete_or_not(table: IncompleteTable) -> AnyTable:
    """A table without holes as one that promises to have none."""
    return table if table.missing else Table(table.schema, table.columns)


def learned_graph(asked: Any, table: IncompleteTable, seed: int) -> tuple[Result | None, DAG]:  # noqa: ANN401
    """A DAG by the method that an estimator asks for; of a class of graphs one, of one column its node."""
    if len(table.names) < 2:
        return None, DAG(table.names)
    result = learn(
        complete_or_not(table),
        asked.method,
        score=asked.score_name,
        knowledge=asked.knowledge,
        max_parents=asked.max_parents,
        seed=seed,
        time_limit=asked.time_limit,
        **(asked.options or {}),
    )
    graph = result.plain_graph
    return result, graph.extension() if isinstance(graph, CPDAG) else graph


def fitted_network(graph: DAG, table: AnyTable, pseudocount: float, seed: int) -> Network:
    """The parameters of a graph; pseudocounts are for what is discrete, if anything is."""
    discrete = any(table.schema[table.schema.index(node)].kind is Kind.DISCRETE for node in graph)
    return fit(graph, table, pseudocount=pseudocount if discrete else 0.0, seed=seed)
