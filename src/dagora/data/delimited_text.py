"""Read the columns of a CSV or TSV file as text, with Arrow's parallel parser; empty lines are skipped.

Rows of another length than the header, and quotes that are never closed, are refused by their number.
"""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dagora.base.budget import Budget
from dagora.base.errors import DataError
from dagora.base.files import CHUNK
from dagora.data.columns.cells import is_plain
from dagora.data.columns.column_names import kept_positions
from dagora.data.columns.missing import MISSING_WORDS
from dagora.data.columns.reading_time import check_bytes_read, check_header
from dagora.data.header import Header, read_header
from dagora.data.raw_table import RawTable
from dagora.data.text_encoding import UTF8, begins_in, encoding_note, encoding_of
from dagora.data.unpacking import is_packed, open_bytes

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from dagora.data.columns.reading_options import ReadingOptions

# Bytes that are parsed at a time.
BLOCK = 1 << 22
# A compressed file of at most so many bytes is unpacked once and parsed in memory; a larger one is unpacked
# twice, which costs as long as parsing but neither memory nor space on disk.
UNPACKED_IN_MEMORY = 1 << 26


def read_delimited(file: Path, separator: str, reading: ReadingOptions) -> RawTable:
    """Read the columns as text; those to be dropped are skipped.

    Text is taken for UTF-8, unless its beginning shows another encoding, until a byte shows that it is not.
    """
    encoding = begins_in(file)
    try:
        names, columns = read_encoded(file, separator, encoding, reading)
    except UnicodeDecodeError:
        if encoding != UTF8 or not file.is_file():
            raise
        encoding = encoding_of(file)
        names, columns = read_encoded(file, separator, encoding, reading)
    note = encoding_note(file, encoding)
    return RawTable(names, columns, True, True, separator, () if note is None else (note,))


def read_encoded(
    file: Path, separator: str, encoding: str, reading: ReadingOptions
) -> tuple[list[str], list[pa.ChunkedArray]]:
    """Names and columns of a text of this encoding; an error of Python where it has another one."""
    import pyarrow as pa

    header = read_header(file, separator, encoding)
    kept = kept_positions(header.names, reading)
    try:
        check_header(reading.clock, len(kept))
        columns = parse_delimited(file, separator, header, kept, clock=reading.clock)
    except pa.ArrowInvalid as problem:
        if "invalid UTF8" in str(problem):
            raise UnicodeDecodeError("utf-8", b"", 0, 0, "as Arrow found") from None
        refuse_ragged(file, separator, header)
        if "straddling" in str(problem):
            raise DataError("a line is too long, or a quote is not closed: check the quotes") from None
        raise
    if any(not is_plain(column) and has_line_break(column) for column in columns):
        refuse_open_quote(file, separator, encoding)
    return [header.names[i] for i in kept], columns


def parse_delimited(
    file: Path,
    separator: str,
    header: Header,
    kept: list[int],
    *,
    clock: Budget | None = None,
    **reading: Any,  # noqa: ANN401 (Arrow's own options)
) -> list[pa.ChunkedArray]:
    """Parse the file with Arrow's threads, or block by block where a time limit has to be kept."""
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    options = arrow_options(separator, header, kept, **reading)
    with native_source(file, clock or Budget()) as source:
        if clock is None or clock.limit is None:
            return list(arrow_csv.read_csv(source, **options).columns)
        size = source.size() if source.seekable() else None
        with arrow_csv.open_csv(source, **options) as reader:
            batches: list[pa.RecordBatch] = []
            for batch in reader:
                batches.append(batch)
                read = BLOCK * len(batches)
                check_bytes_read(clock, read if size is None else min(read, size))
            return list(pa.Table.from_batches(batches, reader.schema).columns)


def arrow_options(
    separator: str,
    header: Header,
    kept: Sequence[int],
    invalid_row_handler: Callable[[Any], str] | None = None,
    **reading: Any,  # noqa: ANN401 (Arrow's own options)
) -> dict[str, Any]:
    """Options of Arrow's parser; columns are named by position, because names may hold any characters."""
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    positions = [str(i) for i in range(len(header.names))]
    return {
        "read_options": arrow_csv.ReadOptions(
            column_names=positions,
            skip_rows=header.blank_lines,
            skip_rows_after_names=1,
            encoding="utf8" if header.encoding == UTF8 else header.encoding,
            block_size=max(BLOCK, 64 * sum(len(name) + 8 for name in header.names)),
            **reading,
        ),
        "parse_options": arrow_csv.ParseOptions(
            delimiter=separator,
            newlines_in_values=True,
            # In a file of one column an empty line is an empty cell.
            ignore_empty_lines=len(positions) > 1,
            invalid_row_handler=invalid_row_handler,
        ),
        "convert_options": arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(positions, pa.string()),
            include_columns=[positions[i] for i in kept],
            strings_can_be_null=True,
            null_values=list(MISSING_WORDS),
        ),
    }


def native_source(file: Path, clock: Budget, *, is_checked: bool = False) -> pa.NativeFile:
    """Open a file for Arrow, whose threads then never run Python code: an error there could end the process.

    A compressed file is unpacked here, piece by piece, and refused if it becomes too large. What fits in
    memory is handed on; a larger file, or one that `is_checked`, is unpacked again by Arrow itself.
    """
    import pyarrow as pa

    if not is_packed(file):
        return pa.input_stream(str(file), compression=None)
    if is_checked:
        return pa.input_stream(str(file), compression="gzip")
    pieces: list[bytes] = []
    size = 0
    with open_bytes(file) as unpacked:
        while piece := unpacked.read(CHUNK):
            size += len(piece)
            check_bytes_read(clock, size)
            if size > UNPACKED_IN_MEMORY:
                pieces.clear()
            else:
                pieces.append(piece)
    if size > UNPACKED_IN_MEMORY:
        return pa.input_stream(str(file), compression="gzip")
    return pa.BufferReader(b"".join(pieces))


def refuse_ragged(file: Path, separator: str, header: Header) -> None:
    """Report the first row whose length differs from the header's; a second, serial pass finds its number."""
    found: list[Any] = []

    def remember(row: Any) -> str:  # noqa: ANN401 (Arrow's InvalidRow)
        found.append(row)
        return "skip" if len(found) == 1 else "error"

    import pyarrow as pa

    with contextlib.suppress(pa.ArrowInvalid):
        parse_delimited(file, separator, header, [0], use_threads=False, invalid_row_handler=remember)
    if found:
        row = found[0]
        number = row.number - 1 - header.blank_lines
        way_out = "correct that row, or quote a cell that holds the separator"
        if number == 1 and row.actual_columns == row.expected_columns + 1:
            way_out = (
                "if every row has one more, such as its number first or a separator at its end, put a "
                "separator there in the header too; otherwise correct that row"
            )
        raise DataError(
            f"data row {number} has {row.actual_columns} cells, but the header has {row.expected_columns} "
            f"names: {way_out}"
        )


def has_line_break(column: pa.ChunkedArray) -> bool:
    """Return True if a cell holds more than one line."""
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring(column, "\n")).as_py())


def refuse_open_quote(file: Path, separator: str, encoding: str) -> None:
    """Refuse a quote that is never closed, which would swallow rows; Python's strict parser finds it."""
    with io.TextIOWrapper(open_bytes(file), encoding=encoding, newline="") as text:
        reader = csv.reader(text, delimiter=separator, strict=True)
        try:
            for _ in reader:
                pass
        except csv.Error:
            raise DataError(
                f"a quote that opens before line {reader.line_num} is not closed: correct the quotes"
            ) from None
