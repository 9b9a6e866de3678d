"""The sizes that an Arrow file tells of itself, against what Arrow makes of it."""

import struct

import numpy as np
import pyarrow as pa
import pytest

from dagora.base.errors import DataError
from dagora.data import file_limits
from dagora.data.arrow_sizes import running_sizes
from dagora.data.readers import read_table

WORDS = pa.array(["low", "high"] * 500)
TABLES = {
    "numbers": pa.table({"a": np.arange(1000.0), "b": np.arange(1000)}),
    "words": pa.table({"a": WORDS, "b": np.arange(1000)}),
    "levels": pa.table({"a": WORDS.dictionary_encode(), "b": np.arange(1000)}),
    "holes": pa.table({"a": pa.array([1, None] * 500), "b": pa.nulls(1000)}),
    "no rows": pa.table({"a": np.zeros(0)}),
}


def write(path, table, compression, *, stream=False, rows=300):
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.OSFile(str(path), "wb") as sink, make(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rows)
    return path


@pytest.mark.parametrize("stream", [False, True], ids=["file", "stream"])
@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("name", TABLES)
def test_sizes_are_those_that_arrow_unpacks_to(tmp_path, name, compression, stream):
    table = TABLES[name]
    path = write(tmp_path / "t.arrow", table, compression, stream=stream)
    with pa.memory_map(str(path)) as handle:
        steps = list(running_sizes(handle))
    with pa.memory_map(str(path)) as handle:
        again = (pa.ipc.open_stream(handle) if stream else pa.ipc.open_file(handle)).read_all()
    cells = table.num_rows * table.num_columns
    levels = 2 if name == "levels" else 0
    last = steps[-1] if steps else None
    assert (last.cells if last else 0) == cells + levels
    # Arrow counts levels once for each batch, and does not count the padding of buffers.
    assert abs((last.bytes if last else 0) - again.nbytes) <= 64 * len(steps)


BOMBS = {
    "cells": pa.table({"a": np.zeros(2_000_000, dtype=np.int8)}),
    "no bytes at all": pa.table({"a": pa.nulls(2_000_000)}),
    "one long word": pa.table({"a": ["x" * 20_000_000]}),
    "a long level": pa.table({"a": pa.array(["x" * 20_000_000]).dictionary_encode()}),
}


@pytest.mark.parametrize("stream", [False, True], ids=["file", "stream"])
@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_cannot_become_huge(tmp_path, monkeypatch, name, stream):
    monkeypatch.setattr(file_limits, "CELLS_FREELY", 1 << 20)
    path = write(tmp_path / "bomb.feather", BOMBS[name], "zstd", stream=stream, rows=1 << 30)
    assert path.stat().st_size < 10_000
    before = pa.total_allocated_bytes()
    with pytest.raises(DataError, match=r"bomb.feather: it unpacks to \d+ (cells|MiB) or more"):
        read_table(path)
    assert pa.total_allocated_bytes() - before < 1 << 20


def test_a_batch_that_is_listed_often_counts_often(tmp_path, monkeypatch):
    monkeypatch.setattr(file_limits, "CELLS_FREELY", 1 << 20)
    path, batches = tmp_path / "t.feather", 300
    large, small = (pa.record_batch({"a": np.zeros(rows, dtype=np.int8)}) for rows in (200_000, 1))
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, large.schema) as writer:
        for batch in [large] + [small] * (batches - 1):
            writer.write_batch(batch)
    assert read_table(path, continuous="all").n_rows == 200_000 + batches - 1
    content = bytearray(path.read_bytes())
    # The list of batches is their number and 24 bytes for each: now all of them are the first one.
    at = content.rindex(struct.pack("<I", batches)) + 4
    content[at : at + 24 * batches] = content[at : at + 24] * batches
    path.write_bytes(bytes(content))
    with pytest.raises(DataError, match="cells or more"):
        read_table(path)


@pytest.mark.parametrize("step", [401, pytest.param(29, marks=pytest.mark.full)])
def test_a_damaged_description_is_one_line(tmp_path, step):
    path = write(tmp_path / "t.feather", TABLES["words"], "zstd")
    content = path.read_bytes()
    for place in range(0, len(content), step):
        broken = bytearray(content)
        broken[place : place + 4] = b"\xff\xff\xff\x7f"
        path.write_bytes(bytes(broken))
        try:
            read_table(path)
        except DataError as error:
            assert "\n" not in str(error)
