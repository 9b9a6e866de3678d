"""Whoever sends a small file wants it to take all memory of the machine that reads it."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.attacks.hostile_files import lying_rows, many_chunks, unused_words, views

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's limits on memory"),
]
MOST = 800 << 20
"""Bytes that any process may take for a file of at most 2 MB: Python and its packages have 150 MB of them."""
# The limit is so that a failure of this test is no failure of the machine.
READ = """
import json, resource, sys
from dagora.base.memory import peak_megabytes
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
import dagora
from dagora.base.errors import DagoraError
if sys.argv[1] == "database":
    from dagora.data import file_limits
    file_limits.free_memory = lambda: 1000
try:
    read = {"read": dagora.read_table, "scan": dagora.open_rows, "database": dagora.open_rows}
    read[sys.argv[1]](sys.argv[2], **json.loads(sys.argv[3]))
    line = ""
except (DagoraError, MemoryError) as error:
    line = str(error)
from dagora.data import file_process
file_process._kept.end()
others = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
print(json.dumps([line, max(peak_megabytes() * 1e6, others)]))
"""


def read(how: str, file: Path | str, **more: str) -> tuple[str, int]:
    """The line with which a file is refused, and the most memory of the processes that took part."""
    ran = subprocess.run(
        [sys.executable, "-c", READ, how, str(file), json.dumps(more)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran
    line, most = json.loads(ran.stdout)
    return line, most


@pytest.mark.parametrize("how", ["read", "scan"])
@pytest.mark.parametrize(
    ("ending", "make"),
    [
        ("feather", lambda file: views(file, 2_000_000, 3_000)),
        ("feather", lambda file: views(file, 20_000_000, 300)),
        ("parquet", lambda file: unused_words(file, 120, 10_000_000)),
        ("parquet", lambda file: file.write_bytes(many_chunks(500_000))),
        ("parquet", lambda file: file.write_bytes(lying_rows(60_000_000))),
    ],
    ids=[
        "views of a long text",
        "many views",
        "categories of no row",
        "columns that nobody uses",
        "rows that are not there",
    ],
)
def test_a_small_file_takes_little(tmp_path, ending, make, how):
    file = tmp_path / f"t.{ending}"
    make(file)
    assert file.stat().st_size < 2e6
    line, most = read(how, file)
    assert "\n" not in line
    assert most < MOST
    if how == "read" or ending == "parquet":  # views are scanned one batch after the other
        assert line.startswith(f"{file}: ")


def test_rows_of_a_database_on_their_way_out(tmp_path):
    """The limit that the database keeps does not hold for them: before, a batch of long texts took more than a gigabyte."""
    duckdb = pytest.importorskip("duckdb", reason="needs the extra engines")
    file = tmp_path / "sent.db"
    with duckdb.connect(str(file)) as made:
        made.execute("CREATE VIEW long AS SELECT repeat('x', 9000) AS a FROM range(150000)")
        made.execute("CREATE TABLE rows AS SELECT range % 2 AS a, range % 3 AS b FROM range(60)")
    assert read("database", f"duckdb:{file}", table="rows")[0] == ""
    line, most = read("database", f"duckdb:{file}", table="long")
    assert line.startswith(f"{file}: ")
    assert "too much memory" in line or "took more than" in line
    assert most < MOST


MANY = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 9000000) SELECT"
SENT = {
    "a long text": "SELECT zeroblob(900000000) AS a",
    "long texts": f"{MANY} hex(zeroblob(9000)) AS a FROM c",
    "a sorted table": f"{MANY} i % 2 AS a, hex(zeroblob(60)) || i AS b FROM c ORDER BY b",
}


@pytest.mark.parametrize("view", SENT)
def test_a_view_of_sqlite_takes_little(tmp_path, view):
    """Before, SQLite ran in the process that asked, without a limit; what it sorted went to the disk."""
    file = tmp_path / "sent.sqlite"
    with sqlite3.connect(file) as made:
        made.execute("CREATE TABLE rows AS SELECT 1 AS a UNION ALL SELECT 2")
        made.execute(f"CREATE VIEW sent AS {SENT[view]}")
    made.close()
    assert read("database", str(file), table="rows")[0] == ""
    line, most = read("database", str(file), table="sent")
    assert line.startswith(f"{file}: ")
    assert "too much memory" in line or "too big" in line
    assert most < MOST
