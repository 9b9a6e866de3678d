"""Databases that count by themselves, and PostgreSQL: against the same rows in memory."""

from itertools import combinations
from urllib.parse import quote

import numpy as np
import pytest

import dagora
from dagora.base.errors import DataError, OptionError
from dagora.data.scan.postgres import SETTINGS, with_settings
from dagora.stats.moments import block_moments
from dagora.stats.scan.query_plan import plan_queries
from dagora.stats.scan.scan_statistics import same_moments
from dagora.stats.statistics import Moments
from dagora.stats.table import TableStatistics
from tests.postgres_server import postgres_server
from tests.stats.scan.test_scan import assert_same, frame

SETS = [each for size in range(5) for each in combinations(range(4), size)]


def assert_pushed(scanned, table):
    """The same variables and counts; moments but for rounding."""
    known = TableStatistics(table)
    assert scanned.schema.variables == known.schema.variables
    assert scanned.counts(SETS).values.tolist() == known.counts(SETS).values.tolist()
    one, other = scanned.moments(), known.moments()
    assert one.n == other.n
    assert np.allclose(one.mean, other.mean, rtol=1e-14)
    assert np.allclose(one.scatter, other.scatter, rtol=1e-10)


@pytest.fixture
def duck():
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        made = frame()
        connection.register("made", made)
        connection.execute("CREATE TABLE visits AS SELECT * FROM made")
        yield connection


def test_duckdb_counts_by_itself(duck):
    scanned = dagora.open_rows(duck, table="visits", push_down=True)
    assert_pushed(scanned, dagora.Table.from_frame(frame()))
    # One query for all sets of four columns, and two for moments.
    assert scanned.effort == {"queries": 3.0, "widest_query": 4.0}
    assert scanned.counts(SETS).values.sum() > 0
    assert scanned.passes == 3, "what was counted is kept"


def test_missing_cells_are_left_out_by_the_database(duck):
    table = frame()
    table.loc[[3, 9], "word"] = None
    table.loc[9, "weight"] = np.nan
    table.loc[11, "word"] = " "
    duck.register("with_holes", table)
    duck.execute("CREATE TABLE holes AS SELECT * FROM with_holes")
    with pytest.raises(DataError, match="cells are missing"):
        dagora.open_rows(duck, table="holes", push_down=True)
    scanned = dagora.open_rows(duck, table="holes", push_down=True, missing="drop")
    assert scanned.n_rows == len(table) - 3
    assert_pushed(scanned, dagora.Table.from_frame(table, missing="drop"))


def test_identifiers_and_texts_are_left_out_as_in_memory(duck):
    table = frame()
    table.insert(0, "row", range(5, len(table) + 5))
    table["note"] = [f"text {k}" for k in range(len(table))]
    duck.register("with_more", table)
    duck.execute("CREATE TABLE more AS SELECT * FROM with_more")
    with pytest.warns(dagora.DagoraWarning, match="2 columns are left out"):
        scanned = dagora.open_rows(duck, table="more", push_down=True)
    assert scanned.schema.names == tuple(frame().columns)


def test_rows_that_change_while_the_database_counts(duck):
    scanned = dagora.open_rows(duck, table="visits", push_down=True)
    duck.execute("INSERT INTO visits SELECT * FROM made LIMIT 1")
    with pytest.raises(DataError, match=r"changed during the run .it has 701 rows now, and had 700 before"):
        scanned.counts([(0, 1)])
    with pytest.raises(DataError, match="changed during the run"):
        scanned.moments()


def test_a_plan_covers_all_sets_within_its_limit():
    rng = np.random.default_rng(0)
    levels = rng.integers(2, 12, 20)
    sets = [tuple(sorted(rng.permutation(20)[: rng.integers(1, 5)].tolist())) for _ in range(300)]
    plan = plan_queries(sets, levels, 10**6)
    assert set(plan.source_of) == set(sets)
    assert all(set(each) <= set(plan.queries[place]) for each, place in plan.source_of.items())
    cells = [int(levels[list(query)].prod()) for query in plan.queries]
    assert max(cells) <= 1 << 16
    assert len(plan.queries) < 80


@pytest.mark.parametrize(
    ("columns", "method", "words"),
    [
        (["cold", "cough", "word"], "hill-climb", "2 queries, over 3 columns"),
        (["weight", "age"], "ges", "2 queries, for sums"),
    ],
)
def test_a_result_says_how_many_queries_of_which_width(duck, columns, method, words):
    query = f"SELECT {', '.join(columns)} FROM visits"
    found = dagora.learn(dagora.open_rows(duck, query=query, push_down=True), method)
    said = next(part for part in found.message.split("; ") if "the database" in part)
    assert said == f"the database counted by itself: {words}"
    assert found.stats["queries"] == 2.0
    scanned = dagora.learn(dagora.open_rows(duck, query=query), method)
    assert "database" not in scanned.message


def test_push_down_is_for_databases(tmp_path):
    import sqlite3

    frame().to_csv(tmp_path / "rows.csv")
    with pytest.raises(OptionError, match="push_down is for databases"):
        dagora.open_rows(tmp_path / "rows.csv", push_down=True)
    with sqlite3.connect(":memory:") as connection:
        frame().to_sql("visits", connection)
        with pytest.raises(OptionError, match="which state the types"):
            dagora.open_rows(connection, table="visits", push_down=True)


@pytest.fixture(scope="module")
def server():
    with postgres_server() as own:
        table = frame()
        file = own.folder.parent / "rows.csv"
        table.to_csv(file, index=False)
        file.chmod(0o644)
        own.sql(
            "CREATE TABLE visits (cold int, cough boolean, word text, dose float8, weight float8, age smallint);"
            f"COPY visits FROM '{file}' (FORMAT csv, HEADER)"
        )
        yield own


def test_postgres_is_scanned_and_counts_by_itself(server):
    known = dagora.Table.from_frame(frame())
    assert_same(dagora.open_rows(server.address, table="visits"), known)
    assert_pushed(dagora.open_rows(server.address, table="visits", push_down=True), known)
    some = dagora.open_rows(server.address, query="SELECT cold, word FROM public.visits WHERE cold = 1;")
    assert some.n_rows == int(frame()["cold"].sum())


def test_addresses_of_postgres_stay_as_they_are_but_for_options():
    for address in (
        "postgresql:///shop", "postgres:///", "postgresql://", "postgresql://h1:1,h2:2/db",
        "postgresql://localhost/shop#x", "postgresql://%2Ftmp%2Fx/shop", "postgresql://[::1",
    ):  # fmt: skip
        assert with_settings(address) == f"{address}?options={quote(SETTINGS)}"
    own = "postgresql://[::1]:5/db?application_name=a+b%20c"
    assert with_settings(own) == f"{own}&options={quote(SETTINGS)}"
    asked = "postgresql:///db?%6Fptions=-c%20a%3D1&user=ada&options=-c+b"
    assert with_settings(asked) == f"postgresql:///db?user=ada&options=-c%20a%3D1%20-c+b%20{quote(SETTINGS)}"
    assert with_settings("POSTGRES://h/x") == f"postgres://h/x?options={quote(SETTINGS)}"


def test_postgres_is_found_by_addresses_without_a_host_or_with_several(server):
    folder = quote(str(server.folder), safe="")
    for address in (
        f"postgresql:///postgres?host={server.folder}&user=ada&application_name=a+b",
        f"Postgresql://ada@{folder}/postgres",
        f"postgresql://ada@127.0.0.1:1,{folder}/postgres",
        f"postgresql:///?host={folder}&dbname=postgres&user=ada",
    ):
        query = "SELECT cold, current_setting('application_name') || '.' AS name FROM visits"
        rows = dagora.open_rows(address, query=query, discrete=["name"])
        assert rows.n_rows == 700
        assert rows.schema[1].levels == ("a+b." if "a+b" in address else ".",)
        assert rows._counter.title == ("the database postgres" if "dbname" not in address else "the database")
    with pytest.raises(DataError, match=r"^the database x: .*\[") as caught:
        dagora.open_rows("postgresql://[::1/x", table="visits")
    assert "\n" not in str(caught.value)


def test_postgres_only_reads(server):
    server.sql("CREATE SEQUENCE counter")
    with pytest.raises(DataError, match=r"^the database postgres: cannot execute nextval.* in a read-only"):
        dagora.open_rows(server.address, query="SELECT nextval('counter'), * FROM visits")


def test_what_postgres_refuses_is_said_in_its_own_line(server):
    with pytest.raises(DataError, match=r'^the database postgres: syntax error at or near "1"$'):
        dagora.open_rows(server.address, query="SELEC 1")
    with pytest.raises(DataError, match=r'relation "nothing" does not exist'):
        dagora.open_rows(server.address, table="nothing")
    slow = f"{server.address}&options=-c%20statement_timeout%3D20"
    with pytest.raises(DataError, match="canceling statement due to statement timeout"):
        dagora.open_rows(slow, query="SELECT a.* FROM visits a, visits b, visits c", push_down=True)
    server.sql("CREATE ROLE guest LOGIN")
    with pytest.raises(DataError, match="permission denied for table visits"):
        dagora.open_rows(server.address.replace("ada@", "guest@"), table="visits")


def test_a_lost_connection_costs_one_line_and_a_retry_goes_on(server):
    for push_down in (False, True):
        scanned = dagora.open_rows(server.address, table="visits", push_down=push_down)
        counts = scanned.counts([(0, 1)]).values.tolist()
        server.stop()
        with pytest.raises(DataError, match=r"^the database postgres: ") as caught:
            scanned.counts([(0, 2)])
        assert "\n" not in str(caught.value)
        assert scanned.counts([(0, 1)]).values.tolist() == counts, "what was counted is kept"
        server.start()
        assert scanned.counts([(0, 2)]).values.sum() == 700
        spent = scanned.passes
        scanned.counts([(1, 2)])
        assert scanned.passes == spent + 1, "one look at what was kept is enough"


@pytest.mark.parametrize("push_down", [False, True])
def test_rows_that_change_while_the_connection_is_lost_are_refused(server, push_down):
    later = f"later_{push_down}".lower()
    server.sql(f"CREATE TABLE {later} AS SELECT * FROM visits")
    counted, measured, bare = (
        dagora.open_rows(server.address, table=later, push_down=push_down) for _ in range(3)
    )
    words = counted.counts([(0, 1), (2,)]).values.tolist()
    moments = measured.moments()
    server.stop()
    for rows in (counted, measured, bare):
        with pytest.raises(DataError, match=r"^the database postgres: "):
            rows.counts([(0, 2)])
    server.start()
    # The same number of rows, and the same values in each column.
    server.sql(
        f"UPDATE {later} SET word = 'no' WHERE ctid = (SELECT min(ctid) FROM {later} WHERE word = 'some');"
        f"UPDATE {later} SET weight = weight + 1e-3 WHERE ctid = (SELECT min(ctid) FROM {later})"
    )
    changed = "^the database postgres changed while the connection was lost .{}: open the rows anew$"
    for _ in range(2):
        with pytest.raises(DataError, match=changed.format("column 'word' is counted otherwise.")):
            counted.counts([(0, 2)])
        with pytest.raises(DataError, match=changed.format("column 'word' is counted otherwise.")):
            counted.moments()
        with pytest.raises(DataError, match=changed.format("moments differ.")):
            measured.counts([(0, 2)])
    assert counted.counts([(0, 1), (2,)]).values.tolist() == words, "what was counted is still known"
    assert measured.moments() is moments
    now = dagora.open_rows(server.address, table=later, push_down=push_down)
    assert bare.counts([(0, 2)]).values.tolist() == now.counts([(0, 2)]).values.tolist()


@pytest.mark.parametrize("middle", [0.0, 1e6, 1e12])
def test_moments_of_rows_in_another_order_are_the_same(middle):
    rng = np.random.default_rng(3)
    values = rng.normal(size=(3, 20_000)) + middle
    values[2] = middle  # a constant
    one = block_moments(Moments(0, np.zeros(3), np.zeros((3, 3))), list(values))
    other = block_moments(Moments(0, np.zeros(3), np.zeros((3, 3))), list(values[:, rng.permutation(20_000)]))
    assert same_moments(one, other)
    values[0, 7] += 100.0
    assert not same_moments(block_moments(Moments(0, np.zeros(3), np.zeros((3, 3))), list(values)), one)


def test_postgres_types_of_its_own(server):
    server.sql(
        "CREATE TYPE mood AS ENUM ('sad', 'ok', 'never');"
        "CREATE TABLE own AS SELECT (i * 1.37)::numeric(12, 3) AS price, gen_random_uuid() AS code, "
        "('{\"a\": ' || i || '}')::jsonb AS note, (i % 3)::text AS word, "
        "(CASE WHEN i % 2 = 0 THEN 'sad' ELSE 'ok' END)::mood AS mood FROM generate_series(1, 200) i"
    )
    for push_down in (False, True):
        with pytest.warns(dagora.DagoraWarning, match=r"2 columns are left out.*code.*note"):
            rows = dagora.open_rows(server.address, table="own", push_down=push_down)
        assert rows.schema.names == ("price", "word", "mood")
        assert rows.schema[2].levels == ("ok", "sad")
        assert rows.counts([(1, 2)]).values.tolist() == [33, 33, 34, 33, 33, 34]
        prices = dagora.open_rows(server.address, query="SELECT price FROM own", push_down=push_down)
        assert prices.moments().mean == pytest.approx([1.37 * 100.5], rel=1e-14)
    server.sql(
        "CREATE TABLE tabs AS SELECT CASE WHEN i = 5 THEN E'\\t' ELSE 'a' || i % 2 END AS w, i % 3 AS v FROM generate_series(1, 60) i"
    )
    tabs = dagora.open_rows(server.address, table="tabs", push_down=True, missing="drop")
    assert (tabs.n_rows, tabs.schema[0].levels) == (59, ("a0", "a1"))


@pytest.mark.parametrize("push_down", [False, True])
def test_amounts_of_money_and_object_identifiers_are_numbers(server, push_down):
    query = (
        "SELECT (i % 3 + 0.25)::numeric::money AS fee, (i * 1.5)::numeric::money AS price, "
        "(CASE WHEN i % 2 = 0 THEN 5 ELSE 4294967295 END)::oid AS kind, (i / 2 * 3)::oid AS number "
        "FROM generate_series(0, 299) i"
    )
    rows = dagora.open_rows(server.address, query=query, push_down=push_down)
    assert [variable.levels for variable in rows.schema] == [
        ("0.25", "1.25", "2.25"), (), ("5", "4294967295"), (),
    ]  # fmt: skip
    assert rows.counts([(0, 2)]).values.tolist() == [50] * 6
    assert rows.moments().mean == pytest.approx([1.5 * 149.5, 3 * 74.5], rel=1e-14)


def test_white_space_is_what_is_trimmed_in_memory(duck):
    import pyarrow as pa
    import pyarrow.compute as pc

    from dagora.data.scan.sql import WHITE_SPACE

    letters = [chr(k) for k in range(1, 0x11000) if not 0xD800 <= k < 0xE000]
    trimmed = pc.utf8_trim_whitespace(pa.array(letters)).to_pylist()
    assert "".join(letter for letter, left in zip(letters, trimmed, strict=True) if not left) == WHITE_SPACE
    table = frame()
    for row, space in enumerate(WHITE_SPACE):
        table.loc[row, "word"] = space
    duck.register("with_spaces", table)
    duck.execute("CREATE TABLE spaces AS SELECT * FROM with_spaces")
    scanned = dagora.open_rows(duck, table="spaces", push_down=True, missing="drop")
    assert scanned.n_rows == len(table) - len(WHITE_SPACE)
    assert_pushed(scanned, dagora.Table.from_frame(table, missing="drop"))


def test_declared_levels_keep_their_order(duck):
    duck.execute("CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy', 'never')")
    duck.execute(
        "CREATE TABLE moods AS SELECT ['sad', 'ok', 'happy'][1 + i % 3]::mood AS m, i % 2 AS v FROM range(90) t(i)"
    )
    duck.execute("UPDATE moods SET m = NULL WHERE rowid = 4")
    known, rows = (
        dagora.open_rows(duck, table="moods", missing="drop", push_down=pushed) for pushed in (False, True)
    )
    assert rows.schema == known.schema
    assert "never" in rows.schema[0].levels
    assert rows.n_rows == known.n_rows == 89
    assert rows.counts([(0, 1)]).values.tolist() == known.counts([(0, 1)]).values.tolist()


def test_a_database_that_counts_does_not_number_rows(duck):
    duck.execute(
        "CREATE TABLE gaps AS SELECT CASE WHEN i = 50 THEN NULL ELSE i % 2 END AS a, i % 3 AS b FROM range(90) t(i)"
    )
    with pytest.raises(DataError, match=r"^cells are missing, the first in column 'a': choose"):
        dagora.open_rows(duck, table="gaps", push_down=True)
    duck.execute(
        "CREATE TABLE far AS SELECT CASE WHEN i = 50 THEN 'inf'::double ELSE i * 0.3 END AS a, i % 3 AS b FROM range(90) t(i)"
    )
    with pytest.raises(DataError, match=r"^column 'a' has infinite values: correct them"):
        dagora.open_rows(duck, table="far", push_down=True)
    duck.execute(
        "CREATE TABLE odd AS SELECT CASE WHEN i = 50 THEN 'x' ELSE i::varchar END AS a, i % 3 AS b FROM range(90) t(i)"
    )
    with pytest.raises(DataError, match=r"^column 'a' is declared continuous, but 'x' is no number: correct"):
        dagora.open_rows(duck, table="odd", push_down=True, continuous=["a"])


def test_a_query_is_one_statement_and_may_end_in_a_comment(duck):
    for push_down in (False, True):
        rows = dagora.open_rows(duck, query="SELECT * FROM visits -- note", push_down=push_down)
        assert rows.n_rows == 700
    for query in (
        "SELECT 1) AS x; DROP TABLE visits; SELECT * FROM (SELECT 2",
        "DROP TABLE visits; SELECT 1",
    ):
        with pytest.raises(DataError, match=r"syntax error at or near|the query has 2 statements") as caught:
            dagora.open_rows(duck, query=query)
        assert "\n" not in str(caught.value)
    assert duck.sql("SELECT count(*) FROM visits").fetchall() == [(700,)]
    with pytest.raises(OptionError, match=r"^query must be text, not int$"):
        dagora.open_rows(duck, query=5)
