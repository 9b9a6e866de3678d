"""Read the columns of a Parquet, Feather or Arrow file; one that becomes far larger than it is is refused.

The file is parsed in a process of its own, which hands out its rows batch by batch. What a file states of
itself is checked before a row is asked for, and what it became with each batch.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dagora.base.errors import DataError
from dagora.base.memory import free_memory
from dagora.data.columns.cells import is_text
from dagora.data.columns.column_names import check_names, kept_positions
from dagora.data.columns.column_type import check_type
from dagora.data.file_limits import Limits, too_large
from dagora.data.file_process import damaged_file, file_process

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from dagora.data.columns.reading_options import ReadingOptions

FORMS = {".parquet": "parquet", ".feather": "ipc", ".arrow": "ipc"}
# Rows, and cells, that are handed out at a time: they bound the memory of a parser.
BATCH_ROWS = 1 << 17
BATCH_CELLS = 1 << 24


@dataclass(frozen=True)
class Description:
    """The content of a file by its own statement; `largest` is the size of its largest batch."""

    schema: pa.Schema
    rows: int | None
    cells: int
    bytes: int
    largest: int


def describe(file: Path, form: str) -> Description:
    """The schema, rows and sizes that a file states, read in a process of its own."""
    import pyarrow as pa

    with file_process() as process:
        said = process.ask("describe", file, memory=Limits.of(file).words_memory, form=form)
    try:
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(said["schema"])))
    except (pa.ArrowException, ValueError, OSError):
        raise damaged_file("its parser gave an odd answer") from None
    return Description(schema, said["rows"], said["cells"], said["bytes"], said["largest"])


def read_batches(
    file: Path, form: str, about: Description, places: Sequence[int], most_rows: int = BATCH_ROWS
) -> Iterator[pa.RecordBatch]:
    """The columns at some places, in the file's order; texts may come as words and places among them."""
    limits = Limits.of(file)
    with file_process() as process:
        memory = limits.batch_memory(about.largest)
        process.ask("batches", file, memory=memory, form=form, places=list(places), rows=most_rows)
        schema, batches = process.rows()
        if schema.names != [about.schema.names[place] for place in sorted(places)]:
            raise DataError("it changed while it was read: start again when nothing writes to it")
        words, before = 0, None
        for batch in batches:
            words += new_words(batch, before)
            if words > limits.cells:
                raise too_large(f"{words >> 20} MiB of levels")
            yield batch
            before = batch


def read_binary(file: Path, ending: str, reading: ReadingOptions) -> tuple[list[str], list[pa.ChunkedArray]]:
    """Read a Parquet, Feather or Arrow file; the unnamed index that pandas adds is no column."""
    import pyarrow as pa

    form = FORMS[ending]
    about = describe(file, form)
    names = check_names(about.schema.names)
    kept = columns_of(names, reading)
    limits = Limits.of(file)
    limits.check_cells(about.cells)
    if form == "ipc":
        limits.check_bytes(about.bytes)
    for place in kept:
        kind = about.schema.field(place).type
        if not pa.types.is_temporal(kind):  # those are left out
            check_type(names[place], kind)
    return [names[place] for place in kept], read_whole(file, form, about, kept).columns


def read_whole(file: Path, form: str, about: Description, kept: Sequence[int]) -> pa.Table:
    """The columns at some places; their size is checked with each batch."""
    import pyarrow as pa

    fields = [about.schema.field(place) for place in kept]
    schema = pa.schema([field.with_type(stored_type(field.type)) for field in fields])
    rows = max(1, min(BATCH_ROWS, BATCH_CELLS // max(1, len(kept))))
    parts, total, free, limits = [], 0, free_memory(), Limits.of(file)
    for batch in read_batches(file, form, about, kept, rows):
        total += sum(map(expanded_size, batch.columns))
        limits.check_bytes(total, free)
        parts.append(pa.Table.from_batches([batch]).cast(schema))
    return pa.concat_tables(parts) if parts else schema.empty_table()


def stored_type(kind: pa.DataType) -> pa.DataType:
    """The type that a column is given: as in the file, but for views of texts, which are plain texts."""
    import pyarrow as pa

    return pa.string() if kind == pa.string_view() else kind


def expanded_size(column: pa.Array) -> int:
    """Bytes of a column when every text is written out.

    >>> import pyarrow as pa
    >>> said = pa.DictionaryArray.from_arrays([0, 0, 1, None], ["four", "a"])
    >>> expanded_size(said) >= 9, expanded_size(said) < 60
    (True, True)
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_dictionary(column.type) and is_text(column.type.value_type)):
        return int(column.nbytes)
    sizes = pc.cast(pc.binary_length(column.dictionary), pa.int64())
    return (pc.sum(pc.take(sizes, column.indices)).as_py() or 0) + 4 * len(column)


def new_words(batch: pa.RecordBatch, before: pa.RecordBatch | None) -> int:
    """Bytes of the dictionaries of a batch that are not those of the batch before it.

    Each batch may bring others, of which rows need not use any word, and columns of categories keep them all.
    """
    import pyarrow as pa

    def address(column: pa.DictionaryArray) -> int:
        return max((part.address for part in column.dictionary.buffers() if part is not None), default=0)

    places = [place for place, kind in enumerate(batch.schema.types) if pa.types.is_dictionary(kind)]
    return sum(
        batch.column(place).dictionary.nbytes
        for place in places
        if before is None or address(batch.column(place)) != address(before.column(place))
    )


def columns_of(names: Sequence[str], reading: ReadingOptions) -> list[int]:
    """The positions of the columns to read; the unnamed index that pandas adds is none."""
    return [i for i in kept_positions(names, reading) if not names[i].startswith("__index_level_")]
