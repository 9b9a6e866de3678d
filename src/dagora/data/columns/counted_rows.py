"""Tables of counts: a column says how many rows each row stands for, and the rows are repeated accordingly.

So every type, warning, score and answer is that of a table with as many equal rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dagora.base.errors import DataError
from dagora.base.wording import col, option
from dagora.data.columns.arrow_numbers import numbers_of
from dagora.data.columns.cells import is_text
from dagora.data.columns.column_names import check_about_rows
from dagora.data.columns.decimal_mark import numbers_by_mark

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from dagora.data.columns.reading_options import ReadingOptions

COUNTS = "says how many rows each row stands for"
# Repeated rows are held in memory: 10⁷ rows of 20 columns.
MOST_CELLS = 200_000_000
MOST_EXACT = 2.0**53


def repeat_rows(
    names: Sequence[str], columns: list[pa.ChunkedArray], reading: ReadingOptions
) -> NDArray[np.int64] | None:
    """Repeat the rows of all columns, in place; return from which row each comes, None without counts.

    >>> import pyarrow as pa
    >>> from dagora.data.columns.reading_options import ReadingOptions
    >>> columns = [pa.chunked_array([["no", "yes"]]), pa.chunked_array([[1, 2]])]
    >>> repeat_rows(["ill", "n"], columns, ReadingOptions(counts="n")), columns[0].to_pylist()
    (array([0, 1, 1]), ['no', 'yes', 'yes'])
    """
    if reading.counts is None:
        return None
    place = check_about_rows("counts", names, reading)
    cells = numbers_by_mark(reading.counts, columns[place], dict(zip(names, columns, strict=True)), reading)
    times = read_counts(reading.counts, cells)
    total = int(times.sum())
    if not total:
        raise DataError(f"{option('counts', reading.counts)}: all counts are 0, so there is no row")
    if total * len(columns) > MOST_CELLS:
        raise DataError(
            f"{option('counts', reading.counts)}: the rows stand for {total} rows, and at most "
            f"{MOST_CELLS // len(columns)} rows of {len(columns)} columns are repeated"
        )
    origin = np.repeat(np.arange(len(times)), times)
    for k, column in enumerate(columns):
        columns[k] = column.take(origin)
    return origin


def read_counts(name: str, cells: pa.ChunkedArray, begin: int = 0) -> NDArray[np.int64]:
    """The counts as whole numbers; anything else is refused. `begin` rows came before."""
    values = row_numbers(cells)
    wrong = ~((values >= 0) & (values == np.floor(values)) & (values < MOST_EXACT))
    if wrong.any():
        raise DataError(
            f"{col(name)} is to count rows ({option('counts', name)}), and data row "
            f"{begin + int(wrong.argmax()) + 1} holds no whole number of 0 or more"
        )
    if (total := float(values.sum())) >= MOST_EXACT:  # of more, sums in 64 bits could begin anew
        raise DataError(
            f"{option('counts', name)}: the rows stand for {total:.3g} rows, which cannot be counted"
        )
    return values.astype(np.int64)


def row_numbers(cells: pa.ChunkedArray) -> NDArray[np.float64]:
    """The numbers of a column, also those that text spells; NaN where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        numbers = pc.cast(pc.utf8_trim_whitespace(cells) if is_text(cells.type) else cells, pa.float64())
    except pa.ArrowException:
        return np.array([number_in(cell) for cell in cells.to_pylist()])
    return numbers_of(numbers.fill_null(np.nan))


def number_in(cell: object) -> float:
    """The number in a cell; NaN where there is none."""
    try:
        return float(str(cell))
    except ValueError:
        return np.nan
