"""Whoever sends a file wants the process that reads it to end: the command, or the server of the page."""

import io
import random
import re
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dagora
from dagora.base.errors import DagoraError, DataError
from dagora.data import file_limits, file_process
from dagora.data.binary_files import describe, read_batches
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.program_parser import read_program_file
from dagora.explore.session import Session
from tests.attacks.fuzz import SEED, TRIES, shared_time
from tests.attacks.hostile_files import hidden_column, honest_files

FILES = min(200, TRIES * 6 // 100)
pytestmark = pytest.mark.full


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "dagora", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)


def is_refused(ran: subprocess.CompletedProcess[str], file: Path) -> bool:
    *before, last = ran.stderr.strip().splitlines()
    progress = all(re.fullmatch(r".* \d+ s", line) for line in before)
    return ran.returncode == 2 and progress and last.startswith(f"dagora: error: {file}: ")


@pytest.mark.parametrize("more", [(), ("--scan",), ("--sample", "50")])
def test_a_column_that_arrow_throws_about(tmp_path, more):
    file = tmp_path / "t.parquet"
    file.write_bytes(hidden_column())
    assert file.stat().st_size < 2000
    ran = command("learn", file, *more)
    assert is_refused(ran, file), ran


def damage(content: bytes, draw: random.Random) -> bytes:
    """Change, cut or repeat some bytes, most often near the end, where files describe themselves."""
    raw = bytearray(content)
    for _ in range(draw.randint(1, 6)):
        near = draw.choice([len(raw), len(raw), 2000, 600])
        place = max(0, len(raw) - 1 - draw.randrange(max(1, min(near, len(raw)))))
        match draw.randrange(5):
            case 0:
                raw[place : place + 4] = draw.choice([b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\xff" * 4])
            case 1:
                del raw[place : place + draw.randint(1, 8)]
            case 2:
                raw[place:place] = raw[place : place + draw.randint(1, 30)]
            case _:
                raw[place : place + 1] = bytes([draw.randrange(256)])
    return bytes(raw if draw.random() < 0.9 else raw[: draw.randrange(1, len(raw) + 1)])


# In a process of its own, so that a test fails where Arrow ends it.
FUZZ = """
import sys, time
from pathlib import Path
import dagora
from dagora.base.errors import DagoraError
end = time.monotonic() + float(sys.argv[1])
for line in sys.stdin:
    if time.monotonic() > end:
        break
    file = Path(line.strip())
    print(file.name, flush=True)
    for read in (dagora.inspect, dagora.open_rows, lambda file: dagora.learn(file, "hill-climb", missing="drop")):
        try:
            read(file)
        except DagoraError as error:
            assert len(str(error).splitlines()) == 1, error
"""


@pytest.mark.fuzz
@pytest.mark.filterwarnings("ignore")
def test_damaged_files_of_arrow(tmp_path):
    print(f"seed {SEED}, {FILES} files")
    draw = random.Random(SEED)
    (tmp_path / "honest").mkdir()
    honest = honest_files(tmp_path / "honest")
    files = []
    for k in range(FILES):
        whole = draw.choice(honest)
        files.append(tmp_path / f"{k}{whole.suffix}")
        files[-1].write_bytes(damage(whole.read_bytes(), draw))
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FUZZ, str(shared_time.next_share())],
        input="\n".join(map(str, [*honest, *files])),
        capture_output=True,
        text=True,
        timeout=60 + 5 * FILES,
        check=False,
    )
    assert ran.returncode == 0, (ran.returncode, ran.stdout.splitlines()[-1:], ran.stderr[-2000:])


def stream(column: pa.Array) -> bytes:
    out = io.BytesIO()
    batch = pa.record_batch([column], names=["x"])
    with pa.ipc.new_stream(out, batch.schema) as sink:
        sink.write_batch(batch)
    return out.getvalue()


def exchange(content: bytes, numbers: Sequence[int], others: Sequence[int], kind: str = "<i4") -> bytes:
    """Numbers of a stream replaced by others."""
    before, after = (np.array(each, dtype=kind).tobytes() for each in (numbers, others))
    assert content.count(before) == 1
    return content.replace(before, after)


WORDS = pa.array(["ab", "cd", "ef"])
CHOSEN = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 1, 1], pa.int32()), ["a", "b"])
WIDE = stream(pa.array(["x" * 777_777]))
# Texts and words that lie elsewhere in memory, letters that are none, and a message of a terabyte.
ROWS = {
    "offsets": exchange(stream(WORDS), (0, 2, 4, 6), (0, 2, 1 << 30, 6)),
    "indices": exchange(stream(CHOSEN), (0, 1, 0, 1, 1), (0, 1, 1 << 29, 1, 1)),
    "letters": stream(WORDS).replace(b"abcdef", b"ab\xff\xfeef"),
    "a long message": exchange(WIDE, (777_792,), (1 << 40,), "<i8"),
    "nothing": b"",
    "half of them": stream(WORDS)[:-30],
}
TAKEN_OVER = """
import sys
sys.stdin.readline()
sys.stdout.buffer.write(b'{"rows_follow": true}\\n' + open(ROWS, "rb").read())
sys.stdout.flush()
"""


