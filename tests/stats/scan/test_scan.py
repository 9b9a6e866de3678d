"""Rows that are scanned against the same rows in memory: types, levels, counts, moments, graphs."""

import sqlite3
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import dagora
import dagora.stats.scan.row_stream as row_stream
from dagora.base.errors import DataError, OptionError, RowsUnavailableError
from dagora.stats.name_order import in_name_order
from dagora.stats.table import TableStatistics

ROWS = 700


def frame(rows=ROWS, seed=0):
    """All types of columns; the level 'rare' is only in the last row."""
    rng = np.random.default_rng(seed)
    cold = rng.integers(0, 2, rows)
    cough = np.where(rng.random(rows) < 0.8, cold, 1 - cold)
    word = np.array(["no", "some", "much"], dtype=object)[rng.integers(0, 3, rows)]
    word[-1] = "rare"
    return pd.DataFrame(
        {
            "cold": cold,
            "cough": cough.astype(bool),
            "word": word,
            "dose": rng.choice([0.5, 1.5, 2.0], rows),
            "weight": rng.normal(size=rows) + cold + 1e6,
            "age": rng.integers(0, 90, rows),
        }
    )


def parts(table):
    """The table in pieces of unequal length."""
    return [table[:1], table[1:300], table[300:]]


def as_parquet(table, folder):
    for k, part in enumerate(parts(table)):
        pq.write_table(
            pa.Table.from_pandas(part, preserve_index=False), folder / f"{k}.parquet", row_group_size=97
        )
    return str(folder / "*.parquet")


def as_feather(table, folder):
    pyarrow.feather.write_feather(pa.Table.from_pandas(table), folder / "rows.feather", chunksize=100)
    return folder / "rows.feather"


def as_csv(table, folder):
    for k, part in enumerate(parts(table)):
        part.to_csv(folder / f"{k}.csv", index=False)
    return folder


def as_packed_csv(table, folder):
    table.to_csv(folder / "rows.csv.gz", index=False)
    return folder / "rows.csv.gz"


def as_lazy(table, folder):
    table.to_parquet(folder / "rows.parquet")
    return pl.scan_parquet(folder / "rows.parquet")


def as_function(table, folder):
    return lambda: pa.Table.from_pandas(table, preserve_index=False).to_batches(max_chunksize=64)


DOORS = [as_parquet, as_feather, as_csv, as_packed_csv, as_lazy, as_function]


def assert_same(scanned, table):
    """The same variables, counts of all small sets, and moments."""
    known = TableStatistics(table)
    assert scanned.schema.variables == known.schema.variables
    assert scanned.n_rows == known.n_rows
    discrete = [k for k, variable in enumerate(table.schema) if variable.levels]
    sets = [s for size in range(4) for s in combinations(discrete, size)] + [tuple(discrete[::-1])]
    found, expected = scanned.counts(sets), known.counts(sets)
    assert found.values.tolist() == expected.values.tolist()
    assert found.offsets.tolist() == expected.offsets.tolist()
    one, other = scanned.contingency(discrete[::-1]), known.contingency(discrete[::-1])
    assert one.cells.tolist() == other.cells.tolist()
    assert one.counts.tolist() == other.counts.tolist()
    assert scanned.moments().scatter.tolist() == known.moments().scatter.tolist()
    assert scanned.moments().mean.tolist() == known.moments().mean.tolist()


@pytest.mark.parametrize("door", DOORS)
def test_every_door_gives_what_a_table_in_memory_gives(door, tmp_path):
    table = frame()
    scanned = dagora.open_rows(door(table, tmp_path))
    in_memory = dagora.Table.from_frame(table)
    if door in (as_csv, as_packed_csv):
        (tmp_path / "other").mkdir()
        in_memory = dagora.read_table(as_packed_csv(table, tmp_path / "other"))
    assert "rare" in scanned.schema[2].levels
    assert_same(scanned, in_memory)


def test_pieces_and_batches_need_not_meet(monkeypatch):
    table = frame()
    monkeypatch.setattr(row_stream, "PIECE_ROWS", 128)
    scanned = dagora.open_rows(as_function(table, None), drop=["weight", "age"])
    assert_same(scanned, dagora.Table.from_frame(table, drop=["weight", "age"]))


