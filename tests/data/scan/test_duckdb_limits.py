"""A view in a file of DuckDB takes as much memory and time as its sender likes, up to the limits."""

import pytest

import dagora
from dagora.base.errors import DataError
from dagora.data import file_limits, file_process
from dagora.data.scan import duckdb_parser, query_limits
from dagora.data.scan.duckdb_files import DuckdbFile

pytestmark = pytest.mark.full
VIEWS = {
    "endless": "SELECT count(*) AS a FROM range(100000000) x, range(100000000) y WHERE x.range % 7 = y.range % 5",
    "endless_rows": "SELECT x.range % 2 AS a FROM range(100000000) x, range(100000000) y",
    "one_step": "SELECT levenshtein(repeat('a', 200000 + b), repeat('b', 200000)) AS a FROM rows WHERE b = 1 LIMIT 1",
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


def test_a_step_that_is_not_interrupted_is_ended(database, monkeypatch):
    """Before, a function of one row could take all the time it liked: an interrupt waits for its end."""
    monkeypatch.setattr(file_limits, "QUERY_SECONDS", 1)
    with pytest.raises(DataError, match=r"sent.db: .*: parsing it takes too long"):
        dagora.open_rows(f"duckdb:{database}", table="one_step")
    assert dagora.open_rows(f"duckdb:{database}", table="rows").n_rows == 60


def test_counting_statements_opens_the_file_within_the_same_limits(database, monkeypatch):
    """Before, it had none, though it parses all that the file says of itself."""
    asked, limits = [], []
    ask = file_process.FileProcess.ask

    def listen(process, what, file, **more):
        asked.append({"ask": what, "file": str(file), **more})
        return ask(process, what, file, **more)

    monkeypatch.setattr(file_process.FileProcess, "ask", listen)
    assert len(DuckdbFile(database).extract_statements("SELECT 1; SELECT 2")) == 2
    monkeypatch.setattr(query_limits, "limit", lambda *both: limits.append(both))
    assert duckdb_parser.answer_statements(asked[0])[0] == {"number": 2}
    ((memory, seconds),) = limits
    assert memory >= asked[0]["most_memory"] > 0
    assert seconds >= asked[0]["most_seconds"] >= file_limits.QUERY_SECONDS
