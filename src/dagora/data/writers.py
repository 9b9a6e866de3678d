"""Write a table to a file, so that reading the file gives the table again.

Levels are written as text. Numbers get as many digits as needed to read back the same float, and always a
point or an exponent, because a whole number would be read as an integer. Parquet and Feather keep all
declared levels, and whether their order means something; CSV and TSV keep only levels that occur, and their
columns are typed by the usual rule when read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dagora.base.errors import DataError
from dagora.base.files import open_whole
from dagora.base.wording import col
from dagora.data.columns.cells import null_where
from dagora.data.columns.missing import is_missing_word
from dagora.data.header import in_quotes
from dagora.data.incomplete import AnyTable, IncompleteTable
from dagora.data.readers import SEPARATORS, WRITTEN, file_format
from dagora.data.schema import Kind
from dagora.data.table import Table, require_table

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import BinaryIO

    import pyarrow as pa

ROWS_AT_ONCE = 1 << 16  # larger: more memory for text; smaller: more calls
WORD = re.compile(r"\w[\w.-]*")


def write_table(table: AnyTable, path: str | os.PathLike[str]) -> None:
    """Write a table to a file.

    Parameters
    ----------
    table : Table or IncompleteTable
        Missing values are written as empty cells.
    path : path
        The ending names the format: .csv .tsv (also .gz) .parquet .feather .arrow.

    Returns
    -------
    None

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from dagora.data.readers import read_table
    >>> from dagora.data.table import Table
    >>> table = Table.from_numpy([[1, 0.5], [0, 2.0]], names=["a", "x"], discrete=["a"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(table, Path(folder, "t.csv"))
    ...     print(Path(folder, "t.csv").read_text())
    ...     read_table(Path(folder, "t.csv")).equals(table)
    a,x
    1,0.5
    0,2.0
    <BLANKLINE>
    True
    """
    if not isinstance(table, IncompleteTable):
        require_table(table)
    ending = file_format(path, WRITTEN)
    for variable in table.schema:
        for level in variable.levels:
            if is_missing_word(level):
                raise DataError(
                    f"{col(variable.name)} has a level '{level}', which reads as missing: rename it"
                )
    with open_whole(path, error=DataError) as handle:
        if ending in SEPARATORS:
            write_delimited(table, handle, SEPARATORS[ending])
        elif ending == ".parquet":
            import pyarrow.parquet as pq

            # A dictionary larger than its page would lose the levels that no row has.
            pq.write_table(arrow_of(table), handle, dictionary_pagesize_limit=1 << 28)
        else:
            import pyarrow as pa

            arrow = arrow_of(table)
            with pa.ipc.new_file(handle, arrow.schema) as writer:
                writer.write_table(arrow)


def arrow_of(table: AnyTable) -> pa.Table:
    """The table as Arrow has it; missing values are null."""
    if not isinstance(table, IncompleteTable):
        return table.to_arrow()
    import pyarrow as pa

    whole = Table(table.schema, table.columns).to_arrow()
    columns = [
        null_where(column, pa.chunked_array([pa.array(~seen)]))
        for column, seen in zip(whole.columns, table.seen, strict=True)
    ]
    return pa.table(columns, names=whole.column_names)


def write_delimited(table: AnyTable, handle: BinaryIO, separator: str) -> None:
    """Write lines of cells, a block of rows at a time."""
    import pyarrow as pa
    import pyarrow.compute as pc

    handle.write((header_line(table.names, separator) + "\n").encode())
    seen = table.seen if isinstance(table, IncompleteTable) else None
    levels = [
        pa.array([quote(level, separator) for level in v.levels], pa.large_string()) for v in table.schema
    ]
    for start in range(0, table.n_rows, ROWS_AT_ONCE):
        cells = []
        for i, (variable, column, words) in enumerate(zip(table.schema, table.columns, levels, strict=True)):
            rows = slice(start, start + ROWS_AT_ONCE)
            block = pa.array(column[rows], mask=None if seen is None else ~seen[i, rows])
            text = words.take(block) if variable.kind is Kind.DISCRETE else write_numbers(block)
            cells.append(text if seen is None else text.fill_null(""))
        lines = pc.binary_join_element_wise(*cells, pa.scalar(separator, pa.large_string()))
        ended = pc.binary_join_element_wise(
            lines, pa.scalar("\n", pa.large_string()), pa.scalar("", pa.large_string())
        )
        # The array's text lies in one buffer, between its first and its last offset.
        handle.write(text_of(ended))


def header_line(names: Sequence[str], separator: str) -> str:
    """Return the names of the columns, all in quotes where one of them is more than a word.

    Names in quotes are names: `read_header` does not take them for a comment or for another separator.

    >>> print(header_line(["dose", "age"], ","), header_line(["#x", "age"], ","))
    dose,age "#x","age"
    """
    if all(WORD.fullmatch(name) for name in names):
        return separator.join(names)
    return separator.join(in_quotes(name) for name in names)


def text_of(column: pa.LargeStringArray) -> memoryview:
    """Return the bytes of all strings of an array, one after the other."""
    import numpy as np

    offsets = np.frombuffer(column.buffers()[1], dtype=np.int64)
    first, last = int(offsets[column.offset]), int(offsets[column.offset + len(column)])
    return memoryview(column.buffers()[2])[first:last]


def write_numbers(values: pa.DoubleArray) -> pa.LargeStringArray:
    """Return the shortest text of each number that reads as the same float, never as an integer."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = values.cast(pa.large_string())
    return pc.replace_substring_regex(text, r"^(-?[0-9]+)$", r"\1.0")


def quote(cell: str, separator: str) -> str:
    """Put a cell in quotes if it needs them."""
    if not any(mark in cell for mark in (separator, '"', "\n", "\r")):
        return cell
    return in_quotes(cell)
