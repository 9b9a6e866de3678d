"""Files as sources of rows: Arrow files of any batches, columns that paths say, and files that change."""

import os
import shutil

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dagora
import dagora.data.scan.file_sources as file_sources
from dagora.base.errors import DataError
from dagora.data import ipc_files
from dagora.data.arrow_parser import answer_batches
from dagora.data.scan.file_sources import open_files
from dagora.data.schema import Kind
from tests.stats.scan.test_scan import assert_same, frame

DEFAULT = "__HIVE_DEFAULT_PARTITION__"


def all_types(rows):
    """Columns of many types, with missing values in some."""
    rng = np.random.default_rng(0)
    table = pa.Table.from_pandas(frame(rows), preserve_index=False)
    more = {
        "long": pa.array([f"{x} and more" for x in rng.integers(0, 9, rows)], pa.large_string()),
        "holes": pa.array([None if x == 0 else f"w{x}" for x in rng.integers(0, 5, rows)]),
        "named": pa.array(np.array(["p", "q", "r"])[rng.integers(0, 3, rows)]).dictionary_encode(),
        "gaps": pa.array(rng.normal(size=rows), mask=rng.random(rows) < 0.1),
        "truth": pa.array(rng.random(rows) < 0.5, mask=rng.random(rows) < 0.1),
    }
    for name, column in more.items():
        table = table.append_column(name, column)
    return table


@pytest.mark.full
@pytest.mark.parametrize("whole", [0, 1 << 25], ids=["mapped", "read"])
@pytest.mark.parametrize("packed", [None, "lz4"])
@pytest.mark.parametrize("length", [64, 700])
def test_arrow_files_of_any_batches(whole, packed, length, tmp_path, monkeypatch):
    """Small batches are handed out as they are, large ones in pieces."""
    monkeypatch.setattr(ipc_files, "WHOLE_BATCH", whole)
    monkeypatch.setattr(file_sources, "BATCH_ROWS", 100)
    table = all_types(700)
    file = tmp_path / "rows.arrow"
    with pa.ipc.new_file(file, table.schema, options=pa.ipc.IpcWriteOptions(compression=packed)) as out:
        out.write_table(table, max_chunksize=length)
    source = open_files(file)
    for names in (table.column_names, ["cough", "holes", "named"], ["truth"]):
        here = ipc_files.pieces(file, [table.column_names.index(name) for name in names], 100)
        for batches in (list(here), list(source.batches(names))):
            assert pa.Table.from_batches(batches).equals(table.select(names))
            assert max(batch.num_rows for batch in batches) <= 100
    assert_same(dagora.open_rows(file, missing="drop"), dagora.read_table(file, missing="drop"))


def test_large_batches_are_mapped_unless_they_are_packed(tmp_path):
    table = all_types(700)
    for packed in (None, "zstd"):
        file = tmp_path / f"{packed}.arrow"
        with pa.ipc.new_file(file, table.schema, options=pa.ipc.IpcWriteOptions(compression=packed)) as out:
            out.write_table(table)
        mapped = ipc_files.MappedFile.of(file)
        assert (mapped is None) == (packed == "zstd")


def test_a_mapped_file_that_is_cut_short_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(ipc_files, "WHOLE_BATCH", 0)
    file = tmp_path / "rows.arrow"
    table = all_types(700)
    with pa.ipc.new_file(file, table.schema) as out:
        out.write_table(table)
    batches = ipc_files.pieces(file, range(table.num_columns), 100)
    next(batches)
    os.truncate(file, 100)
    with pytest.raises(DataError, match=r"it was cut short while it was read$"):
        next(batches)


@pytest.mark.parametrize("whole", [0, 1 << 25], ids=["mapped", "read"])
def test_a_damaged_arrow_file_is_refused(whole, tmp_path, monkeypatch):
    monkeypatch.setattr(ipc_files, "WHOLE_BATCH", whole)
    file = tmp_path / "rows.arrow"
    texts = pa.array(["p", "q"] * 50)
    offsets = np.frombuffer(texts.buffers()[1], np.int32).copy()
    with pa.ipc.new_file(file, pa.schema([("a", pa.string())])) as out:
        out.write_table(pa.table({"a": texts}))
    damaged = offsets.copy()
    damaged[60] = 1 << 30
    whole_file = file.read_bytes()
    assert whole_file.count(offsets.tobytes()) == 1
    file.write_bytes(whole_file.replace(offsets.tobytes(), damaged.tobytes()))
    _, (_, batches) = answer_batches({"file": file, "form": "ipc", "places": [0], "rows": 100})
    with pytest.raises(pa.ArrowInvalid, match="offset"):
        list(batches)
    with pytest.raises(DataError, match=r"rows.arrow: the file cannot be read, it may be damaged: .*offset"):
        dagora.open_rows(file)


PATHS = {
    "numbers": ("year=2024", "year=2025", "year=-7"),
    "codes": ("month=01", "month=02", "month=11"),
    "text": ("city=Bonn", "city=Ulm%20Ost", "city=a=b"),
    "nothing known": ("city=Bonn", f"city={DEFAULT}", "city=Ulm"),
    "no number known": ("year=2024", f"year={DEFAULT}", "year=2025"),
    "large": ("n=3000000000", "n=1", "n=2"),
    "two": ("year=2024/city=Bonn", "year=2024/city=Ulm", "year=2025/city=Ulm"),
    "plain folders": ("one", "two", "year=1/three"),
}


