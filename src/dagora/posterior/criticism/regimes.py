"""Tests of independence where variables were set in some rows: kind by kind of rows, joined to one p-value.

Rows are of one kind if the same variables were set there. Rows of different kinds together depend on each
other in ways that no graph has: where one parent is set here and another there, what hangs on them does. So
each kind is tested alone, without those in which x or y was set, and −2 Σ log p is compared with χ² of two
degrees of freedom for each kind (Fisher 1932).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.data.interventions import Interventions
from dagora.data.table import Table
from dagora.graph.independences import Independence
from dagora.learners.constraint.named_tests import TESTS
from dagora.learners.independence.protocol import Columns, Floats, IndependenceTest
from dagora.posterior.criticism.strength import LEAST_P
from dagora.stats.table import TableStatistics

OWNER = "the check of a graph"


@dataclass(frozen=True)
class KindOfRows:
    """A test of some rows; `place` of a column is −1 if it never changes there, `is_set` if it was set."""

    test: IndependenceTest
    place: NDArray[np.int64]
    is_set: NDArray[np.bool_]

    def p_values(self, x: Columns, y: Columns, given: Columns) -> Floats:
        """The p-values; NaN where these rows do not tell."""
        found = np.full(len(x), np.nan)
        columns = self.place[np.column_stack([x, y, given])]
        told = np.flatnonzero((columns >= 0).all(axis=1) & ~self.is_set[x] & ~self.is_set[y])
        if len(told) and given.shape[1] <= self.test.max_given:
            asked = columns[told]
            parts = map(np.ascontiguousarray, (asked[:, 0], asked[:, 1], asked[:, 2:]))
            found[told] = self.test.p_values(*parts)
        return found


class WithinKinds:
    """Tests pairs of columns within each kind of rows in which neither was set."""

    def __init__(self, name: str, table: Table, marks: Interventions) -> None:
        self.names = table.names
        self.kinds: list[KindOfRows] = []
        for kind, targets in enumerate(marks.regimes):
            rows = table.take(marks.of_row == kind)
            changing = [k for k, column in enumerate(rows.columns) if (column != column[:1]).any()]
            place = np.full(len(table.names), -1, dtype=np.int64)
            place[changing] = np.arange(len(changing))
            is_set = np.array([column in targets for column in table.names], dtype=np.bool_)
            try:
                test = TESTS[name](TableStatistics(rows.select([table.names[k] for k in changing])), OWNER)
            except DataError:  # too few rows of this kind
                continue
            self.kinds.append(KindOfRows(test, place, is_set))

    @property
    def max_given(self) -> int:
        """The largest conditioning set that some kind of rows can test."""
        return max((kind.test.max_given for kind in self.kinds), default=-1)

    @property
    def batch_size(self) -> int:
        """The smallest of all kinds."""
        return min((kind.test.batch_size for kind in self.kinds), default=1)

    def p_values(self, x: Columns, y: Columns, given: Columns) -> Floats:
        """The joined p-values; NaN where no kind of rows tells."""
        from scipy.special import chdtrc

        each = np.array([np.full(len(x), np.nan), *(kind.p_values(x, y, given) for kind in self.kinds)])
        told = (~np.isnan(each)).sum(axis=0)
        joined = -2 * np.log(np.fmax(each, LEAST_P)).sum(axis=0, where=~np.isnan(each))
        return np.where(told > 0, chdtrc(2 * np.maximum(told, 1), joined), np.nan)


def rows_about(table: Table, marks: Interventions | None, claim: Independence) -> Table:
    """The rows that show how strongly two columns depend on each other: the most of one kind, neither set."""
    if marks is None:
        return table
    numbers = np.bincount(marks.of_row, minlength=len(marks.regimes))
    numbers[[not {claim.a, claim.b}.isdisjoint(targets) for targets in marks.regimes]] = 0
    return table.take(marks.of_row == np.argmax(numbers))
