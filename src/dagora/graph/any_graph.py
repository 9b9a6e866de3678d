"""What can be done with a graph of any kind: a DAG, a CPDAG or a PAG."""

from __future__ import annotations

from collections.abc import Iterable
from typing import overload

from dagora.errors import GraphError
from dagora.graph.ancestral.judging import PAGComparison, compare_pags
from dagora.graph.ancestral.pag import PAG
from dagora.graph.cpdag import CPDAG, Graph, require_graph
from dagora.graph.dag import DAG, Edge
from dagora.graph.metrics import Comparison
from dagora.graph.metrics import compare as compare_graphs

AnyGraph = DAG | CPDAG | PAG


def require_any_graph(value: object, what: str = "the graph") -> AnyGraph:
    """Return a graph of any kind as it is; refuse anything else with the way to get one."""
    return value if isinstance(value, PAG) else require_graph(value, what)


def without_pag(graph: AnyGraph, what: str) -> Graph:
    """Return a DAG or CPDAG as it is; refuse a PAG, for those who can do nothing with its marks.

    >>> without_pag(PAG("ab"), "a score")
    Traceback (most recent call last):
    dagora.errors.GraphError: a score needs a DAG or CPDAG, not a PAG, which allows for hidden causes
    """
    if isinstance(graph, PAG):
        raise GraphError(f"{what} needs a DAG or CPDAG, not a PAG, which allows for hidden causes")
    return graph


def number_of_edges(graph: AnyGraph) -> int:
    """How many pairs are joined.

    >>> number_of_edges(PAG("abc", [("a", "o->", "b"), ("b", "-->", "c")]))
    2
    """
    return len(graph.marked_edges) if isinstance(graph, PAG) else len(graph.edges) + len(graph.undirected)


@overload
def compare(estimate: Graph, truth: Graph, dropped: Iterable[Edge] | None = None) -> Comparison: ...


@overload
def compare(
    estimate: AnyGraph, truth: AnyGraph, dropped: Iterable[Edge] | None = None
) -> Comparison | PAGComparison: ...


def compare(
    estimate: AnyGraph, truth: AnyGraph, dropped: Iterable[Edge] | None = None
) -> Comparison | PAGComparison:
    """Compare an estimate with the truth; nodes are matched by name.

    `dropped` are edges that were removed from the estimate to break cycles: with them it is also judged as it
    was before (`raw`). A PAG is compared mark by mark with a PAG, or with the one that follows from a true
    DAG; the nodes of the DAG that the estimate does not have are hidden then.

    >>> truth = DAG("abc", [("a", "b"), ("b", "c")])
    >>> comparison = compare(DAG("abc", [("b", "a"), ("b", "c")]), truth)
    >>> comparison.dag.shd, comparison.skeleton.shd, comparison.cpdag.shd
    (1, 0, 0)
    >>> compare(truth, truth, dropped=[("c", "a")]).raw.shd
    1
    >>> compare(PAG("ab", [("a", "o->", "b")]), DAG("abh", [("h", "a"), ("h", "b")])).marks.to_dict()
    {'right': 1, 'open': 0, 'wrong': 1}
    """
    if isinstance(estimate, PAG) or isinstance(truth, PAG):
        return compare_pags(estimate, truth)
    return compare_graphs(estimate, truth, dropped)
