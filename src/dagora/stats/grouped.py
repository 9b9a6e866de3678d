"""Moments of continuous columns within each configuration of some discrete columns.

For every occupied cell of a set of discrete columns: the number of its rows, their mean, and their scatter
about that mean, in two passes over the rows. A regression for each configuration needs no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.kernels.decorators import kernel
from dagora.stats.row_labels import extend_labels


@dataclass(frozen=True, slots=True)
class GroupedMoments:
    """Of the k-th occupied cell, in lexicographic order: its levels, rows, means and scatter.

    Rows with weights count as the sum of these.
    """

    cells: NDArray[np.int64]
    counts: NDArray[Any]
    means: NDArray[np.float64]
    scatters: NDArray[np.float64]


class GroupedRows:
    """The rows of a table, by the levels of some of its columns.

    >>> rows = [[0, 1.0], [0, 3.0], [1, 5.0]]
    >>> grouped = GroupedRows(Table.from_numpy(rows, names=["a", "x"], discrete=["a"]))
    >>> found = grouped.moments([0], [1])
    >>> found.cells.tolist(), found.counts.tolist(), found.means.tolist(), found.scatters.tolist()
    ([[0], [1]], [2, 1], [[2.0], [5.0]], [[[2.0]], [[0.0]]])
    """

    def __init__(self, table: Table, weights: NDArray[np.float64] | None = None) -> None:
        self._table, self._weights = table, weights

    @cached_property
    def _values(self) -> NDArray[np.float64]:
        """One row for each column; zero where a column is discrete."""
        values = np.zeros((len(self._table.schema), self._table.n_rows))
        for place, variable in enumerate(self._table.schema):
            if variable.kind is Kind.CONTINUOUS:
                values[place] = self._table.columns[place]
        return values

    def moments(self, discrete: Sequence[int], continuous: Sequence[int]) -> GroupedMoments:
        """Moments of some continuous columns within each configuration of some discrete ones."""
        n = self._table.n_rows
        labels: NDArray[np.int32] = np.zeros(n, dtype=np.int32)
        counts = np.array([n])
        codes: list[NDArray[Any]] = [self._table.columns[column] for column in discrete]
        for column, code in zip(discrete, codes, strict=True):
            split = np.empty_like(labels)
            counts = extend_labels(labels, len(counts), code, len(self._table.schema[column].levels), split)
            labels = split
        example = np.empty(len(counts), dtype=np.int64)
        example[labels] = np.arange(n)
        cells = np.array([code[example] for code in codes], dtype=np.int64).reshape(len(codes), len(counts))
        k = len(continuous)
        means, scatters = np.zeros((len(counts), k)), np.zeros((len(counts), k, k))
        columns = np.array(continuous, dtype=np.int64)
        if self._weights is None:
            sum_groups(self._values, columns, labels, counts, means, scatters)
            return GroupedMoments(cells.T, counts, means, scatters)
        sums = np.bincount(labels, self._weights, len(counts)).astype(np.float64)
        sum_weighted_groups(self._values, columns, labels, self._weights, sums, means, scatters)
        return GroupedMoments(cells.T, sums, means, scatters)


@kernel
def sum_groups(
    values: NDArray[np.float64],
    columns: NDArray[np.int64],
    labels: NDArray[np.int32],
    counts: NDArray[np.int64],
    means: NDArray[np.float64],
    scatters: NDArray[np.float64],
) -> None:
    """Fill in the means and scatters of each group; both begin as zeros."""
    k = len(columns)
    centred = np.empty(k)
    for row in range(len(labels)):
        for a in range(k):
            means[labels[row], a] += values[columns[a], row]
    for group in range(len(counts)):
        for a in range(k):
            means[group, a] /= counts[group]
    for row in range(len(labels)):
        group = labels[row]
        for a in range(k):
            centred[a] = values[columns[a], row] - means[group, a]
            for b in range(a + 1):
                scatters[group, a, b] += centred[a] * centred[b]
    for group in range(len(counts)):
        for a in range(k):
            for b in range(a):
                scatters[group, b, a] = scatters[group, a, b]


@kernel
def sum_weighted_groups(
    values: NDArray[np.float64],
    columns: NDArray[np.int64],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    sums: NDArray[np.float64],
    means: NDArray[np.float64],
    scatters: NDArray[np.float64],
) -> None:
    """The same over rows with weights, whose sum in each group is given."""
    k = len(columns)
    centred = np.empty(k)
    for row in range(len(labels)):
        for a in range(k):
            means[labels[row], a] += weights[row] * values[columns[a], row]
    for group in range(len(sums)):
        for a in range(k):
            means[group, a] /= sums[group]
    for row in range(len(labels)):
        group = labels[row]
        for a in range(k):
            centred[a] = values[columns[a], row] - means[group, a]
            for b in range(a + 1):
                scatters[group, a, b] += weights[row] * centred[a] * centred[b]
    for group in range(len(sums)):
        for a in range(k):
            for b in range(a):
                scatters[group, b, a] = scatters[group, a, b]
