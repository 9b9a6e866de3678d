"""A view in a file of DuckDB takes as much memory and time as its sender likes, up to the limits."""

import pytest

import dagora
from dagora.base.errors import DataError
from dagora.data import file_limits, file_process

pytestmark = pytest.mark.full
VIEWS = {
    "endless": "SELECT count(*) AS a FROM range(100000000) x, range(100000000) y WHERE x.range % 7 = y.range % 5",
    "endless_rows": "SELECT x.range % 2 AS a FROM range(100000000) x, range(100000000) y",
    "huge": "SELECT len(list(range)) AS a FROM range(300000000)",
}


@pytest.fixture
def database(tmp_path, monkeypatch):
    duckdb = pytest.importorskip("duckdb", reason="needs the extra engines")
    place = tmp_path / "sent.db"
    with duckdb.connect(str(place)) as made:
        made.execute("CREATE TABLE rows AS SELECT range % 2 AS a, range % 3 AS b FROM range(60)")
        for name, query in VIEWS.items():
            made.execute(f"CREATE VIEW {name} AS {query}")
    file_process._kept.end()
    yield place
    file_process._kept.end()


@pytest.mark.parametrize("view", ["endless", "endless_rows"])
def test_a_query_without_an_end_is_interrupted(database, view, monkeypatch):
    monkeypatch.setattr(file_limits, "QUERY_SECONDS", 1)
    with pytest.raises(
        DataError, match=r"sent.db: the query takes more than \d+ seconds of processors: .* your own"
    ):
        dagora.open_rows(f"duckdb:{database}", table=view)
    assert dagora.open_rows(f"duckdb:{database}", table="rows").n_rows == 60


def test_a_query_that_would_fill_memory_is_ended(database, monkeypatch):
    monkeypatch.setattr(file_limits, "free_memory", lambda: 1000)
    with pytest.raises(DataError, match=r"sent.db: the query takes too much memory: .* your own"):
        dagora.open_rows(f"duckdb:{database}", table="huge")
    assert dagora.open_rows(f"duckdb:{database}", table="rows").n_rows == 60
