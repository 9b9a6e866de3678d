"""Dask frames: the counts and graphs of the rows in memory, whoever computes them, also when a worker dies."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.base.errors import DataError, OptionError
from dagora.data.scan.profile import look_at_all, new_profiles
from dagora.data.writers import write_table
from dagora.stats.partitions.merged_profiles import merge_profiles
from dagora.stats.table import TableStatistics
from tests.dask_cluster import cluster_of_processes, kill, processes_of

dask = pytest.importorskip("dask", reason="needs the extra dask")
pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

SETS = [(), (0,), (0, 1), (2, 1, 0), (1, 2)]


def frame(rows: int = 900, seed: int = 0) -> "pd.DataFrame":
    rng = np.random.default_rng(seed)
    sky = rng.integers(0, 3, rows)
    wet = (sky + rng.integers(0, 2, rows)) % 3
    heat = rng.normal(size=rows)
    return pd.DataFrame(
        {
            "sky": np.array(["blue", "grey", "black"])[sky],
            "wet": wet,
            "open": rng.integers(0, 2, rows).astype(bool),
            "heat": heat,
            "ice": heat + rng.normal(size=rows),
        }
    )


def in_parts(table: "pd.DataFrame", parts: int) -> object:
    import dask.dataframe as dd

    return dd.from_pandas(table, npartitions=parts)


DISCRETE = ["sky", "wet", "open"]


@pytest.mark.parametrize("parts", [1, 2, 5, 7])
def test_counts_are_those_of_the_table_in_memory(parts: int) -> None:
    table = frame()[DISCRETE]
    rows = dagora.open_rows(in_parts(table, parts))
    known = TableStatistics(as_table(table))
    assert rows.schema == known.schema
    ours, theirs = rows.counts(SETS), known.counts(SETS)
    np.testing.assert_array_equal(ours.values, theirs.values)
    np.testing.assert_array_equal(ours.offsets, theirs.offsets)
    for columns in SETS:
        one, other = rows.contingency(columns), known.contingency(columns)
        np.testing.assert_array_equal(one.cells, other.cells)
        np.testing.assert_array_equal(one.counts, other.counts)


def as_table(table: "pd.DataFrame") -> dagora.Table:
    from dagora.data.accepting import as_table as accepted

    return accepted(table)


def test_sets_without_a_table_are_counted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    from dagora.stats.scan import stream_counts

    monkeypatch.setattr(stream_counts, "most_dense_cells", lambda _rows: 3)
    table = frame()[DISCRETE]
    found = dagora.open_rows(in_parts(table, 4)).counts(SETS)
    np.testing.assert_array_equal(found.values, TableStatistics(as_table(table)).counts(SETS).values)


@pytest.mark.parametrize("levels", [256, 257, 290])
def test_codes_of_partitions_have_room_for_all_levels(levels: int) -> None:
    """Codes have 8 bits up to 256 levels, and 16 beyond."""
    words = np.array([f"level {k:03}" for k in range(levels)])[np.arange(900) * 7 % levels]
    table = frame()[["open"]].assign(word=words)
    found = dagora.open_rows(in_parts(table, 3), discrete=["word"]).contingency([0, 1])
    known = TableStatistics(dagora.Table.from_frame(table, discrete=["word"])).contingency([0, 1])
    np.testing.assert_array_equal(found.cells, known.cells)
    np.testing.assert_array_equal(found.counts, known.counts)


def test_moments_do_not_depend_on_how_partitions_are_scheduled() -> None:
    parts = in_parts(frame()[["heat", "ice"]], 6)
    found = []
    for scheduler in ("threads", "synchronous"):
        with dask.config.set(scheduler=scheduler):
            found.append(dagora.open_rows(parts).moments())
    np.testing.assert_array_equal(found[0].scatter, found[1].scatter)
    np.testing.assert_array_equal(found[0].mean, found[1].mean)
    known = TableStatistics(as_table(frame()[["heat", "ice"]])).moments()
    np.testing.assert_allclose(found[0].scatter, known.scatter, rtol=1e-12)
    assert found[0].n == known.n


@pytest.mark.parametrize(("columns", "method"), [(DISCRETE, "hill-climb"), (["heat", "ice"], "ges")])
def test_learn_takes_a_frame(columns: list[str], method: str) -> None:
    ours = dagora.learn(in_parts(frame()[columns], 3), method)
    theirs = dagora.learn(frame()[columns], method)
    assert ours.graph == theirs.graph
    assert ours.score == pytest.approx(theirs.score, rel=1e-12)
    assert ours.stats["passes"] >= 2


def test_a_bag_of_records_and_rows_that_are_dropped() -> None:
    import dask.bag as db

    records = [{"a": k % 2, "b": None if k == 5 else float(k % 3)} for k in range(40)]
    bag = db.from_sequence(records, npartitions=3)
    with pytest.raises(DataError, match="cells are missing, the first in column 'b', data row 6"):
        dagora.open_rows(bag)
    rows = dagora.open_rows(bag, missing="drop")
    assert rows.n_rows == 39
    assert rows.counts([(0,)]).values.tolist() == [20, 19]


def test_what_has_no_columns_is_refused() -> None:
    import dask.array

    with pytest.raises(DataError, match="has no columns"):
        dagora.open_rows(dask.array.ones(4))
    with pytest.raises(DataError, match=r"cannot be computed|does not have"):
        dagora.open_rows(in_parts(frame(), 2).map_partitions(lambda part: part / 0, meta=frame()))


def test_profiles_of_partitions_are_those_of_all_rows() -> None:
    table = pa.Table.from_pandas(frame(60), preserve_index=False)
    names = tuple(table.schema.names)

    def seen(*batches: "pa.RecordBatch") -> dict:
        profiles = new_profiles(table.schema, names, {}, text_cells=False)
        for batch in batches:
            look_at_all(profiles.values(), batch, {})
        return profiles

    parts = table.to_batches(max_chunksize=17)
    whole = seen(parts[0])
    for part in parts[1:]:
        whole = merge_profiles(whole, seen(part))
    expected = seen(*parts)
    for name in names:  # sums are kept only as long as no number repeats
        if expected[name].repeats:
            whole[name].sums = expected[name].sums
    assert whole == expected


CELLS = {
    "none": (["None", "some"], ()),
    "n/a": (["n/a", "some"], ()),
    "zeros": (["00", "01"], ()),
    "blanks": ([" x", "y "], ()),
    "dots": (["0.0", "1.0"], ()),
    "truth": (["TRUE", "FALSE"], ()),
    "percent": ([f"{k} %" for k in range(30)], ()),
    "numbers": ([f"{k / 7:.3f}" for k in range(60)], ()),
    "said": (["None", "some"], ("None",)),
}


@pytest.mark.parametrize("cells", CELLS)
def test_csv_is_read_by_the_rules_in_memory(cells: str, tmp_path: Path) -> None:
    from dagora.data.columns.reading_options import ReadingOptions
    from dagora.stats.partitions.dask_frames import open_dask, open_worker_files

    written, said = CELLS[cells]
    column = [written[k * k % 61 % len(written)] for k in range(240)]
    file = tmp_path / "rows.csv"
    lines = [f"{cell};{'ny'[k % 2]}\n" for k, cell in enumerate(column)]
    file.write_text("t ;b\n" + "".join(lines))
    missing, na = ("drop", said) if said else ("error", "auto")
    known = TableStatistics(dagora.read_table(file, separator=";", missing=missing, na=na))
    with dask.config.set(scheduler="synchronous"):
        rows = open_dask(
            open_worker_files(str(file), ";")[0], ReadingOptions(missing=missing, na=na), text_cells=True
        )
        assert rows.schema == known.schema
        assert rows.n_rows == known.n_rows
        assert rows.counts([(0, 1)[known.schema[0].cardinality == 0 :]]).values.tolist() == (
            known.counts([(0, 1)[known.schema[0].cardinality == 0 :]]).values.tolist()
        )


def test_a_word_in_the_last_row_and_an_empty_cell_are_told_as_of_a_file(tmp_path: Path) -> None:
    from dagora.data.columns.reading_options import ReadingOptions
    from dagora.stats.partitions.dask_frames import open_dask, open_worker_files

    for last in ("x", ""):
        file = tmp_path / "rows.csv"
        file.write_text("a,b\n" + "".join(f"{k / 7:.3f},{k % 2}\n" for k in range(99)) + f"{last},1\n")
        told = []
        for read in (
            lambda: dagora.open_rows(file),  # noqa: B023
            lambda: open_dask(open_worker_files(str(file))[0], ReadingOptions(), text_cells=True),  # noqa: B023
        ):
            with dask.config.set(scheduler="synchronous"), pytest.raises(DataError) as caught:
                read()
            told.append(str(caught.value).removeprefix(f"{file}: "))
        assert "data row 100" in told[1]
        assert told[0] == told[1]


def test_cells_beyond_the_header_and_a_separator_of_parquet_are_refused(tmp_path: Path) -> None:
    from dagora.stats.partitions.dask_frames import open_worker_files

    (tmp_path / "rows.csv").write_text("a,b\n1,2,3\n4,5,6\n")
    with pytest.raises(DataError, match="more cells than its header has names"):
        open_worker_files(str(tmp_path / "rows.csv"))
    with pytest.raises(OptionError, match="separator is for CSV files"):
        open_worker_files("rows.parquet", ";")


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of Dask, by pandas
def test_categories_of_parquet_files_are_known_once_they_are_read(tmp_path: Path) -> None:
    import dask.dataframe as dd

    table = as_table(frame()[["sky", "heat"]].assign(wet=frame()["wet"].map("level {}".format)))
    for number, rows in enumerate(np.array_split(np.arange(table.n_rows), 3)):
        write_table(table.take(rows), tmp_path / f"{number}.parquet")
    rows, known = dagora.open_rows(dd.read_parquet(tmp_path)), TableStatistics(table)
    assert rows.schema == known.schema
    assert rows.counts([(0, 2)]).values.tolist() == known.counts([(0, 2)]).values.tolist()


@pytest.mark.parametrize("cut", [200, 10_100])
def test_many_texts_of_partitions_are_judged_as_those_of_all_rows(cut: int) -> None:
    schema = pa.schema([("x", pa.string())])

    def seen(*parts: list[str]) -> dict:
        profiles = new_profiles(schema, ("x",), {}, text_cells=True)
        for part in parts:
            look_at_all(profiles.values(), pa.record_batch([pa.array(part)], ["x"]), {})
        return profiles

    plain = [f"{k}" for k in range(3, 10_300)]
    for cells in (plain, [*plain[:-1], "few"], [f"{k} %" for k in range(10_300)]):
        parts = [cells[:cut], cells[cut:]]
        whole, expected = merge_profiles(seen(parts[0]), seen(parts[1]))["x"], seen(cells)["x"]
        for what in ("rows", "firsts", "numbers", "whole", "integers", "repeats", "examples"):
            assert getattr(whole, what) == getattr(expected, what), what
        if expected.numbers:
            assert (whole.low, whole.high, whole.sums) == (expected.low, expected.high, expected.sums)
            assert whole.numbers_the_rows


OTHERS = (
    ("--sample", "5"), ("--scan",), ("--push-down",), ("--table", "t"), ("--query", "SELECT 1"),
)  # fmt: skip


@pytest.mark.parametrize("asked", OTHERS)
def test_what_a_cluster_does_not_do_is_refused(asked: tuple[str, ...], run: Callable) -> None:
    for line in (("learn", "rows.csv"), ("score", "rows.csv", "-o", "rows.jkl")):
        ran = run(*line, "--dask", "tcp://127.0.0.1:1", *asked)
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert f"{asked[0]} does not go with --dask: leave one of them out" in ran.err


# --- a cluster of processes -----------------------------------------------------------------------------------


@pytest.fixture
def client() -> Iterator[object]:
    with cluster_of_processes() as connected:
        yield connected


@pytest.mark.slow
def test_a_killed_worker_changes_nothing(client: object) -> None:
    table = frame(5000)
    rows, numbers = (dagora.open_rows(in_parts(table[some], 8)) for some in (DISCRETE, ["heat", "ice"]))
    with dask.config.set(scheduler="synchronous"):
        before = dagora.open_rows(in_parts(table[["heat", "ice"]], 8)).moments()
    first = rows.counts([(0,)])
    lost = min(processes_of(client))
    kill({lost})
    known = TableStatistics(as_table(table[DISCRETE]))
    np.testing.assert_array_equal(rows.counts(SETS).values, known.counts(SETS).values)
    np.testing.assert_array_equal(rows.counts([(0,)]).values, first.values)
    np.testing.assert_array_equal(numbers.moments().scatter, before.scatter)
    assert lost not in processes_of(client)


@pytest.mark.slow
def test_the_command_learns_on_a_cluster(client: object, run: Callable, tmp_path: Path) -> None:
    folder = tmp_path / "sky"
    folder.mkdir()
    for number in range(3):
        frame(200, number)[DISCRETE].to_parquet(folder / f"{number}.parquet")
    address = client.scheduler.address
    ran = run("learn", folder, "-m", "hill-climb", "--dask", address, "--json", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    whole = pd.concat([frame(200, number)[DISCRETE] for number in range(3)], ignore_index=True)
    assert json.loads(ran.out)["score"] == dagora.learn(whole, "hill-climb").score
    written = []
    for more in ((), ("--dask", address)):
        file = tmp_path / f"sky{len(more)}.jkl"
        assert run("score", folder, "--max-parents", 2, "-o", file, "--quiet", *more).code == 0
        written.append(file.read_bytes())
    assert written[0] == written[1]


def test_a_column_without_a_type_is_one_of_missing_cells():
    dd = pytest.importorskip("dask.dataframe")
    nothing = pd.Series([None] * 60, dtype=pd.ArrowDtype(pa.null()))
    frame = dd.from_pandas(
        pd.DataFrame({"a": [1, 2] * 30, "b": nothing, "c": ["x", "y"] * 30}), npartitions=2
    )
    rows = dagora.open_rows(frame)
    assert [(column.name, column.why) for column in rows.overview.columns][1] == (
        "b",
        "every cell is missing",
    )
    with pytest.raises(DataError, match=r"no column can be used: 'b' \(every cell is missing\)"):
        dagora.open_rows(frame[["b"]])
