"""A table with missing values: typed columns, and which of their cells were seen.

A `Table` promises that nothing is missing. Where missing values are to be modelled, a reader makes an
`IncompleteTable` instead, so that no code takes a missing value for an observed one by accident.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dagora.base.errors import DataError, announce
from dagora.base.notebook import NotebookView
from dagora.data.columns.column_type import Column, seen_cells
from dagora.data.columns.missing_pattern import missing_pattern
from dagora.data.columns.overview import Overview
from dagora.data.schema import Schema
from dagora.data.table import Table


@dataclass(frozen=True, eq=False)
class IncompleteTable(NotebookView):
    """Typed columns of equal length; `seen[i, row]` says whether column i was seen in that row.

    The content of a missing value means nothing: the code 0, or the number 0.

    >>> whole = Table.from_numpy([["no", "1.5"], ["yes", "2.5"]], names=["ill", "dose"])
    >>> table = IncompleteTable.of(whole, [[True, False], [True, True]])
    >>> table, table.missing
    (IncompleteTable(2 rows, 2 columns, 1 of 4 cells missing), 1)
    >>> table.select(["dose"]).seen.tolist(), table.select(["ill"]).missing
    ([[True, True]], 1)
    >>> table.names, table.n_rows, table.take([1]).missing, table.announced() is table
    (('ill', 'dose'), 2, 1, True)
    """

    schema: Schema
    columns: tuple[NDArray[Any], ...]
    seen: NDArray[np.bool_]
    overview: Overview | None = None
    """The reading of the table's source, where it was read from one."""

    def __post_init__(self) -> None:
        rows = len(self.columns[0]) if self.columns else 0
        if self.seen.shape != (len(self.columns), rows):
            raise DataError("a table with missing values needs to know of each cell whether it was observed")
        filled = [
            np.where(seen, column, column.dtype.type(0))
            for column, seen in zip(self.columns, self.seen, strict=True)
        ]
        object.__setattr__(self, "columns", Table(self.schema, tuple(filled)).columns)
        mask = self.seen.view()
        mask.flags.writeable = False
        object.__setattr__(self, "seen", mask)

    @classmethod
    def of(cls, table: Table, seen: ArrayLike) -> IncompleteTable:
        """A table of which only some cells count as seen.

        >>> IncompleteTable.of(Table.from_numpy([[1.5, 2.5]]), [[True], [False]]).missing
        1
        """
        return cls(table.schema, table.columns, np.asarray(seen, dtype=np.bool_), table.overview)

    @classmethod
    def from_columns(cls, columns: Sequence[Column], overview: Overview | None = None) -> IncompleteTable:
        """Make a table from typed columns, as readers hand them out.

        >>> from dagora.data.schema import Kind, Variable
        >>> column = Column(Variable("x", Kind.CONTINUOUS), np.array([0.5, np.nan]), np.array([False, True]))
        >>> IncompleteTable.from_columns([column]).missing
        1
        """
        schema = Schema(column.variable for column in columns)
        return cls(schema, tuple(column.values for column in columns), seen_cells(columns), overview)

    def announced(self) -> IncompleteTable:
        """Give the warnings about how the source was understood to the user of Python; return the table."""
        announce(() if self.overview is None else self.overview.warnings)
        return self

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.seen.shape[1])

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return self.schema.names

    @cached_property
    def missing(self) -> int:
        """Number of missing values."""
        return int(self.seen.size - np.count_nonzero(self.seen))

    @cached_property
    def pattern(self) -> dict[str, Any]:
        """The number of missing values, by column and by pattern.

        >>> whole = Table.from_numpy([["no", "1.5"], ["yes", "2.5"]])
        >>> IncompleteTable.of(whole, [[True, False], [True, True]]).pattern["columns"]
        {'x0': 1}
        """
        return missing_pattern(self.names, self.seen)

    @property
    def complete(self) -> Table:
        """The rows that have no missing value.

        >>> whole = Table.from_numpy([["no", "1.5"], ["yes", "2.5"]])
        >>> IncompleteTable.of(whole, [[True, False], [True, True]]).complete
        Table(1 rows, 2 columns)
        """
        return Table(self.schema, self.columns).take(self.seen.all(axis=0))

    def select(self, names: Sequence[str]) -> IncompleteTable:
        """Return the table with only these columns, in this order."""
        positions = [self.schema.index(name) for name in names]
        return IncompleteTable(
            Schema(self.schema[i] for i in positions),
            tuple(self.columns[i] for i in positions),
            self.seen[positions],
            self.overview and self.overview.selecting(names),
        )

    def take(self, rows: ArrayLike) -> IncompleteTable:
        """Return the table with only these rows (positions or a mask); the levels stay declared."""
        chosen = np.asarray(rows)
        kept = Table(self.schema, self.columns).take(chosen)
        return IncompleteTable(self.schema, kept.columns, self.seen[:, chosen])

    def __repr__(self) -> str:
        return (
            f"IncompleteTable({self.n_rows} rows, {len(self.schema)} columns, {self.missing} of "
            f"{self.seen.size} cells missing)"
        )


AnyTable = Table | IncompleteTable
