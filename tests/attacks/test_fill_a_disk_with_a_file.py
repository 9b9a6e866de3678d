"""Whoever sends a database wants the disk of the machine that reads it."""

from contextlib import suppress

import pytest

import dagora
from dagora.base.errors import DataError
from dagora.data import file_limits, file_process
from dagora.data.scan.duckdb_files import DuckdbFile

pytestmark = pytest.mark.full


def test_what_does_not_fit_into_memory_is_not_written_beside_the_file(tmp_path, monkeypatch):
    """Before, a view of a file of a few kilobytes could fill nine tenths of the disk; of a kill it was left there."""
    duckdb = pytest.importorskip("duckdb", reason="needs the extra engines")
    file = tmp_path / "sent.db"
    with duckdb.connect(str(file)) as made:
        made.execute("CREATE TABLE rows AS SELECT range % 2 AS a, range % 3 AS b FROM range(60)")
        made.execute(
            "CREATE VIEW sorted AS SELECT i % 2 AS a, i::VARCHAR || repeat('x', 60) AS s FROM range(6000000) r(i) ORDER BY hash(i)"
        )
    monkeypatch.setattr(file_limits, "free_memory", lambda: 1000)
    cursor = DuckdbFile(file).cursor()
    with suppress(DataError):
        cursor.execute("SELECT * FROM sorted")
        next(cursor._batches)
    cursor._process.end()
    assert [each.name for each in tmp_path.iterdir()] == ["sent.db"]
    file_process._kept.end()
    with pytest.raises(DataError, match=r"the query takes too much memory: .* your own"):
        dagora.open_rows(f"duckdb:{file}", table="sorted")
    assert dagora.open_rows(f"duckdb:{file}", table="rows").n_rows == 60
