"""A graph of any kind: a DAG, a CPDAG or a PAG."""

from __future__ import annotations

from dagora.base.errors import GraphError
from dagora.graph.ancestral.pag import PAG
from dagora.graph.cpdag import CPDAG, Graph, require_graph
from dagora.graph.dag import DAG

AnyGraph = DAG | CPDAG | PAG


def require_any_graph(value: object, what: str = "the graph") -> AnyGraph:
    """Return a graph of any kind as it is; refuse anything else with the way to get one."""
    return value if isinstance(value, PAG) else require_graph(value, what)


def without_pag(graph: AnyGraph, what: str) -> Graph:
    """Return a DAG or CPDAG as it is; refuse a PAG, for those who can do nothing with its marks.

    >>> without_pag(PAG("ab"), "a score")
    Traceback (most recent call last):
    dagora.GraphError: a score needs a DAG or CPDAG, not a PAG, which allows for hidden causes
    """
    if isinstance(graph, PAG):
        raise GraphError(f"{what} needs a DAG or CPDAG, not a PAG, which allows for hidden causes")
    return graph


def number_of_edges(graph: AnyGraph) -> int:
    """The number of adjacent pairs.

    >>> number_of_edges(PAG("abc", [("a", "o->", "b"), ("b", "-->", "c")]))
    2
    """
    return len(graph.marked_edges) if isinstance(graph, PAG) else len(graph.edges) + len(graph.undirected)
