"""Where cells are missing: how many, in which columns, in which patterns; and holes that nothing can fill."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.data.columns.column_type import Column
from dagora.errors import DataError
from dagora.wording import option

# Patterns that are listed, the most frequent ones.
MOST_PATTERNS = 5


def hole_pattern(columns: Sequence[Column]) -> dict[str, Any]:
    """Counts of missing cells, by column and by pattern, as JSON holds them.

    >>> from dagora.data.schema import Kind, Variable
    >>> x, y = (Variable(name, Kind.CONTINUOUS) for name in "xy")
    >>> holes = np.array([False, True, True])
    >>> found = hole_pattern([Column(x, np.zeros(3), holes), Column(y, np.zeros(3))])
    >>> found["cells"], found["columns"], found["patterns"]
    (2, {'x': 2}, [{'missing': ['x'], 'rows': 2}])
    """
    masks = {column.variable.name: column.missing for column in columns if column.missing is not None}
    if not masks:
        return {}
    names = list(masks)
    holes = np.array([masks[name] for name in names], dtype=np.bool_)
    kinds, first, counts = np.unique(
        np.packbits(holes, axis=0), axis=1, return_index=True, return_counts=True
    )
    listed = [
        {"missing": [name for name, gone in zip(names, holes[:, first[k]], strict=True) if gone],
         "rows": int(counts[k])}
        for k in np.argsort(-counts, kind="stable")
        if holes[:, first[k]].any()
    ]  # fmt: skip
    return {
        "cells": int(holes.sum()),
        "of": len(columns) * holes.shape[1],
        "rows": int(holes.any(axis=0).sum()),
        "columns": {name: int(mask.sum()) for name, mask in zip(names, holes, strict=True)},
        "patterns": listed[:MOST_PATTERNS],
        "distinct_patterns": len(listed),
    }


def check_holes(columns: Sequence[Column]) -> None:
    """Refuse a column of which nothing was seen, and two columns that were never seen together."""
    seen: NDArray[np.float32] = np.array(
        [
            np.ones(len(column.values)) if column.missing is None else ~column.missing
            for column in columns
        ],
        dtype=np.float32,
    )
    names = [column.variable.name for column in columns]
    together = seen @ seen.T
    for name, count in zip(names, np.diag(together), strict=True):
        if count == 0:
            raise DataError(
                f"all cells of column '{name}' are missing: leave it out ({option('drop', name)})"
            )
    pairs = np.argwhere(np.triu(together == 0, 1))
    if len(pairs):
        one, other = (names[int(i)] for i in pairs[0])
        raise DataError(
            f"columns '{one}' and '{other}' were never seen in the same row, so nothing tells how they depend "
            f"on each other: leave one of them out ({option('drop', other)})"
        )