@pytest.mark.parametrize("rows", ROWS)
def test_rows_of_a_parser_that_a_file_has_taken_over(rows, tmp_path, monkeypatch):
    """Before, they were believed: who took them as they were ended by a fault of memory."""
    file, sent = tmp_path / "t.parquet", tmp_path / "rows"
    pq.write_table(pa.table({"x": WORDS}), file)
    sent.write_bytes(ROWS[rows])
    about = describe(file, "parquet")
    file_process._kept.end()
    with monkeypatch.context() as patch:
        patch.setattr(file_process, "SCRIPT", TAKEN_OVER.replace("ROWS", repr(str(sent))))
        with pytest.raises(DataError, match="the file cannot be read, it may be damaged: "):
            list(read_batches(file, "parquet", about, [0]))
    file_process._kept.end()
    assert [batch.num_rows for batch in read_batches(file, "parquet", about, [0])] == [3]


def test_an_answer_without_an_end(tmp_path, monkeypatch):
    file = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": WORDS}), file)
    said = '{"schema": "%s", "rows": 1, "cells": 1, "bytes": 1, "largest": 1, "rows_follow": false}'
    script = f"import sys; sys.stdin.readline(); print({said!r} % (3_000_000 * 'A'), flush=True)"
    file_process._kept.end()
    monkeypatch.setattr(file_process, "LONGEST_ANSWER", 1 << 20)
    with monkeypatch.context() as patch:
        patch.setattr(file_process, "SCRIPT", script)
        with pytest.raises(DataError, match="parsing it failed"):
            describe(file, "parquet")
    file_process._kept.end()
    assert describe(file, "parquet").rows == 3


def test_a_sheet_without_an_end(tmp_path, monkeypatch):
    """A parser that hands out one batch after the other."""
    file = tmp_path / "t.xlsx"
    file.write_bytes(b"whatever")
    said = {"names": ["x"], "text_cells": False, "words_nulled": False, "notes": [], "nominal": []}
    said["rows_follow"] = True
    script = (
        f"import json, sys, pyarrow as pa; sys.stdin.readline(); print(json.dumps({said!r}), flush=True)\n"
        "batch = pa.record_batch([pa.array([0.0] * (1 << 20))], names=['x'])\n"
        "with pa.ipc.new_stream(sys.stdout.buffer, batch.schema) as out:\n"
        "    for _ in range(40): out.write_batch(batch)\n"
        "sys.stdout.flush()"
    )
    file_process._kept.end()
    monkeypatch.setattr(file_limits, "PROGRAM_MEMORY", 1 << 26)
    monkeypatch.setattr(file_process, "SCRIPT", script)
    with pytest.raises(
        DataError, match="the file cannot be read, it may be damaged: it has more rows than fit"
    ):
        read_program_file(file, ".xlsx", ReadingOptions())
    file_process._kept.end()


def test_the_server_of_the_page_goes_on(tmp_path):
    file = tmp_path / "t.parquet"
    file.write_bytes(hidden_column())
    session = Session()
    try:
        with pytest.raises(DagoraError, match=r"t.parquet: the file cannot be read, it may be damaged"):
            session.open(file)
        session.open(honest_files(tmp_path)[0], {"missing": "drop"})
        assert session.columns[0] == "word"
    finally:
        session.close()


COUNTING = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT"
VIEWS = {
    "counted": f"{COUNTING} count(*) AS a FROM c",
    "listed": f"{COUNTING} i % 2 AS a FROM c",
    "searched": "SELECT instr(zeroblob(100000000), CAST(zeroblob(50000000) || x'01' AS BLOB)) AS a",
}


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_of_sqlite_without_an_end(tmp_path, monkeypatch, view):
    """Before, the process that asked ran it, and no Ctrl-C ended it; the last of these no interrupt ends."""
    file = tmp_path / "sent.sqlite"
    with sqlite3.connect(file) as made:
        made.execute("CREATE TABLE rows AS SELECT 1 AS a UNION ALL SELECT 2")
        made.execute(f"CREATE VIEW sent AS {VIEWS[view]}")
    made.close()
    assert file.stat().st_size < 20_000
    monkeypatch.setattr(file_limits, "QUERY_SECONDS", 1)
    with pytest.raises(DataError, match=r"sent.sqlite: .* takes (more than 1 seconds of|too long)"):
        dagora.open_rows(file, table="sent")
    assert dagora.open_rows(file, table="rows").n_rows == 2
    file_process._kept.end()
