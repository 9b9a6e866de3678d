"""Every labelled DAG on a few nodes: the ground truth that faster code is checked against.

There are 1, 3, 25, 543, 29 281 and 3 781 503 of them on one to six nodes (Robinson 1973).
"""

from __future__ import annotations

from collections.abc import Iterator

from dagora.base.errors import OptionError
from dagora.graph.dag import DAG


def all_dags(size: int) -> Iterator[DAG]:
    """Yield each DAG on the nodes x0, x1, … exactly once.

    >>> [sum(1 for _ in all_dags(n)) for n in (1, 2, 3)]
    [1, 3, 25]
    """
    names = tuple(f"x{i}" for i in range(size))
    for parents in all_parent_sets(size):
        yield DAG.from_parents(names, [[i for i in range(size) if mask >> i & 1] for mask in parents])


def all_parent_sets(size: int) -> Iterator[tuple[int, ...]]:
    """Yield each DAG as one bit mask of parents per node, without the cost of a graph object.

    >>> list(all_parent_sets(2))
    [(0, 0), (0, 1), (2, 0)]
    """
    if size < 1:
        raise OptionError(f"the number of nodes must be at least 1, not {size}")
    yield from _extend((), [0] * size, size)


def _extend(chosen: tuple[int, ...], ancestors: list[int], size: int) -> Iterator[tuple[int, ...]]:
    """Choose the parents of the next node; `ancestors` is the closure of the choices made so far."""
    node = len(chosen)
    if node == size:
        yield chosen
        return
    for mask in range(1 << size):
        inherited = mask
        for parent in range(size):
            if mask >> parent & 1:
                inherited |= ancestors[parent]
        if inherited >> node & 1:
            continue
        closure = [above | inherited if above >> node & 1 else above for above in ancestors]
        closure[node] = inherited
        yield from _extend((*chosen, mask), closure, size)
