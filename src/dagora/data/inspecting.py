"""Say how data are understood before anything is learned from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dagora.base.errors import OptionError
from dagora.data.accepting import as_table, frame_of
from dagora.data.columns.column_type import Column
from dagora.data.columns.frames import raw_of_frame, raw_of_matrix
from dagora.data.columns.ingest import look_at
from dagora.data.columns.overview import Overview, summarise
from dagora.data.columns.reading_options import always, split_reading
from dagora.data.readers import look_at_file
from dagora.data.table import Table


def inspect(data: object, **options: Any) -> Overview:  # noqa: ANN401 (those of `read_table`)
    """Show how data are understood: types and why, missing cells, columns left out, warnings.

    The options are those of `read_table`, and `missing="model"`. Missing cells are counted, not refused.

    >>> print(inspect({"age": [31, 45, None], "ill": ["no", "?", "yes"]}))
    3 rows, 2 columns: 2 discrete
      column  type      levels or range  missing  why
      age     discrete  31, 45           1        2 distinct whole numbers
      ill     discrete  ?, no, yes                text
    """
    reading, unknown = split_reading({"missing": "auto", **options}, why_not_model=always)
    if unknown:
        raise OptionError(f"inspect has no option '{next(iter(unknown))}'")
    reading = replace(reading, constants=False)
    if isinstance(data, str | Path):
        return look_at_file(Path(data), reading)
    if isinstance(data, Table):
        return overview_of(as_table(data, reading))
    if isinstance(data, np.ndarray | list | tuple):
        names, columns, text = raw_of_matrix(data, None, reading)
        return look_at(names, columns, reading, text_cells=text)
    frame = frame_of(data) if isinstance(data, Mapping) else data
    return look_at(*raw_of_frame(frame, reading), reading)


def overview_of(table: Table) -> Overview:
    """The overview that a table carries; of one that was not read, its types alone."""
    if table.overview is not None:
        return table.overview
    columns = (
        Column(variable, values, why="as it was made")
        for variable, values in zip(table.schema, table.columns, strict=True)
    )
    return Overview(tuple(summarise(column, 0) for column in columns), table.n_rows)
