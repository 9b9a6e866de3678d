"""Read the columns of a Parquet, Feather or Arrow file; one that becomes far larger than it is is refused.

A Parquet file of a few hundred bytes can hold one text of a megabyte and say that a million rows have it. Its
texts are therefore read as dictionaries, which keep each text once; only when it is known how long the column
becomes, it is written out. Groups of rows are read one after the other, so that sizes that the file did not
announce are seen early, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dagora.base.errors import DataError
from dagora.data.arrow_sizes import MAGIC, running_sizes
from dagora.data.columns.cells import is_text
from dagora.data.columns.column_names import check_names, kept_positions
from dagora.data.columns.column_type import check_type

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    import pyarrow as pa

    from dagora.data.columns.reading_options import ReadingOptions

# A file may always unpack to so many cells, and to so many for each of its bytes; a cell to so many bytes.
CELLS_FREELY = 1 << 26
CELLS_PER_BYTE = 64
BYTES_PER_CELL = 8


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


def read_parquet(file: Path, wanted: Collection[str], check: Callable[[int], None]) -> pa.Table:
    """The wanted columns; `check` is called with their size so far in bytes, and may refuse it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as source:
        fields = [field for field in source.schema_arrow if field.name in wanted]
    texts = [field.name for field in fields if is_text(field.type)]
    schema = pa.schema([field.with_type(stored_type(field.type)) for field in fields])
    with pq.ParquetFile(file, read_dictionary=texts) as source:
        stated = source.metadata
        groups, total = [], 0
        for k in range(stated.num_row_groups):
            columns = [stated.row_group(k).column(at) for at in range(stated.num_columns)]
            announced = sum(one.total_uncompressed_size for one in columns if one.path_in_schema in wanted)
            check(total + announced)
            group = source.read_row_group(k, columns=schema.names)
            total += sum(expanded_size(column) for column in group.columns)
            check(total)
            groups.append(group.cast(schema))
        return pa.concat_tables(groups) if groups else schema.empty_table()


def stored_type(kind: pa.DataType) -> pa.DataType:
    """The type that a column is given: as in the file, but for views of texts, which are plain texts."""
    import pyarrow as pa

    return pa.string() if kind == pa.string_view() else kind


def expanded_size(column: pa.ChunkedArray) -> int:
    """Bytes of a column when every text is written out.

    >>> import pyarrow as pa
    >>> said = pa.chunked_array([pa.DictionaryArray.from_arrays([0, 0, 1, None], ["four", "a"])])
    >>> expanded_size(said) >= 9, expanded_size(said) < 60
    (True, True)
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = 0
    for chunk in column.chunks:
        sizes = pc.cast(pc.binary_length(chunk.dictionary), pa.int64())
        lengths += pc.sum(pc.take(sizes, chunk.indices)).as_py() or 0
    return lengths + 4 * len(column)


def columns_of(names: Sequence[str], reading: ReadingOptions) -> list[int]:
    """The positions of the columns to read; the unnamed index that pandas adds is none."""
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
