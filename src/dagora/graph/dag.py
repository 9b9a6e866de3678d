"""A directed acyclic graph over named nodes.

Acyclic by construction and immutable: functions that take a `DAG` need not check it. Edge (i, j) means i → j
everywhere. Parents are kept as bit rows, which search kernels take as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dagora.base.errors import GraphError
from dagora.graph.bits import Rows, pack, unpack
from dagora.graph.identification import ClassOfDAGs
from dagora.graph.named_graph import NamedGraph, find_node, index_nodes, list_edges, list_nodes, named_matrix
from dagora.graph.topological import cycle_in_words, find_cycle, topological_order

if TYPE_CHECKING:
    import networkx as nx

Edge = tuple[str, str]


class DAG(NamedGraph):
    """An immutable directed acyclic graph.

    >>> sprinkler = DAG(["rain", "sprinkler", "wet"], [("rain", "wet"), ("sprinkler", "wet")])
    >>> sprinkler.parents("wet")
    ('rain', 'sprinkler')
    >>> sprinkler.order
    ('rain', 'sprinkler', 'wet')
    >>> DAG("ab", [("a", "b"), ("b", "a")])
    Traceback (most recent call last):
    dagora.GraphError: the graph has a cycle: a → b → a
    """

    def __init__(self, nodes: Iterable[str], edges: Iterable[Edge] = ()) -> None:
        names = list_nodes(nodes)
        index = index_nodes(names)
        matrix = np.zeros((len(names), len(names)), dtype=np.bool_)
        for tail, head in list_edges(edges):
            matrix[find_node(index, tail), find_node(index, head)] = True
        self._build(names, matrix)

    def _build(self, names: tuple[str, ...], matrix: NDArray[np.bool_]) -> None:
        order = topological_order(matrix)
        if order is None:
            cycle = find_cycle(matrix)
            raise GraphError(cycle_in_words([names[i] for i in [*cycle, cycle[0]]]))
        self._nodes = names
        self._index = {name: i for i, name in enumerate(names)}
        self._order = tuple(order.tolist())
        self._parent_rows = pack(np.ascontiguousarray(matrix.T))
        self._parent_rows.flags.writeable = False

    @classmethod
    def from_numpy(cls, matrix: ArrayLike, nodes: Iterable[str] | None = None) -> DAG:
        """Make a graph from a matrix whose non-zero entry [i, j] is i → j; names default to x0, x1, x2.

        >>> DAG.from_numpy([[0, 1], [0, 0]], nodes=["a", "b"]).edges
        (('a', 'b'),)
        """
        present, names = named_matrix(matrix, nodes)
        index_nodes(names)
        graph = cls.__new__(cls)
        graph._build(names, present)  # noqa: SLF001 - a constructor
        return graph

    @classmethod
    def from_parents(cls, nodes: Iterable[str], parents: Sequence[Iterable[int]]) -> DAG:
        """Make a graph from each node's parents, given as positions in `nodes`.

        >>> DAG.from_parents("abc", [(), (0,), (0, 1)]).edges
        (('a', 'b'), ('a', 'c'), ('b', 'c'))
        """
        names = tuple(nodes)
        matrix = np.zeros((len(names), len(names)), dtype=np.bool_)
        try:
            for child, indices in enumerate(parents):
                matrix[list(indices), child] = True
        except (IndexError, TypeError):
            raise GraphError(
                f"parents are one list of positions from 0 to {len(names) - 1} for each of the nodes"
            ) from None
        return cls.from_numpy(matrix, names)

    @classmethod
    def from_networkx(cls, graph: nx.DiGraph) -> DAG:
        """Make a graph from a networkx one; node names become text.

        >>> import networkx
        >>> DAG.from_networkx(networkx.DiGraph([(1, 2)])).edges
        (('1', '2'),)
        """
        if not hasattr(graph, "is_directed"):
            raise GraphError(
                f"a networkx graph is needed, not a {type(graph).__name__}: see DAG(nodes, edges)"
            )
        return cls([str(node) for node in graph.nodes], [(str(a), str(b)) for a, b in graph.edges])

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """All edges as (parent, child), sorted by position."""
        return tuple((self._nodes[i], self._nodes[j]) for i, j in np.argwhere(self.to_numpy()))

    @property
    def undirected(self) -> tuple[Edge, ...]:
        """Always empty; it is here because every graph has this attribute.

        >>> DAG("ab", [("a", "b")]).undirected
        ()
        """
        return ()

    @property
    def parent_rows(self) -> Rows:
        """Bit rows (read-only): bit i of row j is set where i → j."""
        return self._parent_rows

    @property
    def order(self) -> tuple[str, ...]:
        """A topological order: of the nodes that may come next, the one listed first comes next."""
        return tuple(self._nodes[i] for i in self._order)

    @property
    def order_indices(self) -> tuple[int, ...]:
        """The topological order as positions."""
        return self._order

    def parent_indices(self, child: int) -> tuple[int, ...]:
        """Positions of the parents of the node at position `child`, ascending.

        >>> graph = DAG("abc", [("a", "c"), ("b", "c")])
        >>> graph.parent_indices(2), graph.order_indices, graph.parent_rows.tolist()
        ((0, 1), (0, 1, 2), [[0], [0], [3]])
        """
        return tuple(
            int(i) for i in np.flatnonzero(unpack(self._parent_rows[child : child + 1], len(self))[0])
        )

    def parents(self, node: str) -> tuple[str, ...]:
        """Names of the parents, in the order of `nodes`."""
        return tuple(self._nodes[i] for i in self.parent_indices(self.index(node)))

    def children(self, node: str) -> tuple[str, ...]:
        """Names of the children, in the order of `nodes`.

        >>> DAG("abc", [("a", "b"), ("a", "c")]).children("a")
        ('b', 'c')
        """
        return tuple(self._nodes[j] for j in np.flatnonzero(self.to_numpy()[self.index(node)]))

    def ancestors(self, node: str) -> frozenset[str]:
        """All nodes with a directed path to `node`, itself excluded.

        >>> chain = DAG("abc", [("a", "b"), ("b", "c")])
        >>> sorted(chain.ancestors("c")), sorted(chain.descendants("b"))
        (['a', 'b'], ['c'])
        """
        return self._reach(node, self.to_numpy().T)

    def descendants(self, node: str) -> frozenset[str]:
        """All nodes that a directed path from `node` leads to, itself excluded."""
        return self._reach(node, self.to_numpy())

    def _reach(self, node: str, matrix: NDArray[np.bool_]) -> frozenset[str]:
        found: set[int] = set()
        stack = [self.index(node)]
        while stack:
            fresh = [int(j) for j in np.flatnonzero(matrix[stack.pop()]) if int(j) not in found]
            found.update(fresh)
            stack.extend(fresh)
        return frozenset(self._nodes[i] for i in found)

    def has_edge(self, tail: str, head: str) -> bool:
        """Return True if tail → head is an edge.

        >>> DAG("ab", [("a", "b")]).has_edge("b", "a")
        False
        """
        return self.index(tail) in self.parent_indices(self.index(head))

    def to_numpy(self) -> NDArray[np.bool_]:
        """Boolean matrix whose entry [i, j] is the edge i → j.

        >>> DAG("ab", [("a", "b")]).to_numpy().astype(int).tolist()
        [[0, 1], [0, 0]]
        """
        return np.ascontiguousarray(unpack(self._parent_rows, len(self)).T)

    @cached_property
    def causal_class(self) -> ClassOfDAGs:
        """The graph itself, as a class of one.

        >>> DAG("ab", [("a", "b")]).causal_class.compelled.astype(int).tolist()
        [[0, 1], [0, 0]]
        """
        return ClassOfDAGs(self.to_numpy(), directed=True)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DAG):
            return NotImplemented
        return self._nodes == other._nodes and np.array_equal(self._parent_rows, other._parent_rows)

    def __hash__(self) -> int:
        return hash((self._nodes, self._parent_rows.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return DAG, (self._nodes, self.edges)

    def __repr__(self) -> str:
        return f"DAG({len(self)} nodes, {len(self.edges)} edges)"
