"""The table that typed columns make: plain, with missing values, or with weights or groups of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dagora.data.columns.column_type import Column
from dagora.data.columns.missing_pattern import unseen
from dagora.data.columns.overview import Overview
from dagora.data.designed import DesignedTable
from dagora.data.incomplete import AnyTable, IncompleteTable
from dagora.data.schema import Kind
from dagora.data.table import Table

ReadTable = AnyTable | DesignedTable


def table_of(columns: Sequence[Column], overview: Overview | None = None) -> ReadTable:
    """A table of typed columns; one with missing values where a cell is missing.

    >>> from dagora.data.schema import Kind, Variable
    >>> import numpy as np
    >>> table_of([Column(Variable("x", Kind.CONTINUOUS), np.array([0.5]))])
    Table(1 rows, 1 columns)
    """
    for column in columns:
        if column.variable.kind is Kind.DISCRETE and not column.variable.levels:
            raise unseen(column.variable.name)
    design = None if overview is None else overview.design
    if design is not None and overview is not None:
        return DesignedTable.of(Table.from_columns(columns, replace(overview, design=None)), design)
    if any(column.missing is not None for column in columns):
        return IncompleteTable.from_columns(columns, overview)
    return Table.from_columns(columns, overview)


def without_design(table: ReadTable) -> AnyTable:
    """The table, where its rows count alike and are independent; else an error."""
    if isinstance(table, DesignedTable):
        raise table.design.refusal()
    return table
