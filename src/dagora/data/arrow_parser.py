"""Parse Parquet, Feather and Arrow files, in a process of their own: what they hold, and their rows.

A file of a few hundred bytes can hold one text of a megabyte and say that a million rows have it. Texts of
Parquet files and views of texts are therefore handed out as dictionaries, which keep each text once. Rows are
decoded batch by batch, so that memory does not depend on what a file says of itself.
"""

from __future__ import annotations

import base64
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dagora.base.errors import DataError
from dagora.data.arrow_sizes import running_sizes
from dagora.data.columns.cells import is_text
from dagora.data.ipc_files import ipc_batches, open_ipc

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from dagora.data.file_questions import Answer, Question, Rows

BUFFER_BYTES = 1 << 16  # what is read of a column of a Parquet file at a time


def answer_description(question: Question) -> Answer:
    """The schema, rows and sizes that a Parquet or Arrow file states."""
    file = Path(question["file"])
    return (describe_parquet(file) if question["form"] == "parquet" else describe_ipc(file)), None


def answer_note(question: Question) -> Answer:
    """A text among the metadata of a Parquet file; empty where it is not there."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(question["file"]) as source:
        known = source.metadata.metadata or {}
    return {"note": known.get(question["key"].encode(), b"").decode()}, None


def describe_parquet(file: Path) -> dict[str, Any]:
    """The schema, rows and sizes that a Parquet file states."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as source:
        stated, schema = source.metadata, source.schema_arrow
        sizes = [stated.row_group(k).total_byte_size for k in range(stated.num_row_groups)]
        return {
            "schema": schema_text(schema),
            "rows": stated.num_rows,
            "cells": stated.num_rows * len(schema),
            "bytes": sum(sizes),
            "largest": max(sizes, default=0),
        }


def describe_ipc(file: Path) -> dict[str, Any]:
    """The schema of a Feather or Arrow file, and the sizes of its batches."""
    import pyarrow as pa

    with pa.memory_map(str(file)) as handle:
        schema = open_ipc(handle).schema
        sizes = [(0, 0), *((each.cells, each.bytes) for each in running_sizes(handle))]
    largest = max((after[1] - before[1] for before, after in pairwise(sizes)), default=0)
    cells, total = sizes[-1]
    return {"schema": schema_text(schema), "rows": None, "cells": cells, "bytes": total, "largest": largest}


def schema_text(schema: pa.Schema) -> str:
    """A schema as text, without what its writer adds to it."""
    return base64.b64encode(schema.remove_metadata().serialize()).decode()


def answer_batches(question: Question) -> Answer:
    """The rows of some columns, at most so many at a time."""
    file, most = Path(question["file"]), question["rows"]
    read = parquet_batches if question["form"] == "parquet" else ipc_batches
    schema, batches = read(file, question["places"], most)
    schema = words_schema(schema)
    return {}, (schema, (validate_batch(batch, schema) for batch in batches))


def parquet_batches(file: Path, places: Sequence[int], most: int) -> Rows:
    """The rows of a Parquet file, decoded batch by batch; text comes as words and places among them.

    Arrow's scanner decodes whole row groups, and several ahead: far more memory than the rows it hands out.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    own = pq.read_schema(file)
    fields = [own.field(place) for place in sorted(places)]
    words = [field.name for field in fields if is_text(field.type)]
    source = pq.ParquetFile(file, read_dictionary=words, pre_buffer=False, buffer_size=BUFFER_BYTES)
    names = [field.name for field in fields]

    def batches() -> Iterator[pa.RecordBatch]:
        with source:
            left = source.metadata.num_rows
            for batch in source.iter_batches(batch_size=most, columns=names):
                left -= batch.num_rows
                # Arrow takes the column "a.b" for the part b of a column a, too.
                yield batch if batch.schema.names == names else batch.select(names)
            if left:
                raise DataError("the file is damaged: it does not have as many rows as it states")

    return pa.schema([source.schema_arrow.field(name) for name in names]), batches()


def words_schema(schema: pa.Schema) -> pa.Schema:
    """A schema in which views of texts are words and places among them."""
    import pyarrow as pa

    words = pa.dictionary(pa.int32(), pa.string())
    return pa.schema([
        field.with_type(words) if pa.types.is_string_view(field.type) else field for field in schema
    ])  # fmt: skip


def validate_batch(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch in which Arrow has found nothing wrong, of a schema without views of texts.

    A damaged file may say that texts are where there are none; what takes them as they are would crash.
    """
    import pyarrow as pa

    batch.validate(full=True)
    columns = [
        column if column.type == field.type else words_of(column)
        for column, field in zip(batch.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def words_of(column: pa.Array) -> pa.DictionaryArray:
    """Views of texts as words and places among them.

    >>> import pyarrow as pa
    >>> words_of(pa.array(["ab", None, "ab"], pa.string_view())).dictionary.to_pylist()
    ['ab']
    """
    import pyarrow as pa

    found = column.dictionary_encode()
    return pa.DictionaryArray.from_arrays(found.indices, found.dictionary.cast(pa.string()))
