"""Read a table from a file: CSV or TSV (also .gz), Parquet, Feather or Arrow.

Columns are typed when all cells are known. Names, levels and numbers are trimmed. Any error about a file is
one line that begins with its name.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import os
import zlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dagora.base.addresses import refuse_password
from dagora.base.errors import DataError, OptionError
from dagora.base.wording import option
from dagora.data.binary_files import read_binary
from dagora.data.columns.ingest import look_at, type_columns
from dagora.data.columns.overview import Overview
from dagora.data.columns.reading_options import ReadingOptions, takes_reading
from dagora.data.delimited_text import read_delimited
from dagora.data.foreign_files import no_such_file, not_utf8, refuse_foreign_content, refuse_foreign_ending
from dagora.data.header import find_separator, suggested_mark
from dagora.data.incomplete import AnyTable, IncompleteTable, table_of
from dagora.data.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
TEXT = (".txt", ".dat", ".data", ".asc", "")  # endings of text that does not say what separates its cells
ENDINGS = (*SEPARATORS, ".parquet", ".feather", ".arrow")


@takes_reading()
def read_table(
    path: str | os.PathLike[str],
    **reading: Any,  # noqa: ANN401
) -> Table:
    r"""Read a table from a file.

    Parameters
    ----------
    path : path
        The ending of its name says the format: .csv .tsv .tab (also .gz), .parquet, .feather, .arrow; with a
        `separator`, it is delimited text under any name.
    {reading}

    Returns
    -------
    Table
        How everything was understood is in its `.overview`.

    Examples
    --------
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
    if not isinstance(path, str | os.PathLike):
        raise DataError(
            f"read_table reads a file, not an object of type {type(path).__name__}: Table.from_frame takes a "
            "data frame, Table.from_numpy a matrix"
        )
    return read_as(Path(path), ReadingOptions(**reading)).announced()


def read_as(file: Path, reading: ReadingOptions) -> Table:
    """Read a table as `read_table` does, with reading options in one piece and without a warning."""
    table = read_any(file, reading)
    if isinstance(table, IncompleteTable):
        raise OptionError(
            f"{option('missing', 'model')} cannot be used here, where complete rows are needed: drop rows "
            f"with missing values ({option('missing', 'drop')}), or make missing a level "
            f"({option('missing', 'level')})"
        )
    return table


def read_any(file: Path, reading: ReadingOptions) -> AnyTable:
    """Read a table that may have missing values, where the reading options say that they can be modelled."""
    with naming(file):
        names, columns, text = read_raw(file, reading)
        typed, overview = type_columns(names, columns, reading, text_cells=text, words_nulled=text)
        return table_of(typed, with_source(overview, file))


def look_at_file(file: Path, reading: ReadingOptions) -> Overview:
    """Say how a file is understood, without refusing missing values."""
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
        return read_delimited(file, separator or find_separator(file, SEPARATORS[ending]), reading)
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
        text = problem.text
        raise problem.with_text(text if text.startswith(str(file)) else f"{file}: {text}") from None
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
