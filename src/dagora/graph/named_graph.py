"""The common base of directed and partially directed graphs over named nodes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dagora.base.errors import GraphError
from dagora.base.notebook import NotebookView
from dagora.base.phrases import among
from dagora.graph.adjustable import AdjustableGraph

if TYPE_CHECKING:
    import networkx as nx


class NamedGraph(AdjustableGraph, NotebookView, ABC):
    """A graph over named nodes, with a boolean matrix whose entry [i, j] is a mark from i to j."""

    _nodes: tuple[str, ...]
    _index: dict[str, int]

    @classmethod
    @abstractmethod
    def from_numpy(cls, matrix: ArrayLike, nodes: Iterable[str] | None = None) -> Self:
        """Make a graph from a matrix."""

    @abstractmethod
    def to_numpy(self) -> NDArray[np.bool_]:
        """Return the graph as a matrix."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names, in the order of the columns the graph was learned from.

        >>> from dagora.graph.dag import DAG
        >>> graph = DAG("ba", [("a", "b")])
        >>> graph.nodes, graph.index("a")
        (('b', 'a'), 1)
        """
        return self._nodes

    def index(self, node: str) -> int:
        """Position of a node."""
        return find_node(self._index, node)

    def reorder(self, nodes: Iterable[str]) -> Self:
        """Return the same graph with its nodes in another order.

        >>> from dagora.graph.dag import DAG
        >>> DAG("ba", [("a", "b")]).reorder("ab").order
        ('a', 'b')
        """
        names = tuple(nodes)
        if sorted(names) != sorted(self._nodes):
            raise GraphError("reorder needs exactly the graph's own nodes")
        positions = [self.index(name) for name in names]
        return self.from_numpy(self.to_numpy()[np.ix_(positions, positions)], names)

    def to_networkx(self) -> nx.DiGraph:
        """Return the graph as a networkx one; an undirected edge becomes two, one in each direction.

        >>> from dagora.graph.dag import DAG
        >>> list(DAG("ab", [("a", "b")]).to_networkx().edges)
        [('a', 'b')]
        """
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_nodes_from(self._nodes)
        graph.add_edges_from((self._nodes[i], self._nodes[j]) for i, j in np.argwhere(self.to_numpy()))
        return graph

    def __len__(self) -> int:
        return len(self._nodes)

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)


def index_nodes(names: Sequence[str]) -> dict[str, int]:
    """Map each name to its position; refuse two nodes with one name, and names that are not text."""
    index: dict[str, int] = {}
    for position, name in enumerate(names):
        if not isinstance(name, str):
            raise GraphError(f"node names are text, not {type(name).__name__}: {name!r}")
        if name in index:
            raise GraphError(f"two nodes are named '{name}'")
        index[name] = position
    return index


def list_nodes(nodes: Iterable[str]) -> tuple[str, ...]:
    """The names of nodes, or an error that says how to list them."""
    try:
        return tuple(nodes)
    except TypeError:
        raise GraphError(f"nodes are a list of names, not {nodes!r}") from None


def list_edges(edges: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Edges as pairs, or an error that says how to list them.

    >>> list_edges([("a", "b", 0.5)])
    Traceback (most recent call last):
    dagora.GraphError: edges are a list of pairs such as ("a", "b"), not ('a', 'b', 0.5)
    """
    wrong: object = edges
    try:
        pairs = []
        for edge in edges:
            wrong = edge
            tail, head = edge
            pairs.append((tail, head))
    except (TypeError, ValueError):
        raise GraphError(f'edges are a list of pairs such as ("a", "b"), not {wrong!r}') from None
    return pairs


def find_node(index: dict[str, int], name: str) -> int:
    """Position of a name, or an error that says it is unknown."""
    try:
        return index[name]
    except (KeyError, TypeError):
        raise GraphError(f"there is no node named '{name}': {among(index)}") from None


def named_matrix(matrix: ArrayLike, nodes: Iterable[str] | None) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
    """Non-zero entries of a square matrix, and a name for each row: the given ones, or x0, x1, x2."""
    present = np.asarray(matrix) != 0
    if present.ndim != 2 or present.shape[0] != present.shape[1]:
        raise GraphError(f"an adjacency matrix must be square, not of shape {present.shape}")
    names = tuple(f"x{i}" for i in range(len(present))) if nodes is None else tuple(nodes)
    if len(names) != len(present):
        raise GraphError(f"{len(names)} names for a matrix of {len(present)} nodes")
    return present, names
