"""Columns with a value in the first row of each block of rows and none below it, as of merged cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.base.phrases import some_of

# By chance, 5 % of columns that begin with a value have five blocks so alike, and 9 % four.
FEWEST_BLOCKS = 4
MOST_SEEN = 0.6  # share of rows with a value
SURELY_NEIGHBOURS = 7.0  # pairs of neighbours with values that chance would bring: none is no chance then
SAME_LENGTH = 0.35  # spread of the lengths of blocks, relative to their mean; by chance it is about 1
MOST_NAMED = 5  # columns that one warning names, to stay readable


def has_merged_cells(seen: NDArray[np.bool_]) -> bool:
    """Return True if values stand in the first rows of blocks only, by the rows that have one.

    >>> by_four = np.arange(40) % 4 == 0
    >>> has_merged_cells(by_four), has_merged_cells(np.random.default_rng(0).random(40) < 0.3)
    (True, False)
    """
    starts = np.flatnonzero(seen)
    if len(starts) < FEWEST_BLOCKS or starts[0] > 0 or len(starts) > MOST_SEEN * len(seen):
        return False
    lengths = np.diff([*starts, len(seen)])
    if lengths.min() < 2:
        return False
    alike = len(starts) > FEWEST_BLOCKS and lengths.std() < SAME_LENGTH * lengths.mean()
    return bool(alike or len(starts) ** 2 / len(seen) > SURELY_NEIGHBOURS)


def merged_warning(names: Sequence[str]) -> Iterator[str]:
    """A sentence about columns that seem to hold merged cells."""
    if names:
        told = some_of([f"'{name}'" for name in names], MOST_NAMED)
        yield (
            f"a value, and then rows without one, again and again, as where cells of a sheet were merged: "
            f"{told}; if a value holds for the rows below it, write it into each of them"
        )
