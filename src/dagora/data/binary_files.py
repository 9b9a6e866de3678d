"""Read the columns of a Parquet, Feather or Arrow file; one that becomes far larger than it is is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dagora.base.errors import DataError
from dagora.data.arrow_sizes import MAGIC, running_sizes
from dagora.data.columns.column_names import check_names, kept_positions
from dagora.data.columns.column_type import check_type
from dagora.data.parquet_files import read_parquet

if TYPE_CHECKING:
    from collections.abc import Sequence
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
