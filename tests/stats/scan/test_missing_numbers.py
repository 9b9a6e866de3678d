"""Numbers that mean missing, however they are written, and columns of nothing but such cells: as in memory."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dagora
from dagora.base.errors import DataError
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.readers import read_as
from dagora.stats.partitions.dask_frames import open_dask
from tests.stats.scan.test_odd_cells import parquet, written
from tests.stats.scan.test_scan import assert_same

ROWS = 120
SPELLINGS = ["-999", "-999.0", "-999.00", "-9.99e2", " -999.0 "]


@pytest.fixture(params=[10_000, 25])
def most(request, monkeypatch):
    """How many values of a text column are kept: all of a small table, or too few."""
    monkeypatch.setattr("dagora.data.scan.profile.MAX_LEVELS", request.param)
    return request.param


def compared(path, **options):
    """The rows scanned, which are those in memory: columns, why they are left out, counts and moments."""
    known, scanned = dagora.read_table(path, **options), dagora.open_rows(path, **options)
    assert_same(scanned, known)
    for one, other in zip(scanned.overview.columns, known.overview.columns, strict=True):
        assert (one.name, one.why) == (other.name, other.why)
    return scanned


def lines(spelling, **columns):
    """A file with noise and some columns, in each of which a few cells are spelled so."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=ROWS).round(3).astype(str), **columns})
    for place, name in enumerate(columns):
        table.loc[[5 + place, 40 + place, ROWS - 1], name] = spelling
    return table.to_csv(index=False)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_number_that_means_missing_is_one_however_it_is_written(spelling, most, tmp_path):
    rng = np.random.default_rng(1)
    path = written(
        tmp_path,
        lines(
            spelling,
            y=rng.normal(size=ROWS).round(3).astype(str),
            whole=rng.integers(0, 60, ROWS).astype(str),
            few=rng.integers(0, 3, ROWS).astype(str),
            row=np.arange(ROWS).astype(str),
            word=np.array(["p", "q"])[rng.integers(0, 2, ROWS)],
        ),
    )
    scanned = compared(path, na="-999", missing="drop", drop=["word"])
    assert scanned.n_rows == ROWS - 9
    assert scanned.schema.names == ("x", "y", "whole", "few", "row")
    with pytest.raises(DataError, match=r"^cells are missing, the first in column 'y', data row 6: choose"):
        dagora.open_rows(path, na="-999")
    # Beside words it is a word: only as the user wrote it.
    words = compared(path, na="-999", missing="drop", drop=["y", "whole", "few", "row"])
    assert words.n_rows == (ROWS - 3 if spelling == "-999" else ROWS)
    compared(path, na="-999", missing="drop", discrete=["few"], continuous=["whole"], drop=["word"])


def test_also_among_numbers_in_a_spelling_of_their_own(tmp_path):
    rng = np.random.default_rng(2)
    amounts = [f"{x:,.1f}" for x in rng.uniform(1, 10**6, ROWS)]
    path = written(tmp_path, lines("-9,999.0", amount=amounts))
    scanned = compared(path, na="-9999", missing="drop")
    assert scanned.n_rows == ROWS - 3
    assert scanned.moments().mean[1] > 1000
    with pytest.raises(DataError, match=r"the first in column 'amount', data row 6"):
        dagora.open_rows(path, na="-9999")


def test_of_a_whole_column_only_a_constant_or_nothing_is_left(tmp_path):
    cells = {"half": ["0.5"] * ROWS, "five": ["5"] * ROWS, "none": ["-999.0"] * ROWS}
    path = written(tmp_path, lines("-999.0", **cells))
    reading = {"na": "-999", "missing": "drop"}
    scanned = compared(path, drop=["half", "five"], **reading)
    assert [each.why for each in scanned.overview.columns] == ["numbers", "every cell is missing"]
    scanned = dagora.open_rows(path, **reading)
    assert scanned.schema == read_as(path, ReadingOptions(**reading, constants=False)).schema


def test_text_of_a_typed_source_is_no_number(tmp_path):
    words = ["-999.0", "1", "2"] * 20
    assert compared(parquet(tmp_path, {"a": words, "b": ["x", "y"] * 30}), na="-999").n_rows == 60


