"""Strength of dependence between two columns given others, on one scale from 0 to 1.

continuous   the absolute partial correlation
discrete     √(1 − exp(−2 I)) with the conditional mutual information I in nats, which for normal columns is
             the absolute partial correlation
both kinds   the correlation that would have the same p-value
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.graph.independences import Independence

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
LEAST_P = 1e-300  # 37 standard errors; smaller numbers lose digits, and zero has no such distance


def strength_of(table: Table, claim: Independence, p_value: float) -> float:
    """The strength of the dependence of a pair given others, from 0 to 1.

    >>> rows = Table.from_numpy([[0, 0], [1, 1]] * 20, names=["a", "b"])
    >>> round(strength_of(rows, Independence("a", "b"), 0.0), 3)
    0.866
    """
    columns = [table.schema.index(name) for name in (claim.a, claim.b, *claim.given)]
    kinds = {table.schema[column].kind for column in columns}
    if kinds == {Kind.CONTINUOUS}:
        x, y, *given = (table.values(column) for column in columns)
        return abs(partial_correlation(x, y, given))
    if kinds == {Kind.DISCRETE}:
        first, second, *held = (table.codes(column).astype(np.int64) for column in columns)
        strata = np.zeros(table.n_rows, dtype=np.int64)
        for codes in held:
            strata = np.unique(strata * (codes.max() + 1) + codes, return_inverse=True)[1].reshape(-1)
        return association(first, second, strata)
    from scipy.special import ndtri

    return min(1.0, float(-ndtri(max(p_value, LEAST_P) / 2)) / math.sqrt(table.n_rows))


def partial_correlation(x: Floats, y: Floats, given: list[Floats]) -> float:
    """The correlation of what linear regressions on the given columns leave."""
    design = np.column_stack([np.ones(len(x)), *given])
    left = np.column_stack([x, y])
    left = left - design @ np.linalg.lstsq(design, left, rcond=None)[0]
    spread = np.sqrt((left**2).sum(axis=0).prod())
    return float(left[:, 0] @ left[:, 1] / spread) if spread > 0 else 0.0


def association(x: Integers, y: Integers, strata: Integers) -> float:
    """√(1 − exp(−2 I)) of two columns of codes, within strata."""
    shape = (int(strata.max()) + 1, int(x.max()) + 1, int(y.max()) + 1)
    every = np.ravel_multi_index((strata, x, y), shape)
    if math.prod(shape) <= 4 * len(x):
        dense = np.bincount(every)
        cells = np.flatnonzero(dense)
        counts = dense[cells]
    else:
        cells, counts = np.unique(every, return_counts=True)
    s, a, b = np.unravel_index(cells, shape)
    in_x = np.bincount(s * shape[1] + a, counts, shape[0] * shape[1])[s * shape[1] + a]
    in_y = np.bincount(s * shape[2] + b, counts, shape[0] * shape[2])[s * shape[2] + b]
    whole = np.bincount(s, counts, shape[0])[s]
    nats = float((counts * np.log(counts * whole / (in_x * in_y))).sum()) / len(x)
    return math.sqrt(max(0.0, -math.expm1(-2 * nats)))
