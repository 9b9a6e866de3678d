"""Many keys, put in order or made distinct by threads that share them.

Each thread takes a range of keys: all that lie between two of a sample of them. A range has so few that what
is looked up for it stays in a processor's own cache, so that this is faster on one core, too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.threads import Threads
from dagora.scores.lattice import ascending_keys, rows_of
from dagora.stats.statistics import running_sum

Keys = NDArray[np.int64]

# About so many keys are a range; of each, this many are in the sample that tells the ranges.
RANGE, SAMPLED = 1 << 16, 64


def distinct_keys(parts: Sequence[Keys], threads: Threads) -> tuple[Keys, list[Keys]]:
    """The distinct keys of some ascending parts, ascending, and for each part the places of its keys.

    >>> with Threads(1) as threads:
    ...     distinct_keys([np.array([2, 5]), np.array([1, 2])], threads)
    (array([1, 2, 5]), [array([1, 2]), array([0, 1])])
    """
    bounds = range_bounds(parts)
    places = [np.empty(len(part), dtype=np.int64) for part in parts]

    def number(k: int) -> Keys:
        slices = [slice(cuts[k], cuts[k + 1]) for cuts in bounds]
        different, place = ascending_keys(
            np.concatenate([part[own] for part, own in zip(parts, slices, strict=True)])
        )
        start = 0
        for whole, own in zip(places, slices, strict=True):
            stop = start + own.stop - own.start
            whole[own] = place[start:stop]
            start = stop
        return different

    if not parts:
        return np.empty(0, dtype=np.int64), []
    found = threads.map(number, range(len(bounds[0]) - 1))
    if len(found) > 1:
        firsts = running_sum(np.array([len(different) for different in found]))[:-1]

        def move(part: int) -> None:
            places[part] += np.repeat(firsts, np.diff(bounds[part]))

        threads.map(move, range(len(parts)))
    return np.concatenate(found), places


def ascending_order(keys: Keys, threads: Threads) -> Keys:
    """The places of keys in ascending order; of equal keys, the first comes first.

    >>> with Threads(2) as threads:
    ...     ascending_order(np.array([7, 3, 7, 1]), threads)
    array([3, 1, 0, 2])
    """
    pieces = threads.pieces(len(keys), RANGE // 2)
    if len(pieces) < 2:
        return np.argsort(keys, kind="stable")
    orders = threads.map(lambda piece: np.argsort(keys[piece], kind="stable") + piece.start, pieces)
    parts = threads.map(lambda order: keys[order], orders)
    bounds = range_bounds(parts)

    def merge(k: int) -> Keys:
        slices = [slice(cuts[k], cuts[k + 1]) for cuts in bounds]
        own = np.concatenate([part[some] for part, some in zip(parts, slices, strict=True)])
        places = np.concatenate([order[some] for order, some in zip(orders, slices, strict=True)])
        return places[np.argsort(own, kind="stable")]

    return np.concatenate(threads.map(merge, range(len(bounds[0]) - 1)))


def range_bounds(parts: Sequence[Keys]) -> list[list[int]]:
    """The begins of ranges in each ascending part, and the end of the last; equal keys stay together."""
    total = sum(map(len, parts))
    ranges = max(1, total // RANGE)
    if ranges == 1:
        return [[0, len(part)] for part in parts]
    step = max(1, RANGE // SAMPLED)
    sample = np.sort(np.concatenate([part[step // 2 :: step] for part in parts]))
    if not len(sample):
        return [[0, len(part)] for part in parts]
    between = sample[len(sample) * np.arange(1, ranges) // ranges]
    return [[0, *np.searchsorted(part, between).tolist(), len(part)] for part in parts]


def rows_of_keys(keys: Keys, size: int, d: int, threads: Threads) -> NDArray[np.int64]:
    """The rows of keys (see `lattice.rows_of`), made by threads."""
    pieces = threads.pieces(len(keys), RANGE // 2)
    if len(pieces) < 2:
        return rows_of(keys, size, d)
    rows = np.empty((len(keys), size), dtype=np.int64)

    def fill(piece: slice) -> None:
        rows[piece] = rows_of(keys[piece], size, d)

    threads.map(fill, pieces)
    return rows
