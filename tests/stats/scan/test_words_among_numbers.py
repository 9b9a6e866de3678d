"""Text that is numbers but for words such as NA, and codes such as 00501: scanned as it is read in memory."""

import itertools

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dagora
from dagora.base.errors import DataError
from dagora.data.columns.reading_options import ReadingOptions
from dagora.stats.partitions.dask_frames import open_dask
from dagora.stats.table import TableStatistics
from tests.stats.scan.test_odd_cells import both
from tests.stats.scan.test_scan import assert_same

ROWS = 300


@pytest.fixture(params=[10_000, 25])
def most(request, monkeypatch):
    """How many values of a text column are kept: all of a small table, or too few."""
    monkeypatch.setattr("dagora.data.scan.profile.MAX_LEVELS", request.param)
    return request.param


def in_parts(folder, columns):
    """The same rows in memory and in three files, of CSV or of Parquet."""
    table = pd.DataFrame(columns)
    for k, part in enumerate((table[:90], table[90:95], table[95:])):
        part.to_csv(folder / f"{k}.csv", index=False)
        pq.write_table(pa.Table.from_pandas(part, preserve_index=False), folder / f"{k}.parquet")
    (folder / "whole").mkdir(exist_ok=True)
    table.to_csv(folder / "whole" / "rows.csv", index=False)
    pq.write_table(pa.Table.from_pandas(table, preserve_index=False), folder / "whole" / "rows.parquet")
    return table


def spoilt(numbers, form="{}", words=("NA", "?")):
    """Numbers as text, with a few words among them; the second only in the last part."""
    cells = [form.format(x) for x in numbers]
    cells[4], cells[7], cells[-3] = words[0], words[0], words[-1]
    return cells


def examples():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=ROWS)
    return {
        "whole": spoilt(rng.integers(0, 60, ROWS)),
        "halves": spoilt(rng.integers(0, 60, ROWS) / 2),
        "few": spoilt(rng.integers(0, 4, ROWS)),
        "row_id": spoilt(rng.permutation(ROWS)),
        "word": np.array(["p", "q"])[(noise > 0).astype(int)],
        "noise": noise,
    }


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_words_among_numbers_are_missing(ending, most, tmp_path):
    in_parts(tmp_path, examples())
    known = dagora.read_table(tmp_path / "whole" / f"rows.{ending}", missing="drop")
    scanned = dagora.open_rows(str(tmp_path / f"*.{ending}"), missing="drop")
    assert [variable.kind.value for variable in known.schema] == [*["continuous"] * 2, *["discrete"] * 2, "continuous"]  # fmt: skip
    assert_same(scanned, known)
    said = r"^cells are missing \('NA', '\?' among numbers .* the first in column 'whole', data row 5: choose"
    with pytest.raises(DataError, match=said):
        dagora.open_rows(str(tmp_path / f"*.{ending}"))
    with pytest.raises(
        DataError, match=r"[23] columns have numbers, but also words: '(NA|\?)', .* in 'whole'"
    ):
        dagora.open_rows(str(tmp_path / f"*.{ending}"), missing="drop", na="none")


@pytest.mark.full
def test_words_among_numbers_of_a_database():
    duckdb = pytest.importorskip("duckdb")
    table = pd.DataFrame(examples())
    table.loc[9, "whole"] = "  12 "
    known = dagora.Table.from_frame(table, missing="drop")
    with duckdb.connect() as connection:
        connection.register("made", table)
        connection.execute("CREATE TABLE visits AS SELECT * FROM made")
        assert_same(dagora.open_rows(connection, table="visits", missing="drop"), known)
        scanned = dagora.open_rows(connection, table="visits", missing="drop", push_down=True)
        discrete = [k for k, variable in enumerate(known.schema) if variable.levels]
        sets = [s for size in range(3) for s in itertools.combinations(discrete, size)]
        assert scanned.schema.variables == known.schema.variables
        assert scanned.counts(sets).values.tolist() == TableStatistics(known).counts(sets).values.tolist()
        assert np.allclose(scanned.moments().scatter, TableStatistics(known).moments().scatter, rtol=1e-10)


def test_words_among_numbers_of_a_dask_frame(most):
    dask_frames = pytest.importorskip("dask.dataframe")
    table = pd.DataFrame(examples())
    known = dagora.Table.from_frame(table, missing="drop")
    scanned = dagora.open_rows(dask_frames.from_pandas(table, npartitions=4), missing="drop")
    assert scanned.schema.variables == known.schema.variables
    assert np.allclose(scanned.moments().scatter, TableStatistics(known).moments().scatter, rtol=1e-12)


