"""The overview of a table: the type of each column and why, missing values, rows and columns left out.

A reader makes it; the table carries it; results, reports and `dagora inspect` show it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dagora.base.wording import render_fields
from dagora.data.columns.column_type import Column
from dagora.data.columns.missing_pattern import describe_missing
from dagora.data.columns.row_design import RowDesign
from dagora.data.schema import Kind, Variable

LEFT_OUT = "left out"
WORTH_A_WARNING = 0.05  # share of rows dropped
MOST_COLUMNS = 20  # that a summary in front of other output lists
SHOWN_LEVELS = 4  # so that a column fits on one line
WIDEST = 40  # characters of a cell of the listing


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """One column: its type (or that it was left out) and why, its levels or range, its missing values."""

    name: str
    type: str
    why: str
    values: str = ""
    levels: int = 0
    missing: int = 0

    def __post_init__(self) -> None:
        render_fields(self, "why")

    @property
    def remarkable(self) -> bool:
        """True if a user should look at it even if there are many columns."""
        return self.type == LEFT_OUT or bool(self.missing) or ":" in self.why

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {key: getattr(self, key) for key in ("name", "type", "why", "values", "levels", "missing")}


@dataclass(frozen=True)
class Overview:
    """The columns of a source, its rows, how many of them were dropped, and what deserves a warning.

    `reading` holds the options that were not at their default, `source` and `sha256` say which file it was.

    >>> from dagora.data.table import Table
    >>> overview = Table.from_numpy([["no", "1.5"], ["yes", "2.5"]], names=["ill", "dose"]).overview
    >>> [(column.name, column.type, column.why) for column in overview.columns]
    [('ill', 'discrete', 'text'), ('dose', 'continuous', 'numbers')]
    """

    columns: tuple[ColumnSummary, ...]
    rows: int
    dropped: int = 0
    reading: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    source: str | None = None
    sha256: str | None = None
    holes: Mapping[str, Any] = field(default_factory=dict)
    """The number of missing cells, by column and pattern, if they are to be modelled."""
    kept: Sequence[int] | None = field(default=None, compare=False, repr=False)
    """Positions of the rows that were kept, where some were dropped."""
    design: RowDesign | None = field(default=None, compare=False, repr=False)
    """The weights and groups of the rows, until a table is made of them."""

    def __post_init__(self) -> None:
        render_fields(self, "warnings")

    @property
    def modelled_cells(self) -> str:
        """The number of missing values that are modelled, in words; empty if there are none.

        >>> Overview((), rows=300, holes={"cells": 90, "of": 900, "rows": 80}).modelled_cells
        '90 of 900 cells (10.0 %) in 80 rows are missing, and are modelled as missing at random'
        """
        return describe_missing(self.holes)

    @property
    def dropped_rows(self) -> str:
        """The number of rows that were dropped, in words; empty if there are none.

        >>> Overview((), rows=300, dropped=294).dropped_rows
        '294 of 300 rows (98.0 %) were dropped, because a cell is missing'
        """
        if not self.dropped:
            return ""
        share = 100 * self.dropped / self.rows
        verb = "was" if self.dropped == 1 else "were"
        return f"{self.dropped} of {self.rows} rows ({share:.1f} %) {verb} dropped, because a cell is missing"

    @property
    def heading(self) -> str:
        """One line about rows and columns.

        >>> Overview((ColumnSummary("a", "discrete", "text"),), rows=3).heading
        '3 rows, 1 column: 1 discrete'
        """
        kinds = [column.type for column in self.columns]
        counts = [f"{kinds.count(kind)} {kind}" for kind in (*Kind, LEFT_OUT) if kind in kinds]
        rows = f"{self.rows} row{'s' * (self.rows != 1)}"
        return f"{rows}, {len(kinds)} column{'s' * (len(kinds) != 1)}: {', '.join(counts)}"

    def selecting(self, names: Collection[str]) -> Overview:
        """The overview of a table with only some of the columns; those that were left out stay told."""
        kept = [column for column in self.columns if column.name in names or column.type == LEFT_OUT]
        return replace(self, columns=tuple(kept))

    def with_levels(self, variables: Mapping[str, Variable]) -> Overview:
        """The overview after missing became a level of some columns."""
        columns = []
        for column in self.columns:
            variable = variables.get(column.name)
            if variable is not None and column.missing:
                column = replace(  # noqa: PLW2901
                    column, values=level_list(variable.levels), levels=variable.cardinality
                )
            columns.append(column)
        return replace(self, columns=tuple(columns))

    def cut(self, variables: Sequence[Variable], method: str) -> Overview:
        """The overview after some columns were cut into intervals."""
        new = {variable.name: variable for variable in variables}
        columns = [
            replace(
                column,
                type=str(Kind.DISCRETE),
                why=f"cut into intervals ({method})",
                values=level_list(new[column.name].levels),
                levels=new[column.name].cardinality,
            )
            if column.name in new and column.type != LEFT_OUT
            else column
            for column in self.columns
        ]
        return replace(self, columns=tuple(columns))

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "source": self.source,
            "sha256": self.sha256,
            "rows": self.rows,
            "rows_dropped": self.dropped,
            "reading": dict(self.reading),
            "columns": [column.to_dict() for column in self.columns],
            **({"holes": dict(self.holes)} if self.holes else {}),
        }

    def lines(self, *, everything: bool = True) -> list[str]:
        """The overview as text, a line for each column (or each remarkable one, where there are many)."""
        shown = [
            column
            for column in self.columns
            if everything or len(self.columns) <= MOST_COLUMNS or column.remarkable
        ]
        lines = [self.heading]
        if shown:
            cells = [HEAD, *(row_of(column) for column in shown)]
            widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
            lines += [
                "  " + "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
                for row in cells
            ]
        if len(shown) < len(self.columns):
            lines.append(f"  … and {len(self.columns) - len(shown)} more columns without missing values")
        told = self.dropped_rows in self.warnings
        lost = [] if told or not self.dropped else [self.dropped_rows]
        return [*lines, *lost, *filter(None, [self.modelled_cells])]

    def __str__(self) -> str:
        return "\n".join(self.lines())


HEAD = ("column", "type", "levels or range", "missing", "why")


def row_of(column: ColumnSummary) -> tuple[str, str, str, str, str]:
    """The cells of a column's line, in the order of `HEAD`."""
    return (
        shorten_cell(column.name),
        column.type,
        shorten_cell(column.values),
        str(column.missing or ""),
        column.why,
    )


def shorten_cell(cell: str) -> str:
    """A cell in one line, cut where it is too wide.

    >>> shorten_cell("a" * 50)
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…'
    """
    line = " ".join(cell.split())
    return line if len(line) <= WIDEST else line[: WIDEST - 1] + "…"


def summarise(column: Column, missing: int) -> ColumnSummary:
    """Summarise a typed column."""
    variable = column.variable
    if variable.kind is Kind.DISCRETE:
        values = level_list(variable.levels)
    else:
        known = column.values if column.missing is None else column.values[~column.missing]
        values = f"{np.min(known):g} to {np.max(known):g}" if known.size else ""
    return ColumnSummary(variable.name, str(variable.kind), column.why, values, variable.cardinality, missing)


def level_list(levels: Sequence[str]) -> str:
    """A few levels and their number.

    >>> level_list(["no", "yes"]), level_list(list("abcdefg"))
    ('no, yes', 'a, b, c, d, … (7)')
    """
    more = f", … ({len(levels)})" if len(levels) > SHOWN_LEVELS else ""
    return ", ".join(levels[:SHOWN_LEVELS]) + more
