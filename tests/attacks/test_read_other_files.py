"""Whoever sends a database wants its reader to open other files, and to learn from them or to hand them on."""

import pytest

import dagora
from dagora.base.errors import DataError

SECRET = "name,salary\n" + "".join(f"p{k},{k % 7}\n" for k in range(60))
VIEWS = {
    "read_csv": "SELECT * FROM read_csv('{file}')",
    "a name": "SELECT * FROM '{file}'",
    "read_text": "SELECT content AS a FROM read_text('{file}')",
    "glob": "SELECT file AS a FROM glob('{folder}/*')",
    "a table and a file": "SELECT rows.a, s.salary FROM rows, read_csv('{file}') AS s",
}


@pytest.fixture
def database(tmp_path):
    duckdb = pytest.importorskip("duckdb", reason="needs the extra engines")
    (tmp_path / "secret.csv").write_text(SECRET)
    place = tmp_path / "sent.db"
    with duckdb.connect(str(place)) as made:
        made.execute("CREATE TABLE rows AS SELECT range % 2 AS a, range % 3 AS b FROM range(60)")
        for name, query in VIEWS.items():
            written = query.format(file=tmp_path / "secret.csv", folder=tmp_path)
            made.execute(f'CREATE VIEW "{name}" AS {written}')
    return place


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_of_another_file(database, view):
    with pytest.raises(DataError, match=r"sent.db: .*disabled") as told:
        dagora.open_rows(f"duckdb:{database}", query=f'SELECT * FROM "{view}"')
    assert len(str(told.value).splitlines()) == 1


def test_the_command_refuses_such_a_view_in_one_line(database, run):
    ran = run("learn", f"duckdb:{database}", "--query", 'SELECT * FROM "a table and a file"')
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1


def test_its_own_tables_are_read(database):
    assert dagora.open_rows(f"duckdb:{database}", table="rows").n_rows == 60


def test_a_connection_of_ones_own_may_read_what_it_likes(database):
    import duckdb

    with duckdb.connect(str(database), read_only=True) as own:
        assert dagora.open_rows(own, table="read_csv", discrete="name").n_rows == 60
