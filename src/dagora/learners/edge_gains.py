"""The strength of an edge: what the score of the graph would lose without it; the cost of an absent one.

The others stay as they are. So an edge may be weak only because another path says the same, and of two such
edges either could be left out, but not both.
"""

from __future__ import annotations

from collections.abc import Sequence

from dagora.base.errors import GraphError
from dagora.graph.cpdag import CPDAG, Graph
from dagora.graph.dag import DAG, Edge
from dagora.graph.directions import WEAK
from dagora.graph.equivalence import v_structures
from dagora.learners.run import Run
from dagora.scores.local_score import Family, LocalScore, align, families_at_once

# Nobody looks at each of more edges than this.
MOST_EDGES = 5000


def edge_gains(score: LocalScore, graph: Graph, run: Run) -> dict[Edge, float]:
    """The nats that each edge adds, in the order of the graph's edges and then of its undirected ones.

    Of a class of graphs, those of one graph in it. Empty where the numbers would be dear (many edges, rows
    that are not in memory, a score that takes long, a time limit that is used up), and where the graph stands
    for no DAG.

    >>> from dagora.scores.registry import score_named
    >>> from dagora.stats.accepting import as_statistics
    >>> score = score_named("bic").make(as_statistics({"a": [0, 1] * 20, "b": [0, 1] * 20}))
    >>> {edge: round(gain, 2) for edge, gain in edge_gains(score, DAG("ab", [("a", "b")]), Run()).items()}
    {('a', 'b'): 25.88}
    """
    edges = (*graph.edges, *graph.undirected)
    dag = cheap_dag(score, graph)
    if dag is None:
        return {}
    directed = [edge if dag.has_edge(*edge) else edge[::-1] for edge in edges]
    asked = []
    for tail, head in directed:
        child, left_out = dag.index(head), dag.index(tail)
        parents = dag.parent_indices(child)
        asked += [(child, parents), (child, [parent for parent in parents if parent != left_out])]
    found = scores_in_time(score, asked, run)
    return {edge: whole - less for edge, whole, less in zip(edges, found[::2], found[1::2], strict=False)}


def absent_costs(score: LocalScore, graph: Graph, run: Run) -> dict[Edge, float]:
    """The nats that edges would cost, fewer than `WEAK`, whose absence makes a v-structure of two others.

    They are directed as the order of one graph in the class has their nodes. Empty where `edge_gains` is.

    >>> from dagora.scores.registry import score_named
    >>> from dagora.stats.accepting import as_statistics
    >>> rows = {"a": [0, 1, 0, 1] * 20, "b": [0, 0, 1, 1] * 20, "c": [0, 1, 1, 1] * 20}
    >>> score = score_named("bic").make(as_statistics(rows))
    >>> found = absent_costs(score, DAG("abc", [("a", "c"), ("b", "c")]), Run())
    >>> {edge: round(cost, 2) for edge, cost in found.items()}
    {('a', 'b'): 2.19}
    """
    dag = cheap_dag(score, graph)
    if dag is None:
        return {}
    place = {node: k for k, node in enumerate(dag.order_indices)}
    pairs = sorted({(a, b) for a, _, b in v_structures(dag.to_numpy())})
    directed = [(a, b) if place[a] < place[b] else (b, a) for a, b in pairs[:MOST_EDGES]]
    edges = [(dag.nodes[tail], dag.nodes[head]) for tail, head in directed]
    asked = []
    for tail, head in directed:
        parents = dag.parent_indices(head)
        asked += [(head, parents), (head, sorted([*parents, tail]))]
    found = scores_in_time(score, asked, run)
    costs = {edge: less - more for edge, less, more in zip(edges, found[::2], found[1::2], strict=False)}
    return {edge: cost for edge, cost in costs.items() if cost < WEAK and run.knowledge.allows(*edge)}


def cheap_dag(score: LocalScore, graph: Graph) -> DAG | None:
    """A DAG of the class in the order of the score's columns; None where its edges would be dear to judge."""
    cost = score.capabilities
    number = len(graph.edges) + len(graph.undirected)
    if number > MOST_EDGES or cost.is_expensive or cost.is_slow or cost.scans_rows:
        return None
    try:
        found = graph.extension() if isinstance(graph, CPDAG) else graph
    except GraphError:
        return None
    return align(found, score.schema.names)


def scores_in_time(score: LocalScore, asked: Sequence[Family], run: Run) -> list[float]:
    """The scores of families; none where the time limit is used up before all are there."""
    found: list[float] = []
    at_once = families_at_once(score, run.budget)
    for begin in range(0, len(asked), at_once):
        if run.budget.exhausted:
            return []
        found += score.families(asked[begin : begin + at_once]).tolist()
    return found