@pytest.mark.parametrize("case", list(PATHS))
def test_paths_say_the_same_of_csv_and_parquet(case, tmp_path):
    rng = np.random.default_rng(0)
    for number, path in enumerate(PATHS[case]):
        rows = 20 + number
        part = pd.DataFrame({"a": rng.choice(["p", "q"], rows), "b": rng.normal(size=rows)})
        for ending in ("csv", "parquet"):
            folder = tmp_path / ending / path
            folder.mkdir(parents=True)
            if ending == "csv":
                part.to_csv(folder / "rows.csv", index=False)
            else:
                pq.write_table(pa.Table.from_pandas(part, preserve_index=False), folder / "rows.parquet")
    one, other = (open_files(tmp_path / ending) for ending in ("csv", "parquet"))
    assert one.schema().names == other.schema().names
    said = one.schema().names[2:]
    assert said
    for name in said:
        assert one.schema().field(name).type == other.schema().field(name).type
        cells = [[cell for b in source.batches([name]) for cell in b.column(0).to_pylist()] for source in (one, other)]  # fmt: skip
        assert cells[0] == cells[1]
    options = {"missing": "drop", "discrete": said}
    scanned = [dagora.open_rows(tmp_path / ending, **options) for ending in ("csv", "parquet")]
    assert scanned[0].schema.variables == scanned[1].schema.variables
    assert scanned[0].counts([(0, 2)]).values.tolist() == scanned[1].counts([(0, 2)]).values.tolist()
    samples = [dagora.open_rows(tmp_path / ending, sample=30, **options) for ending in ("csv", "parquet")]
    assert samples[0].to_arrow().equals(samples[1].to_arrow())
    assert samples[0].names[2:] == tuple(said)


def test_decimal_numbers_in_paths_are_numbers(tmp_path):
    """30 of them are a continuous column, whichever the format; a folder that spells no text is refused."""
    part = pd.DataFrame({"a": ["p", "q"] * 3})
    for k in range(30):
        for ending, write in (("csv", part.to_csv), ("parquet", part.to_parquet)):
            folder = tmp_path / ending / f"k={k}.5"
            folder.mkdir(parents=True)
            write(folder / f"rows.{ending}", index=False)
    kinds = [dagora.open_rows(tmp_path / ending).schema[1].kind for ending in ("csv", "parquet")]
    assert kinds == [Kind.CONTINUOUS, Kind.CONTINUOUS]
    odd = tmp_path / "odd" / os.fsdecode(b"k=\xff")
    odd.mkdir(parents=True)
    shutil.copy(tmp_path / "csv" / "k=0.5" / "rows.csv", odd)
    with pytest.raises(DataError, match=r"k=.udcff.*does not spell text"):
        dagora.open_rows(tmp_path / "odd")


def test_a_column_of_the_file_comes_before_its_path(tmp_path):
    for year in (2024, 2025):
        (tmp_path / f"year={year}").mkdir()
        (tmp_path / f"year={year}" / "rows.csv").write_text("year,b\n" + "7,p\n8,q\n" * 20)
    scanned = dagora.open_rows(tmp_path)
    assert scanned.schema.names == ("year", "b")
    assert scanned.schema[0].levels == ("7", "8")
    assert dagora.open_rows(tmp_path / "year=2024" / "rows.csv").schema.names == ("year", "b")


def test_a_sample_of_files_that_change_is_refused(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("a,b\n" + "1,0\n0,1\n" * 50)
    source = open_files(tmp_path)
    read = source.batches

    def changing(columns):
        yield from read(columns)
        (tmp_path / "a.csv").write_text("a,b\n" + "9,9\n" * 70)

    source.batches = changing
    from dagora.data.columns.reading_options import ReadingOptions
    from dagora.data.scan.row_sample import read_source, sample_source

    for draw in (lambda: sample_source(source, 10, 0, ReadingOptions()), lambda: read_source(source, ReadingOptions())):  # fmt: skip
        with pytest.raises(DataError, match=r"a.csv and 1 more changed during the run \(a file was written"):
            draw()
        (tmp_path / "a.csv").write_text("a,b\n" + "1,0\n0,1\n" * 50)


def test_a_file_of_the_same_size_and_time_is_noticed(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("a,b\n" + "p,x\nq,y\n" * 20)
    scanned = dagora.open_rows(file)
    before = file.stat()
    for replaced in (False, True):
        written = tmp_path / "new.csv" if replaced else file
        written.write_text("a,b\n" + "q,x\np,y\n" * 20)
        os.utime(written, ns=(before.st_atime_ns, before.st_mtime_ns))
        if replaced:
            written.replace(file)
        with pytest.raises(DataError, match="changed during the run"):
            scanned.counts([(0, 1)])
        scanned = dagora.open_rows(file)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize(
    ("folders", "name", "levels"),
    [
        (["m%20n=1", "m%20n=2"], "m n", ("1", "2")),
        (["m=+1", "m=+2"], "m", ("1", "2")),
        (["m=01", "m=-2"], "m", ("-2", "1")),
        (["m=3000000000", "m=a=b"], "m", ("3000000000", "a=b")),
        (["m=%zz", "m=%C3%A4"], "m", ("%zz", "ä")),
        (["m=%ff", "m=a"], "m", "^m=%ff/rows.*: the folder 'm=%ff' does not spell text: rename it$"),
    ],
)
def test_odd_folders_are_the_same_columns_in_all_formats(ending, folders, name, levels, tmp_path):
    rows = pl.DataFrame({"a": ["x", "y"] * 5})
    for folder in folders:
        (tmp_path / folder).mkdir()
        write = rows.write_parquet if ending == "parquet" else rows.write_csv
        write(str(tmp_path / folder / f"rows.{ending}"))
    if isinstance(levels, str):
        with pytest.raises(DataError, match=levels):
            dagora.open_rows(tmp_path)
    else:
        variable = dagora.open_rows(tmp_path).schema[1]
        assert (variable.name, variable.levels) == (name, levels)
