"""The gain that each edge of a learned graph brings to its score, and the cost of some absent edges.

The others stay as they are. So an edge may be weak only because another path says the same, and of two such
edges either could be left out, but not both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, GraphError, RowsUnavailableError
from dagora.graph.cpdag import CPDAG, Graph
from dagora.graph.dag import DAG, Edge
from dagora.graph.directions import WEAK
from dagora.graph.equivalence import v_structures
from dagora.learners.run import Run
from dagora.scores.local_score import Family, LocalScore, align, families_at_once

# Nobody looks at each of more edges than this.
MOST_EDGES = 5000
# Families between two looks at the clock, where each takes long.
SLOW_FAMILIES = 64


class EdgeEvidence(NamedTuple):
    """The worth of edges in nats: both empty where that is not known."""

    gains: dict[Edge, float]
    """The nats that each edge adds, in the order of the graph's edges and then of its undirected ones."""
    costs: dict[Edge, float]
    """The nats, fewer than `WEAK`, that absent edges would cost whose absence makes a v-structure."""


NOT_KNOWN = EdgeEvidence({}, {})


def edge_evidence(score: LocalScore, graph: Graph, run: Run) -> EdgeEvidence:
    """The gains of a graph's edges, and the costs of some absent ones: all families in one call.

    Of a class of graphs, those of one graph in it, and absent edges are directed as its order has their
    nodes. Nothing is known where the numbers would be dear (many edges, a score that takes long, a time
    limit that is used up, sites that do not give such large tables), and where the graph stands for no DAG.

    >>> from dagora.scores.registry import score_named
    >>> from dagora.stats.accepting import as_statistics
    >>> rows = {"a": [0, 1, 0, 1] * 20, "b": [0, 0, 1, 1] * 20, "c": [0, 1, 1, 1] * 20}
    >>> score = score_named("bic").make(as_statistics(rows))
    >>> found = edge_evidence(score, DAG("abc", [("a", "c"), ("b", "c")]), Run())
    >>> {edge: round(gain, 2) for edge, gain in found.gains.items()}
    {('a', 'c'): 23.34, ('b', 'c'): 23.34}
    >>> {edge: round(cost, 2) for edge, cost in found.costs.items()}
    {('a', 'b'): 2.19}
    """
    edges = (*graph.edges, *graph.undirected)
    dag = None if score.capabilities.is_expensive else small_dag(graph, score.schema.names)
    if dag is None:
        return NOT_KNOWN
    place = {node: k for k, node in enumerate(dag.order_indices)}
    ends = sorted({(a, b) for a, _, b in v_structures(dag.to_numpy())})
    absent = [(a, b) if place[a] < place[b] else (b, a) for a, b in ends]
    absent = [(a, b) for a, b in absent if run.knowledge.allows(dag.nodes[a], dag.nodes[b])]
    if len(absent) > MOST_EDGES:
        return NOT_KNOWN
    asked: list[Family] = []
    for edge in edges:
        tail, head = edge if dag.has_edge(*edge) else edge[::-1]
        parents = dag.parent_indices(dag.index(head))
        asked.append((dag.index(head), parents))
        asked.append((dag.index(head), [parent for parent in parents if parent != dag.index(tail)]))
    for first, second in absent:
        parents = dag.parent_indices(second)
        asked += [(second, sorted([*parents, first])), (second, parents)]
    try:
        found = scores_in_time(score, asked, run)
    except (DataError, RowsUnavailableError):
        return NOT_KNOWN
    if found is None:
        return NOT_KNOWN
    with np.errstate(invalid="ignore"):
        differences = found[::2] - found[1::2]
    # An edge of a family that too few rows have observed together, whose score is −∞, is worth nothing.
    gains = np.where(np.isfinite(differences), differences, 0.0)[: len(edges)].tolist()
    costs = {
        (dag.nodes[first], dag.nodes[second]): -gain
        for (first, second), gain in zip(absent, differences[len(edges) :].tolist(), strict=True)
    }
    weak = {edge: cost for edge, cost in costs.items() if cost < WEAK}
    return EdgeEvidence(dict(zip(edges, gains, strict=True)), weak)


def small_dag(graph: Graph, names: Sequence[str]) -> DAG | None:
    """A DAG of the class in the order of a score's columns; None where there is none, or too many edges."""
    if len(graph.edges) + len(graph.undirected) > MOST_EDGES:
        return None
    try:
        found = graph.extension() if isinstance(graph, CPDAG) else graph
    except GraphError:
        return None
    return align(found, names)


def scores_in_time(score: LocalScore, asked: Sequence[Family], run: Run) -> NDArray[np.float64] | None:
    """The scores of families; None where the time limit is used up before all are there."""
    found = [np.empty(0)]
    at_once = families_at_once(score, run.budget)
    if score.capabilities.is_slow:
        at_once = min(at_once, SLOW_FAMILIES)
    for begin in range(0, len(asked), at_once):
        if run.budget.exhausted:
            return None
        found.append(score.families(asked[begin : begin + at_once]))
    return np.concatenate(found)
