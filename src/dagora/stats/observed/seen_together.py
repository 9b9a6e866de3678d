"""The number of rows in which the columns of a set are observed together.

A row says of a set of columns what its seen part says. So whatever depends on a set is added up over the
parts of it that rows have seen, each weighted by its rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Part = tuple[tuple[int, ...], int]


class SeenTogether:
    """The distinct patterns of missing values of a table.

    >>> seen = np.array([[True, True, True, False], [True, True, False, False]])
    >>> SeenTogether(seen).parts((0, 1))
    (((0,), 1), ((0, 1), 2))
    """

    def __init__(self, seen: NDArray[np.bool_]) -> None:
        self._patterns, self._rows = np.unique(seen.T, axis=0, return_counts=True)
        self._known: dict[tuple[int, ...], tuple[Part, ...]] = {}

    def parts(self, columns: Sequence[int]) -> tuple[Part, ...]:
        """The parts of a set that some row has seen, none of it more and none less, with those rows."""
        key = tuple(columns)
        if key not in self._known:
            self._known[key] = self._find(key)
        return self._known[key]

    def rows(self, columns: Sequence[int]) -> int:
        """The rows in which all of a set was seen.

        >>> SeenTogether(np.array([[True, True], [True, False]])).rows((0, 1))
        1
        """
        return sum(rows for part, rows in self.parts(columns) if len(part) == len(columns))

    def _find(self, columns: tuple[int, ...]) -> tuple[Part, ...]:
        if not columns:
            return ()
        different, place = np.unique(self._patterns[:, columns], axis=0, return_inverse=True)
        rows = np.bincount(place.ravel(), self._rows, len(different)).astype(np.int64)
        return tuple(
            (tuple(column for column, here in zip(columns, pattern, strict=True) if here), count)
            for pattern, count in zip(different.tolist(), rows.tolist(), strict=True)
            if any(pattern)
        )
