"""Columns of a regression: numbers as they are, discrete columns as an indicator of each level but one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.effects.contrast import EffectContrast

Array = NDArray[np.float64]


def covariates(table: Table, names: Sequence[str], weights: Array | None = None) -> Array:
    """The columns of an adjustment set, centred, by the weights of rows; levels that no row has are left out.

    >>> table = Table.from_numpy([["a", "0.5"], ["b", "1.5"]], names=["g", "x"])
    >>> covariates(table, ["g", "x"]).tolist()
    [[-0.5, -0.5], [0.5, 0.5]]
    """
    columns: list[Array] = []
    for name in names:
        place = table.schema.index(name)
        if table.schema[place].kind is Kind.CONTINUOUS:
            columns.append(table.values(place))
        else:
            codes = table.codes(place)
            columns += [(codes == code).astype(np.float64) for code in np.unique(codes)[1:]]
    found = np.column_stack([np.zeros((table.n_rows, 0)), *columns])
    centre = found.mean(axis=0) if weights is None else np.average(found, axis=0, weights=weights)
    return np.asarray(found - centre)


def split_causes(table: Table, contrast: EffectContrast) -> tuple[list[int], list[int]]:
    """The places among the causes of the discrete ones, and of the continuous ones."""
    kinds = [table.schema[table.schema.index(name)].kind for name in contrast.x]
    discrete = [place for place, kind in enumerate(kinds) if kind is Kind.DISCRETE]
    return discrete, [place for place in range(len(kinds)) if place not in discrete]


def numbers_of_causes(table: Table, contrast: EffectContrast, places: Sequence[int]) -> Array:
    """The columns of the continuous causes."""
    columns = [table.values(table.schema.index(contrast.x[place])) for place in places]
    return np.column_stack([np.zeros((table.n_rows, 0)), *columns])
