"""Tables of counts: a column says how many rows each row stands for, and the rows are repeated accordingly.

So every type, warning, score and answer is that of a table with as many equal rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dagora.base.errors import DataError, OptionError
from dagora.base.wording import col, option
from dagora.data.columns.arrow_numbers import numbers_of
from dagora.data.columns.cells import is_text
from dagora.data.columns.column_names import check_known, check_names, resolve

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
    check_counts(names, reading)
    place = check_names(names).index(reading.counts)
    times = read_counts(reading.counts, columns[place])
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


def check_counts(names: Sequence[str], reading: ReadingOptions) -> None:
    """Refuse a column of counts that is not there, that is a variable, or whose rows follow in time."""
    counts = str(reading.counts)
    check_known(counts, check_names(names), "of counts")
    if reading.in_time:
        raise OptionError(
            f"rows that follow each other in time cannot be counted: leave {option('counts')} out"
        )
    for name in ("discrete", "continuous", "join"):
        if counts in resolve(getattr(reading, name), names):
            raise OptionError(f"{option('counts', counts)} is no variable: leave it out of {option(name)}")
    if counts in (*reading.numbers, *reading.wanted, *reading.levels, reading.marks):
        raise OptionError(f"{option('counts', counts)} is no variable, but it is asked for as one")


def read_counts(name: str, cells: pa.ChunkedArray) -> NDArray[np.int64]:
    """The counts as whole numbers; anything else is refused."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        numbers = pc.cast(pc.utf8_trim_whitespace(cells) if is_text(cells.type) else cells, pa.float64())
    except pa.ArrowException:
        raise not_a_count(
            name, next((k for k, cell in enumerate(cells.to_pylist()) if odd(cell)), 0)
        ) from None
    values = numbers_of(numbers.fill_null(np.nan))
    wrong = ~((values >= 0) & (values == np.floor(values)) & (values < MOST_EXACT))
    if wrong.any():
        raise not_a_count(name, int(wrong.argmax()))
    return values.astype(np.int64)


def odd(cell: object) -> bool:
    """Return True for a cell that is no number."""
    try:
        float(str(cell))
    except ValueError:
        return True
    return False


def not_a_count(name: str, place: int) -> DataError:
    """The error about a cell that counts nothing."""
    return DataError(
        f"{col(name)} is to count rows ({option('counts', name)}), and data row {place + 1} holds no whole "
        "number of 0 or more"
    )