@pytest.mark.full
def test_moments_of_many_pieces_are_those_of_a_table():
    rng = np.random.default_rng(3)
    rows = pd.DataFrame(rng.normal(1e8, 1.0, size=(row_stream.PIECE_ROWS + 20_000, 3)), columns=list("abc"))
    scanned = dagora.open_rows(lambda: pa.Table.from_pandas(rows).to_batches(max_chunksize=10_007))
    known = TableStatistics(dagora.Table.from_frame(rows)).moments()
    assert scanned.moments().scatter.tolist() == known.scatter.tolist()
    assert np.allclose(
        scanned.moments().scatter, np.cov(rows.to_numpy().T) * (len(rows) - 1), rtol=1e-6, atol=1e-2
    )


def test_a_database_by_the_plain_interface():
    table = frame().drop(columns="cough")
    with sqlite3.connect(":memory:") as connection:
        table.to_sql("visits", connection, index=False)
        scanned = dagora.open_rows(connection, table="visits")
        assert_same(scanned, dagora.Table.from_frame(table))
        some = dagora.open_rows(connection, query="SELECT cold, word FROM visits WHERE cold = 1;")
        assert (some.n_rows, some.schema.names) == (int(table["cold"].sum()), ("cold", "word"))
        with pytest.raises(DataError, match=r'^the query: near "SELEC": syntax error$'):
            dagora.open_rows(connection, query="SELEC 1")
        with pytest.raises(OptionError, match="either table or query"):
            dagora.open_rows(connection)


def test_duckdb(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    table = frame()
    with duckdb.connect(str(tmp_path / "shop.db")) as connection:
        connection.register("made", table)
        connection.execute("CREATE TABLE visits AS SELECT * FROM made")
    scanned = dagora.open_rows(f"duckdb:{tmp_path / 'shop.db'}", table="visits")
    assert_same(scanned, dagora.Table.from_frame(table))
    with pytest.raises(DataError, match="nothing"):
        dagora.open_rows(f"duckdb:{tmp_path / 'shop.db'}", table="nothing")


def test_partitions_are_columns(tmp_path):
    table = pa.Table.from_pandas(frame(), preserve_index=False)
    pq.write_to_dataset(table, tmp_path / "sales", partition_cols=["word"])
    scanned = dagora.open_rows(tmp_path / "sales")
    assert scanned.schema[scanned.schema.index("word")].levels == ("much", "no", "rare", "some")
    assert scanned.n_rows == ROWS


def test_declared_levels_are_kept_whether_seen_or_not(tmp_path):
    table = frame(200)
    table["word"] = pd.Categorical(table["word"], ["much", "some", "no", "never", "rare"], ordered=True)
    scanned = dagora.open_rows(as_feather(table, tmp_path))
    assert_same(scanned, dagora.Table.from_frame(table))
    assert scanned.schema[2].levels == ("much", "some", "no", "never", "rare")


@pytest.mark.full
def test_sets_without_a_table(monkeypatch):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: rng.integers(0, 300, 2000).astype(str) for name in "abcdefghi"})
    scanned = dagora.open_rows(as_function(table, None))
    known = TableStatistics(dagora.Table.from_frame(table))
    sets = [(0, 1), (3, 0), tuple(range(9)), (2,), (4, 3, 2)]
    assert scanned.counts(sets).values.tolist() == known.counts(sets).values.tolist()
    assert scanned.passes == 2
    one, other = scanned.contingency(range(9)), known.contingency(range(9))
    assert one.cells.tolist() == other.cells.tolist()
    assert scanned.passes == 2


def test_rounds_that_have_no_room_for_all_tables_take_more_passes(monkeypatch):
    table = frame()
    monkeypatch.setattr("dagora.stats.blocks.in_memory.ROUND_CELLS", 20)
    scanned = dagora.open_rows(as_function(table, None), drop=["weight", "age"])
    assert_same(scanned, dagora.Table.from_frame(table, drop=["weight", "age"]))
    assert scanned.passes > 4


