"""Operators on a class of graphs, ranked by their gains.

The operators into each node are sorted once; the best of all is the best of the nodes' first ones. An
operator that a path forbids sleeps until an edge on that path disappears, so that it need not be checked in
every step.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from dagora.learners.search.ges.class_graph import DELETE, INSERT, ClassGraph, Operator
from dagora.learners.search.ges.operators import Offers


class RankedOffers:
    """The operators into one node that gain, best first."""

    def __init__(self, offers: Offers) -> None:
        self.offers = offers
        gainful = np.flatnonzero(offers.gains > 0)
        self.places = gainful[np.argsort(-offers.gains[gainful], kind="stable")]
        self.gains = offers.gains[self.places]
        self.asleep = np.zeros(len(self.places), dtype=np.bool_)

    def awake_from(self, rank: int) -> int:
        """First rank from `rank` on that is not asleep; the number of ranks if there is none."""
        while rank < len(self.gains) and self.asleep[rank]:
            rank += 1
        return rank

    def gain(self, rank: int) -> float:
        """Gain of the operator at a rank; −∞ beyond the last."""
        return float(self.gains[rank]) if rank < len(self.gains) else -np.inf


class Ranking:
    """The operators of one kind into all nodes."""

    def __init__(self, size: int) -> None:
        self._ranked: list[RankedOffers | None] = [None] * size
        self._first = np.zeros(size, dtype=np.int64)
        self._tops: NDArray[np.float64] = np.full(size, -np.inf)
        self._sleepers: list[list[tuple[int, RankedOffers, int]]] = [[] for _ in range(size)]

    def place(self, offers: Offers) -> None:
        """Replace the operators into a node."""
        self._ranked[offers.y] = RankedOffers(offers)
        self._point(offers.y, 0)

    def _point(self, y: int, rank: int) -> None:
        ranked = self._ranked[y]
        assert ranked is not None
        self._first[y] = ranked.awake_from(rank)
        self._tops[y] = ranked.gain(int(self._first[y]))

    def best(self, graph: ClassGraph, tolerance: float) -> Operator | None:
        """The operator with the largest gain, if it exceeds `tolerance`; else None.

        Among operators within the tolerance of the best, the first pair (x, y) wins, then the first set of
        neighbours whose lines get a new direction, in lexicographic order.
        """
        found: list[tuple[int, int, Operator]] = []
        largest = -np.inf
        while True:
            y = int(self._tops.argmax())
            gain = float(self._tops[y])
            if gain <= tolerance or gain < largest - tolerance:
                break
            ranked, rank = self._ranked[y], int(self._first[y])
            assert ranked is not None
            operator = ranked.offers.operator(int(ranked.places[rank]))
            path = graph.path_against(operator)
            if len(path):
                ranked.asleep[rank] = True
                for node in path[:-1].tolist():
                    self._sleepers[node].append((y, ranked, rank))
            else:
                largest = max(largest, gain)
                found.append((y, rank, operator))
            self._point(y, rank + 1)
        for y, rank, _ in reversed(found):
            self._point(y, rank)
        return min((operator for *_, operator in found), key=lambda op: precedence(graph, op), default=None)

    def drop(self, operator: Operator) -> None:
        """Exclude an operator until its node's operators are replaced."""
        y = operator.y
        ranked = self._ranked[y]
        assert ranked is not None
        for rank, place in enumerate(ranked.places.tolist()):
            if ranked.offers.operator(place) == operator:
                ranked.asleep[rank] = True
        self._point(y, 0)

    def wake(self, nodes: Iterable[int]) -> None:
        """Wake the operators that sleep because of a path through some nodes."""
        for node in nodes:
            sleepers, self._sleepers[node] = self._sleepers[node], []
            for y, ranked, rank in sleepers:
                ranked.asleep[rank] = False
                if ranked is self._ranked[y]:
                    self._point(y, min(rank, int(self._first[y])))


def precedence(graph: ClassGraph, operator: Operator) -> tuple[int, int, tuple[int, ...]]:
    """Sort key that decides between operators of equal gain."""
    common = set(graph.common(operator.y, operator.x))
    if operator.kind == INSERT:
        anew = tuple(node for node in operator.clique if node not in common)
    elif operator.kind == DELETE:
        anew = tuple(sorted(common.difference(operator.clique)))
    else:
        anew = operator.clique
    return operator.x, operator.y, anew
