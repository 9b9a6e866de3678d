"""Say how data are understood before anything is learned from them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dagora.data.accepting import as_table, frame_of
from dagora.data.columns.column_type import Column
from dagora.data.columns.frames import raw_of_frame, raw_of_matrix, tell_index
from dagora.data.columns.ingest import look_at
from dagora.data.columns.overview import Overview, summarise
from dagora.data.columns.reading_options import ReadingOptions, always, takes_reading
from dagora.data.readers import look_at_file
from dagora.data.table import Table


@takes_reading(missing="auto")
def inspect(data: object, **reading: Any) -> Overview:  # noqa: ANN401
    """Show how data are understood: types and why, missing values, columns left out, warnings.

    Parameters
    ----------
    data : path, data frame, matrix, mapping of columns or Table
        One row per observation. Missing values are counted, not refused.
    {reading}

    Returns
    -------
    Overview
        Prints as a table.

    Examples
    --------
    >>> print(inspect({"age": [31, 45, None], "ill": ["no", "?", "yes"]}))
    3 rows, 2 columns: 2 discrete
      column  type      levels or range  missing  why
      age     discrete  31, 45           1        2 distinct whole numbers
      ill     discrete  ?, no, yes                text
    """
    options = ReadingOptions(**{"missing": "auto", **reading}, why_not_model=always, constants=False)
    if isinstance(data, str | Path):
        return look_at_file(Path(data), options)
    if isinstance(data, Table):
        return overview_of(as_table(data, options))
    if isinstance(data, np.ndarray | list | tuple):
        names, columns, text = raw_of_matrix(data, None, options)
        return look_at(names, columns, options, text_cells=text)
    frame = frame_of(data) if isinstance(data, Mapping) else data
    return tell_index(frame, look_at(*raw_of_frame(frame, options), options))


def overview_of(table: Table) -> Overview:
    """The overview that a table carries; of one that was not read, its types alone."""
    if table.overview is not None:
        return table.overview
    columns = (
        Column(variable, values, why="as it was made")
        for variable, values in zip(table.schema, table.columns, strict=True)
    )
    return Overview(tuple(summarise(column, 0) for column in columns), table.n_rows)
