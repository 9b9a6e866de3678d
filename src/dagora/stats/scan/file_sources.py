"""Rows in files: Parquet, Feather and Arrow, one file, several or a folder with partitions; CSV.

Only the columns that a round asks for are read. A file that changed since it was opened is noticed by its
size and the time of its last change.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dagora.data.columns.cells import is_text
from dagora.data.columns.missing import MISSING_WORDS
from dagora.data.header import Header, open_bytes, read_header
from dagora.data.readers import (
    BLOCK,
    SEPARATORS,
    check_file,
    check_separator,
    naming,
    refuse_ragged,
    table_format,
)
from dagora.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as ds

    from dagora.stats.scan.row_source import RowSource

# Rows that Arrow hands out at a time, and batches that it reads ahead: they bound its memory.
BATCH_ROWS, BATCHES_AHEAD = 1 << 17, 2
# What is read of a column of a Parquet file at a time.
BUFFER_BYTES = 1 << 16
FORMATS = {".parquet": "parquet", ".feather": "feather", ".arrow": "feather"}


def open_files(place: str | Path, separator: str | None = None) -> RowSource:
    """The rows of a file, of all files in a folder, or of all that a pattern such as *.parquet names."""
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
    if ending in SEPARATORS:
        return DelimitedFiles(files, mark or SEPARATORS[ending])
    return ArrowFiles(files, FORMATS[ending], str(place), partition_root(place))


def format_of(file: Path) -> str:
    """The ending that says the format of a file."""
    with naming(file):
        return table_format(file)


def partition_root(place: str | Path) -> Path | None:
    """The folder below which parts of paths are columns: a folder itself, of a pattern what has no wildcard.

    >>> str(partition_root("sales/*/part-*.parquet"))
    'sales'
    """
    path = Path(place)
    if path.is_dir():
        return path
    if path.exists():
        return None
    parts = path.parts
    fixed = next((i for i, part in enumerate(parts) if glob.has_magic(part)), len(parts) - 1)
    return Path(*parts[:fixed])


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


def state_of(files: Sequence[Path]) -> tuple[tuple[str, int, int], ...]:
    """Size and time of the last change of each file."""
    found = []
    for file in files:
        with naming(file):
            about = file.stat()
        found.append((str(file), about.st_size, about.st_mtime_ns))
    return tuple(found)


class ArrowFiles:
    """Parquet, Feather or Arrow files with the same columns.

    Below `root`, parts such as `year=2024` of a path are columns.
    """

    text_cells = False

    def __init__(self, files: Sequence[Path], form: str, title: str, root: Path | None) -> None:
        import pyarrow.dataset as ds

        self._files = files
        self.title = title
        with naming(files[0]):
            self._dataset: ds.Dataset = ds.dataset(
                [str(file) for file in files],
                format=form,
                partitioning="hive" if root else None,
                partition_base_dir=str(root) if root else None,
            )
        self._check_types()
        self._parts = list(zip(files, self._dataset.get_fragments(), strict=True))
        self._words: list[str] = []
        if form == "parquet":
            own = self._parts[0][1].physical_schema
            self._words = [field.name for field in own if is_text(field.type)]
        self._form = form

    def _check_types(self) -> None:
        """Refuse files that do not have the columns and types of the first one."""
        first: pa.Schema | None = None
        for file, fragment in zip(self._files, self._dataset.get_fragments(), strict=True):
            with naming(file):
                own = fragment.physical_schema
            if first is None:
                first = own
                continue
            for name in dict.fromkeys([*first.names, *own.names]):
                if (name in first.names) != (name in own.names):
                    here, there = (file, self._files[0]) if name in own.names else (self._files[0], file)
                    raise DataError(f"{there}: there is no column '{name}', which {here} has")
                one, other = first.field(name).type, own.field(name).type
                if one != other:
                    raise DataError(
                        f"{file}: column '{name}' has the type {other}, but {one} in {self._files[0]}: "
                        "write them with the same type"
                    )

    def schema(self) -> pa.Schema:
        """Names and types."""
        import pyarrow as pa

        own = [field for field in self._dataset.schema if not field.name.startswith("__index_level_")]
        return plain_text(pa.RecordBatch.from_pylist([], pa.schema(own))).schema

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of some columns, file by file."""
        for file, fragment in self._parts:
            with naming(file):
                if self._form == "parquet":
                    batches = self._parquet_batches(file, fragment, list(columns))
                else:
                    batches = self._dataset_batches(fragment, list(columns))
                yield from map(plain_text, batches)

    def _dataset_batches(self, fragment: ds.Fragment, columns: list[str]) -> Iterator[pa.RecordBatch]:
        yield from fragment.to_batches(
            schema=self._dataset.schema,
            columns=columns,
            batch_size=BATCH_ROWS,
            batch_readahead=BATCHES_AHEAD,
            fragment_readahead=1,
        )

    def _parquet_batches(
        self, file: Path, fragment: ds.Fragment, columns: list[str]
    ) -> Iterator[pa.RecordBatch]:
        """The rows of a Parquet file, decoded batch by batch; text comes as words and places among them.

        Arrow's scanner decodes whole row groups, and several ahead: far more memory than the rows it hands
        out.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        own = fragment.physical_schema
        stored = [name for name in columns if name in own.names]
        said = partition_keys(fragment)
        with pq.ParquetFile(
            file,
            read_dictionary=[name for name in stored if name in self._words],
            pre_buffer=False,
            buffer_size=BUFFER_BYTES,
        ) as rows:
            # A file without a column that is asked for still has rows.
            read = stored or [own.names[0]]
            for batch in rows.iter_batches(batch_size=BATCH_ROWS, columns=read):
                arrays = [
                    batch.column(name)
                    if name in own.names
                    else repeated(said.get(name), self._dataset.schema.field(name).type, batch.num_rows)
                    for name in columns
                ]
                yield pa.RecordBatch.from_arrays(arrays, columns)

    def state(self) -> object:
        """Sizes and times of the files."""
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


def partition_keys(fragment: ds.Fragment) -> dict[str, Any]:
    """What the path of a file says about its rows, such as year=2024."""
    import pyarrow.dataset as ds

    return dict(ds.get_partition_keys(fragment.partition_expression))


def repeated(value: Any, kind: pa.DataType, rows: int) -> pa.Array:  # noqa: ANN401 - of any type
    """A column that is the same in all rows; text as one word and places."""
    import pyarrow as pa

    if value is None:
        return pa.nulls(rows, kind)
    if is_text(kind):
        return pa.DictionaryArray.from_arrays(
            pa.array(np.zeros(rows, dtype=np.int32)), pa.array([value], kind)
        )
    return pa.repeat(pa.scalar(value, kind), rows)


class DelimitedFiles:
    """CSV or TSV files with the same header, also compressed; all cells are text."""

    text_cells = True

    def __init__(self, files: Sequence[Path], separator: str) -> None:
        self._files, self._separator = files, separator
        self.title = str(files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more")
        self._headers: list[Header] = []
        for file in files:
            with naming(file):
                header = read_header(file, separator)
                if self._headers and header.names != self._headers[0].names:
                    raise DataError(f"its header differs from that of {files[0]}")
            self._headers.append(header)

    def schema(self) -> pa.Schema:
        """The names; every type is text."""
        import pyarrow as pa

        return pa.schema([(name, pa.string()) for name in self._headers[0].names])

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of some columns."""
        for file, header in zip(self._files, self._headers, strict=True):
            with naming(file):
                yield from self._parse(file, header, columns)

    def _parse(self, file: Path, header: Header, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        import pyarrow.csv as arrow_csv

        positions = [str(i) for i in range(len(header.names))]
        wanted = [positions[header.names.index(name)] for name in columns]
        try:
            with (
                open_bytes(file) as raw,
                arrow_csv.open_csv(
                    pa.PythonFile(raw, mode="r"),
                    read_options=arrow_csv.ReadOptions(
                        column_names=positions,
                        skip_rows=header.blank_lines,
                        skip_rows_after_names=1,
                        block_size=max(BLOCK, 64 * sum(len(name) + 8 for name in header.names)),
                    ),
                    parse_options=arrow_csv.ParseOptions(
                        delimiter=self._separator,
                        newlines_in_values=True,
                        ignore_empty_lines=len(positions) > 1,
                    ),
                    convert_options=arrow_csv.ConvertOptions(
                        column_types=dict.fromkeys(positions, pa.string()),
                        include_columns=wanted,
                        strings_can_be_null=True,
                        null_values=list(MISSING_WORDS),
                    ),
                ) as reader,
            ):
                for batch in reader:
                    yield batch.rename_columns(list(columns))
        except pa.ArrowInvalid:
            refuse_ragged(file, self._separator, header)
            raise

    def state(self) -> object:
        """Sizes and times of the files."""
        return state_of(self._files)
