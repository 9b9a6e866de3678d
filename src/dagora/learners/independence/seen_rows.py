"""Tests on a table with missing values, each on the rows that saw all of its columns (test-wise deletion).

No value is filled in, and more rows count than where every row with a hole is left out. It is right where the
rows that saw the columns of a test are not selected by what these columns share: in the graph with a node for
each column's missingness, the columns must be separated given the observed rows as they are without them
(Strobl, Visweswaran & Spirtes 2018; Tu et al. 2019). Missing completely at random is enough; that values of
the tested columns decide which of them are missing is not excluded by any data.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dagora.data.schema import Kind, Schema
from dagora.data.table import Table
from dagora.learners.independence.protocol import Columns, IndependenceTest
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.statistics import Statistics
from dagora.stats.table import TableStatistics

Floats = NDArray[np.float64]
Maker = Callable[[Statistics], IndependenceTest]

FEWEST = 10
"""Rows below which a test is not made: its ends stay adjacent."""

AT_ONCE = 2_000


class SeenRowTest:
    """Any test of independence, on the rows that saw its columns.

    >>> from dagora.data.incomplete import IncompleteTable
    >>> from dagora.learners.independence.fisher_z import FisherZ
    >>> a, b, c = np.random.default_rng(0).normal(size=(3, 60))
    >>> whole = Table.from_numpy(np.stack([a, b, a + c], axis=1), names=["a", "b", "c"])
    >>> seen = np.ones((3, 60), dtype=bool)
    >>> seen[1, :20] = False
    >>> rows = IncompleteStatistics(IncompleteTable.of(whole, seen))
    >>> test = SeenRowTest(rows, lambda statistics: FisherZ(statistics, "it"))
    >>> test.p_values(np.array([0, 0]), np.array([1, 2]), np.empty((2, 0), dtype=np.int64)).round(3)
    array([0.034, 0.   ])
    >>> test.rows_used
    (40, 60)
    """

    def __init__(self, statistics: IncompleteStatistics, make: Maker) -> None:
        table = statistics.table
        self.names = table.names
        self._table = Table(table.schema, table.columns)
        self._seen = table.seen
        self._holes: NDArray[np.bool_] = np.asarray(~table.seen.all(axis=1))
        self._make = make
        self._made: dict[tuple[int, ...], tuple[IndependenceTest | None, Columns]] = {}
        self._used: set[int] = set()

    @property
    def n_rows(self) -> int:
        """The number of rows of the table."""
        return int(self._seen.shape[1])

    @property
    def rows_used(self) -> tuple[int, int]:
        """The fewest and the most rows of a test that was made."""
        return (min(self._used), max(self._used)) if self._used else (0, 0)

    @property
    def max_given(self) -> int:
        """As many as the rows of any test allow."""
        return min(len(self.names), self.n_rows - 4)

    @property
    def batch_size(self) -> int:
        """Few enough that the time limit is checked now and then."""
        return AT_ONCE

    def p_values(self, x: Columns, y: Columns, given: Columns) -> Floats:
        """The p-values of many pairs; those with holes in the same columns are tested together."""
        together: dict[tuple[int, ...], list[int]] = {}
        for k, columns in enumerate(np.column_stack([x, y, given]).tolist()):
            key = tuple(sorted({column for column in columns if self._holes[column]}))
            together.setdefault(key, []).append(k)
        p = np.full(len(x), np.nan)
        for key, places in together.items():
            test, place = self._on(key)
            rows = np.array(places)
            if test is None:
                continue
            # A column of one value in these rows has no place: nothing can be tested with it.
            inside = (place[np.column_stack([x[rows], y[rows], given[rows]])] >= 0).all(axis=1)
            rows = rows[inside & (given.shape[1] <= test.max_given)]
            if len(rows):
                p[rows] = test.p_values(place[x[rows]], place[y[rows]], place[given[rows]])
                self._used.add(int(self._seen_by(key).sum()))
        return p

    def _on(self, key: tuple[int, ...]) -> tuple[IndependenceTest | None, Columns]:
        """The test on the rows that saw some columns, and the place of every column in it."""
        if key not in self._made:
            rows = self._seen_by(key)
            place = np.full(len(self.names), -1, dtype=np.int64)
            if rows.sum() < FEWEST:
                self._made[key] = None, place
                return self._made[key]
            kept = [
                k
                for k in range(len(self.names))
                if (not self._holes[k] or k in key) and self._varies(k, rows)
            ]
            place[kept] = np.arange(len(kept))
            schema = Schema(self._table.schema[k] for k in kept)
            part = Table(schema, tuple(self._table.columns[k][rows] for k in kept))
            self._made[key] = (self._make(TableStatistics(part)) if len(kept) > 1 else None), place
        return self._made[key]

    def _seen_by(self, key: tuple[int, ...]) -> NDArray[np.bool_]:
        return np.asarray(self._seen[list(key)].all(axis=0))

    def _varies(self, k: int, rows: NDArray[np.bool_]) -> bool:
        values = self._table.columns[k][rows]
        return self._table.schema[k].kind is Kind.DISCRETE or bool((values != values[0]).any())


def account(test: IndependenceTest) -> tuple[list[str], dict[str, float]]:
    """A caution about the rows behind the tests, and their numbers; nothing where no value is missing."""
    if not isinstance(test, SeenRowTest):
        return [], {}
    fewest, most = test.rows_used
    caution = (
        f"each test counts the rows that saw its columns, {fewest:,} to {most:,} of {test.n_rows:,}: where "
        "what is tested decides which values are missing, such rows are selected, and independent columns "
        "can look dependent"
    )
    return [caution], {"fewest_rows_of_a_test": float(fewest), "most_rows_of_a_test": float(most)}
