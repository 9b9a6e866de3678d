"""Make a network of the parameters that a private run opened."""

from __future__ import annotations

import numpy as np

from dagora.base.errors import GraphError
from dagora.graph.dag import DAG
from dagora.learners.result import Result
from dagora.network.networks import DiscreteNetwork


def opened_network(result: Result) -> DiscreteNetwork:
    """Make a network of the tables that a party knows after `learn_private` with `parameters="open"`.

    A network needs a table for every node. So it has the nodes whose tables, and whose ancestors' tables,
    were opened or are the party's own: their distribution is the one of the whole network.

    Parameters
    ----------
    result : Result
        What `learn_private` returned, or `Result.from_json` read.

    Returns
    -------
    DiscreteNetwork
        Opened tables have three digits and are scaled to sum to 1.

    Examples
    --------
    >>> import dagora
    >>> rows = [[number, number % 2] for number in range(40)]
    >>> tables = (dagora.Table.from_numpy(rows, names=["id", x], discrete=["id", x]) for x in "ab")
    >>> network = opened_network(dagora.learn_private(*tables, key="id", parameters="open"))
    >>> network.graph.edges, network.tables["b"].round(3).tolist()
    ((('a', 'b'),), [[0.955, 0.045], [0.045, 0.955]])
    """
    tables = result.settings.get("tables")
    if not isinstance(tables, dict):
        raise GraphError("the result has no parameters: they are there after parameters='open'")
    graph = result.graph
    if not isinstance(graph, DAG):
        raise GraphError("a private network is a DAG")
    known = {**tables["own"], **tables["opened"]}
    kept: list[str] = []
    for node in graph.order:
        if node in known and all(parent in kept for parent in graph.parents(node)):
            kept.append(node)
    if not kept:
        raise GraphError(
            "no network can be made of what was opened: the first variables' tables stay with the other party"
        )
    nodes = [node for node in graph if node in kept]
    sub = DAG(nodes, [(tail, head) for tail, head in graph.edges if head in kept])
    levels = {node: tuple(tables["levels"][node]) for node in nodes}
    arrays = {node: np.array(known[node], dtype=np.float64) for node in nodes}
    complete = {node: table / table.sum(axis=-1, keepdims=True) for node, table in arrays.items()}
    return DiscreteNetwork(sub, levels, complete, "opened")
