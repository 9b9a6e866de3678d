"""The rows of an Arrow or Feather file, batch by batch; memory is that of one batch.

Arrow's scanner reads far ahead. So each batch of the file is asked for by its number, with the wanted columns
only. Where batches are large, as in files that are one batch from end to end, the file is mapped into memory
and rows are copied out of it in pieces; pages that were read are given back. That cannot be done with a batch
that is compressed: it is read whole.
"""

from __future__ import annotations

import mmap
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dagora.base.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

# Bytes of a batch, on average, up to which batches are read whole.
WHOLE_BATCH = 1 << 25


def ipc_batches(
    file: Path, columns: Sequence[str], most: int, fresh: Collection[str]
) -> Iterator[pa.RecordBatch]:
    """Some columns of a file, at most so many rows at a time.

    Those that are `fresh` are checked: a damaged file may say that texts are where there are none.
    """
    import pyarrow as pa

    with pa.OSFile(str(file)) as raw:
        reader = pa.ipc.open_file(raw)
        number = reader.num_record_batches
        if number and raw.size() > WHOLE_BATCH * number and (mapped := MappedFile.of(file)) is not None:
            yield from mapped.batches(columns, most, fresh)
            return
        places = [reader.schema.get_field_index(name) for name in columns]
        some = pa.ipc.open_file(raw, options=pa.ipc.IpcReadOptions(included_fields=places))
        for place in range(number):
            batch = check_batch(some.get_batch(place), fresh)
            if batch.num_rows <= most:
                yield batch
                continue
            for start in range(0, batch.num_rows, most):
                yield copy_batch(batch.slice(start, most))


def check_batch(batch: pa.RecordBatch, fresh: Collection[str]) -> pa.RecordBatch:
    """A batch, once Arrow has found nothing wrong with some of its columns."""
    for name in fresh:
        batch.column(name).validate(full=True)
    return batch


def copy_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A part of a batch, in memory of its own."""
    import pyarrow as pa

    # What is joined is copied, even to nothing.
    columns = [pa.concat_arrays([column.slice(0, 0), column]) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


class MappedFile:
    """A file whose batches are parts of it as it is, mapped into memory."""

    def __init__(self, file: Path) -> None:
        import pyarrow as pa

        with file.open("rb") as raw:
            # Closed when nothing refers to it.
            self._pages = mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ)
        self._bytes = pa.py_buffer(self._pages)
        self._reader = pa.ipc.open_file(pa.BufferReader(self._bytes))

    @classmethod
    def of(cls, file: Path) -> MappedFile | None:
        """The file, unless its first batch has to be unpacked."""
        found = cls(file)
        first = found._reader.get_batch(0)
        first_byte, size = found._bytes.address, found._bytes.size
        buffers = [part for column in first.columns for part in column.buffers() if part is not None]
        return found if all(0 <= part.address - first_byte < size for part in buffers if part.size) else None

    def batches(self, columns: Sequence[str], most: int, fresh: Collection[str]) -> Iterator[pa.RecordBatch]:
        """Some columns, at most so many rows at a time, in memory of their own."""
        for number in range(self._reader.num_record_batches):
            batch = self._reader.get_batch(number).select(list(columns))
            for start in range(0, batch.num_rows, most):
                # What is mapped and no longer there would end the process.
                if self._pages.size() < self._bytes.size:
                    raise DataError("it was cut short while it was read")
                yield copy_batch(check_batch(batch.slice(start, most), fresh))
                if hasattr(self._pages, "madvise"):  # not on all systems
                    self._pages.madvise(mmap.MADV_DONTNEED)  # pages are read again where they are needed
