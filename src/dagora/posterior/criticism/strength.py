"""Strength of dependence between two columns given others, on one scale from 0 to 1.

continuous   the absolute partial correlation
discrete     √(1 − exp(−2 I)) with the conditional mutual information I in nats, which for normal columns is
             the absolute partial correlation
both kinds   the correlation that would have the same p-value
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.graph.independences import Independence
from dagora.stats.statistics import Statistics

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
    return strength_of_p(p_value, table.n_rows)


def strength_of_sums(statistics: Statistics, claim: Independence, p_value: float) -> float:
    """The same from sums over rows, as where these have weights.

    >>> from dagora.stats.table import TableStatistics
    >>> rows = Table.from_numpy([[0, 0], [1, 1]] * 20, names=["a", "b"])
    >>> round(strength_of_sums(TableStatistics(rows), Independence("a", "b"), 0.0), 3)
    0.866
    """
    schema = statistics.schema
    columns = [schema.index(name) for name in (claim.a, claim.b, *claim.given)]
    kinds = {schema[column].kind for column in columns}
    if kinds == {Kind.CONTINUOUS}:
        numbers = [place for place, one in enumerate(schema) if one.kind is Kind.CONTINUOUS]
        places = [numbers.index(column) for column in columns]
        scatter = statistics.moments().scatter[np.ix_(places, places)]
        cross = scatter[:2, 2:]
        left = scatter[:2, :2] - cross @ np.linalg.pinv(scatter[2:, 2:], hermitian=True) @ cross.T
        spread = math.sqrt(max(0.0, left[0, 0] * left[1, 1]))
        return min(1.0, abs(float(left[0, 1])) / spread) if spread > 0 else 0.0
    if kinds == {Kind.DISCRETE}:
        joint = statistics.contingency([*columns[2:], *columns[:2]])
        strata = np.unique(joint.cells[:, :-2], axis=0, return_inverse=True)[1].reshape(-1)
        return bond_of_cells(joint.cells[:, -2], joint.cells[:, -1], strata, joint.counts)
    return strength_of_p(p_value, statistics.n_rows)


def strength_of_p(p_value: float, rows: int) -> float:
    """The correlation that would have a p-value."""
    from scipy.special import ndtri

    return min(1.0, float(-ndtri(max(p_value, LEAST_P) / 2)) / math.sqrt(rows))


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
    return bond_of_cells(a, b, s, counts)


def bond_of_cells(a: Integers, b: Integers, s: Integers, counts: NDArray[Any]) -> float:
    """The same of counted cells: their levels of both columns, and their strata."""
    in_x, in_y = (np.bincount(s * (k.max() + 1) + k, counts)[s * (k.max() + 1) + k] for k in (a, b))
    whole = np.bincount(s, counts)[s]
    nats = float((counts * np.log(counts * whole / (in_x * in_y))).sum()) / float(counts.sum())
    return math.sqrt(max(0.0, -math.expm1(-2 * nats)))
