"""The rows of an Arrow or Feather file, batch by batch; memory is that of one batch.

Arrow's scanner reads far ahead. So each batch of the file is asked for by its number, with the wanted columns
only. Where batches are large, as in files that are one batch from end to end, the file is mapped into memory
and rows are handed out in pieces; pages that were read are given back. That cannot be done with a batch
that is compressed: it is read whole.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dagora.base.errors import DataError
from dagora.data.arrow_sizes import MAGIC

if TYPE_CHECKING:
    import pyarrow as pa

    from dagora.data.file_questions import Rows

# Bytes of a batch, on average, up to which batches are read whole.
WHOLE_BATCH = 1 << 25


def open_ipc(
    handle: pa.NativeFile, places: Sequence[int] | None = None
) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
    """Open an Arrow file or stream, for the columns at some places or for all."""
    import pyarrow as pa

    handle.seek(0)
    magic = handle.read(len(MAGIC))
    handle.seek(0)
    if magic.startswith(b"FEA1"):
        raise DataError("this is a Feather file of version 1: write it again with a current pandas or Arrow")
    options = pa.ipc.IpcReadOptions(included_fields=None if places is None else list(places))
    make = pa.ipc.open_file if magic == MAGIC else pa.ipc.open_stream
    return make(handle, options=options)


def ipc_batches(file: Path, places: Sequence[int], most: int) -> Rows:
    """The columns at some places of a file, in its order, at most so many rows at a time."""
    import pyarrow as pa

    with pa.OSFile(str(file)) as raw:
        every = open_ipc(raw).schema
    return pa.schema([every.field(place) for place in sorted(places)]), pieces(file, sorted(places), most)


def pieces(file: Path, places: Sequence[int], most: int) -> Iterator[pa.RecordBatch]:
    """The same rows alone."""
    import pyarrow as pa

    with pa.OSFile(str(file)) as raw:
        source = open_ipc(raw, places)
        in_parts = isinstance(source, pa.RecordBatchFileReader)
        number = source.num_record_batches if in_parts else 0
        if number and raw.size() > WHOLE_BATCH * number and (mapped := MappedFile.of(file)) is not None:
            yield from mapped.batches(places, most)
            return
        for batch in map(source.get_batch, range(number)) if in_parts else source:
            for start in range(0, batch.num_rows, most):
                yield batch.slice(start, most)


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

    def batches(self, places: Sequence[int], most: int) -> Iterator[pa.RecordBatch]:
        """Some columns, at most so many rows at a time; each is there until the next is asked for."""
        for number in range(self._reader.num_record_batches):
            batch = self._reader.get_batch(number).select(list(places))
            for start in range(0, batch.num_rows, most):
                # What is mapped and no longer there would end the process.
                if self._pages.size() < self._bytes.size:
                    raise DataError("it was cut short while it was read")
                yield batch.slice(start, most)
                if hasattr(self._pages, "madvise"):  # not on all systems
                    self._pages.madvise(mmap.MADV_DONTNEED)  # pages are read again where they are needed
