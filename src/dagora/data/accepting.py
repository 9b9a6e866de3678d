"""Make a table of whatever a user has: a file, a data frame, a matrix, a mapping of columns, or a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from dagora.base.errors import DataError, OptionError, announce
from dagora.base.wording import col, option
from dagora.data.columns.column_names import kept_positions, name_text
from dagora.data.columns.column_type import Column
from dagora.data.columns.frames import columns_of_frame, columns_of_matrix
from dagora.data.columns.mixed_types import MixedTypesError
from dagora.data.columns.ordinal import (
    order_levels,
    ordinal_columns,
    rank_values,
    rank_warning,
    ranked_columns,
)
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.designed import DesignedTable
from dagora.data.discretise import discretise
from dagora.data.incomplete import IncompleteTable
from dagora.data.made_tables import ReadTable, table_of, without_design
from dagora.data.readers import read_any
from dagora.data.scan.row_sample import read_source
from dagora.data.scan.sqlite import is_sqlite, open_sqlite
from dagora.data.schema import Kind, Schema
from dagora.data.table import Table

SETTLED_LATER = ("drop", "discretise", "bins", "ordinal", "ranks")
"""Reading options that may change a table that was already read."""

ACCEPTED = "a file's name, a pandas, polars or Arrow frame, a matrix, a mapping of columns, or a Table"


def as_table(data: object, reading: ReadingOptions | None = None) -> Table:
    """Make a table, and warn the user of Python about what deserves it; a table is taken as it is.

    >>> as_table({"a": [0, 1, 1], "b": ["x", "y", "y"]})
    Table(3 rows, 2 columns)
    >>> as_table(7)
    Traceback (most recent call last):
    dagora.DataError: an object of type int is no data: give a file's name, a pandas, ...
    """
    table = without_design(as_any_table(data, reading))
    if isinstance(table, IncompleteTable):
        raise incomplete_refusal(table)
    return table


def incomplete_refusal(table: IncompleteTable) -> DataError:
    """The error where complete rows are needed."""
    return DataError(
        f"{table.missing} of {table.seen.size} cells are missing, and this needs complete rows: "
        "`complete` has the complete ones, impute fills the others"
    )


def as_any_table(data: object, reading: ReadingOptions | None = None) -> ReadTable:
    """Make a table that may have missing values or weights and groups of rows, as the reading options say.

    >>> as_any_table({"a": [0, 1, None]}, ReadingOptions(missing="auto", why_not_model=lambda kinds: ""))
    IncompleteTable(3 rows, 1 columns, 1 of 3 cells missing)
    """
    reading = reading or ReadingOptions()
    if isinstance(data, Table):
        return reread(data, reading)
    if isinstance(data, IncompleteTable | DesignedTable):
        return drop_columns(data, reading)
    if isinstance(data, str) and "\n" in data:
        raise DataError("text with several lines is not the name of a file: write it to a file first")
    if is_sqlite(data):
        return read_source(open_sqlite(cast("str | Path", data), reading.table, None), reading).announced()
    if isinstance(data, str | Path):
        return read_any(Path(data), reading).announced()
    if reading.table is not None:
        raise OptionError(f"{option('table')} goes with a file: leave it out")
    if isinstance(data, Mapping):
        return table_of(*columns_of_frame(frame_of(data), reading)).announced()
    if isinstance(data, np.ndarray | list | tuple):
        return table_of(*columns_of_matrix(data, None, reading)).announced()
    if data is None or isinstance(data, bool | int | float | bytes):
        raise DataError(f"an object of type {type(data).__name__} is no data: give {ACCEPTED}")
    return table_of(*columns_of_frame(data, reading)).announced()


def drop_columns(
    table: IncompleteTable | DesignedTable, reading: ReadingOptions
) -> IncompleteTable | DesignedTable:
    """A table with missing values, weights or groups without some columns; all else was settled before."""
    settled = [name for name in reading.non_defaults() if name not in ("drop", "missing")]
    if settled or reading.missing not in ("error", "auto", "model"):
        raise OptionError(
            f"{option(settled[0] if settled else 'missing')} cannot change a table that was already read: "
            "pass the file or frame itself"
        )
    names = [table.names[i] for i in kept_positions(table.names, reading)]
    return table if len(names) == len(table.names) else table.select(names)


def reread(table: Table, reading: ReadingOptions) -> Table:
    """A table with columns dropped or cut into intervals; its types and cells are settled already."""
    settled = [name for name in reading.non_defaults() if name not in SETTLED_LATER]
    if settled:
        raise OptionError(
            f"{option(settled[0])} cannot change a table that was already read: give it to read_table or "
            "Table.from_frame, or pass the file or frame itself"
        )
    kept = [table.names[i] for i in kept_positions(table.names, reading)]
    if len(kept) < len(table.names):
        table = table.select(kept)
    if reading.discretise is not None:
        table = discretise(table, reading.discretise, reading.bins or 2)
    table = ordered_and_ranked(table, reading)
    if table.overview is None:
        return table
    said = {**table.overview.reading, **reading.non_defaults()}
    return replace(table, overview=replace(table.overview, reading=said))


def ordered_and_ranked(table: Table, reading: ReadingOptions) -> Table:
    """A table whose levels are in order, and whose numbers are ranks, where that is asked for."""
    if not (reading.ordinal or reading.ranks):
        return table
    ordinal, ranked = ordinal_columns(table.names, reading), ranked_columns(table.schema.variables, reading)
    made = []
    for variable, values in zip(table.schema, table.columns, strict=True):
        if variable.kind is Kind.CONTINUOUS and (variable.name,) == tuple(ordinal):
            raise DataError(
                f"{col(variable.name)} was read as continuous: {option('ordinal')} goes with the file"
            )
        column = order_levels(Column(variable, values), ordinal)
        made.append(rank_values(column, ranked))
    announce(rank_warning(ranked))
    return replace(
        table, schema=Schema(each.variable for each in made), columns=tuple(each.values for each in made)
    )


def unusable(name: str, values: object, reason: str) -> DataError:
    """The error about values that cannot be a column."""
    if hasattr(values, "toarray"):
        return DataError(f"{col(name)} is sparse, and is needed in full: toarray() gives its values")
    dimensions = np.ndim(values) if isinstance(values, np.ndarray) else 1
    if dimensions != 1:
        what = f"an array with {dimensions} dimensions" if dimensions else "a single value"
        return DataError(f"{col(name)} cannot be used: give a list of values, not {what}")
    if isinstance(values, Iterable):
        return MixedTypesError(name, values, reason)
    return DataError(
        f"{col(name)} cannot be used: give a list of values, not one of type {type(values).__name__}"
    )


def frame_of(columns: Mapping[Any, Any]) -> object:
    """An Arrow table of a mapping from names to values."""
    import pyarrow as pa

    arrays: dict[str, pa.Array] = {}
    for name, values in columns.items():
        if name_text(name) in arrays:
            raise DataError(f"two columns are named '{name}': rename one of them")
        try:
            arrays[name_text(name)] = pa.array(values, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as problem:
            raise unusable(str(name), values, " ".join(str(problem).split())) from None
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"the columns differ in length ({lengths}): give one value for every row")
    return pa.table(arrays)
