"""Read a covariance matrix, to learn from it as from the rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dagora.base.errors import DataError, OptionError
from dagora.base.files import naming
from dagora.data.columns.cells import is_text
from dagora.data.columns.column_names import check_names
from dagora.data.columns.frames import raw_of_frame
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.readers import read_raw
from dagora.stats.given_moments import GivenMoments
from dagora.stats.latent_correlations import is_number
from dagora.stats.statistics import Statistics


def read_covariance(
    source: Any,  # noqa: ANN401 - see below
    rows: int,
    *,
    names: Sequence[str] | None = None,
) -> Statistics:
    """Read a covariance or correlation matrix, as papers print it, to learn from it as from the rows.

    Methods that need moments only run as on the rows: they give the same graphs and, from a covariance
    matrix, the same scores. Correlations give the same graphs too.

    Parameters
    ----------
    source : path, data frame or array
        A square matrix: a file with a line of names (and perhaps the names again before each row), a data
        frame, or an array. One of its triangles may be empty. Covariances are taken as divided by n − 1.
    rows : int
        The number of rows that it comes from.
    names : sequence of str, optional
        The columns' names, for an array; by default x0, x1, ….

    Returns
    -------
    Statistics
        What `learn` and `score` take as data.

    Examples
    --------
    >>> import dagora
    >>> marks = dagora.read_covariance([[1, 0.6, 0.4], [0.6, 1, 0.7], [0.4, 0.7, 1]], 88, names="abc")
    >>> dagora.learn(marks, method="pc").graph.undirected
    (('a', 'b'), ('b', 'c'))
    """
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 2:
        raise OptionError(option="rows", value=rows, must="be a whole number of rows, 2 or more")
    if isinstance(source, str | Path):
        if names is not None:
            raise OptionError("names go with an array: leave them out where a file has its own")
        with naming(str(source)):
            raw = read_raw(Path(source), ReadingOptions())
            return of_columns(raw.names, raw.columns, rows)
    if isinstance(source, np.ndarray | list | tuple):
        try:
            matrix = np.asarray(source, dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError(
                "the matrix has entries that are no numbers, or rows of different length"
            ) from None
        given = [f"x{i}" for i in range(len(matrix))] if names is None else names
        return GivenMoments(check_names(given), matrix, rows)
    return of_columns(*raw_of_frame(source, ReadingOptions()), rows)


def of_columns(names: Sequence[str], columns: Sequence[Any], rows: int) -> GivenMoments:
    """Statistics of the columns of a matrix, of which the first may have the names of the rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(columns) == len(columns[0]) + 1:
        if is_number(names[0]):  # of a symmetric matrix without names, the first row and column are the same
            raise DataError(
                f"the first line begins with the number {names[0].strip()}: put a line with names first"
            )
        labels = [str(label).strip() for label in columns[0].to_pylist()]
        names, columns = names[1:], columns[1:]
        if labels != [name.strip() for name in names]:
            raise DataError(
                "the first column names the rows, and not as the columns are named, in their order"
            )
    checked = check_names(names)
    entries = []
    for name, column in zip(checked, columns, strict=True):
        cells = column
        if is_text(cells.type):
            trimmed = pc.utf8_trim_whitespace(cells)
            cells = pc.if_else(pc.equal(trimmed, ""), None, trimmed)
        try:
            entries.append(pc.cast(cells, pa.float64()).to_pylist())
        except pa.ArrowException:
            raise DataError(f"column '{name}' has an entry that is no number") from None
    matrix = np.array([[np.nan if entry is None else entry for entry in column] for column in entries])
    return GivenMoments(checked, matrix.T, rows)
