"""Rows in files: Parquet, Feather and Arrow, one file, several or a folder with partitions; CSV.

Only the columns that a round asks for are read.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dagora.base.errors import DataError, OptionError
from dagora.base.wording import col, option
from dagora.data.binary_files import BATCH_ROWS, FORMS, Description, describe, read_batches
from dagora.data.header import find_separator
from dagora.data.readers import OF_PROGRAMS, SEPARATORS, check_file, check_separator, naming, table_format
from dagora.data.scan.changes import state_of
from dagora.data.scan.delimited_files import DelimitedFiles
from dagora.data.scan.held_rows import HeldRows
from dagora.data.scan.path_columns import partition_root, path_columns, with_path_values

if TYPE_CHECKING:
    import pyarrow as pa

    from dagora.data.scan.row_source import RowSource


def open_files(place: str | Path, separator: str | None = None, table: str | None = None) -> RowSource:
    """The rows of a file, of all files in a folder, or of all that a pattern such as *.parquet names.

    `table` is the name of a sheet of a spreadsheet.
    """
    files = find_files(place)
    mark = check_separator(separator)
    endings = {format_of(file) if mark is None else ".csv" for file in files}
    if len(endings) > 1:
        raise DataError(
            f"{place}: there are files of several formats ({', '.join(sorted(endings))}): name those of one, "
            "such as '*.parquet'"
        )
    for file in files:
        with naming(file):
            check_file(file)
    ending = endings.pop()
    if ending in OF_PROGRAMS:
        if len(files) > 1:
            raise DataError(f"{place}: of {ending} files one is read at a time: name one of {len(files)}")
        return HeldRows(files[0], table)
    if table is not None:
        raise OptionError(f"{option('table')} goes with a spreadsheet or a database: leave it out")
    if ending in SEPARATORS:
        with naming(files[0]):
            separator = mark or find_separator(files[0], SEPARATORS[ending])
        return DelimitedFiles(files, separator, partition_root(place))
    return ArrowFiles(files, FORMS[ending], str(place), partition_root(place))


def format_of(file: Path) -> str:
    """The ending that says the format of a file."""
    with naming(file):
        return table_format(file)


def find_files(place: str | Path) -> list[Path]:
    """The files, sorted by name; at least one."""
    path = Path(place)
    if path.is_dir():
        # Names that begin with a dot or an underscore are notes of the programs that write such folders.
        files = [
            file
            for file in path.rglob("*")
            if file.is_file() and not any(part[0] in "._" for part in file.relative_to(path).parts)
        ]
        if not files:
            raise DataError(
                f"{place}: there is no file in this folder: name a file, or a folder of .csv files"
            )
    elif path.exists():
        files = [path]
    else:
        names = glob.glob(str(place), recursive=True)  # noqa: PTH207 - patterns may be absolute
        files = [Path(name) for name in names if Path(name).is_file()]
        if not files:
            raise DataError(f"{place}: there is no such file")
    return sorted(files)


class ArrowFiles:
    """Parquet, Feather or Arrow files with the same columns.

    Below `root`, parts such as `year=2024` of a path are columns.
    """

    text_cells = False

    def __init__(self, files: Sequence[Path], form: str, title: str, root: Path | None) -> None:
        self._files, self._form = files, form
        self.title = title
        self._about: list[Description] = []
        for file in files:
            with naming(file):
                self._about.append(describe(file, form))
                self._check_types(file)
        # Read by our own rules, so that they are those of CSV files too.
        self._path_values, kinds = path_columns(files, root)
        own = self._about[0].schema.names
        self._kinds = {name: kind for name, kind in kinds.items() if name not in own}

    def _check_types(self, file: Path) -> None:
        """Refuse a file that does not have the columns and types of the first one."""
        first, own = self._about[0].schema, self._about[-1].schema
        for name in dict.fromkeys([*first.names, *own.names]):
            if (name in first.names) != (name in own.names):
                here, there = (file, self._files[0]) if name in own.names else (self._files[0], file)
                raise DataError(f"{there}: there is no {col(name)}, which {here} has")
            one, other = first.field(name).type, own.field(name).type
            if one != other:
                raise DataError(
                    f"{file}: {col(name)} has the type {other}, but {one} in {self._files[0]}: "
                    "write them with the same type"
                )

    def schema(self) -> pa.Schema:
        """Names and types."""
        import pyarrow as pa

        own = [field for field in self._about[0].schema if not field.name.startswith("__index_level_")]
        return plain_text(pa.RecordBatch.from_pylist([], pa.schema([*own, *self._kinds.items()]))).schema

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of some columns, file by file."""
        for file, about, values_in_path in zip(self._files, self._about, self._path_values, strict=True):
            own = about.schema.names
            # A file without a column that is asked for still has rows.
            places = [own.index(name) for name in columns if name in own] or [0]
            with naming(file):
                for batch in read_batches(file, self._form, about, places, BATCH_ROWS):
                    yield with_path_values(batch, columns, values_in_path, self._kinds)

    def expected_rows(self) -> int | None:
        """The number of rows that Parquet files declare."""
        stated = [about.rows for about in self._about if about.rows is not None]
        return sum(stated) if self._form == "parquet" else None

    def state(self) -> object:
        """A value that changes when a file is written to."""
        return state_of(self._files)


def plain_text(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch whose views of text are text."""
    import pyarrow as pa

    if not any(pa.types.is_string_view(kind) for kind in batch.schema.types):
        return batch
    columns = [
        column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)
