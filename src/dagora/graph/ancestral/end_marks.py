"""The marks of a graph while it is being worked out: circles become arrows or tails, edges may be removed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.graph.edge_marks import ARROW, CIRCLE, NONE, TAIL, Marks

Matrix = NDArray[np.bool_]


class EndMarks:
    """Marks of both ends of every edge. A circle can be replaced, another mark stays as it is.

    `unclear` are pairs without an edge of which nobody knows what separates them: rules take them as joined,
    since no rule concludes anything from an edge alone.

    >>> marks = EndMarks(np.array([[0, 1], [1, 0]], dtype=bool))
    >>> marks.put_arrow(0, 1), marks.put_tail(0, 1), marks.at(0, 1) == ARROW
    (True, False, True)
    """

    def __init__(self, adjacent: Matrix) -> None:
        # Of each node, the nodes that it is joined to in ascending order, and the mark at their end.
        self._ends: list[dict[int, int]] = [
            dict.fromkeys(np.flatnonzero(row).tolist(), CIRCLE) for row in adjacent
        ]
        self.unclear: set[tuple[int, int]] = set()

    def __len__(self) -> int:
        return len(self._ends)

    def at(self, a: int, b: int) -> int:
        """The mark at b of the edge between a and b; NONE where there is no edge."""
        return self._ends[a].get(b, NONE)

    def near(self, a: int) -> list[int]:
        """The nodes that are joined to a."""
        return list(self._ends[a])

    def are_joined(self, a: int, b: int) -> bool:
        """Return True if there is an edge between a and b, or if that is unclear."""
        return b in self._ends[a] or bool(self.unclear and (min(a, b), max(a, b)) in self.unclear)

    def is_arrow(self, a: int, b: int) -> bool:
        """Return True if a *→ b."""
        return self._ends[a].get(b) == ARROW

    def is_circle(self, a: int, b: int) -> bool:
        """Return True if a *–o b."""
        return self._ends[a].get(b) == CIRCLE

    def is_tail(self, a: int, b: int) -> bool:
        """Return True if a *– b, with a tail at b."""
        return self._ends[a].get(b) == TAIL

    def is_directed(self, a: int, b: int) -> bool:
        """Return True if a → b."""
        return self._ends[a].get(b) == ARROW and self._ends[b][a] == TAIL

    def put_arrow(self, a: int, b: int) -> bool:
        """Make it a *→ b if there is a circle at b; return True if it changed."""
        return self._put(a, b, ARROW)

    def put_tail(self, a: int, b: int) -> bool:
        """Put a tail at b if there is a circle; return True if it changed."""
        return self._put(a, b, TAIL)

    def _put(self, a: int, b: int, mark: int) -> bool:
        if self._ends[a].get(b) != CIRCLE:
            return False
        self._ends[a][b] = mark
        return True

    def remove(self, a: int, b: int) -> None:
        """Remove the edge between a and b."""
        del self._ends[a][b], self._ends[b][a]

    def adjacent(self) -> Matrix:
        """Boolean matrix of adjacent nodes."""
        joined: Matrix = self.to_numpy() != NONE
        return joined

    def to_numpy(self) -> Marks:
        """As in `PAG.to_numpy`."""
        matrix = np.zeros((len(self), len(self)), dtype=np.int8)
        for a, ends in enumerate(self._ends):
            for b, mark in ends.items():
                matrix[a, b] = mark
        return matrix


def contradictions(marks: Marks) -> int:
    """The number of edges with an arrow at b (b is no cause of a) though directed edges lead from b to a.

    >>> contradictions(np.array([[0, 2, 3], [3, 0, 2], [2, 3, 0]]))  # a → b → c → a
    3
    """
    directed = (marks == ARROW) & (marks == TAIL).T
    causes = directed.copy()
    for middle in range(len(marks)):
        causes |= np.outer(causes[:, middle], causes[middle])
    against = (marks == ARROW) & causes.T
    return int((against | against.T).sum()) // 2
