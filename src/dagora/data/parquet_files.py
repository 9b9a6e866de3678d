"""Read a Parquet file that may have been written to do harm: it must not unpack to far more than its size.

A file of a few hundred bytes can hold one text of a megabyte and say that a million rows have it. Texts are
therefore read as dictionaries, which keep each text once; only when it is known how long the column becomes,
it is written out. Groups of rows are read one after the other: what was not announced is seen early, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

from dagora.data.columns.cells import is_text

if TYPE_CHECKING:
    import pyarrow as pa

Check = Callable[[int], None]
"""Refuses so many bytes, or does nothing."""


def read_parquet(file: Path, wanted: Collection[str], check: Check) -> pa.Table:
    """The wanted columns; `check` hears how many bytes they are at least, as soon as that is known."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as source:
        fields = [field for field in source.schema_arrow if field.name in wanted]
    texts = [field.name for field in fields if is_text(field.type)]
    schema = pa.schema([field.with_type(written_as(field.type)) for field in fields])
    with pq.ParquetFile(file, read_dictionary=texts) as source:
        stated = source.metadata
        groups, total = [], 0
        for k in range(stated.num_row_groups):
            columns = [stated.row_group(k).column(at) for at in range(stated.num_columns)]
            announced = sum(one.total_uncompressed_size for one in columns if one.path_in_schema in wanted)
            check(total + announced)
            group = source.read_row_group(k, columns=schema.names)
            total += sum(written_out(column) for column in group.columns)
            check(total)
            groups.append(group.cast(schema))
        return pa.concat_tables(groups) if groups else schema.empty_table()


def written_as(kind: pa.DataType) -> pa.DataType:
    """The type that a column is given: as in the file, but for views of texts, which are plain texts."""
    import pyarrow as pa

    return pa.string() if kind == pa.string_view() else kind


def written_out(column: pa.ChunkedArray) -> int:
    """Bytes of a column when every text is written out.

    >>> import pyarrow as pa
    >>> said = pa.chunked_array([pa.DictionaryArray.from_arrays([0, 0, 1, None], ["four", "a"])])
    >>> written_out(said) >= 9, written_out(said) < 60
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
