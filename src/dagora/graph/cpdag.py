"""A partially directed graph over named nodes: some edges have a direction, others do not.

This is the completed graph of an equivalence class (`CPDAG.from_dag`), the output of a constraint-based
search, or any other mixture of i → j and i — j. It is immutable and has the same attributes as a `DAG`.
Directed edges may form a cycle (a constraint-based search may return one); `extension` refuses such a graph.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dagora.base.errors import GraphError
from dagora.graph.dag import DAG, Edge
from dagora.graph.equivalence import consistent_extension, cpdag_matrix
from dagora.graph.identification import ClassOfDAGs
from dagora.graph.named_graph import NamedGraph, find_node, index_nodes, list_edges, list_nodes, named_matrix


class CPDAG(NamedGraph):
    """An immutable graph with directed and undirected edges.

    >>> chain = CPDAG.from_dag(DAG("abc", [("a", "b"), ("b", "c")]))
    >>> chain.edges, chain.undirected
    ((), (('a', 'b'), ('b', 'c')))
    >>> chain.extension().edges
    (('a', 'b'), ('b', 'c'))
    >>> CPDAG("ab", [("a", "b")], [("b", "a")])
    Traceback (most recent call last):
    dagora.GraphError: the edge a — b is both directed and undirected
    """

    def __init__(
        self, nodes: Iterable[str], edges: Iterable[Edge] = (), undirected: Iterable[Edge] = ()
    ) -> None:
        names = list_nodes(nodes)
        index = index_nodes(names)
        matrix = np.zeros((len(names), len(names)), dtype=np.bool_)
        for tail, head in list_edges(edges):
            i, j = find_node(index, tail), find_node(index, head)
            if matrix[j, i] and i != j:
                raise GraphError(f"the edge {tail} → {head} is directed both ways: list it as undirected")
            matrix[i, j] = True
        directed = matrix.copy()
        for one, other in list_edges(undirected):
            i, j = find_node(index, one), find_node(index, other)
            if directed[i, j] or directed[j, i]:
                raise GraphError(
                    f"the edge {names[min(i, j)]} — {names[max(i, j)]} is both directed and undirected"
                )
            matrix[i, j] = matrix[j, i] = True
        loops = np.flatnonzero(np.diagonal(matrix))
        if loops.size:
            raise GraphError(f"the node '{names[loops[0]]}' has an edge to itself")
        self._nodes = names
        self._index = index
        self._matrix = matrix
        self._matrix.flags.writeable = False

    @classmethod
    def from_numpy(cls, matrix: ArrayLike, nodes: Iterable[str] | None = None) -> CPDAG:
        """Make a graph from a matrix: non-zero [i, j] alone is i → j, with [j, i] it is i — j.

        >>> graph = CPDAG.from_numpy([[0, 1, 0], [1, 0, 1], [0, 0, 0]], nodes="abc")
        >>> graph.edges, graph.undirected
        ((('b', 'c'),), (('a', 'b'),))
        >>> graph.to_numpy().astype(int).tolist()
        [[0, 1, 0], [1, 0, 1], [0, 0, 0]]
        """
        present, names = named_matrix(matrix, nodes)
        arrows = np.argwhere(present & ~present.T)
        lines = np.argwhere(np.triu(present & present.T))
        return cls(names, *([(names[i], names[j]) for i, j in pairs] for pairs in (arrows, lines)))

    @classmethod
    def from_dag(cls, dag: DAG) -> CPDAG:
        """Completed graph of the class of all DAGs that imply the same independences as `dag`."""
        dag = require_dag(dag)
        return cls.from_numpy(cpdag_matrix(dag.to_numpy()), dag.nodes)

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """The directed edges as (parent, child), sorted by position."""
        return self._pairs(self._matrix & ~self._matrix.T)

    @cached_property
    def undirected(self) -> tuple[Edge, ...]:
        """The undirected edges, the earlier node first, sorted by position."""
        return self._pairs(np.triu(self._matrix & self._matrix.T))

    def _pairs(self, matrix: NDArray[np.bool_]) -> tuple[Edge, ...]:
        return tuple((self._nodes[i], self._nodes[j]) for i, j in np.argwhere(matrix))

    def parents(self, node: str) -> tuple[str, ...]:
        """Names of the nodes with a directed edge to `node`, in the order of `nodes`."""
        j = self.index(node)
        return tuple(self._nodes[i] for i in np.flatnonzero(self._matrix[:, j] & ~self._matrix[j]))

    def children(self, node: str) -> tuple[str, ...]:
        """Names of the nodes that a directed edge from `node` leads to, in the order of `nodes`."""
        i = self.index(node)
        return tuple(self._nodes[j] for j in np.flatnonzero(self._matrix[i] & ~self._matrix[:, i]))

    def neighbours(self, node: str) -> tuple[str, ...]:
        """Names of the nodes that share an undirected edge with `node`, in the order of `nodes`.

        >>> graph = CPDAG("abc", [("b", "c")], [("a", "b")])
        >>> graph.neighbours("b"), graph.children("b"), graph.parents("c")
        (('a',), ('c',), ('b',))
        """
        i = self.index(node)
        return tuple(self._nodes[j] for j in np.flatnonzero(self._matrix[i] & self._matrix[:, i]))

    def extension(self) -> DAG:
        """Find a DAG with the same skeleton, the same v-structures and every directed edge kept.

        >>> CPDAG("abcd", undirected=["ab", "bc", "cd", "da"]).extension()
        Traceback (most recent call last):
        dagora.GraphError: the graph has no consistent extension: ...
        """
        dag = consistent_extension(self._matrix)
        if dag is None:
            raise GraphError(
                "the graph has no consistent extension: every way to direct its undirected edges "
                "makes a cycle or a new v-structure"
            )
        return DAG.from_numpy(dag, self._nodes)

    def to_numpy(self) -> NDArray[np.bool_]:
        """Boolean matrix: [i, j] alone is i → j, with [j, i] it is i — j."""
        return self._matrix.copy()

    @cached_property
    def causal_class(self) -> ClassOfDAGs:
        """The DAGs that the graph stands for, also if it is a class with knowledge.

        >>> CPDAG("abc", [("a", "b")], [("b", "c")]).causal_class.compelled.astype(int).tolist()
        [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        """
        return ClassOfDAGs(self._matrix, directed=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CPDAG):
            return NotImplemented
        return self._nodes == other._nodes and np.array_equal(self._matrix, other._matrix)

    def __hash__(self) -> int:
        return hash((self._nodes, self._matrix.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return CPDAG, (self._nodes, self.edges, self.undirected)

    def __repr__(self) -> str:
        kinds = f"{len(self.edges)} directed and {len(self.undirected)} undirected edges"
        return f"CPDAG({len(self)} nodes, {kinds})"


Graph = DAG | CPDAG


def require_graph(value: object, what: str = "the graph") -> Graph:
    """Return a graph as it is; refuse anything else with the way to get one.

    >>> require_graph("truth.json", "the truth")
    Traceback (most recent call last):
    dagora.GraphError: the truth must be a DAG or CPDAG, not a str: read_graph reads one from a file
    """
    if isinstance(value, DAG | CPDAG):
        return value
    way = "DAG(nodes, edges) makes one"
    if hasattr(value, "graph"):
        way = "pass its attribute graph"
    elif isinstance(value, str | PathLike):
        way = "read_graph reads one from a file"
    raise GraphError(f"{what} must be a DAG or CPDAG, not a {type(value).__name__}: {way}")


def require_dag(value: object, what: str = "the graph") -> DAG:
    """Return a directed acyclic graph as it is; refuse anything else with the way to get one."""
    graph = require_graph(value, what)
    if isinstance(graph, CPDAG):
        raise GraphError(
            f"{what} must be a DAG, and this one is a CPDAG: its extension() is a DAG of its class"
        )
    return graph
