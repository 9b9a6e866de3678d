"""Read a table from a file: CSV or TSV (also .gz), Parquet, Feather or Arrow.

Arrow's parallel parser reads delimited files as text; columns are typed afterwards, when all cells are known.
Names, levels and numbers are trimmed; empty lines are skipped. Any error about a file is one line that begins
with its name.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import zlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dagora.addresses import refuse_password
from dagora.data.arrow_sizes import MAGIC, running_sizes
from dagora.data.columns.cells import is_plain
from dagora.data.columns.column_names import check_names, kept_positions
from dagora.data.columns.column_type import check_type
from dagora.data.columns.ingest import look_at, type_columns
from dagora.data.columns.missing import MISSING_WORDS
from dagora.data.columns.overview import Overview
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.columns.reading_time import TimedFile, check_header
from dagora.data.foreign_files import (
    no_such_file,
    not_utf8,
    refuse_foreign_content,
    refuse_foreign_ending,
)
from dagora.data.header import Header, is_packed, open_bytes, read_header, suggested_mark
from dagora.data.incomplete import AnyTable, IncompleteTable, table_of
from dagora.data.parquet_files import read_parquet
from dagora.data.table import Table
from dagora.errors import DataError, OptionError
from dagora.events import Budget
from dagora.wording import option

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
TEXT = (".txt", ".dat", ".data", ".asc", "")  # endings of text that does not say what separates its cells
ENDINGS = (*SEPARATORS, ".parquet", ".feather", ".arrow")
BLOCK = 1 << 22
CELLS_FREELY = 1 << 26
CELLS_PER_BYTE = 64
BYTES_PER_CELL = 8


def read_table(
    path: str | os.PathLike[str],
    *,
    discrete: Iterable[str] = (),
    continuous: Iterable[str] = (),
    drop: Iterable[str] = (),
    missing: str = "error",
    na: str | Iterable[str] = "auto",
    discretise: str | None = None,
    bins: int | None = None,
    separator: str | None = None,
) -> Table:
    r"""Read a table; the ending of its name says the format, or `separator` says that it is delimited text.

    `discrete` and `continuous` override the type of columns ("all" stands for all others), `drop` leaves
    columns out. `missing` is "error", "drop" (leave out rows with a missing cell) or "level" (missing becomes
    a level of a discrete column). `na` is a list of words that mean missing, "none", or "auto": words such as
    NA and ? are then missing among numbers, and elsewhere if `missing` says what to do with them.
    `discretise` cuts continuous columns at their "mean", into equal "width"s or at "quantile"s, in `bins`
    intervals. How everything was understood is in the table's `overview`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "people.csv")
    ...     _ = file.write_text("id,smoker,weight\n1,yes,61.5\n2,no,80.0\n")
    ...     table = read_table(file, drop=["id"])
    >>> table.names, table.schema[0].levels, table.values(1)
    (('smoker', 'weight'), ('no', 'yes'), array([61.5, 80. ]))
    >>> print(table.overview)
    2 rows, 2 columns: 1 discrete, 1 continuous
      column  type        levels or range  missing  why
      smoker  discrete    no, yes                   text
      weight  continuous  61.5 to 80                numbers
    """
    reading = ReadingOptions(discrete, continuous, drop, missing, na, discretise, bins, separator)
    return read_as(Path(path), reading).announced()


def read_as(file: Path, reading: ReadingOptions) -> Table:
    """Read a table as `read_table` does, with reading options in one piece and without a warning."""
    table = read_any(file, reading)
    if isinstance(table, IncompleteTable):
        raise OptionError(f"{option('missing', 'model')} does not go with a table that may have no holes")
    return table


def read_any(file: Path, reading: ReadingOptions) -> AnyTable:
    """Read a table that may have holes, where the reading options say that they can be modelled."""
    with naming(file):
        names, columns, text = read_raw(file, reading)
        typed, overview = type_columns(names, columns, reading, text_cells=text, words_nulled=text)
        return table_of(typed, with_source(overview, file))


def look_at_file(file: Path, reading: ReadingOptions) -> Overview:
    """Say how a file is understood, without refusing missing cells."""
    with naming(file):
        names, columns, text = read_raw(file, reading)
        overview = look_at(names, columns, reading, text_cells=text, words_nulled=text)
        return with_source(overview, file)


def column_names(file: Path, reading: ReadingOptions) -> list[str]:
    """The names of the columns of a file, whether or not all cells can be understood."""
    with naming(file):
        return read_raw(file, reading)[0]


def read_raw(file: Path, reading: ReadingOptions) -> tuple[list[str], list[pa.ChunkedArray], bool]:
    """Names and raw columns of a file, and whether its cells are text."""
    refuse_password(str(file))
    mark = check_separator(reading.separator)
    check_file(file)
    ending = table_format(file) if mark is None else ".csv"
    if ending in SEPARATORS:
        refuse_foreign_content(file)
    names, columns = read_columns(file, ending, mark, reading)
    return names, columns, ending in SEPARATORS


def with_source(overview: Overview, file: Path) -> Overview:
    """Add which file it was."""
    return replace(overview, source=file.name, sha256=fingerprint(file))


def check_separator(separator: str | None) -> str | None:
    """Refuse a separator that cannot be one; a tab may be written as it is in many programs."""
    if separator is None:
        return None
    mark = "\t" if separator == "\\t" else separator
    if len(mark) != 1 or mark in '"\r\n':
        raise OptionError(f"the separator must be one character, not {separator!r}")
    return mark


def read_columns(
    file: Path, ending: str, separator: str | None, reading: ReadingOptions
) -> tuple[list[str], list[pa.ChunkedArray]]:
    """Read names and raw columns of a file of a known format."""
    if ending in SEPARATORS:
        return read_delimited(file, separator or SEPARATORS[ending], reading)
    return read_binary(file, ending, reading)


def fingerprint(file: Path) -> str | None:
    """SHA-256 of a file, by which it can be recognised; None for a pipe, which cannot be read twice."""
    if not file.is_file():
        return None
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def file_format(path: str | os.PathLike[str]) -> str:
    """Return the ending that says the format of a file; only text may be compressed (`.gz`)."""
    name = Path(path).name.lower()
    ending = Path(name.removesuffix(".gz")).suffix
    if ending not in (SEPARATORS if name.endswith(".gz") else ENDINGS):
        raise DataError(
            f"{path}: a table's name must end in {' '.join(ENDINGS)} (text also in .gz); "
            f"for delimited text under another name, say what separates the cells ({option('separator')})"
        )
    return ending


def table_format(file: Path) -> str:
    """The same for a file that is to be read: an error says what the file is, or what separates its cells."""
    name = file.name.lower().removesuffix(".gz")
    if not name.endswith(ENDINGS):
        refuse_foreign_ending(file)
        if Path(name).suffix in TEXT and file.is_file():
            raise DataError(
                "delimited text under this name needs to be told what separates the cells: try "
                f"{option('separator', suggested_mark(file))}"
            )
    return file_format(file)


@contextlib.contextmanager
def naming(file: Path) -> Iterator[None]:
    """Begin errors with the file's name, and turn failures to read it into a `DataError`."""
    import pyarrow as pa

    try:
        yield
    except DataError as problem:
        text = str(problem)
        raise DataError(text if text.startswith(str(file)) else f"{file}: {text}") from None
    except UnicodeDecodeError:
        raise DataError(f"{file}: {not_utf8(file)}") from None
    except PermissionError:
        raise DataError(
            f"{file}: you may not read it: ask its owner, or change its rights (chmod u+r)"
        ) from None
    except (OSError, EOFError, zlib.error, pa.ArrowException, csv.Error) as problem:
        raise DataError(
            f"{file}: the file cannot be read, it may be damaged: {' '.join(str(problem).split())}"
        ) from None


