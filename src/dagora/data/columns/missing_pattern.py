"""The pattern of missing values: their number, columns and patterns; and those that nothing can fill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.base.wording import col, option

# Patterns that are listed, the most frequent ones.
MOST_PATTERNS = 5


def missing_pattern(names: Sequence[str], seen: NDArray[np.bool_]) -> dict[str, Any]:
    """Counts of missing values, by column and by pattern, as JSON holds them.

    >>> found = missing_pattern(["x", "y"], np.array([[True, False, False], [True, True, True]]))
    >>> found["cells"], found["columns"], found["patterns"]
    (2, {'x': 2}, [{'missing': ['x'], 'rows': 2}])
    """
    incomplete = np.flatnonzero(~seen.all(axis=1))
    if not len(incomplete):
        return {}
    holes = ~seen[incomplete]
    names = [names[i] for i in incomplete.tolist()]
    _, first, counts = np.unique(np.packbits(holes, axis=0), axis=1, return_index=True, return_counts=True)
    listed = [
        {"missing": [name for name, gone in zip(names, holes[:, first[k]], strict=True) if gone],
         "rows": int(counts[k])}
        for k in np.argsort(-counts, kind="stable")
        if holes[:, first[k]].any()
    ]  # fmt: skip
    return {
        "cells": int(holes.sum()),
        "of": int(seen.size),
        "rows": int(holes.any(axis=0).sum()),
        "columns": {name: int(mask.sum()) for name, mask in zip(names, holes, strict=True)},
        "patterns": listed[:MOST_PATTERNS],
        "distinct_patterns": len(listed),
    }


def describe_missing(pattern: Mapping[str, Any]) -> str:
    """The number of missing values that are modelled, in words; empty if there are none.

    >>> describe_missing({"cells": 90, "of": 900, "rows": 80})
    '90 of 900 cells (10.0 %) in 80 rows are missing, and are modelled as missing at random'
    """
    if not pattern:
        return ""
    cells, whole, rows = (pattern[name] for name in ("cells", "of", "rows"))
    verb = "is" if cells == 1 else "are"
    return (
        f"{cells} of {whole} cells ({100 * cells / whole:.1f} %) in {rows} row{'s' * (rows != 1)} {verb} "
        f"missing, and {verb} modelled as missing at random"
    )


def unseen(name: str) -> DataError:
    """The error about a column of which nothing was seen."""
    return DataError(f"all cells of {col(name)} are missing: leave it out ({option('drop', name)})")


def check_missing(names: Sequence[str], seen: NDArray[np.bool_]) -> None:
    """Refuse a column of which nothing was seen, and two columns that were never seen together."""
    numbers = seen.astype(np.float32)
    together = numbers @ numbers.T
    for name, count in zip(names, np.diag(together), strict=True):
        if count == 0:
            raise unseen(name)
    pairs = np.argwhere(np.triu(together == 0, 1))
    if len(pairs):
        one, other = (names[int(i)] for i in pairs[0])
        raise DataError(
            f"columns '{one}' and '{other}' were never seen in the same row, so no data show how "
            f"they depend on each other: leave one of them out ({option('drop', other)})"
        )
