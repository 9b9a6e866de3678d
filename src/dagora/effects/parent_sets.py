"""The sets of parents that a node has in the graphs of a class, found locally (IDA).

Of the nodes joined to x by a line, some may come before it and the others after. That is so in some graph of
the class exactly if no new collider arises at x and no directed triangle through x (Fang & He 2020, for
classes with knowledge; without knowledge the first is enough: Maathuis, Kalisch & Bühlmann 2009).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dagora.graph.bit_sets import members
from dagora.graph.equivalence import meek_closure

Matrix = NDArray[np.bool_]


def parent_sets(onward: list[int], back: list[int], x: int) -> Iterator[tuple[int, int]]:
    """The nodes before and after x (bits) among those that a class leaves open, one pair for each choice.

    `onward` and `back` are the rows and columns of the matrix of the class.

    >>> line = [0b010, 0b101, 0b010]
    >>> list(parent_sets(line, line, 1))
    [(0, 5), (1, 4), (4, 1)]
    """
    around = onward[x] & back[x]
    fixed = back[x] & ~onward[x]

    def grow(before: int, candidates: int) -> Iterator[int]:
        """Cliques of nodes that may come before x, the smaller ones first along each branch."""
        yield before
        for node in members(candidates):
            joined = onward[node] | back[node]
            if not fixed & ~joined:
                yield from grow(before | 1 << node, candidates & joined & ~((2 << node) - 1))

    for before in grow(0, around):
        after = around & ~before
        if not any(onward[node] & ~back[node] & before for node in members(after)):
            yield before, after


def directed_around(matrix: Matrix, x: int, before: int, after: int) -> Matrix:
    """The class with the open edges at x directed, and all that follows from it."""
    found = matrix.copy()
    found[x, list(members(before))] = False
    found[list(members(after)), x] = False
    return meek_closure(found)
