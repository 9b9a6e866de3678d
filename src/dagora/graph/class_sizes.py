"""The number of DAGs in a class, with or without knowledge.

Nodes joined by lines, directly or through others, are a bucket; buckets are directed independently of each
other (Wienöbst, Bannach & Liśkiewicz 2021), so that their numbers multiply. A bucket without arrows has as
many members as nodes if it is a tree, and n! if all n nodes are joined. Of any other, the numbers for all
choices of the parents of one node add up.
"""

from __future__ import annotations

from math import factorial, prod

import numpy as np
from numpy.typing import NDArray

from dagora.graph.bit_sets import bit_rows, members, reach
from dagora.graph.parent_sets import directed_around, parent_sets

Matrix = NDArray[np.bool_]

MOST_STEPS = 10_000
"""Choices of parents that are gone through for one class: about a second."""


class ClassSizes:
    """The numbers of DAGs of the classes that one graph leads to, which share their buckets.

    >>> chain = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=bool)
    >>> ClassSizes().size(chain)
    3
    """

    def __init__(self, most: int = MOST_STEPS) -> None:
        self._known: dict[bytes, int] = {}
        self._left = most

    def size(self, matrix: Matrix) -> int | None:
        """The number of DAGs of a class, all compelled edges directed; None where there are too many ways."""
        found = prod(self._size_of_bucket(matrix[np.ix_(nodes, nodes)]) for nodes in buckets(matrix))
        return found if self._left >= 0 else None

    def _size_of_bucket(self, bucket: Matrix) -> int:
        nodes, lines, arrows = len(bucket), int((bucket & bucket.T).sum()) // 2, (bucket & ~bucket.T).any()
        if not arrows and lines in {nodes - 1, nodes * (nodes - 1) // 2}:
            return nodes if lines == nodes - 1 else factorial(nodes)
        key = bucket.tobytes()
        if key not in self._known:
            self._known[key] = self._sum_over_parents(bucket)
        return self._known[key]

    def _sum_over_parents(self, bucket: Matrix) -> int:
        x = int((bucket & bucket.T).sum(axis=0).argmax())
        total = 0
        for before, after in parent_sets(bit_rows(bucket), bit_rows(bucket.T), x):
            self._left -= 1
            if self._left < 0:
                return 0
            total += self.size(directed_around(bucket, x, before, after)) or 0
        return total


def buckets(matrix: Matrix) -> list[list[int]]:
    """The nodes of each bucket.

    >>> buckets(np.array([[0, 1, 1], [1, 0, 1], [0, 0, 0]], dtype=bool))
    [[0, 1]]
    """
    lines = bit_rows(matrix & matrix.T)
    found, left = [], sum(1 << node for node, row in enumerate(lines) if row)
    while left:
        bucket = reach(lines, left & -left)
        found.append(list(members(bucket)))
        left &= ~bucket
    return found


def bucket_of(matrix: Matrix, node: int) -> list[int]:
    """The nodes that lines join to a node, directly or through others, itself included."""
    return list(members(reach(bit_rows(matrix & matrix.T), 1 << node)))