@pytest.mark.parametrize("late", [False, True])
def test_codes_with_leading_zeros_are_no_numbers(late, most, tmp_path):
    rng = np.random.default_rng(1)
    codes = [
        f"{x:04d}" if not late or k == ROWS - 1 else f"{x + 1000}"
        for k, x in enumerate(3 * rng.permutation(ROWS))
    ]
    in_parts(tmp_path, {"code": codes, "word": ["p", "q"] * (ROWS // 2), "noise": rng.normal(size=ROWS)})
    known = dagora.read_table(tmp_path / "whole" / "rows.csv")
    scanned = dagora.open_rows(str(tmp_path / "*.csv"))
    assert known.schema.names == scanned.schema.names == ("word", "noise")
    declared = dagora.open_rows(str(tmp_path / "*.csv"), continuous=["code"])
    assert_same(declared, dagora.read_table(tmp_path / "whole" / "rows.csv", continuous=["code"]))


def test_a_code_in_the_last_partition(most):
    """As with a CSV file that a cluster reads: text may stand for numbers, unless one of them is a code."""
    dask_frames = pytest.importorskip("dask.dataframe")
    codes = [*(str(3 * k + 1000) for k in range(ROWS - 1)), "0007"]
    table = pd.DataFrame({"code": codes, "number": [str(3 * k) for k in range(ROWS)]})
    scanned = open_dask(dask_frames.from_pandas(table, npartitions=4), ReadingOptions(), text_cells=True)
    assert scanned.schema.names == ("number",)


def test_dropped_rows_decide_how_numbers_are_read(tmp_path):
    """In memory they do where a word is among the numbers, and about how numbers are written."""
    rng = np.random.default_rng(2)
    whole = rng.integers(0, 15, 60).astype(str).tolist()
    kept = ["1", "2"] * 30
    columns = {"a": [*whole, "3.5", "NA"], "b": [*kept, "NA", "1"]}
    in_parts(tmp_path, columns)
    for ending in ("csv", "parquet"):
        path = tmp_path / "whole" / f"rows.{ending}"
        assert_same(dagora.open_rows(path, missing="drop"), dagora.read_table(path, missing="drop"))
    thousands = [f"1,{x:03d}" for x in rng.integers(0, 999, 60)]
    rows = [f'"{cell}",{k % 2}' for k, cell in enumerate(thousands)]
    path = tmp_path / "amounts.csv"
    path.write_text("\n".join(["a,b", *rows, '"1,5",', '"NA",1']), encoding="utf-8")
    assert both(path, missing="drop").schema[0].kind.value == "continuous"


def test_what_was_kept_before_rows_were_dropped_stays(tmp_path):
    """Only the rows that stay make the first column look like an identifier, and the second like names."""
    run = [*range(30), 5, 5, 5]
    names = [f"w{k}" for k in (*range(25), *[0] * 5, 1, 1, 1)] + ["w0"] * 30
    columns = {
        "no": [*map(str, run), *["5"] * 30],
        "name": names,
        "b": [*(f"{k % 2}" for k in range(25)), *[""] * 38],
    }
    in_parts(tmp_path, columns)
    for ending in ("csv", "parquet"):
        path = tmp_path / "whole" / f"rows.{ending}"
        known = dagora.read_table(path, missing="drop")
        assert known.schema.names == ("no", "name", "b")
        assert_same(dagora.open_rows(path, missing="drop"), known)


def random_cells(rng, rows):
    """A column of text of some kind, with one or two odd words in it."""
    many = int(rng.choice([3, 15, 30, 400]))
    numbers = rng.integers(0, many, rows)
    form = rng.choice(["{}", "{}", "{}.0", "{:04d}", "{} %", "w{}", "1,{:03d}", "{:+d}", "2024-01-{:02d}"])
    cells = [form.format(x % 28 + 1 if form.startswith("2024") else x) for x in numbers]
    words = ["NA", "NA", "NA", "?", "", "few", "3.5", "n/a", "007", "nan", " NA ", "1,5", "12 %", "inf"]
    for word in rng.choice(words, rng.choice([1, 2])):
        for place in rng.choice(rows, 3):
            cells[place] = str(word)
    return cells


def reading(read):
    """The columns and rows that were read, or that they were refused."""
    try:
        found = read()
    except DataError:
        return "refused"
    names = [column.name for column in found.overview.columns if column.why != "a constant number"]
    return [variable for variable in found.schema if variable.name in names], found.n_rows


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::dagora.DagoraWarning")
def test_random_text_is_read_as_in_memory(tmp_path):
    for seed in range(80):
        rng = np.random.default_rng(seed)
        names = ["a", "b", "c"]
        table = {name: random_cells(rng, 60) for name in names}
        options = {"missing": str(rng.choice(["drop", "drop", "error"]))}
        if rng.random() < 0.3:
            options[str(rng.choice(["continuous", "discrete"]))] = ["a"]
        if rng.random() < 0.2:
            options["na"] = str(rng.choice(["none", "NA", "?,few"]))
        path = tmp_path / f"{seed}.{'csv' if seed % 2 else 'parquet'}"
        if seed % 2:
            pd.DataFrame(table).to_csv(path, index=False)
        else:
            pq.write_table(pa.table(table), path)
        known = reading(lambda path=path, options=options: dagora.read_table(path, **options))
        scanned = reading(lambda path=path, options=options: dagora.open_rows(path, **options))
        assert scanned == known, (seed, options)
