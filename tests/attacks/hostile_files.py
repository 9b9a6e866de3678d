"""Files that whoever sends them has made to do harm; each is made by code, byte by byte where need be."""

import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12  # kinds of Thrift's compact encoding
END = b"\0"


def number(value: int) -> bytes:
    """A number that is not negative, in seven bits a byte."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def whole(value: int) -> bytes:
    return number(2 * value if value >= 0 else -2 * value - 1)


def text(value: str) -> bytes:
    return number(len(value)) + value.encode()


def several(kind: int, items: int, content: bytes) -> bytes:
    head = bytes([items << 4 | kind]) if items < 15 else bytes([0xF0 | kind]) + number(items)
    return head + content


def record(*fields: tuple[int, int, bytes]) -> bytes:
    """A struct: numbers of fields, their kinds and their contents."""
    out, last = b"", 0
    for place, kind, content in fields:
        out += bytes([place - last << 4 | kind]) + content
        last = place
    return out + END


def chunk(rows: int, size: int = 100, *more: tuple[int, int, bytes]) -> bytes:
    """What a Parquet file says about a column of whole numbers in a group of rows."""
    about = record(
        (1, I32, whole(2)),  # 64 bits
        (2, LIST, several(I32, 1, whole(0))),
        (3, LIST, several(BINARY, 1, text("a"))),
        (4, I32, whole(0)),  # not compressed
        (5, I64, whole(rows)),
        (6, I64, whole(size)),
        (7, I64, whole(size)),
        (9, I64, whole(4)),
    )
    return record((2, I64, whole(4)), (3, STRUCT, about), *more)


def parquet(chunks: bytes, n_chunks: int, rows: int, body: bytes = bytes(200)) -> bytes:
    """A Parquet file of one column 'a' of whole numbers, with one group of rows."""
    root = record((4, BINARY, text("schema")), (5, I32, whole(1)))
    column = record((1, I32, whole(2)), (3, I32, whole(0)), (4, BINARY, text("a")))
    group = record((1, LIST, several(STRUCT, n_chunks, chunks)), (2, I64, whole(100)), (3, I64, whole(rows)))
    footer = record(
        (1, I32, whole(1)),
        (2, LIST, several(STRUCT, 2, root + column)),
        (3, I64, whole(rows)),
        (4, LIST, several(STRUCT, 1, group)),
    )
    return b"PAR1" + body + footer + struct.pack("<I", len(footer)) + b"PAR1"


def hidden_column() -> bytes:
    """Parquet: the column is said to be encrypted with a key of its own, which Arrow throws about."""
    key = record((1, LIST, several(BINARY, 1, text("a"))))
    return parquet(chunk(100, 100, (8, STRUCT, record((2, STRUCT, key)))), 1, 100)


def many_chunks(number_of_them: int) -> bytes:
    """Parquet: far more columns in the group of rows than there are, at three bytes each."""
    more = record((2, I64, whole(4)))
    return parquet(chunk(100) + more * number_of_them, 1 + number_of_them, 100)


def lying_rows(rows: int) -> bytes:
    """Parquet: so many rows, of which four are there."""
    made, schema = pa.BufferOutputStream(), pa.schema([pa.field("a", pa.int64(), nullable=False)])
    pq.write_table(pa.table([[1, 2, 1, 2]], schema=schema), made, compression="none", use_dictionary=False)
    about = pq.read_metadata(pa.BufferReader(made.getvalue())).row_group(0).column(0)
    size = about.total_compressed_size
    return parquet(chunk(rows, size), 1, rows, made.getvalue().to_pybytes()[4 : 4 + size])


def views(file: Path, rows: int, length: int) -> None:
    """Feather: so many views of one long text."""
    column = pa.array(["x" * length], pa.string_view())
    _, view, content = column.buffers()
    many = pa.py_buffer(np.tile(np.frombuffer(view, np.uint8), rows).tobytes())
    column = pa.Array.from_buffers(pa.string_view(), rows, [None, many, content])
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, pa.schema([("a", pa.string_view())]), options=options) as out:  # fmt: skip
        out.write_batch(pa.record_batch([column], ["a"]))


def unused_words(file: Path, groups: int, length: int) -> None:
    """Parquet: each group of rows brings one more category, which is long and which no row has."""
    schema, codes = (
        pa.schema([("a", pa.dictionary(pa.int32(), pa.string()))]),
        np.zeros(1 << 17, dtype=np.int32),
    )
    with pq.ParquetWriter(file, schema, compression="zstd", dictionary_pagesize_limit=2 * length, write_statistics=False) as out:  # fmt: skip
        for group in range(groups):
            words = pa.DictionaryArray.from_arrays(codes, pa.array(["a", "x" * length + str(group)]))
            out.write_table(pa.table([words], schema=schema), row_group_size=1 << 17)


def honest_table(rows: int = 200) -> pa.Table:
    rng = np.random.default_rng(1)
    words = np.array(["low", "middle", "high"])[rng.integers(0, 3, rows)]
    return pa.table(
        {
            "word": words,
            "level": pa.array(words).dictionary_encode(),
            "view": pa.array(words.tolist(), pa.string_view()),
            "number": rng.normal(size=rows),
            "count": pa.array(rng.integers(0, 4, rows), mask=rng.random(rows) < 0.1),
            "truth": rng.random(rows) < 0.5,
        }
    )


def honest_files(folder: Path) -> list[Path]:
    """Small files of all forms that Arrow reads."""
    table = honest_table()
    found = []
    for packed in (None, "zstd"):
        file = folder / f"{packed}.parquet"
        pq.write_table(table, file, compression=packed or "none", row_group_size=80)
        found.append(file)
        for make, name in ((pa.ipc.new_file, "feather"), (pa.ipc.new_stream, "arrow")):
            file = folder / f"{packed}.{name}"
            options = pa.ipc.IpcWriteOptions(compression=packed)
            with pa.OSFile(str(file), "wb") as sink, make(sink, table.schema, options=options) as out:
                out.write_table(table, max_chunksize=80)
            found.append(file)
    return found