def check_file(file: Path) -> None:
    """Refuse a file that does not exist, is a folder, or is empty."""
    if not file.exists():
        raise DataError(no_such_file(file))
    if file.is_dir():
        raise DataError("it is a folder: name a file in it")
    if file.is_file() and not file.stat().st_size:
        raise DataError("the file is empty: a header and rows are needed")


def read_delimited(
    file: Path, separator: str, reading: ReadingOptions
) -> tuple[list[str], list[pa.ChunkedArray]]:
    """Read the columns as text; those to be dropped are skipped."""
    import pyarrow as pa

    header = read_header(file, separator)
    kept = kept_positions(header.names, reading)
    try:
        check_header(reading.clock, len(kept))
        columns = parse_delimited(file, separator, header, kept, clock=reading.clock)
    except pa.ArrowInvalid as problem:
        if "invalid UTF8" in str(problem):
            raise DataError(not_utf8(file)) from None
        refuse_ragged(file, separator, header)
        if "straddling" in str(problem):
            raise DataError("a line is too long, or a quote is not closed: check the quotes") from None
        raise
    if any(not is_plain(column) and has_line_break(column) for column in columns):
        refuse_open_quote(file, separator)
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
    """Parse the file with Arrow; columns are named by position, because names may hold any characters."""
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    positions = [str(i) for i in range(len(header.names))]
    handler = reading.pop("invalid_row_handler", None)
    with contextlib.ExitStack() as stack:
        if is_packed(file) or (clock is not None and clock.limit is not None):
            timed = TimedFile(stack.enter_context(open_bytes(file)), clock or Budget())
            stack.callback(timed.check)  # before anything is made of an error about the part that was read
            source = pa.PythonFile(timed, mode="r")
        else:
            source = stack.enter_context(pa.input_stream(str(file)))
        table = arrow_csv.read_csv(
            source,
            read_options=arrow_csv.ReadOptions(
                column_names=positions,
                skip_rows=header.blank_lines,
                skip_rows_after_names=1,
                block_size=max(BLOCK, 64 * sum(len(name) + 8 for name in header.names)),
                **reading,
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=separator,
                newlines_in_values=True,
                # In a file of one column an empty line is an empty cell.
                ignore_empty_lines=len(positions) > 1,
                invalid_row_handler=handler,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(positions, pa.string()),
                include_columns=[positions[i] for i in kept],
                strings_can_be_null=True,
                null_values=list(MISSING_WORDS),
            ),
        )
    return list(table.columns)


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
    """Whether a cell holds more than one line."""
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring(column, "\n")).as_py())


