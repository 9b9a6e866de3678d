"""Statistics of rows in some of which variables were set from outside.

How a variable depends on its parents shows only in rows in which it was not set itself. So each family has
rows of its own: all but those (Cooper & Yoo 1999). Sums over all rows are there too, for overviews.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.data.interventions import Interventions, Marks
from dagora.data.table import Table
from dagora.stats.capabilities import StatisticsCapabilities
from dagora.stats.table import TableStatistics


class InterventionalStatistics(TableStatistics):
    """Statistics of a table with its interventions; `without_set(column)` has the rows for that family.

    >>> table = Table.from_numpy([[0, 0], [1, 1], [0, 1], [1, 1]], names=["a", "b"], discrete=["a", "b"])
    >>> interventions = Interventions.of_rows([None, None, "b", "b"], table.names)
    >>> statistics = InterventionalStatistics(table, interventions)
    >>> statistics.n_rows, statistics.without_set(0).n_rows, statistics.without_set(1).n_rows
    (4, 4, 2)
    """

    def __init__(
        self, table: Table, interventions: Interventions, jobs: int = 1, marks: Marks | None = None
    ) -> None:
        super().__init__(table, jobs)
        self.marks = marks
        """The column that says what was set, where a column does."""
        if len(interventions.of_row) != table.n_rows:
            raise DataError(
                f"interventions are given for {len(interventions.of_row)} rows, but there are {table.n_rows}"
            )
        self.interventions = interventions
        always = [name for name in interventions.targets if not interventions.unset(name).any()]
        if always:
            raise DataError(
                f"'{always[0]}' was set in every row, so nothing shows what it depends on: leave it out, or "
                "add rows in which it was not set"
            )
        # Variables that were set in the same rows share their statistics.
        self._parts: dict[bytes, TableStatistics] = {}

    @classmethod
    def of_marked(cls, table: Table, marks: Marks, jobs: int = 1) -> InterventionalStatistics:
        """Make statistics of a table in which a column says what was set."""
        return cls(*marks.split(table), jobs, marks)

    @property
    def capabilities(self) -> StatisticsCapabilities:
        """The capabilities of a table, and its interventions."""
        return replace(super().capabilities, interventions=self.interventions)

    def in_order(self, names: Sequence[str]) -> InterventionalStatistics:
        """The same statistics with the columns in another order."""
        return InterventionalStatistics(self.rows().select(names), self.interventions, self._jobs, self.marks)

    def without_set(self, column: int) -> TableStatistics:
        """Statistics of the rows in which a column was not set."""
        name = self.schema[column].name
        if name not in self.interventions.targets:
            return self._part(b"", None)
        rows = self.interventions.unset(name)
        return self._part(rows.tobytes(), rows)

    def _part(self, key: bytes, rows: NDArray[np.bool_] | None) -> TableStatistics:
        if key not in self._parts:
            table = self.rows()
            self._parts[key] = TableStatistics(table if rows is None else table.take(rows), self._jobs)
        return self._parts[key]
