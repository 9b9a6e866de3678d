"""A partial ancestral graph (PAG): what tests of independence tell where causes may be hidden.

An edge has a mark at each end. At b, on an edge between a and b,

- an arrow says that b is not a cause of a (`a *-> b`),
- a tail says that b is a cause of a, direct or not (`a *-- b`), or of what decided which rows are there,
- a circle says that the tests leave both open (`a *-o b`).

So `a --> b`: a causes b. `a <-> b`: neither causes the other, a hidden cause is behind both. `a o-> b`: b
does not cause a. `a o-o b`: they belong together, nothing more is known. Two variables without an edge are
independent given some of the others. (Richardson & Spirtes 2002; Zhang 2008.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dagora.base.errors import GraphError
from dagora.base.notebook import NotebookView
from dagora.graph.adjustable import AdjustableGraph
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import Edge
from dagora.graph.edge_marks import ARROW, CIRCLE, NONE, TAIL, Marks
from dagora.graph.identification import ClassOfMAGs
from dagora.graph.named_graph import find_node, index_nodes, list_nodes

MarkedEdge = tuple[str, str, str]

LEFT = {CIRCLE: "o", ARROW: "<", TAIL: "-"}
RIGHT = {CIRCLE: "o", ARROW: ">", TAIL: "-"}
# What stands between two names, and the marks at both ends.
SIGNS = {f"{LEFT[left]}-{RIGHT[right]}": (left, right) for left in LEFT for right in RIGHT}
TURNED = {sign: f"{LEFT[right]}-{RIGHT[left]}" for sign, (left, right) in SIGNS.items()}
# Of the two ways to write an edge, those that read from left to right.
FORWARD = ("-->", "<->", "o->", "o-o", "---", "--o")


# As people read them.
SHOWN = {"-->": "→", "<->": "↔", "o->": "o→", "o-o": "o–o", "---": "—", "--o": "–o"}


class PAG(AdjustableGraph, NotebookView):
    """An immutable graph over named nodes whose edges have a mark at each end.

    >>> graph = PAG("abcd", [("a", "o->", "c"), ("b", "o->", "c"), ("d", "<--", "c")])
    >>> print(graph.to_text())
    a o-> c
    b o-> c
    c --> d
    >>> graph.marked_edges[0], graph.edges, graph.sign("c", "a")
    (('a', 'o->', 'c'), (('c', 'd'),), '<-o')
    >>> PAG("ab", [("a", "=>", "b")])
    Traceback (most recent call last):
    dagora.GraphError: '=>' is no edge: use one of --> <-> o-> o-o --- --o
    """

    def __init__(self, nodes: Iterable[str], marked_edges: Iterable[MarkedEdge] = ()) -> None:
        names = list_nodes(nodes)
        index = index_nodes(names)
        matrix = np.zeros((len(names), len(names)), dtype=np.int8)
        for one, sign, other in list_marked_edges(marked_edges):
            i, j = find_node(index, one), find_node(index, other)
            if i == j:
                raise GraphError(f"the node '{one}' has an edge to itself")
            if matrix[i, j]:
                raise GraphError(f"there are two edges between '{one}' and '{other}'")
            matrix[j, i], matrix[i, j] = SIGNS[sign]
        self._nodes = names
        self._index = index
        self._matrix = matrix
        self._matrix.flags.writeable = False

    @classmethod
    def from_numpy(cls, matrix: ArrayLike, nodes: Iterable[str] | None = None) -> PAG:
        """Make a graph from a matrix: [i, j] is the mark at j of the edge i – j: 1 circle, 2 arrow, 3 tail.

        >>> PAG.from_numpy([[0, 2], [1, 0]], nodes="ab").to_text()
        'a o-> b'
        """
        marks = np.asarray(matrix)
        if marks.ndim != 2 or marks.shape[0] != marks.shape[1]:
            raise GraphError(f"a matrix of marks must be square, not of shape {marks.shape}")
        if not np.isin(marks, (NONE, CIRCLE, ARROW, TAIL)).all():
            raise GraphError("marks are 0 (no edge), 1 (circle), 2 (arrow) and 3 (tail)")
        if ((marks != NONE) != (marks != NONE).T).any():
            raise GraphError(
                "an edge has a mark at each of its ends, and here one has a mark at one end only"
            )
        names = tuple(f"x{i}" for i in range(len(marks))) if nodes is None else tuple(nodes)
        if len(names) != len(marks):
            raise GraphError(f"{len(names)} names for a matrix of {len(marks)} nodes")
        return cls(
            names,
            [
                (names[i], f"{LEFT[int(marks[j, i])]}-{RIGHT[int(marks[i, j])]}", names[j])
                for i, j in np.argwhere(np.triu(marks != NONE)).tolist()
            ],
        )

    @classmethod
    def from_text(cls, text: str, nodes: Iterable[str] | None = None) -> PAG:
        r"""Undo `to_text`; without `nodes` they are those that the edges name.

        >>> PAG.from_text("a o-> b\nb <-> c").nodes
        ('a', 'b', 'c')
        """
        edges = []
        for number, line in enumerate(text.splitlines(), 1):
            found = next((sign for sign in SIGNS if f" {sign} " in line), None)
            if found is not None:
                one, _, other = line.partition(f" {found} ")
                edges.append((one.strip(), found, other.strip()))
            elif line.strip():
                raise GraphError(f"line {number}: an edge is written a o-> b, not '{line.strip()}'")
        named = dict.fromkeys(name for one, _, other in edges for name in (one, other))
        return cls(named if nodes is None else nodes, edges)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names, in the order of the columns the graph was learned from."""
        return self._nodes

    def index(self, node: str) -> int:
        """Position of a node.

        >>> graph = PAG("ab", [("a", "<->", "b")])
        >>> graph.nodes, graph.index("b")
        (('a', 'b'), 1)
        """
        return find_node(self._index, node)

    @cached_property
    def marked_edges(self) -> tuple[MarkedEdge, ...]:
        """All edges as (name, sign, name), each written so that arrows point to the right where they can."""
        found = []
        for i, j in np.argwhere(np.triu(self._matrix != NONE)).tolist():
            sign = self._sign(i, j)
            first, second = (i, j) if sign in FORWARD else (j, i)
            found.append((self._nodes[first], self._sign(first, second), self._nodes[second]))
        return tuple(found)

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """The edges `a --> b`, as (cause, effect), sorted by position."""
        directed = (self._matrix == ARROW) & (self._matrix == TAIL).T
        return tuple((self._nodes[i], self._nodes[j]) for i, j in np.argwhere(directed).tolist())

    @cached_property
    def undirected(self) -> tuple[Edge, ...]:
        """The edges `a --- b`, which there are only where rows were selected.

        >>> PAG("ab", [("a", "---", "b")]).undirected
        (('a', 'b'),)
        """
        return tuple((one, other) for one, sign, other in self.marked_edges if sign == "---")

    def sign(self, one: str, other: str) -> str | None:
        """The edge between two nodes as it is written from the first to the second; None without one."""
        i, j = self.index(one), self.index(other)
        return self._sign(i, j) if self._matrix[i, j] else None

    def _sign(self, i: int, j: int) -> str:
        return f"{LEFT[int(self._matrix[j, i])]}-{RIGHT[int(self._matrix[i, j])]}"

    def reorder(self, nodes: Iterable[str]) -> PAG:
        """Return the same graph with its nodes in another order.

        >>> PAG("ab", [("a", "o->", "b")]).reorder("ba").to_text()
        'a o-> b'
        """
        names = tuple(nodes)
        if sorted(names) != sorted(self._nodes):
            raise GraphError("reorder needs exactly the graph's own nodes")
        positions = [self.index(name) for name in names]
        return PAG.from_numpy(self._matrix[np.ix_(positions, positions)], names)

    def outline(self) -> CPDAG:
        """A graph to be laid out as this one is: with directions where an edge has one arrow.

        >>> PAG("abc", [("a", "o->", "b"), ("b", "<->", "c")]).outline().edges
        (('a', 'b'),)
        """
        one_way = [(one, other) for one, sign, other in self.marked_edges if sign in {"-->", "o->"}]
        others = [(one, other) for one, sign, other in self.marked_edges if sign not in {"-->", "o->"}]
        return CPDAG(self._nodes, one_way, others)

    def to_numpy(self) -> Marks:
        """Matrix of marks: [i, j] is the mark at j of the edge i – j: 1 circle, 2 arrow, 3 tail, 0 no edge.

        >>> PAG("ab", [("a", "-->", "b")]).to_numpy().tolist()
        [[0, 2], [3, 0]]
        """
        return self._matrix.copy()

    def to_text(self) -> str:
        """One edge a line."""
        return "\n".join(" ".join(edge) for edge in self.marked_edges)

    def __len__(self) -> int:
        return len(self._nodes)

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    @cached_property
    def causal_class(self) -> ClassOfMAGs:
        """The graphs with hidden causes that the graph stands for.

        >>> PAG("ab", [("a", "o->", "b")]).causal_class.allows_hidden_causes
        True
        """
        return ClassOfMAGs(self._matrix)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PAG):
            return NotImplemented
        return self._nodes == other._nodes and np.array_equal(self._matrix, other._matrix)

    def __hash__(self) -> int:
        return hash((self._nodes, self._matrix.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return PAG, (self._nodes, self.marked_edges)

    def __repr__(self) -> str:
        return f"PAG({len(self)} nodes, {len(self.marked_edges)} edges)"


def list_marked_edges(edges: Iterable[MarkedEdge]) -> list[MarkedEdge]:
    """Edges with their signs, or an error that says how to write them.

    >>> list_marked_edges([("a", "b")])
    Traceback (most recent call last):
    dagora.GraphError: edges are a list of triples such as ("a", "o->", "b"), not ('a', 'b')
    """
    wrong: object = edges
    found = []
    try:
        for edge in edges:
            wrong = edge
            one, sign, other = edge
            found.append((one, sign, other))
    except (TypeError, ValueError):
        raise GraphError(f'edges are a list of triples such as ("a", "o->", "b"), not {wrong!r}') from None
    for _, sign, _ in found:
        if sign not in SIGNS:
            raise GraphError(f"'{sign}' is no edge: use one of {' '.join(FORWARD)}")
    return found
