"""Make a graph from the nodes and edges of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dagora.base.errors import FormatError
from dagora.graph.ancestral.pag import PAG
from dagora.graph.cpdag import CPDAG, Graph
from dagora.graph.dag import DAG, Edge

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_NODES = 20_000
"""A graph takes the square of it in memory while it is made: 400 MB."""


def build_graph(nodes: Iterable[str], edges: Iterable[Edge], undirected: Iterable[Edge] = ()) -> Graph:
    """Return a `CPDAG` where an edge is undirected, else a `DAG`; a directed cycle is refused in both.

    >>> build_graph(["a", "b"], [("a", "b")])
    DAG(2 nodes, 1 edges)
    >>> build_graph(["a", "b", "c"], [("a", "b")], [("b", "c")]).undirected
    (('b', 'c'),)
    """
    names, directed, plain = check_number(nodes), list(edges), list(undirected)
    dag = DAG(names, directed)
    return CPDAG(names, directed, plain) if plain else dag


def build_pag(nodes: Iterable[str], edges: Iterable[tuple[str, str, str]]) -> PAG:
    """Return a PAG; its edges have a sign, such as `o->`, between their ends."""
    return PAG(check_number(nodes), edges)


def check_number(nodes: Iterable[str]) -> tuple[str, ...]:
    """The nodes, unless there are too many of them."""
    names = tuple(nodes)
    if len(names) > MOST_NODES:
        raise FormatError(f"has {len(names):,} nodes, and at most {MOST_NODES:,} can be read")
    return names


def nodes_of_edges(edges: Iterable[Edge]) -> list[str]:
    """Nodes in the order in which edges mention them.

    >>> nodes_of_edges([("b", "a"), ("a", "c")])
    ['b', 'a', 'c']
    """
    return list(dict.fromkeys(node for edge in edges for node in edge))
