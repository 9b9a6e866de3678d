"""Scanned rows with counts or weights give what the same rows give in memory."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.scan import rows_that_count
from dagora.stats.accepting import as_statistics
from dagora.stats.scan import stream_counts

ROWS = 400
SETS = [(), (0,), (2,), (0, 2), (2, 0), (0, 2, 4)]


def frame(kind: str = "mixed") -> pd.DataFrame:
    """Dependent columns, numbers of rows and weights, some of them 0."""
    random = np.random.default_rng(4)
    x = random.normal(size=(5, ROWS))
    x[2] += x[0]
    x[3] += x[1]
    x[4] += x[2] - x[3]
    found = pd.DataFrame(x.T, columns=list("abcde"))
    for name in "ace" if kind == "mixed" else "abcde":
        found[name] = np.digitize(found[name], [-0.8, 0.4]).astype(str)
    found["n"] = random.integers(0, 5, ROWS)
    found["w"] = np.where(random.random(ROWS) < 0.1, 0.0, random.gamma(2.0, 3.0, ROWS))
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.parquet"
    frame().to_parquet(path, index=False, row_group_size=64)
    return path


def test_counted_rows_are_those_in_memory_to_the_last_bit(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows_that_count, "SLICE", 50)  # a batch is repeated in several slices
    scanned = dagora.open_rows(file, counts="n", drop="w")
    held = as_statistics(file, reading=ReadingOptions(counts="n", drop=["w"]))
    assert scanned.n_rows == held.n_rows == frame()["n"].sum()
    assert scanned.schema == held.schema
    one, other = scanned.counts(SETS), held.counts(SETS)
    assert np.array_equal(one.values, other.values)
    assert np.array_equal(one.offsets, other.offsets)
    for mine, own in ((scanned.moments(), held.moments()),):
        assert np.array_equal(mine.mean, own.mean)
        assert np.array_equal(mine.scatter, own.scatter)
    assert "n" in {column.name for column in scanned.overview.columns}


def test_weights_are_those_in_memory(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scanned = dagora.open_rows(file, weights="w", drop="n")
    held = as_statistics(file, reading=ReadingOptions(weights="w", drop=["n"]))
    assert scanned.n_rows == held.n_rows < ROWS
    assert scanned.capabilities.design.rows == held.capabilities.design.rows
    for mine, own in (
        (scanned.moments(), held.moments()),
        (scanned.indicator_moments().moments, held.indicator_moments().moments),
    ):
        assert mine.n == own.n
        scale = np.sqrt(np.outer(np.diag(own.scatter), np.diag(own.scatter)))
        if mine is scanned.moments():
            np.testing.assert_allclose(mine.mean, own.mean, rtol=1e-12, atol=1e-14)
            assert np.abs((mine.scatter - own.scatter) / scale).max() < 1e-12
    one, other = scanned.counts(SETS), held.counts(SETS)
    np.testing.assert_allclose(one.values, other.values, rtol=1e-12)
    assert np.array_equal(one.offsets, other.offsets)
    monkeypatch.setattr(stream_counts, "most_dense_cells", lambda rows: 2)  # no set has a table
    sparse = dagora.open_rows(file, weights="w", drop="n")
    np.testing.assert_allclose(sparse.counts(SETS).values, other.values, rtol=1e-12)
    cells = sparse.contingency((2, 0))
    np.testing.assert_array_equal(cells.cells, held.contingency((2, 0)).cells)


@pytest.mark.parametrize("option", ["counts", "weights"])
@pytest.mark.parametrize("ending", ["parquet", "csv", "duckdb"])
def test_the_graph_is_that_of_the_rows_in_memory(option: str, ending: str, tmp_path: Path) -> None:
    rows, column = frame("discrete"), {"counts": "n", "weights": "w"}[option]
    rows = rows.drop(columns={"n", "w"} - {column})
    source = path = tmp_path / f"rows.{ending}"
    if ending == "parquet":
        rows.to_parquet(path, index=False)
    elif ending == "csv":
        rows.to_csv(path, index=False)
    else:
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE TABLE people AS SELECT * FROM rows")
        source = f"duckdb:{path}"
    held = dagora.learn(rows, "tabu", **{option: column})
    table = {"table": "people"} if ending == "duckdb" else {}
    scanned = dagora.learn(dagora.open_rows(source, **table, **{option: column}), "tabu")
    assert scanned.graph == held.graph
    assert scanned.score == pytest.approx(held.score, rel=0 if option == "counts" else 1e-12)
    assert scanned.stats.get("effective_rows") == held.stats.get("effective_rows")
    assert ("the effective number" in scanned.message) is (option == "weights")


def test_rows_with_missing_values_are_dropped_with_their_weights(tmp_path: Path) -> None:
    rows = frame("discrete").drop(columns="n")
    rows.loc[::7, "b"] = None
    rows.to_parquet(tmp_path / "rows.parquet", index=False)
    scanned = dagora.open_rows(tmp_path / "rows.parquet", weights="w", missing="drop")
    held = as_statistics(rows, reading=ReadingOptions(weights="w", missing="drop"))
    assert scanned.n_rows == held.n_rows
    np.testing.assert_allclose(scanned.counts(SETS).values, held.counts(SETS).values, rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "option", "line"),
    [
        ({"w": -1.0}, {"weights": "w"}, "column 'w' is to weigh rows (weights=\"w\"), and data row 1 holds"),
        ({"w": 0.0}, {"weights": "w"}, "all weights are 0, so there is no row"),
        ({"n": 1.5}, {"counts": "n"}, "column 'n' is to count rows (counts=\"n\"), and data row 1 holds"),
        ({"n": 0}, {"counts": "n"}, "all counts are 0, so there is no row"),
        ({}, {"counts": "m"}, "there is no column 'm' (of counts)"),
    ],
)
def test_what_says_no_number_is_refused(change: dict, option: dict, line: str, tmp_path: Path) -> None:
    frame().assign(**change).to_parquet(tmp_path / "rows.parquet", index=False)
    with pytest.raises(dagora.DagoraError) as told:
        dagora.open_rows(tmp_path / "rows.parquet", **option)
    assert line in str(told.value)


def test_a_database_that_counts_by_itself_refuses(tmp_path: Path, run: Callable) -> None:
    duckdb = pytest.importorskip("duckdb")
    rows = frame("discrete")  # noqa: F841 - the query names it
    with duckdb.connect(str(tmp_path / "db")) as connection:
        connection.execute("CREATE TABLE people AS SELECT * FROM rows")
    ran = run("learn", f"duckdb:{tmp_path / 'db'}", "--table", "people", "--counts", "n", "--push-down")
    assert ran.code == 2
    assert "--push-down counts every row once: leave it out" in ran.err


def test_repeated_rows_are_not_told_to_resemble_each_other(tmp_path: Path) -> None:
    rows = frame()[list("bd")].round(3).assign(n=np.arange(ROWS) % 4)
    path = tmp_path / "rows.csv"
    rows.to_csv(path, index=False)
    assert not [
        line for line in dagora.open_rows(path, counts="n").overview.warnings if "before them" in line
    ]
    repeated = rows.loc[rows.index.repeat(rows["n"])].drop(columns="n")
    repeated.to_csv(path, index=False)
    assert [line for line in dagora.open_rows(path).overview.warnings if "before them" in line]


@pytest.mark.parametrize("size", [1e308, 1e-310])
def test_weights_whose_squares_are_no_numbers_are_refused(size: float, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    frame()[list("ab")].assign(w=size).to_csv(path, index=False)
    with pytest.raises(dagora.DataError, match="squares of the weights are no numbers: scale them"):
        dagora.open_rows(path, weights="w")


def test_the_rows_that_are_repeated_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One row could stand for more than any time allows; the way out that the line names works."""
    folder = tmp_path / "counts"
    folder.mkdir()
    (folder / "rows.csv").write_text(f"a,b,n\nno,no,{10**9}\nyes,yes,{10**9}\nyes,no,3\n")
    with pytest.raises(
        dagora.DataError, match=r'counts="n": the rows stand for 2,000,000,003 rows .* folder'
    ):
        dagora.open_rows(folder / "rows.csv", counts="n")
    assert dagora.learn(folder, "hill-climb", counts="n").graph.edges == (("a", "b"),)
    monkeypatch.setattr(rows_that_count, "MOST_REPEATED", 3)
    rows = tmp_path / "few.csv"
    rows.write_text("a,b,n\nno,no,1\nyes,yes,1\nyes,no,1\n")
    assert dagora.open_rows(rows, counts="n").n_rows == 3
    rows.write_text("a,b,n\nno,no,1\nyes,yes,1\nyes,no,2\n")
    with pytest.raises(dagora.DataError, match="stand for 4 rows or more, and at most 3 are repeated"):
        dagora.open_rows(rows, counts="n")


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (
            {"group": "n"},
            "are taken as independent: group needs a file that is read into memory, or a sample",
        ),
        ({"ranks": "b"}, "ranks need all rows at once"),
        ({"discretise": "quantile"}, "are not cut into intervals"),
    ],
)
def test_what_needs_all_rows_says_why_and_goes_with_a_sample(
    file: Path, asked: dict[str, str], why: str
) -> None:
    with pytest.raises(dagora.OptionError, match=why):
        dagora.open_rows(file, **asked)
    every = dagora.open_rows(file, **asked, sample=ROWS)
    held = dagora.read_table(file, **asked) if "group" not in asked else None
    assert every.n_rows == ROWS
    if held is None:
        assert len(set(every.design.groups.tolist())) == frame()["n"].nunique()
    else:
        assert all(np.array_equal(one, other) for one, other in zip(every.columns, held.columns, strict=True))
