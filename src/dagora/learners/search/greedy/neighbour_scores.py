"""Scores of families and their neighbours that one greedy search leaves to another.

Two searches on the same columns in different orders mostly take the same steps. A score
of counts alone is the same to the last bit wherever its columns stand, as long as the parents are listed in
the same order. So the second search takes over what the first has scored.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

# A child's position and its parents' positions, in the order in which they were added.
Centre = tuple[int, tuple[int, ...]]
# The most scores that are kept: 64 MB. Nothing is added when it is full.
KEPT_NUMBERS = 8_000_000


class NeighbourScores:
    """For families (centres) the scores of all their neighbours, in the order in which `Climber` lists them.

    Only the search that keeps something first may keep more: the others may list columns in another order.
    """

    def __init__(self) -> None:
        self._names: tuple[str, ...] = ()
        self._values: dict[Centre, NDArray[np.float64]] = {}
        self._kept = 0

    def keep(self, centre: Centre, values: NDArray[np.float64], names: tuple[str, ...]) -> None:
        """Keep the scores of a centre's neighbours; positions are those of the names."""
        self._names = self._names or names
        if names == self._names and self._kept + len(values) <= KEPT_NUMBERS:
            self._values[centre] = values
            self._kept += len(values)

    def recall(
        self, centre: Centre, further: Sequence[int], names: tuple[str, ...]
    ) -> NDArray[np.float64] | None:
        """The scores kept for a centre, in the present order of the columns; None if there are none.

        `further` are the parents that can be added to it, ascending. A centre's scores are its own, one for
        each further parent, and one for each parent that may go.

        >>> kept = NeighbourScores()
        >>> kept.keep((1, ()), np.array([-9.0, -1.0, -3.0]), ("a", "b", "c"))  # b alone, with a, with c
        >>> kept.recall((1, ()), [0, 2], ("c", "b", "a"))
        array([-9., -3., -1.])
        """
        if not self._values:
            return None
        stood = places_of(names, self._names)
        child, parents = centre
        values = self._values.get((int(stood[child]), tuple(stood[list(parents)].tolist())))
        if values is None:
            return None
        turned = values.copy()
        turned[1 : 1 + len(further)] = values[1 + np.argsort(np.argsort(stood[list(further)]))]
        return turned


@lru_cache(maxsize=8)
def places_of(names: tuple[str, ...], others: tuple[str, ...]) -> NDArray[np.int64]:
    """The position of each name among `others`, the same names in another order.

    >>> places_of(("c", "a", "b"), ("a", "b", "c"))
    array([2, 0, 1])
    """
    where = {name: place for place, name in enumerate(others)}
    return np.array([where[name] for name in names], dtype=np.int64)
