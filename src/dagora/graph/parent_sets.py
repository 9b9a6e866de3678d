"""The sets of parents that a node has in the graphs of a class, found locally (IDA).

Of the nodes joined to x by a line, some may come before it and the others after. That is so in some graph of
the class exactly if no new collider arises at x and no directed triangle through x (Fang & He 2020, for
classes with knowledge; without knowledge the first is enough: Maathuis, Kalisch & Bühlmann 2009). Directing
these edges leaves a class with more knowledge, so that several nodes are gone through one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from dagora.graph.bit_sets import bit_rows, members
from dagora.graph.cpdag import CPDAG, Graph
from dagora.graph.dag import Edge
from dagora.graph.equivalence import meek_closure

Matrix = NDArray[np.bool_]

MOST_CHOICES = 256
"""Choices of parents for which effects and answers are computed."""


def parent_choices(graph: Graph, nodes: Iterable[str]) -> Iterator[tuple[tuple[Edge, ...], CPDAG]]:
    """The ways to direct the open edges at some nodes, each with the class of the graphs that have them so.

    >>> chain = CPDAG("abc", [], [("a", "b"), ("b", "c")])
    >>> for edges, _ in parent_choices(chain, "b"):
    ...     print(edges)
    (('b', 'a'), ('b', 'c'))
    (('a', 'b'), ('b', 'c'))
    (('c', 'b'), ('b', 'a'))
    """
    matrix, places = graph.causal_class.compelled, [graph.index(name) for name in nodes]
    for found in directed_in_turn(matrix, places):
        open_, edges = matrix & matrix.T & found, []
        for place in places:
            edges += [(graph.nodes[tail], graph.nodes[place]) for tail in np.flatnonzero(open_[:, place])]
            edges += [(graph.nodes[place], graph.nodes[head]) for head in np.flatnonzero(open_[place])]
        yield tuple(dict.fromkeys(edges)), CPDAG.from_numpy(found, graph.nodes)


def directed_in_turn(matrix: Matrix, places: list[int]) -> Iterator[Matrix]:
    """The class with the open edges at some nodes directed, in each way that some graph has."""
    if not places:
        yield matrix
        return
    x, *others = places
    for before, after in parent_sets(bit_rows(matrix), bit_rows(matrix.T), x):
        yield from directed_in_turn(directed_around(matrix, x, before, after), others)


def parent_sets(onward: list[int], back: list[int], x: int) -> Iterator[tuple[int, int]]:
    """The nodes before and after x (bits) among those that a class leaves open, one pair for each choice.

    `onward` and `back` are the rows and columns of the matrix of the class.

    >>> line = [0b010, 0b101, 0b010]
    >>> list(parent_sets(line, line, 1))
    [(0, 5), (1, 4), (4, 1)]
    """
    around = onward[x] & back[x]
    fixed = back[x] & ~onward[x]
    behind = {node: onward[node] & ~back[node] & around for node in members(around)}
    joined = {node: onward[node] | back[node] for node in behind}
    order = causes_first(behind)

    def grow(before: int, possible: int, start: int) -> Iterator[int]:
        """Cliques of nodes that may come before x, with what directed edges lead to them from.

        A node that comes after x takes along those behind it, so that no branch is without a clique.
        """
        yield before
        for place in range(start, len(order)):
            node = order[place]
            if possible >> node & 1 and not fixed & ~joined[node]:
                yield from grow(before | 1 << node, possible & joined[node], place + 1)
            possible &= ~behind[node]

    for before in grow(0, around, 0):
        yield before, around & ~before


def causes_first(behind: Mapping[int, int]) -> list[int]:
    """Nodes in an order in which each stands before those that directed edges lead to from it.

    >>> causes_first({0: 0b000, 1: 0b001, 2: 0b011})
    [2, 1, 0]
    """
    causes = dict.fromkeys(behind, 0)
    for reached in behind.values():
        for node in members(reached):
            causes[node] += 1
    order = [node for node, number in causes.items() if not number]
    for node in order:
        for other in members(behind[node]):
            causes[other] -= 1
            if not causes[other]:
                order.append(other)
    return order


def directed_around(matrix: Matrix, x: int, before: int, after: int) -> Matrix:
    """The class with the open edges at x directed, and all that follows from it."""
    found = matrix.copy()
    found[x, list(members(before))] = False
    found[list(members(after)), x] = False
    return meek_closure(found)
