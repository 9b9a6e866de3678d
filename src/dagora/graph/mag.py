"""One maximal ancestral graph (MAG) of the class of a PAG, as a DAG with hidden variables; visible edges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import GraphError
from dagora.graph.bit_sets import bit_rows, members
from dagora.graph.edge_marks import ARROW, CIRCLE, TAIL, Marks
from dagora.graph.equivalence import consistent_extension
from dagora.graph.topological import topological_order

Matrix = NDArray[np.bool_]

NO_PAG = "the graph is no PAG: no graph with hidden causes has these marks"


def mag_of(pag: Marks) -> Marks:
    """A MAG of the class (Zhang 2008): circles before arrows become tails, the others those of a DAG.

    >>> mag_of(np.array([[0, CIRCLE], [CIRCLE, 0]])).tolist()
    [[0, 2], [3, 0]]
    """
    marks = pag.copy()
    tails = marks == TAIL
    if (tails & (tails | (marks == CIRCLE)).T).any():
        raise GraphError(
            "the graph has an edge without an arrow, which tells of selected rows: effects are not "
            "determined there"
        )
    both = (marks == CIRCLE) & (marks == CIRCLE).T
    arrows = consistent_extension(both)
    if arrows is None:
        raise GraphError(NO_PAG)
    marks[(marks == CIRCLE) & ~both] = TAIL
    marks[both] = np.where(arrows, ARROW, TAIL)[both]
    if not is_ancestral(marks):
        raise GraphError(NO_PAG)
    return marks


def is_ancestral(mag: Marks) -> bool:
    """Return True if no directed path leads from a node back to it, or to a node that it shares a ↔ with.

    >>> is_ancestral(np.array([[0, ARROW, ARROW], [TAIL, 0, ARROW], [ARROW, TAIL, 0]]))  # a → b → c ↔ a
    False
    """
    arrows = (mag == ARROW) & (mag == TAIL).T
    order = topological_order(arrows)
    if order is None:
        return False
    below = [0] * len(mag)
    children, hidden = bit_rows(arrows), bit_rows((mag == ARROW) & (mag == ARROW).T)
    for node in reversed(order.tolist()):
        for child in members(children[node]):
            below[node] |= below[child] | 1 << child
    return not any(low & spouses for low, spouses in zip(below, hidden, strict=True))


def with_hidden(mag: Marks) -> Matrix:
    """The DAG with a hidden cause, after the graph's own nodes, for each edge a ↔ b.

    >>> with_hidden(np.array([[0, 2], [2, 0]])).astype(int).tolist()
    [[0, 0, 0], [0, 0, 0], [1, 1, 0]]
    """
    size = len(mag)
    pairs = np.argwhere(np.triu((mag == ARROW) & (mag == ARROW).T))
    matrix = np.zeros((size + len(pairs),) * 2, dtype=np.bool_)
    matrix[:size, :size] = (mag == ARROW) & (mag == TAIL).T
    for hidden, pair in enumerate(pairs, size):
        matrix[hidden, pair] = True
    return matrix


def is_visible(marks: Marks, a: int, b: int) -> bool:
    """Return True if no hidden cause can stand behind a → b: some other node tells it (Zhang 2008).

    That node is not adjacent to b, and an edge with an arrow at a leads from it to a, or a path does on which
    all nodes between are colliders and causes of b.
    """
    cause_of_b = (marks[:, b] == ARROW) & (marks[b] == TAIL)
    waiting, seen = [a], {a}
    while waiting:
        node = waiting.pop()
        for other in np.flatnonzero(marks[:, node] == ARROW).tolist():
            if other == b or other in seen:
                continue
            if not marks[other, b]:
                return True
            if cause_of_b[other] and marks[node, other] == ARROW:
                seen.add(other)
                waiting.append(other)
    return False
