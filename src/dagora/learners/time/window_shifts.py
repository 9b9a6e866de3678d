"""Steps of time within a window: which pairs of nodes are the same pair some steps earlier.

Nodes are numbered slice by slice, the present first: variable v of k steps back is k · d + v.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dagora.learners.constraint.skeleton import Given, Pair


def latest(nodes: Iterable[int], d: int) -> int:
    """The smallest number of steps back of some nodes.

    >>> latest([4, 3], 2)
    1
    """
    return min(node // d for node in nodes)


def shifted(nodes: Iterable[int], steps: int, d: int) -> Given:
    """The same nodes so many steps earlier; later, if negative.

    >>> shifted([0, 3], 1, 2), shifted([2, 3], -1, 2)
    ((2, 5), (0, 1))
    """
    return tuple(node + steps * d for node in nodes)


def at_present(pair: Pair, d: int) -> tuple[Pair, int]:
    """The pair with its later node at the present, the smaller number last, and the steps it was moved.

    >>> at_present((2, 5), 2), at_present((3, 2), 2), at_present((0, 1), 2)
    (((3, 0), 1), ((0, 1), 1), ((0, 1), 0))
    """
    steps = latest(pair, d)
    one, other = shifted(pair, -steps, d)
    if one < d and other < d:
        return (min(one, other), max(one, other)), steps
    return (max(one, other), min(one, other)), steps


def repeats(pair: Pair, d: int, lags: int) -> Iterator[tuple[Pair, int]]:
    """A pair at the present and the same pair of earlier steps, as far as it fits into the window.

    >>> list(repeats((2, 1), 2, 2))
    [((2, 1), 0), ((4, 3), 1)]
    """
    for steps in range(lags + 1 - max(pair) // d):
        one, other = shifted(pair, steps, d)
        yield (one, other), steps
