"""A table whose rows have weights, or belong to groups: typed columns, and how the rows came to be there.

The rows of a `Table` count alike and are independent. Where they are not, a reader makes a `DesignedTable`
instead, so that no code takes them for such by accident.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dagora.base.errors import DataError, OptionError, announce
from dagora.base.wording import option
from dagora.data.columns.column_names import check_known, resolve
from dagora.data.columns.missing import EVERY
from dagora.data.columns.overview import Overview
from dagora.data.columns.row_design import RowDesign
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class DesignedTable:
    """A table, and the weights and groups of its rows.

    >>> table = Table.from_numpy([[1.5], [2.5], [0.5]])
    >>> some = DesignedTable(table, RowDesign(np.array([1.0, 2.0, 0.5]), by_weight="w")).take([2, 0])
    >>> some, some.table.values(0), some.design.weights
    (DesignedTable(2 rows, 1 columns), array([0.5, 1.5]), array([0.5, 1. ]))
    """

    table: Table
    design: RowDesign

    def __post_init__(self) -> None:
        for what in (self.design.weights, self.design.groups):
            if what is not None and len(what) != self.table.n_rows:
                raise DataError(f"{self.table.n_rows} rows have weights or groups of {len(what)}")

    @classmethod
    def of(cls, table: Table, design: RowDesign) -> DesignedTable:
        """The table with its design; columns that are asked for are centred within groups.

        >>> table = Table.from_numpy([[1.0], [3.0], [7.0]], ["x"])
        >>> design = RowDesign(groups=np.array([0, 0, 1]), by_group="g", within=("all",))
        >>> made = DesignedTable.of(table, design)
        >>> made.table.values(0).round(3).tolist(), made.design.within
        ([2.667, 4.667, 3.667], ('x',))
        """
        within = columns_within(table.schema, design)
        if not within or design.groups is None:
            return cls(table, replace(design, within=()))
        columns = list(table.columns)
        for name in within:
            place = table.schema.index(name)
            columns[place] = centre(columns[place], design)
        return cls(Table(table.schema, tuple(columns), table.overview), replace(design, within=within))

    @property
    def schema(self) -> Schema:
        """The variables."""
        return self.table.schema

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return self.table.names

    @property
    def n_rows(self) -> int:
        """Number of rows, whatever they count."""
        return self.table.n_rows

    @property
    def overview(self) -> Overview | None:
        """The reading of the table's source, where it was read from one."""
        return self.table.overview

    def announced(self) -> DesignedTable:
        """Give the warnings about how the source was understood to the user of Python; return the table."""
        announce(() if self.overview is None else self.overview.warnings)
        return self

    def select(self, names: Sequence[str]) -> DesignedTable:
        """Return the table with only these columns, in this order."""
        within = tuple(name for name in self.design.within if name in names)
        return DesignedTable(self.table.select(names), replace(self.design, within=within))

    def take(self, rows: ArrayLike) -> DesignedTable:
        """Return the table with only these rows (positions or a mask)."""
        return DesignedTable(self.table.take(rows), self.design.take(rows))

    def with_weights(self) -> Table:
        """The table with the weights as its last column, as a file of it has them."""
        weights = self.design.given_weights
        if weights is None:
            return self.table
        name = Variable(str(self.design.by_weight), Kind.CONTINUOUS)
        return Table(Schema([*self.schema, name]), (*self.table.columns, weights), self.overview)

    def __repr__(self) -> str:
        return f"DesignedTable({self.n_rows} rows, {len(self.schema)} columns)"


def columns_within(schema: Schema, design: RowDesign) -> tuple[str, ...]:
    """The continuous columns of which only the difference to the mean of the group is looked at."""
    chosen = resolve(design.within, schema.names)
    numbers = [variable.name for variable in schema if variable.kind is Kind.CONTINUOUS]
    if EVERY in chosen and EVERY not in schema.names:
        return tuple(numbers)
    for name in chosen:
        check_known(name, schema.names, "to be centred within groups")
        if name not in numbers:
            raise OptionError(
                f"{option('within_groups', name)} centres a column, and this one is discrete: leave it out"
            )
    return tuple(chosen)


def centre(values: NDArray[Any], design: RowDesign) -> NDArray[np.float64]:
    """The values less the mean of their group, plus that of all; with weights, means are weighted."""
    assert design.groups is not None
    weights = np.ones(len(values)) if design.weights is None else design.weights
    sums = np.bincount(design.groups, weights * values) / np.bincount(design.groups, weights)
    centred: NDArray[np.float64] = values - sums[design.groups] + np.average(values, weights=weights)
    return centred
