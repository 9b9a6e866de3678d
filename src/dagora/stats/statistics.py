"""The interface between data and scores: counts and moments, but not the rows themselves.

Counts and moments are sums over rows. They can come from a table in memory, or from a secure sum over parties
that may not pool their rows. Every method that is based on counts or covariances runs unchanged on either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.base.wording import col
from dagora.data.schema import Schema
from dagora.data.table import Table

# Sets of columns by position: a sequence of sequences, or an array with one set of equal size per row.
ColumnSets = Sequence[Sequence[int]] | NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FlatSets(Sequence[Sequence[int]]):
    """Sets of columns in one array: set k is `columns[offsets[k]:offsets[k + 1]]`.

    >>> FlatSets(np.array([3, 1, 2]), np.array([0, 1, 1, 3]))[2], len(FlatSets(np.arange(0), np.zeros(1)))
    ((1, 2), 0)
    """

    columns: NDArray[np.int64]
    offsets: NDArray[np.int64]

    @overload
    def __getitem__(self, place: int) -> Sequence[int]: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Sequence[int]]: ...

    def __getitem__(self, place: int | slice) -> Sequence[int] | Sequence[Sequence[int]]:
        if isinstance(place, slice):
            return [self[k] for k in range(len(self))[place]]
        k = range(len(self))[place]
        return tuple(self.columns[self.offsets[k] : self.offsets[k + 1]].tolist())

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True)
class CellCounts:
    """Joint counts of many column sets: the counts of the occupied cells, without the cells themselves.

    The counts of set `k` are `values[offsets[k]:offsets[k + 1]]`, in the order of the cells (the first column
    varies slowest). Scores need no more, as each is a sum of a function of these counts. They are whole
    numbers, but for rows with weights, whose weights are summed.
    """

    values: NDArray[Any]
    offsets: NDArray[np.int64]

    def of(self, sets: NDArray[np.int64] | None = None) -> Cells:
        """Counts of some of the sets, in any order and any number of times; of all without `sets`."""
        starts, stops = self.offsets[:-1], self.offsets[1:]
        if sets is None:
            return Cells(self.values, starts, stops)
        return Cells(self.values, starts[sets], stops[sets])


@dataclass(frozen=True, slots=True)
class Cells:
    """Counts chosen from a `CellCounts`: those of the k-th choice are `values[starts[k]:stops[k]]`."""

    values: NDArray[Any]
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Contingency:
    """Joint counts of one column set: row k of `cells` is an occupied cell, seen `counts[k]` times."""

    cells: NDArray[np.int64]
    counts: NDArray[Any]


@dataclass(frozen=True, slots=True)
class Moments:
    """Number of rows, column means, and the centred scatter matrix Σ (x − mean)(x − mean)ᵀ."""

    n: int
    mean: NDArray[np.float64]
    scatter: NDArray[np.float64]

    @property
    def covariance(self) -> NDArray[np.float64]:
        """Maximum-likelihood covariance, scatter / n."""
        return self.scatter / self.n


class Statistics(Protocol):
    """Sums over the rows of some data; what may not be known is refused.

    Any object with these attributes will do wherever data are asked for, as in `learn`. What it can do beyond
    them it declares as `capabilities` (stats/capabilities.py).

    >>> import dagora
    >>> from dagora.stats.table import TableStatistics
    >>> class OnlySums(TableStatistics):
    ...     def rows(self):
    ...         raise dagora.RowsUnavailableError("the rows stay where they are")
    >>> table = dagora.Table.from_numpy([[0, 0], [1, 1]] * 20, names=["a", "b"], discrete=["a", "b"])
    >>> statistics: Statistics = OnlySums(table)
    >>> dagora.learn(statistics).graph.edges
    (('a', 'b'),)
    >>> statistics.rows()
    Traceback (most recent call last):
    dagora.RowsUnavailableError: the rows stay where they are
    >>> statistics.n_rows, statistics.schema.names, statistics.counts([(0,), (0, 1)]).values.tolist()
    (40, ('a', 'b'), [20, 20, 20, 20])
    >>> statistics.contingency((0, 1)).cells.tolist(), statistics.moments().mean
    ([[0, 0], [1, 1]], array([], dtype=float64))
    """

    @property
    def schema(self) -> Schema:
        """The variables."""

    @property
    def n_rows(self) -> int:
        """Number of rows over which the sums run."""

    def counts(self, column_sets: ColumnSets) -> CellCounts:
        """Occupied joint counts of many sets of discrete columns, in one call."""

    def contingency(self, columns: Sequence[int]) -> Contingency:
        """Occupied joint counts of one set of discrete columns, with the cells they belong to."""

    def moments(self) -> Moments:
        """First and second moments of the continuous columns, in column order."""

    def rows(self) -> Table:
        """Return the rows themselves; raises `RowsUnavailableError` where they may not be shown."""


def refuse_continuous(schema: Schema, cardinalities: NDArray[np.int64], columns: NDArray[np.int64]) -> None:
    """Refuse to count columns without levels, which have a cardinality of 0."""
    continuous = np.flatnonzero(cardinalities[columns] == 0)
    if len(continuous):
        name = schema[int(columns[continuous[0]])].name
        raise DataError(f"{col(name)} is continuous, so it cannot be counted: discretise it first")


def flatten(column_sets: ColumnSets) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All columns of all sets in one array, and where each set begins in that array.

    >>> flatten([(3,), (), (1, 2)])
    (array([3, 1, 2]), array([0, 1, 1, 3]))
    """
    if isinstance(column_sets, FlatSets):
        return column_sets.columns, column_sets.offsets
    if isinstance(column_sets, np.ndarray):
        number, size = column_sets.shape
        return column_sets.ravel(), np.arange(number + 1, dtype=np.int64) * size
    offsets = running_sum(np.fromiter(map(len, column_sets), dtype=np.int64, count=len(column_sets)))
    columns = np.fromiter(chain.from_iterable(column_sets), dtype=np.int64, count=int(offsets[-1]))
    return columns, offsets


def running_sum(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, then the sum of the first, the first two, ... sizes.

    >>> running_sum(np.array([2, 1]))
    array([0, 2, 3])
    """
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets
