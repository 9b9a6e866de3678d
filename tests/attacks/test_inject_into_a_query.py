"""Whoever names a column, a table or a level of a database wants its name to be run as SQL, on a real server."""

from itertools import combinations

import pytest

import dagora
from dagora.base.errors import DagoraError
from dagora.stats.table import TableStatistics
from tests.postgres_server import postgres_server

pytestmark = pytest.mark.full

ODD = [
    "a'; DROP TABLE kept; --", 'b"; DROP TABLE kept; --', "c\\'; DROP TABLE kept; --", "%s %(x)s $1 :name ?",
    "{0} {name}", "E'\\x00'", "naïve ☃ \u202e", "a" * 60, "select", "U&\"d\\0061\"", "--", "/*", "$$; DROP TABLE kept; $$",
]  # fmt: skip


def quoted(name, mark):
    return mark + name.replace(mark, mark + mark) + mark


@pytest.fixture(scope="module")
def server():
    with postgres_server() as own:
        own.sql("CREATE TABLE kept (x int); INSERT INTO kept VALUES (1)")
        yield own


@pytest.mark.parametrize("push_down", [False, True])
@pytest.mark.parametrize("name", ODD)
def test_odd_names_and_levels(server, name, push_down):
    """A column and a table of this name, with texts of all of these names, count as they do in memory."""
    table, column = quoted(name, '"'), quoted(name, '"')
    levels = [ODD[k % len(ODD)] for k in range(80)]
    rows = ", ".join(f"({quoted(level, chr(39))}, {k % 2})" for k, level in enumerate(levels))
    server.sql(f"DROP TABLE IF EXISTS {table}; CREATE TABLE {table} ({column} text, y int)")
    server.sql(f"SET standard_conforming_strings = on; INSERT INTO {table} VALUES {rows}")
    given = {"discrete": [name], "push_down": push_down}
    scanned = dagora.open_rows(server.address, table=name, **given)
    import pandas as pd

    known = TableStatistics(
        dagora.Table.from_frame(
            pd.DataFrame({name: levels, "y": [k % 2 for k in range(80)]}), discrete=[name]
        )
    )
    sets = [some for size in range(3) for some in combinations(range(2), size)]
    assert scanned.schema.names == known.schema.names
    assert scanned.counts(sets).values.tolist() == known.counts(sets).values.tolist()
    assert dagora.open_rows(server.address, query="SELECT x, x AS z FROM kept").n_rows == 1


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1 AS a; DROP TABLE kept", "DROP TABLE kept", "DELETE FROM kept RETURNING x",
        "WITH gone AS (DELETE FROM kept RETURNING x) SELECT * FROM gone", "COPY kept TO PROGRAM 'id'",
        "SELECT pg_sleep(0), set_config('transaction_read_only', 'off', false), * FROM kept",
        "COMMIT; DROP TABLE kept", "SELECT lo_import('/etc/passwd')", "SET TRANSACTION READ WRITE",
    ],
)  # fmt: skip
@pytest.mark.parametrize("push_down", [False, True])
def test_a_query_changes_nothing(server, query, push_down):
    """Whoever writes the query may read what the user may read; it is one line, or rows, and nothing changes."""
    try:
        dagora.open_rows(server.address, query=query, push_down=push_down)
    except DagoraError as error:
        assert "\n" not in str(error)
    assert dagora.open_rows(server.address, query="SELECT x, x AS z FROM kept").n_rows == 1