def test_also_in_partitions(most, tmp_path):
    dask = pytest.importorskip("dask.dataframe")
    rng = np.random.default_rng(3)
    text = lines("-999.0", y=rng.normal(size=ROWS).round(3).astype(str), few=np.tile(["0", "1"], ROWS // 2))
    path = written(tmp_path, text)
    known = dagora.read_table(path, na="-999", missing="drop")
    frame = dask.from_pandas(pd.read_csv(path, dtype=str), npartitions=3)
    rows = open_dask(frame, ReadingOptions(na="-999", missing="drop"), text_cells=True)
    assert rows.schema.variables == known.schema.variables
    assert rows.n_rows == known.n_rows == ROWS - 5
    assert rows.moments().mean == pytest.approx([known.values(0).mean(), known.values(1).mean()], rel=1e-12)


@pytest.mark.parametrize("zero", ["0", "-0", "0.0"])
def test_negative_zero_is_the_number_zero_where_that_means_missing(zero, tmp_path):
    numbers = [0.0, -0.0, 0.5, 1.5] * 10
    path = parquet(tmp_path, {"a": numbers, "b": ["x", "y", "y", "x"] * 10})
    assert compared(path, na=zero, missing="drop").n_rows == 20
    text = written(tmp_path, "a,b\n" + "".join(f"{x},{'xy'[k % 2]}\n" for k, x in enumerate(numbers)))
    assert compared(text, na=zero, missing="drop").n_rows == 20
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        query = f"SELECT * FROM '{path}'"
        for push_down in (False, True):
            rows = dagora.open_rows(connection, query=query, na=zero, missing="drop", push_down=push_down)
            assert (rows.n_rows, rows.schema[0].levels) == (20, ("0.5", "1.5"))


@pytest.mark.parametrize("word", ["#N/A", "--", "?"])
def test_a_column_of_nothing_but_words_that_mean_missing_is_left_out(word, tmp_path):
    columns = {"a": ["p", "q", "p"] * 20, "b": [word] * 60, "c": ["u", "v"] * 30}
    text = "a,b,c\n" + "".join(f"{','.join(row)}\n" for row in zip(*columns.values(), strict=True))
    listed = pa.array(columns["b"]).dictionary_encode()
    for path in (
        written(tmp_path, text),
        parquet(tmp_path, columns),
        parquet(tmp_path, {**columns, "b": listed}),
    ):
        scanned = compared(path, missing="drop")
        assert (scanned.schema.names, scanned.n_rows) == (("a", "c"), 60)
    assert dagora.open_rows(path).schema.names == dagora.read_table(path).schema.names == ("a", "b", "c")
    with pytest.raises(DataError, match="no row is left"):
        dagora.open_rows(path, missing="drop", discrete=["b"])
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        query = f"SELECT * FROM '{parquet(tmp_path, columns)}'"
        for push_down in (False, True):
            rows = dagora.open_rows(connection, query=query, missing="drop", push_down=push_down)
            assert (rows.schema.names, rows.n_rows) == (("a", "c"), 60)


@pytest.mark.parametrize("rows", [3, 20, 21])
@pytest.mark.parametrize("numbers", ["{}", "{}.0", "7{}"])
def test_a_column_without_a_name_that_numbers_few_rows_is_left_out(rows, numbers, tmp_path):
    cells = "".join(f"{numbers.format(k)},{'pq'[k % 2]},{k % 3 % 2}\n" for k in range(rows))
    path = written(tmp_path, "Unnamed: 0,a,b\n" + cells)
    scanned = dagora.open_rows(path)
    assert scanned.schema.variables == dagora.read_table(path).schema.variables
    assert scanned.schema.names == ("a", "b")
    twice = written(tmp_path, "Unnamed: 0,a,b\n" + 2 * cells)
    assert dagora.open_rows(twice).schema.names == dagora.read_table(twice).schema.names
    named = written(tmp_path, "step,a,b\n" + cells)
    assert dagora.open_rows(named).schema.names == dagora.read_table(named).schema.names


def test_an_identifier_that_repeats_in_another_batch_is_a_unit(tmp_path):
    table = pa.table({"id": [*range(0, 90, 3), *range(0, 90, 3)], "a": ["p", "q", "q"] * 20})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=30)
    assert compared(tmp_path / "rows.parquet").schema.names == ("a",)  # it says which rows belong together
