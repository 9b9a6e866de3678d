"""Read a table with a key column: the other columns as a `Table`, and the key of each row.

A key identifies a row and may have a million values, so it cannot be a discrete column of a table. While the
table is read, the row's number takes the place of the key. Keys and rows can then be matched even where rows
with missing values were dropped.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dagora.base.errors import DataError
from dagora.base.wording import col
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.schema import Kind
from dagora.data.table import Table


def split_key(
    data: object,
    key: str,
    **reading: Any,  # noqa: ANN401
) -> tuple[Table, list[object], str]:
    """Return the table without its key column, the keys, and a name of the column for error messages.

    `data` is a file, a data frame or a table; `reading` are options of `read_table`.

    >>> table = Table.from_numpy([[7, 0], [8, 1]], names=["id", "a"])
    >>> rest, keys, _ = split_key(table, "id")
    >>> rest.names, keys
    (('a',), ['7', '8'])
    """
    options = ReadingOptions(**reading, continuous=key, cuts=False, trends=False)
    if isinstance(data, str | Path):
        return split_file(Path(data), key, options)
    if isinstance(data, Table):
        table, keys = split_table(data, key)
    else:
        table, keys = split_frame(data, key, replace(options, drop=()))
    dropped = set(options.drop)
    return table.select([n for n in table.names if n not in dropped]), keys, f"column '{key}'"


def split_file(file: Path, key: str, reading: ReadingOptions) -> tuple[Table, list[object], str]:
    """Read a file; the keys are the cells of the key column as they are written."""
    import pyarrow as pa

    from dagora.data.columns.ingest import type_columns
    from dagora.data.readers import naming, read_raw

    if key in reading.drop:
        raise DataError(f"{file}: the key {col(key)} cannot be left out")
    with naming(file):
        raw = read_raw(file, reading)
        reading = raw.reading(reading)
        names, columns = raw.names, raw.columns
        if key not in names:
            raise DataError(f"there is no {col(key)} for the key: the columns are {', '.join(names)}")
        if len(names) == 1:
            raise DataError(f"there is no column beside the key '{key}': at least one is needed")
        place = names.index(key)
        keys = columns[place].to_pylist()
        numbers = pa.py_buffer(np.arange(len(keys), dtype=np.float64))
        # From a buffer: pyarrow would import pandas to find out that an array of numpy is none of pandas.
        columns[place] = pa.chunked_array([pa.Array.from_buffers(pa.float64(), len(keys), [None, numbers])])
        numbered = Table.from_columns(
            *type_columns(names, columns, reading, text_cells=raw.text_cells, words_nulled=raw.words_nulled)
        )
    return *remove_row_numbers(numbered, key, keys), f"{file}, column '{key}'"


def remove_row_numbers(table: Table, key: str, keys: list[object]) -> tuple[Table, list[object]]:
    """Take the row numbers out of a table, and use them to look up the keys of its rows."""
    rows = table.values(table.schema.index(key)).astype(np.int64)
    return table.select([name for name in table.names if name != key]), [keys[row] for row in rows]


def split_table(table: Table, key: str) -> tuple[Table, list[object]]:
    """Take the key column out of a table; whole numbers are written without a point."""
    position = table.schema.index(key)
    variable = table.schema[position]
    if variable.kind is Kind.DISCRETE:
        keys: list[object] = [variable.levels[code] for code in table.codes(position)]
    else:
        values = table.values(position)
        if not (values == np.rint(values)).all():
            raise DataError(f"the key {col(key)} holds numbers that are not whole: keys are texts")
        keys = [int(value) for value in values]
    return table.select([name for name in table.names if name != key]), keys


def split_frame(frame: object, key: str, reading: ReadingOptions) -> tuple[Table, list[object]]:
    """Take the key column out of a data frame."""
    import narwhals as nw

    try:
        known = nw.from_native(frame, eager_only=True)  # type: ignore[call-overload]
    except TypeError:
        raise DataError(
            f"a {type(frame).__name__} is not a data frame: pass a pandas, polars or Arrow frame, or a file"
        ) from None
    if key not in known.columns:
        raise DataError(f"there is no {col(key)} for the key")
    keys = known[key].to_list()
    numbered = known.drop(key).with_row_index(key)
    return remove_row_numbers(Table.of_frame(numbered.to_native(), reading), key, keys)