def test_what_was_counted_is_kept():
    scanned = dagora.open_rows(as_function(frame(), None))
    assert scanned.passes == 1
    first = scanned.counts([(0, 1), (2,)]).values.tolist()
    assert scanned.passes == 2
    assert scanned.counts([(0, 1), (2,), ()]).values.tolist() == [*first, ROWS]
    assert scanned.counts([(1, 0)]).values.sum() == ROWS
    assert scanned.passes == 2
    scanned.counts([(0, 2)])
    assert scanned.passes == 3
    scanned.counts([(2, 3)])
    known = TableStatistics(dagora.Table.from_frame(frame())).counts([(3,), (2,)]).values.tolist()
    assert scanned.counts([(3,), (2,)]).values.tolist() == known
    assert scanned.passes == 4, "single columns follow from larger sets"


def test_columns_that_are_left_out(tmp_path):
    table = frame()
    table.insert(0, "row", range(10, ROWS + 10))
    table["constant"] = 2.5
    table["day"] = pd.Timestamp("2024-01-01")
    table["comment"] = [f"text {k}" for k in range(ROWS)]
    with pytest.warns(dagora.DagoraWarning, match="4 columns are left out"):
        scanned = dagora.open_rows(as_parquet(table, tmp_path))
    assert scanned.schema.names == tuple(frame().columns)
    why = {column.name: column.why for column in scanned.overview.columns if column.type == "left out"}
    assert why == {
        "row": "numbers the rows",
        "constant": "a constant number",
        "day": "dates or times",
        "comment": f"{ROWS} levels in {ROWS} rows: names or free text",
    }


@pytest.mark.parametrize("most", [10_000, 300])
def test_numbers_in_text_that_tell_rows_apart(tmp_path, monkeypatch, most):
    """As in memory: a number of the row and an identifier are left out, a number that repeats is not."""
    monkeypatch.setattr(
        "dagora.data.scan.profile.MAX_LEVELS", most
    )  # 300: while there are still rows to come
    rng = np.random.default_rng(5)
    table = pd.DataFrame(
        {
            "row": rng.permutation(ROWS) + 7,
            "user_id": rng.permutation(10**6)[:ROWS],
            "no": rng.integers(0, 400, ROWS),
            "cold": rng.integers(0, 2, ROWS),
        }
    )
    with pytest.warns(dagora.DagoraWarning, match="2 columns are left out"):
        scanned = dagora.open_rows(as_csv(table, tmp_path))
    assert scanned.schema.names == ("no", "cold")
    assert [column.values for column in scanned.overview.columns][
        2
    ] == f"{table['no'].min()} to {table['no'].max()}"
    assert scanned.moments().mean.tolist() == pytest.approx([table["no"].mean()])