def refuse_open_quote(file: Path, separator: str) -> None:
    """Refuse a quote that is never closed, which would swallow rows; Python's strict parser finds it."""
    with io.TextIOWrapper(open_bytes(file), encoding="utf-8-sig", newline="") as text:
        reader = csv.reader(text, delimiter=separator, strict=True)
        try:
            for _ in reader:
                pass
        except csv.Error:
            raise DataError(
                f"a quote that opens before line {reader.line_num} is not closed: correct the quotes"
            ) from None


def read_binary(file: Path, ending: str, reading: ReadingOptions) -> tuple[list[str], list[pa.ChunkedArray]]:
    """Read a Parquet, Feather or Arrow file; the unnamed index that pandas adds is no column."""
    import pyarrow as pa

    if ending == ".parquet":
        return read_checked_parquet(file, reading)
    with pa.OSFile(str(file)) as handle:
        magic = handle.read(len(MAGIC))
        handle.seek(0)
        if magic.startswith(b"FEA1"):
            raise DataError(
                "this is a Feather file of version 1: write it again with a current pandas or Arrow"
            )
        source = pa.ipc.open_file(handle) if magic == MAGIC else pa.ipc.open_stream(handle)
        names = check_names(source.schema.names)
        kept = columns_of(names, reading)
        check_sizes(file)
        table = source.read_all()
        # Arrow takes the places of words and levels as the file states them; wrong ones would crash it.
        table.validate(full=True)
    return [names[i] for i in kept], [table.column(i) for i in kept]


def read_checked_parquet(file: Path, reading: ReadingOptions) -> tuple[list[str], list[pa.ChunkedArray]]:
    """Read a Parquet file; what cannot be used, or becomes far larger than it is, is refused before that."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as source:
        schema, rows = source.schema_arrow, source.metadata.num_rows
    names = check_names(schema.names)
    kept = columns_of(names, reading)
    check_cells(rows * len(names), file)
    for i in kept:
        kind = schema.field(i).type
        if not pa.types.is_temporal(kind):  # those are left out
            check_type(names[i], kind)
    table = read_parquet(file, [schema.names[i] for i in kept], lambda size: check_bytes(size, file))
    return [names[i] for i in kept], list(table.columns)


def columns_of(names: Sequence[str], reading: ReadingOptions) -> list[int]:
    """Which columns are looked at; the unnamed index that pandas adds is none."""
    return [i for i in kept_positions(names, reading) if not names[i].startswith("__index_level_")]


def check_sizes(file: Path) -> None:
    """Refuse an Arrow or Feather file that becomes far larger than it is, before a batch is unpacked."""
    import pyarrow as pa

    with pa.memory_map(str(file)) as handle:
        for sizes in running_sizes(handle):
            check_cells(sizes.cells, file)
            check_bytes(sizes.bytes, file)


def check_bytes(size: int, file: Path) -> None:
    """Refuse a file that becomes far more bytes than it is."""
    if size > BYTES_PER_CELL * most_cells(file):
        raise too_large(f"{size >> 20} MiB")


def check_cells(cells: int, file: Path) -> None:
    """Refuse a file that says of itself that it becomes far larger than it is."""
    if cells > most_cells(file):
        raise too_large(f"{cells} cells")


def most_cells(file: Path) -> int:
    """Cells that a file of this size may unpack to."""
    return max(CELLS_FREELY, CELLS_PER_BYTE * file.stat().st_size)


def too_large(size: str) -> DataError:
    """The error about a file that is far larger than it looks."""
    return DataError(
        f"it unpacks to {size} or more, far more than its size: if you trust it, write it again as .csv "
        "and give that file"
    )
