"""Rows in CSV and TSV files, also compressed, read block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dagora.base.budget import Budget
from dagora.base.errors import DataError
from dagora.data.delimited_text import arrow_options, native_source, refuse_ragged
from dagora.data.header import Header, read_header
from dagora.data.readers import naming
from dagora.data.scan.changes import state_of
from dagora.data.scan.path_columns import path_columns, with_path_values
from dagora.data.text_encoding import encoding_note, encoding_of

if TYPE_CHECKING:
    import pyarrow as pa


class DelimitedFiles:
    """CSV or TSV files with the same header, also compressed; all cells are text.

    Below `root`, parts such as `year=2024` of a path are columns, unless the files have one of that name.
    """

    text_cells = True

    def __init__(self, files: Sequence[Path], separator: str, root: Path | None = None) -> None:
        self._files, self.separator = files, separator
        # Files whose unpacked size was checked: once is enough, as a scan keeps only one block in memory.
        self._checked: set[Path] = set()
        self.title = str(files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more")
        self._headers: list[Header] = []
        notes: list[str] = []
        for file in files:
            with naming(file):
                header = read_header(file, separator, encoding_of(file))
                note = encoding_note(file, header.encoding)
                notes += [] if note is None or notes else [note]
                if self._headers and header.names != self._headers[0].names:
                    raise DataError(f"its header differs from that of {files[0]}")
            self._headers.append(header)
        self.notes = tuple(notes)
        self._path_values, kinds = path_columns(files, root)
        own = self._headers[0].names
        self._kinds = {name: kind for name, kind in kinds.items() if name not in own}

    def schema(self) -> pa.Schema:
        """The names; every type is text, but for numbers in paths."""
        import pyarrow as pa

        own = [(name, pa.string()) for name in self._headers[0].names]
        return pa.schema([*own, *self._kinds.items()])

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of some columns."""
        for file, header, values_in_path in zip(self._files, self._headers, self._path_values, strict=True):
            # A file without a column that is asked for still has rows.
            stored = [name for name in columns if name not in self._kinds] or list(header.names[:1])
            with naming(file):
                for batch in self._parse(file, header, stored):
                    yield with_path_values(batch, columns, values_in_path, self._kinds)

    def _parse(self, file: Path, header: Header, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        import pyarrow.csv as arrow_csv

        options = arrow_options(self.separator, header, [header.names.index(name) for name in columns])
        try:
            with (
                native_source(file, Budget(), is_checked=file in self._checked) as source,
                arrow_csv.open_csv(source, **options) as reader,
            ):
                self._checked.add(file)
                for batch in reader:
                    yield batch.rename_columns(list(columns))
        except pa.ArrowInvalid:
            refuse_ragged(file, self.separator, header)
            raise

    def state(self) -> object:
        """A value that changes when a file is written to."""
        return state_of(self._files)