def test_categories_of_too_many_levels_are_left_out_wherever_these_stand(monkeypatch):
    monkeypatch.setattr("dagora.data.scan.profile.MAX_LEVELS", 300)
    monkeypatch.setattr("dagora.data.scan.screening_sample.FEWEST_ROWS", 1)
    many, few = (
        pa.record_batch(
            {
                "town": pa.array([f"town {k % levels}" for k in range(ROWS)]).dictionary_encode(),
                "cold": [0, 1] * (ROWS // 2),
                "cough": [0, 0, 1, 1] * (ROWS // 4),
            }
        )
        for levels in (301, 3)
    )
    for batches in ([many, few], [few, many], [few, many, few]):
        with pytest.warns(dagora.DagoraWarning, match=r"left out: 'town' \(more than"):
            scanned = dagora.open_rows(partial(iter, batches))
        assert scanned.schema.names == scanned.sample.names == ("cold", "cough")
        with pytest.raises(DataError, match="'town' has more than"):
            dagora.open_rows(partial(iter, batches), discrete=["town"])


def test_a_word_among_many_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr("dagora.data.scan.profile.MAX_LEVELS", 300)
    text = frame()[["weight", "cold"]].astype(str)
    text.loc[650, "weight"] = "unclear"
    with pytest.raises(
        DataError, match=r"'weight' has numbers, but also 'unclear' \(first in data row 651\)"
    ):
        dagora.open_rows(as_packed_csv(text, tmp_path))
    assert dagora.open_rows(tmp_path / "rows.csv.gz", na="unclear", missing="drop").n_rows == ROWS - 1


@pytest.mark.parametrize("door", [as_parquet, as_csv, as_lazy])
def test_missing_cells(door, tmp_path):
    table = frame()
    table.loc[[5, 9], "word"] = None
    table.loc[20, "weight"] = np.nan
    source = door(table, tmp_path)
    with pytest.raises(
        DataError, match=r"^cells are missing, the first in column 'word', data row 6: choose"
    ):
        dagora.open_rows(source)
    scanned = dagora.open_rows(source, missing="drop")
    assert scanned.n_rows == ROWS - 3
    assert scanned.overview.dropped == 3
    assert_same(scanned, dagora.Table.from_frame(table, missing="drop"))
    with pytest.raises(OptionError, match="refused or dropped"):
        dagora.open_rows(source, missing="level")


def test_words_that_mean_missing_among_numbers(tmp_path):
    text = frame()[["cold", "age"]].astype(str)
    text.loc[3, "age"] = "?"
    text.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(DataError, match=r"missing \('\?' among numbers .* column 'age', data row 4"):
        dagora.open_rows(tmp_path / "rows.csv")
    with pytest.warns(dagora.DagoraWarning, match="read as missing"):
        assert dagora.open_rows(tmp_path / "rows.csv", missing="drop").n_rows == ROWS - 1
    assert dagora.open_rows(tmp_path / "rows.csv", missing="drop", na="?").n_rows == ROWS - 1


def test_a_file_that_changes_is_refused(tmp_path):
    table = frame()
    scanned = dagora.open_rows(as_parquet(table, tmp_path))
    scanned.counts([(0,)])
    pq.write_table(pa.Table.from_pandas(table[:50], preserve_index=False), tmp_path / "2.parquet")
    with pytest.raises(DataError, match="changed during the run"):
        scanned.counts([(0, 1)])
    assert scanned.counts([(0,)]).values.sum() == ROWS  # what was counted is kept


def test_rows_that_change_are_refused():
    tables = [frame(), frame()[:600], frame().replace("rare", "new")]
    turn = iter([0, 0, 1, 2])
    scanned = dagora.open_rows(lambda: pa.Table.from_pandas(tables[next(turn)]).to_batches())
    with pytest.raises(DataError, match="it has 600 rows now, and had 700 before"):
        scanned.counts([(0,)])
    with pytest.raises(DataError, match="column 'word' has a value that it did not have"):
        scanned.counts([(2,)])


def test_types_that_differ_between_files(tmp_path):
    frame().to_parquet(tmp_path / "a.parquet")
    frame().astype({"age": "float64"}).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(
        DataError, match=r"b.parquet: column 'age' has the type double, but int64 in .*a.parquet"
    ):
        dagora.open_rows(tmp_path)
    frame().drop(columns="age").to_parquet(tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"b.parquet: there is no column 'age', which .*a.parquet has"):
        dagora.open_rows(tmp_path)


def test_bad_places(tmp_path):
    with pytest.raises(DataError, match="there is no file in this folder"):
        dagora.open_rows(tmp_path)
    with pytest.raises(DataError, match="there is no such file"):
        dagora.open_rows(tmp_path / "*.parquet")
    (tmp_path / "a.csv").write_text("a,b\n1,2\n1,2,3\n")
    with pytest.raises(DataError, match="data row 2 has 3 cells, but the header has 2"):
        dagora.open_rows(tmp_path / "a.csv")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(DataError, match="several formats"):
        dagora.open_rows(tmp_path)
    with pytest.raises(DataError, match="cannot be read"):
        dagora.open_rows(tmp_path / "b.parquet")
    with pytest.raises(DataError, match="an object of type int cannot be opened"):
        dagora.open_rows(7)
    with pytest.raises(DataError, match="lazy frame cannot be used"):
        dagora.open_rows(pl.LazyFrame({"a": [1]}).select("b"))


@pytest.mark.full
def test_methods_run_on_scanned_rows():
    table = frame(3000)
    discrete, numbers = ["cold", "cough", "word", "dose"], ["weight", "age"]
    scanned = dagora.open_rows(as_function(table, None), drop=numbers)
    in_memory = dagora.Table.from_frame(table, drop=numbers)
    for method in ("hill-climb", "tabu", "ges", "auto", "pc"):
        found, expected = dagora.learn(scanned, method=method), dagora.learn(in_memory, method=method)
        assert (found.graph, found.score) == (expected.graph, expected.score), method
    assert found.stats["passes"] == scanned.passes
    scanned = dagora.open_rows(as_function(table, None), drop=discrete)
    in_memory = dagora.Table.from_frame(table, drop=discrete)
    found, expected = dagora.learn(scanned, method="notears"), dagora.learn(in_memory, method="notears")
    assert found.weights.tolist() == expected.weights.tolist()
    assert scanned.passes == 2
    with pytest.raises(RowsUnavailableError, match=r"the rows themselves, .* sample=100000 \(one pass"):
        dagora.learn(scanned, method="lingam")


def test_a_sample_is_uniform_and_does_not_depend_on_batches():
    table = pd.DataFrame({"k": np.arange(5000), "half": np.arange(5000) % 2})

    def drawn(size, seed, batch):
        rows = dagora.open_rows(
            lambda: pa.Table.from_pandas(table).to_batches(max_chunksize=batch),
            sample=size, seed=seed, discrete=["half"], continuous=["k"],
        )  # fmt: skip
        return rows.values(0)

    one = drawn(500, 1, 64)
    assert len(one) == 500
    assert (np.diff(one) > 0).all()
    assert one.tolist() == drawn(500, 1, 5000).tolist() == drawn(500, 1, 7).tolist()
    assert one.tolist() != drawn(500, 2, 64).tolist()
    assert len(drawn(9999, 1, 64)) == 5000
    # Each tenth of the rows has 50 of the sample, up to five standard deviations.
    assert np.abs(np.histogram(one, bins=10, range=(0, 5000))[0] - 50).max() < 5 * np.sqrt(45)
    with pytest.raises(OptionError, match="sample must be a whole number"):
        drawn(0, 1, 64)


def test_threads_change_nothing(monkeypatch):
    monkeypatch.setattr("dagora.stats.blocks.rounds.WORTH_A_THREAD", 1)
    assert_same(dagora.open_rows(as_function(frame(), None), jobs=2), dagora.Table.from_frame(frame()))


def test_bit_rows_are_made_where_sets_are_many(monkeypatch):
    monkeypatch.setattr("dagora.stats.blocks.cover.MAKE_BITS", -1e9)
    assert_same(dagora.open_rows(as_function(frame(), None)), dagora.Table.from_frame(frame()))


@pytest.fixture(scope="module")
def long_table():
    """Rows of a random network of 20 columns."""
    rng = np.random.default_rng(11)
    graph = dagora.random_dag("er", 20, 1.5, seed=rng)
    levels = {node: tuple("abc"[: rng.integers(2, 4)]) for node in graph}
    tables = {
        node: rng.dirichlet(
            np.full(len(levels[node]), 0.5), size=[len(levels[parent]) for parent in graph.parents(node)]
        )
        for node in graph
    }
    return dagora.sample_network(dagora.DiscreteNetwork(graph, levels, tables), 4000, 1)


@pytest.mark.full
@pytest.mark.parametrize(("method", "most"), [("hill-climb", 20), ("tabu", 30)])
def test_greedy_searches_take_few_passes(method, most, long_table):
    arrow = long_table.to_arrow()
    scanned = dagora.open_rows(arrow.to_batches)
    found, expected = dagora.learn(scanned, method=method), dagora.learn(long_table, method=method)
    assert (found.graph, found.score) == (expected.graph, expected.score)
    assert found.stats["steps"] == expected.stats["steps"] > most
    assert found.stats["passes"] <= most


def test_columns_by_name_share_what_was_counted():
    table = frame()[["word", "cold", "dose"]]
    scanned = dagora.open_rows(as_function(table, None))
    ordered = in_name_order(scanned)
    assert ordered.schema.names == ("cold", "dose", "word")
    known = TableStatistics(dagora.Table.from_frame(table[["cold", "dose", "word"]]))
    scanned.counts([(0, 1, 2)])
    assert ordered.counts([(0, 1, 2)]).values.tolist() == known.counts([(0, 1, 2)]).values.tolist()
    assert scanned.passes == 2
