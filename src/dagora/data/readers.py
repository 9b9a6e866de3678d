"""Read a table from a file: CSV or TSV (also .gz), Parquet, Feather or Arrow, spreadsheets, Stata, SPSS, R.

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
from dagora.base.extras import CALAMINE, PYREADSTAT
from dagora.base.wording import by_door, option
from dagora.data import r_files, spreadsheets, statistics_files
from dagora.data.binary_files import read_binary
from dagora.data.columns.ingest import look_at, type_columns
from dagora.data.columns.overview import Overview
from dagora.data.columns.reading_options import ReadingOptions, takes_reading
from dagora.data.delimited_text import read_delimited
from dagora.data.foreign_files import no_such_file, not_utf8, refuse_foreign_content, refuse_foreign_ending
from dagora.data.header import find_separator, suggested_mark
from dagora.data.incomplete import IncompleteTable
from dagora.data.large_files import large_file
from dagora.data.made_tables import ReadTable, table_of, without_design
from dagora.data.program_parser import read_program_file
from dagora.data.raw_table import RawTable
from dagora.data.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
TEXT = (".txt", ".dat", ".data", ".asc", "")  # endings of text that does not say what separates its cells
WRITTEN = (*SEPARATORS, ".parquet", ".feather", ".arrow")  # what is written too
OF_PROGRAMS = (*spreadsheets.ENDINGS, *statistics_files.ENDINGS, *r_files.ENDINGS)
ENDINGS = (*WRITTEN, *OF_PROGRAMS)
IN_PARTS = (*spreadsheets.ENDINGS, ".rda", ".rdata")  # may hold several tables by name


@takes_reading()
def read_table(
    path: str | os.PathLike[str],
    **reading: Any,  # noqa: ANN401
) -> Table:
    r"""Read a table from a file.

    Parameters
    ----------
    path : path
        The ending of its name says the format: .csv .tsv .tab (also .gz), .parquet, .feather, .arrow, .xlsx
        .xls .ods (a sheet by `table`), .dta, .sav, .rds; with a `separator`, it is delimited text under any
        name.
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
    table = without_design(read_any(file, reading))
    if isinstance(table, IncompleteTable):
        raise OptionError(
            f"{option('missing', 'model')} cannot be used here, where complete rows are needed: drop rows "
            f"with missing values ({option('missing', 'drop')}), or make missing a level "
            f"({option('missing', 'level')})"
        )
    return table


def read_any(file: Path, reading: ReadingOptions) -> ReadTable:
    """Read a table that may have missing values or weights and groups of rows, as the options say."""
    with naming(file):
        raw = read_raw(file, reading)
        reading = raw.reading(reading)
        typed, overview = type_columns(
            raw.names, raw.columns, reading, text_cells=raw.text_cells, words_nulled=raw.words_nulled
        )
        return table_of(typed, with_source(overview, file, (*large_note(file), *raw.notes)))


def large_note(file: Path) -> list[str]:
    """A sentence on a file that takes much of the free memory."""
    large = large_file(file)
    sample = by_door(python="open_rows(file, sample=100000)", command="--sample 100000")
    return [] if large is None else [large.tell(f"it is read whole; {sample} reads some of its rows")]


def look_at_file(file: Path, reading: ReadingOptions) -> Overview:
    """Say how a file is understood, without refusing missing values."""
    with naming(file):
        raw = read_raw(file, reading)
        reading = raw.reading(reading)
        overview = look_at(
            raw.names, raw.columns, reading, text_cells=raw.text_cells, words_nulled=raw.words_nulled
        )
        return with_source(overview, file, raw.notes)


def column_names(file: Path, reading: ReadingOptions) -> list[str]:
    """The names of the columns of a file, whether or not all cells can be understood."""
    with naming(file):
        return read_raw(file, reading).names


def read_raw(file: Path, reading: ReadingOptions) -> RawTable:
    """The columns of a file as they stand there."""
    refuse_password(str(file))
    mark = check_separator(reading.separator)
    if mark is None:
        require_package(file)
    check_file(file)
    ending = table_format(file) if mark is None else ".csv"
    if ending in SEPARATORS:
        refuse_foreign_content(file)
    if reading.table is not None and ending not in IN_PARTS and ending not in r_files.ENDINGS:
        raise OptionError(f"{option('table')} goes with a spreadsheet or a database: leave it out")
    return read_columns(file, ending, mark, reading)


def require_package(file: Path) -> None:
    """Refuse a file of another program where the package that reads it is not installed."""
    ending = file.suffix.lower()
    if ending in spreadsheets.ENDINGS:
        CALAMINE.require("a spreadsheet")
    if ending in statistics_files.ENDINGS:
        PYREADSTAT.require(f"a file of {statistics_files.PROGRAMS[ending]}")


def with_source(overview: Overview, file: Path, notes: Sequence[str] = ()) -> Overview:
    """Add which file it was, and what its reader has to say."""
    said = (*notes, *overview.warnings)
    return replace(overview, source=file.name, sha256=fingerprint(file), warnings=said)


def check_separator(separator: str | None) -> str | None:
    """Refuse a separator that cannot be one; a tab may be written as it is in many programs."""
    if separator is None:
        return None
    mark = "\t" if separator == "\\t" else separator
    if len(mark) != 1 or mark in '"\r\n':
        raise OptionError(f"the separator must be one character, not {separator!r}")
    return mark


def read_columns(file: Path, ending: str, separator: str | None, reading: ReadingOptions) -> RawTable:
    """Read the columns of a file of a known format."""
    if ending in SEPARATORS:
        return read_delimited(file, separator or find_separator(file, SEPARATORS[ending]), reading)
    if ending in OF_PROGRAMS:
        return read_program_file(file, ending, reading)
    return RawTable(*read_binary(file, ending, reading))


def fingerprint(file: Path) -> str | None:
    """SHA-256 of a file, by which it can be recognised; None for a pipe, which cannot be read twice."""
    if not file.is_file():
        return None
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def file_format(path: str | os.PathLike[str], known: Sequence[str] = ENDINGS) -> str:
    """Return the ending that says the format of a file; only text may be compressed (`.gz`)."""
    name = Path(path).name.lower()
    ending = Path(name.removesuffix(".gz")).suffix
    if ending not in (SEPARATORS if name.endswith(".gz") else known):
        raise DataError(
            f"{path}: a table's name must end in {' '.join(known)} (text also in .gz); "
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
