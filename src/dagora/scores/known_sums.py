"""Sums that were computed for sets of columns, kept for the next level of a search.

Parents of one level were families of the level before: their counts were summed already.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Sums(NamedTuple):
    """Ascending keys of sets, and a sum for each."""

    keys: NDArray[np.int64]
    values: Floats


class KnownSums:
    """The sums of sets of each size that were asked for last, of two neighbouring sizes.

    >>> known = KnownSums()
    >>> known.keep(2, np.array([3, 5]), np.array([0.5, 0.25]))
    >>> known.look_up(2, np.array([1, 5]))
    (array([ nan, 0.25]), array([0]))
    """

    def __init__(self) -> None:
        self._of_size: dict[int, Sums] = {}

    def look_up(self, size: int, keys: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int64]]:
        """The sums of sets, given by their keys, and the places of those that are not known."""
        values = np.full(len(keys), np.nan)
        known = self._of_size.get(size)
        if known is None or not len(known.keys):
            return values, np.arange(len(keys))
        places = np.minimum(np.searchsorted(known.keys, keys), len(known.keys) - 1)
        found = known.keys[places] == keys
        values[found] = known.values[places[found]]
        return values, np.flatnonzero(~found)

    def keep(self, size: int, keys: NDArray[np.int64], values: Floats) -> None:
        """Keep the sums of all sets of one size that a level needs; forget those of far smaller sets."""
        self._of_size = {other: sums for other, sums in self._of_size.items() if other >= size - 1}
        self._of_size[size] = Sums(keys, values)

    def add(self, size: int, keys: NDArray[np.int64], values: Floats) -> None:
        """Keep the sums of more sets of one size, whose ascending keys were not known.

        >>> known = KnownSums()
        >>> known.add(2, np.array([3, 5]), np.array([0.5, 0.25]))
        >>> known.add(2, np.array([4]), np.array([2.0]))
        >>> known.look_up(2, np.array([3, 4]))
        (array([0.5, 2. ]), array([], dtype=int64))
        """
        before = self._of_size.get(size)
        if before is not None and len(keys):
            keys, values = np.concatenate([before.keys, keys]), np.concatenate([before.values, values])
            order = np.argsort(keys, kind="stable")
            keys, values = keys[order], values[order]
        elif before is not None:
            keys, values = before
        self.keep(size, keys, values)
