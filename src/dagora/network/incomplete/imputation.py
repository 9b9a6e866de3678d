"""The result of filling the missing values of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.base.wording import render_fields
from dagora.data.incomplete import IncompleteTable
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.stats.observed.missing_tests import SkipPattern


@dataclass(frozen=True, slots=True)
class FilledCell:
    """A filled missing value: its data row (from 1), its column, the value, and its uncertainty.

    A discrete value has a probability, a continuous one a standard deviation.
    """

    row: int
    column: str
    value: str | float
    probability: float | None = None
    sd: float | None = None


@dataclass(frozen=True, eq=False)
class Imputation:
    """A completed table, the values that were filled, and completed tables drawn at random, if asked for.

    `message` says if values are estimates from draws, `warnings` which rows have too few effective draws.
    """

    table: Table
    cells: tuple[FilledCell, ...]
    draws: tuple[Table, ...] = ()
    message: str = ""
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        render_fields(self, "message", "warnings")


def skip_warnings(patterns: Iterable[SkipPattern], filled: Imputation) -> Iterator[str]:
    """Sentences about values filled where none was seen: only smokers were asked how much they smoke."""
    for column, where, value in patterns:
        if not {column, where} <= {*filled.table.names}:
            continue
        place = filled.table.schema.index(where)
        levels, values = filled.table.schema[place].levels, filled.table.columns[place]
        rows = [cell.row - 1 for cell in filled.cells if cell.column == column]
        shown = [levels[one] if levels else f"{one:g}" for one in values[rows].tolist()]
        number = sum(one != value for one in shown)
        if number:
            yield (
                f"{number} filled value{'s' * (number != 1)} of '{column}' stand where '{where}' is not "
                f"'{value}', and it was seen only where it is: if it does not apply elsewhere, ignore them"
            )


def in_order(cells: list[FilledCell], table: IncompleteTable) -> tuple[FilledCell, ...]:
    """Sort filled values by row, then by column."""
    place = {name: i for i, name in enumerate(table.names)}
    return tuple(sorted(cells, key=lambda cell: (cell.row, place[cell.column])))


def complete_table(
    table: IncompleteTable, filled: Mapping[str, NDArray[np.generic]], levels: Mapping[str, tuple[str, ...]]
) -> Table:
    """Return the table with the network's columns filled; discrete ones have the network's levels."""
    variables, columns = [], []
    for variable, column in zip(table.schema, table.columns, strict=True):
        values = filled.get(variable.name)
        if values is None:
            variables.append(variable)
            columns.append(column)
        elif variable.name in levels:
            own = tuple(levels[variable.name])
            ordered = variable.ordered and own == variable.levels
            variables.append(Variable(variable.name, Kind.DISCRETE, own, ordered))
            columns.append(values.astype(np.uint16))
        else:
            variables.append(Variable(variable.name, Kind.CONTINUOUS))
            columns.append(np.ascontiguousarray(values, dtype=np.float64))
    return Table(Schema(variables), tuple(columns))


def impossible_row(row: int) -> DataError:
    """The error for a row of probability 0 under the network."""
    return DataError(
        f"data row {row + 1} has probability 0 under the network: its missing "
        "values have no distribution; fit the network with a pseudocount"
    )
