"""Compressed text is unpacked in the calling thread, within its limits: Arrow's threads never run Python."""

import gzip
import threading

import pyarrow as pa
import pytest

import dagora
from dagora.base import files
from dagora.base.budget import Budget
from dagora.base.errors import DataError
from dagora.data import delimited_text
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.readers import read_any
from dagora.data.scan.file_sources import open_files

DOORS = ["memory", "limited", "scanned"]


def read_rows(file, door):
    """The rows of a file as tuples of text, read in memory, with a time limit, or as a scan."""
    if door == "scanned":
        source = open_files(file)
        assert [batch.num_rows for batch in source.batches(["a"])]
        batches = source.batches(["a", "b"])
    else:
        clock = Budget(1000.0) if door == "limited" else Budget()
        table = read_any(file, ReadingOptions(discrete="all", clock=clock))
        names = [variable.levels for variable in table.schema]
        return [
            tuple(names[k][code] for k, code in enumerate(row)) for row in zip(*table.columns, strict=True)
        ]
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


@pytest.fixture
def readers(monkeypatch):
    """The threads in which Python reads; a Python file may not be handed to Arrow."""
    threads = set()
    plain = files._PackedContent.readinto

    def readinto(self, buffer):
        threads.add(threading.get_ident())
        return plain(self, buffer)

    monkeypatch.setattr(files._PackedContent, "readinto", readinto)
    monkeypatch.setattr(pa, "PythonFile", lambda *_, **__: pytest.fail("Arrow would call Python"))
    return threads


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("limit", [1 << 26, 1000], ids=["once", "twice"])
def test_rows_are_those_of_the_plain_file(tmp_path, monkeypatch, readers, door, limit):
    monkeypatch.setattr(delimited_text, "UNPACKED_IN_MEMORY", limit)
    text = b"a,b\n" + b"".join(b"x%d,y%d\n" % (k % 7, k % 5) for k in range(20_000))
    plain, packed = tmp_path / "t.csv", tmp_path / "t.csv.gz"
    plain.write_bytes(text)
    packed.write_bytes(gzip.compress(text[:100]) + gzip.compress(text[100:]))
    assert read_rows(packed, door) == read_rows(plain, door) == read_rows(plain, "memory")
    assert readers == {threading.get_ident()}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", ["bomb", "cut", "ragged"])
def test_errors_are_raised_in_the_thread_that_asks(tmp_path, monkeypatch, readers, door, kind):
    monkeypatch.setattr(files, "UNPACKED_FREELY", 1 << 20)
    file = tmp_path / "t.csv.gz"
    rows = b"1,2,3\n" if kind == "ragged" else b"1,2\n"
    content = gzip.compress(b"a,b\n" + rows * (1 << 20 if kind == "bomb" else 1 << 14))
    file.write_bytes(content[:-20] if kind == "cut" else content)
    message = {"bomb": "unpacks to more than 1 MiB", "cut": "it may be damaged", "ragged": "has 3 cells"}[
        kind
    ]
    with pytest.raises(DataError, match=message) as caught:
        read_rows(file, door)
    assert str(caught.value).startswith(str(file))
    assert readers == {threading.get_ident()}


@pytest.mark.full
def test_a_time_limit_ends_the_reading_of_a_compressed_file(tmp_path):
    file = tmp_path / "t.csv.gz"
    file.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * (1 << 20)))
    with pytest.raises(DataError, match="time limit of 1e-09 s was reached while the table was read"):
        read_any(file, ReadingOptions(clock=Budget(1e-9)))
    assert len(dagora.read_table(file, discrete="all").columns[0]) == 1 << 20
