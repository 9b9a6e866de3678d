"""Classes of equivalent DAGs by their adjacencies and v-structures, as bits of whole numbers.

Two DAGs are equivalent exactly if both agree (Verma & Pearl 1990). A variable that is added as a sink adds
its edges, and a v-structure for every two of its parents that are not adjacent, whichever DAG of the class it
is added to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG


class ClassKey(NamedTuple):
    """Adjacencies and v-structures over `size` variables, as bits.

    >>> chain, collider = ClassKey.of((0b000, 0b001, 0b010)), ClassKey.of((0b000, 0b101, 0b000))
    >>> chain.adjacent == collider.adjacent, chain == collider, chain == ClassKey.of((0b010, 0b100, 0b000))
    (True, False, True)
    """

    size: int
    adjacent: int = 0
    colliders: int = 0

    @classmethod
    def of(cls, parents: Sequence[int]) -> ClassKey:
        """The class of a DAG that is given by masks of parents."""
        key = cls(len(parents))
        left = (1 << len(parents)) - 1
        while left:
            x = next(x for x in range(len(parents)) if left >> x & 1 and not parents[x] & left)
            key = key.with_sink(x, parents[x])
            left &= ~(1 << x)
        return key

    def with_sink(self, x: int, parents: int) -> ClassKey:
        """The class after a variable was added that has these parents and no children."""
        n = self.size
        adjacent, colliders = self.adjacent, self.colliders
        listed = list(bits_of(parents))
        for place, p in enumerate(listed):
            adjacent |= 1 << (min(p, x) * n + max(p, x))
            for q in listed[place + 1 :]:
                if not self.adjacent >> (p * n + q) & 1:
                    colliders |= 1 << ((x * n + p) * n + q)
        return ClassKey(n, adjacent, colliders)

    def pairs(self) -> Iterator[tuple[int, int, bool]]:
        """Every pair i < j, and whether it is adjacent."""
        for i in range(self.size):
            for j in range(i + 1, self.size):
                yield i, j, bool(self.adjacent >> (i * self.size + j) & 1)

    def triples(self) -> Iterator[tuple[int, int, int, bool]]:
        """Every c with p < q that are adjacent to it and not to each other, and whether p → c ← q."""
        n = self.size
        near: list[list[int]] = [[] for _ in range(n)]
        for i, j, joined in self.pairs():
            if joined:
                near[i].append(j)
                near[j].append(i)
        for c in range(n):
            listed = sorted(near[c])
            for place, p in enumerate(listed):
                for q in listed[place + 1 :]:
                    if not self.adjacent >> (p * n + q) & 1:
                        yield p, c, q, bool(self.colliders >> ((c * n + p) * n + q) & 1)


def bits_of(mask: int) -> Iterator[int]:
    """The places of the bits of a number, ascending.

    >>> list(bits_of(0b1010))
    [1, 3]
    """
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def class_of(parents: Sequence[int], names: Sequence[str]) -> CPDAG:
    """The class of a DAG that is given by masks of parents."""
    return CPDAG.from_dag(dag_of(parents, names))


def dag_of(parents: Sequence[int], names: Sequence[str]) -> DAG:
    """The DAG that masks of parents stand for."""
    return DAG.from_parents(
        names, [np.array(list(bits_of(mask)), dtype=np.int64).tolist() for mask in parents]
    )
