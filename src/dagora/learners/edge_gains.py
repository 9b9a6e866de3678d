"""The strength of an edge: what the score of the graph would lose without it.

The others stay as they are. So an edge may be weak only because another path says the same, and of two such
edges either could be left out, but not both.
"""

from __future__ import annotations

from dagora.base.errors import GraphError
from dagora.graph.cpdag import CPDAG, Graph
from dagora.graph.dag import Edge
from dagora.learners.run import Run
from dagora.scores.local_score import LocalScore, align, families_at_once

# Nobody looks at each of more edges than this.
MOST_EDGES = 5000


def edge_gains(score: LocalScore, graph: Graph, run: Run) -> dict[Edge, float]:
    """The nats that each edge adds, in the order of the graph's edges and then of its undirected ones.

    Of a class of graphs, those of one graph in it. Empty where the numbers would be dear (many edges, rows
    that are not in memory, a score that takes long, a time limit that is used up), and where the graph stands
    for no DAG.

    >>> from dagora.graph.dag import DAG
    >>> from dagora.scores.registry import score_named
    >>> from dagora.stats.accepting import as_statistics
    >>> score = score_named("bic").make(as_statistics({"a": [0, 1] * 20, "b": [0, 1] * 20}))
    >>> {edge: round(gain, 2) for edge, gain in edge_gains(score, DAG("ab", [("a", "b")]), Run()).items()}
    {('a', 'b'): 25.88}
    """
    edges = (*graph.edges, *graph.undirected)
    cost = score.capabilities
    if len(edges) > MOST_EDGES or cost.is_expensive or cost.is_slow or cost.scans_rows:
        return {}
    try:
        found_dag = graph.extension() if isinstance(graph, CPDAG) else graph
    except GraphError:
        return {}
    dag = align(found_dag, score.schema.names)
    directed = [edge if dag.has_edge(*edge) else edge[::-1] for edge in edges]
    asked = []
    for tail, head in directed:
        child, left_out = dag.index(head), dag.index(tail)
        parents = dag.parent_indices(child)
        asked += [(child, parents), (child, [parent for parent in parents if parent != left_out])]
    found: list[float] = []
    at_once = families_at_once(score, run.budget)
    for begin in range(0, len(asked), at_once):
        if run.budget.exhausted:
            return {}
        found += score.families(asked[begin : begin + at_once]).tolist()
    return {edge: whole - less for edge, whole, less in zip(edges, found[::2], found[1::2], strict=True)}
