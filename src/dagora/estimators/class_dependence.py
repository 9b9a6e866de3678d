"""Mutual informations in nats: of columns with the class, and of each two columns given the class.

Of two discrete columns they are those of the counts. A number is taken as normal within each class (and
within each level of a discrete column beside it): then they are logarithms of ratios of variances. Each pair
counts the rows in which both were seen.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.data.incomplete import IncompleteTable

Floats = NDArray[np.float64]

LEAST_SHARE = 1e-9
"""Of the variance of a column: a variance below it counts as this."""


def information_with(codes: NDArray[np.int64], column: NDArray[np.generic], *, discrete: bool) -> float:
    """The mutual information of a column and codes.

    >>> round(information_with(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]), discrete=True), 4)
    0.6931
    """
    if not len(codes):
        return 0.0
    if discrete:
        joint = np.zeros((int(codes.max()) + 1, int(column.max()) + 1))
        np.add.at(joint, (codes, column.astype(np.int64)), 1.0)
        share = joint / joint.sum()
        apart = share.sum(axis=1, keepdims=True) * share.sum(axis=0, keepdims=True)
        seen = share > 0
        return max(0.0, float((share[seen] * np.log(share[seen] / apart[seen])).sum()))
    values = column.astype(np.float64)
    least = LEAST_SHARE * float(values.var()) or 1.0
    within = sum(
        len(part) / len(values) * np.log(max(float(part.var()), least))
        for part in (values[codes == code] for code in np.unique(codes))
    )
    return max(0.0, 0.5 * (float(np.log(max(float(values.var()), least))) - float(within)))


def class_informations(table: IncompleteTable, target: str) -> Floats:
    """The mutual information of each column with the class, in the order of the columns; 0 for the class."""
    schema, place = table.schema, table.schema.index(target)
    classes = table.columns[place].astype(np.int64)
    found = np.zeros(len(schema))
    for k, variable in enumerate(schema):
        if k != place:
            seen = table.seen[k]
            found[k] = information_with(classes[seen], table.columns[k][seen], discrete=bool(variable.levels))
    return found


def conditional_informations(table: IncompleteTable, target: str) -> Floats:
    """The mutual information of each two columns given the class, as a matrix."""
    schema, place = table.schema, table.schema.index(target)
    classes = table.columns[place].astype(np.int64)
    found = np.zeros((len(schema), len(schema)))
    for i in range(len(schema)):
        for j in range(i):
            if place in {i, j}:
                continue
            both = table.seen[i] & table.seen[j]
            for code in np.unique(classes[both]):
                rows = both & (classes == code)
                share = rows.sum() / both.sum()
                found[i, j] += share * pair_information(table, i, j, rows)
            found[j, i] = found[i, j]
    return found


def pair_information(table: IncompleteTable, i: int, j: int, rows: NDArray[np.bool_]) -> float:
    """The mutual information of two columns in some rows."""
    one, other = table.columns[i][rows], table.columns[j][rows]
    if table.schema[i].levels:
        return information_with(one.astype(np.int64), other, discrete=bool(table.schema[j].levels))
    if table.schema[j].levels:
        return information_with(other.astype(np.int64), one, discrete=False)
    a, b = one - one.mean(), other - other.mean()
    size = float((a @ a) * (b @ b))
    if not size > 0:
        return 0.0
    return -0.5 * float(np.log(max(1.0 - float(a @ b) ** 2 / size, LEAST_SHARE)))
