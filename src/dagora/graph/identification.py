"""Identification: does a graph determine the effect of setting variables, and in which DAG to work it out.

A class of DAGs (a CPDAG, with or without knowledge) or of graphs with hidden causes (a PAG) determines the
effect of X on y if all possibly directed paths from X to y that meet X in their first node only begin with an
edge out of X (in a PAG: a visible one). Then any member of the class tells which sets may be adjusted for
(Perković, Textor, Kalisch & Maathuis 2018; Perković, Kalisch & Maathuis 2017; Perković 2020).

With knowledge, a path is possibly directed if no edge leads back between any two of its nodes. Where no two
nodes with one between them are adjacent, that is seen edge by edge.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import GraphError
from dagora.graph.bit_sets import bit_rows, members, reach
from dagora.graph.edge_marks import ARROW, TAIL, Marks
from dagora.graph.equivalence import consistent_extension, meek_closure
from dagora.graph.mag import is_visible, mag_of, with_hidden

Matrix = NDArray[np.bool_]
Step = tuple[int, int]


@dataclass(frozen=True)
class Paths:
    """The first steps of possibly directed paths from X to y, and those of them that need not be causal."""

    all: tuple[Step, ...]
    open: tuple[Step, ...]


class CausalDAG:
    """A DAG as bit sets, whose nodes from `observed` on are hidden."""

    def __init__(self, matrix: Matrix, observed: int) -> None:
        self.children, self.parents = bit_rows(matrix), bit_rows(matrix.T)
        self.observed = (1 << observed) - 1

    def descendants(self, nodes: int, without: int = 0) -> int:
        """The nodes that directed paths from some nodes lead to, these included, none through `without`."""
        return reach(self.children, nodes, without)

    def ancestors(self, nodes: int, without: int = 0) -> int:
        """The nodes from which directed paths lead to some nodes, these included, none through `without`."""
        return reach(self.parents, nodes, without)


class CausalClass(ABC):
    """The graphs that one graph stands for, as identification asks about them."""

    # True if causes that are no nodes may stand behind edges.
    allows_hidden_causes: bool

    @property
    @abstractmethod
    def member(self) -> CausalDAG:
        """One of them, with the hidden causes that it has."""

    @abstractmethod
    def possible_paths(self, causes: int, outcome: int) -> Paths:
        """The first steps of possibly directed paths from a set of nodes (bits) to a node."""


class ClassOfDAGs(CausalClass):
    """The DAGs that a matrix with undirected edges stands for; where all are directed, the one DAG."""

    allows_hidden_causes = False

    def __init__(self, matrix: Matrix, *, directed: bool) -> None:
        self._matrix = matrix
        self._directed = directed

    @cached_property
    def compelled(self) -> Matrix:
        """The matrix, with every edge directed that its other directions compel."""
        return self._matrix if self._directed else meek_closure(self._matrix)

    @cached_property
    def member(self) -> CausalDAG:
        """One DAG of the class; an error where there is none."""
        matrix = self._matrix if self._directed else consistent_extension(self._matrix)
        if matrix is None:
            raise GraphError(
                "the graph stands for no DAG: every way to direct its undirected edges makes a cycle "
                "or a new v-structure"
            )
        return CausalDAG(matrix, len(matrix))

    def possible_paths(self, causes: int, outcome: int) -> Paths:
        """The first steps of possibly directed paths."""
        matrix = self.compelled
        onward, back = bit_rows(matrix), bit_rows(matrix.T)
        steps = [step for x in members(causes) for step in first_steps(onward, back, x, causes, outcome)]
        return Paths(tuple(steps), tuple((x, v) for x, v in steps if matrix[v, x]))


class ClassOfMAGs(CausalClass):
    """The graphs with hidden causes that the marks of a PAG stand for."""

    allows_hidden_causes = True

    def __init__(self, marks: Marks) -> None:
        self._marks = marks

    @cached_property
    def member(self) -> CausalDAG:
        """One MAG of the class, as a DAG with hidden causes; an error where there is none."""
        return CausalDAG(with_hidden(mag_of(self._marks)), len(self._marks))

    def possible_paths(self, causes: int, outcome: int) -> Paths:
        """The first steps of possibly directed paths; open are those whose edge is not visible."""
        marks = self._marks
        back = bit_rows(((marks != 0) & (marks.T != ARROW)).T)  # steps i to j without an arrow at i
        near = reach(back, 1 << outcome, causes)
        steps = [(x, v) for v in members(near) for x in members(back[v] & causes)]
        known = [
            (x, v)
            for x, v in steps
            if marks[x, v] == ARROW and marks[v, x] == TAIL and is_visible(marks, x, v)
        ]
        return Paths(tuple(sorted(steps)), tuple(sorted(set(steps) - set(known))))


class CausalGraph(ABC):
    """A graph of any kind, as identification asks about it."""

    __slots__ = ()

    @property
    @abstractmethod
    def nodes(self) -> tuple[str, ...]:
        """The names."""

    @abstractmethod
    def index(self, node: str) -> int:
        """Position of a node."""

    @property
    @abstractmethod
    def causal_class(self) -> CausalClass:
        """The graphs that it stands for."""


def first_steps(onward: list[int], back: list[int], x: int, causes: int, outcome: int) -> list[Step]:
    """First steps of possibly directed paths from a node to the outcome that meet no other cause.

    After the first step, a path without shortcuts is looked for: no two of its nodes with one between them
    are adjacent, and no edge leads from it back to x.
    """
    allowed = ~(causes | back[x] & ~onward[x])
    if not allowed >> outcome & 1:
        return []
    found = 1 << outcome
    seen = {(node, outcome) for node in members(back[outcome] & allowed)}
    waiting = list(seen)
    while waiting:
        node, after = waiting.pop()
        found |= 1 << node
        for before in members(back[node] & allowed & ~(onward[after] | back[after] | 1 << after)):
            if (before, node) not in seen:
                seen.add((before, node))
                waiting.append((before, node))
    return [(x, v) for v in members(found & onward[x])]
