"""A file that would fill the memory is scanned by itself where the method can; otherwise it is read, and both are said."""

import gzip

import numpy as np
import pandas as pd
import pyarrow.feather as feather
import pytest

import dagora
from dagora.base import memory
from dagora.base.budget import Budget
from dagora.data import large_files
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.large_files import large_file, memory_for, unpacked_size
from dagora.learners.large_sources import may_scan, scan_if_large
from dagora.learners.registry import method_named
from dagora.learners.request import GivenData, prepare
from dagora.stats.scan.scan_statistics import ScanStatistics

R = np.random.default_rng(3)
SMOKER = R.integers(0, 2, 400)
FRAME = pd.DataFrame(
    {
        "smoker": np.where(SMOKER, "yes", "no"),
        "cough": SMOKER ^ (R.random(400) < 0.2),
        "ward": R.integers(0, 3, 400),
    }
)
NUMBERS = pd.DataFrame(R.normal(size=(400, 3)), columns=list("abc")).assign(
    b=lambda frame: frame["a"] + frame["b"]
)
SCANNED, WHOLE = "are free: its rows are scanned, and not kept", "are free: it is read whole; "
WRITERS = {
    "csv": lambda frame, file: frame.to_csv(file, index=False),
    "csv.gz": lambda frame, file: frame.to_csv(file, index=False),
    "parquet": lambda frame, file: frame.to_parquet(file),
    "feather": feather.write_feather,
}


@pytest.fixture
def little(monkeypatch):
    monkeypatch.setattr(large_files, "free_memory", lambda: 2000)


@pytest.fixture
def write(tmp_path):
    def to(ending, frame=FRAME):
        WRITERS[ending](frame, tmp_path / f"t.{ending}")
        return tmp_path / f"t.{ending}"

    return to


def large_lines(warnings):
    return [line for line in warnings if "of memory as a table" in line]


@pytest.mark.parametrize("ending", WRITERS)
def test_a_large_file_is_scanned_and_gives_the_same_graph(ending, write, little, monkeypatch):
    file = write(ending)
    result = dagora.learn(file, "hill-climb")
    (line,) = large_lines(result.warnings)
    assert line.startswith(f"t.{ending} takes about ")
    assert line.endswith(SCANNED)
    assert result.stats["passes"] >= 1
    monkeypatch.setattr(large_files, "free_memory", lambda: 10**12)
    expected = dagora.learn(file, "hill-climb")
    assert large_lines(expected.warnings) == []
    assert "passes" not in expected.stats
    assert (result.graph, result.score) == (expected.graph, expected.score)


# What keeps a large file from being scanned: method, score, option, reading.
WITHOUT = {
    "lingam": (NUMBERS, {"method": "lingam"}),
    "discretise": (NUMBERS, {"method": "tabu", "discretise": "quantile"}),
    "level": (FRAME, {"method": "tabu", "missing": "level"}),
    "interventions": (FRAME.assign(set=["", "cough"] * 200), {"method": "tabu", "interventions": "set"}),
    "holes": (FRAME.assign(cough=np.where(R.random(400) < 0.1, np.nan, FRAME["cough"])), {"method": "tabu"}),
}  # fmt: skip


@pytest.mark.parametrize("case", WITHOUT)
def test_where_rows_are_needed_it_is_read_and_said(case, write, little):
    frame, options = WITHOUT[case]
    result = dagora.learn(write("csv", frame), **options)
    (line,) = large_lines(result.warnings)
    assert WHOLE in line
    assert line.endswith("open_rows(file, sample=100000) reads some of its rows")
    assert "passes" not in result.stats


@pytest.mark.parametrize(
    ("method", "score", "options", "can"),
    [
        ("auto", None, {}, True),
        ("pc", None, {}, True),
        ("notears", None, {}, True),
        ("tabu", "bdeu", {}, True),
        ("tabu", "gp", {}, False),
        ("pc", None, {"test": "hsic"}, False),
        ("dynotears", None, {}, False),
    ],
)
def test_methods_that_can_do_without_rows(method, score, options, can):
    assert may_scan(method_named(method), score, options, ReadingOptions()) == can


def test_codes_for_a_method_of_numbers_are_read(write, little):
    file = write("csv", FRAME[["cough", "ward"]].astype(int))
    reading = ReadingOptions(numbers_for="the method notears")
    assert scan_if_large(file, method_named("notears"), None, {}, reading) is None
    assert scan_if_large(write("csv", NUMBERS), method_named("notears"), None, {}, reading) is not None


def test_other_doors_read_and_say_so(write, little):
    with pytest.warns(dagora.DagoraWarning, match="of memory as a table"):
        table = dagora.read_table(write("csv"))
    assert large_lines(table.overview.warnings)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_scores_are_counted_in_scans_too(ending, write, little, monkeypatch, run, tmp_path):
    file, graph = write(ending), dagora.DAG(FRAME.columns, [("smoker", "cough")])
    with pytest.warns(dagora.DagoraWarning, match=SCANNED):
        found = dagora.score(file, graph), dagora.candidates(file)
    ran = run("score", str(file), "-o", str(tmp_path / "o.jkl"))
    assert ran.err.count(SCANNED) == 1
    monkeypatch.setattr(large_files, "free_memory", lambda: 10**12)
    assert found[0] == dagora.score(file, graph)
    assert [child.parents for child in found[1]] == [child.parents for child in dagora.candidates(file)]


def test_the_command(write, little, run):
    file = str(write("parquet"))
    ran = run("learn", file, "--method", "hill-climb")
    assert ran.code == 0
    assert ran.err.count(SCANNED) == 1
    ran = run("learn", file, "--method", "hill-climb", "--bootstrap", "5")
    assert ran.code == 0
    assert ran.err.count(WHOLE + "--sample 100000 reads some of its rows") == 1
    ran = run("learn", file, "--method", "hill-climb", "--scan")
    assert "of memory" not in ran.err


@pytest.mark.parametrize("ending", WRITERS)
def test_estimates_grow_with_the_rows(ending, write):
    small = memory_for(write(ending, pd.concat([FRAME] * 30)))
    assert 0.8 < memory_for(write(ending, pd.concat([FRAME] * 60))) / (2 * small) < 1.25


def test_half_of_the_free_memory_is_the_limit(write, monkeypatch):
    file = write("parquet")
    needed = memory_for(file)
    for free, is_large in ((2 * needed - 2, True), (2 * needed + 2, False), (None, False)):
        monkeypatch.setattr(large_files, "free_memory", lambda free=free: free)
        assert (large_file(file) is not None) == is_large


def test_columns_of_any_type_are_estimated(tmp_path):
    frame = pd.DataFrame(
        {
            "a": [[1], [2]],
            "b": [b"x", b"y"],
            "c": pd.Categorical(["u", "v"]),
            "d": pd.to_datetime(["2024-01-01"] * 2),
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    assert 40 < memory_for(tmp_path / "t.parquet") < 200


def test_what_cannot_be_estimated(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    (tmp_path / "t.csv.gz").write_bytes(b"")
    (tmp_path / "t.xlsx").write_bytes(b"PK")
    assert [memory_for(tmp_path / name) for name in ("t.parquet", "t.csv.gz", "t.xlsx")] == [None, None, None]
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,b\n" * 1000))
    assert memory_for(tmp_path / "t.csv.gz") > 4000


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({"memory.max": "1000", "memory.current": "900", "memory.stat": "anon 1\ninactive_file 300\n"}, 400),
        ({"memory.max": "max", "memory.current": "900", "memory.stat": ""}, None),
        ({"memory/memory.limit_in_bytes": "1000", "memory/memory.usage_in_bytes": "700", "memory/memory.stat": "total_inactive_file 50\n"}, 350),
    ],
)  # fmt: skip
def test_the_limit_of_a_container(files, free, tmp_path, monkeypatch):
    (tmp_path / "memory").mkdir()
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(memory, "CONTAINER", tmp_path)
    assert memory.free_in_container() == free


def test_a_scan_is_one(write, little):
    prepared = prepare(GivenData(write("csv"), scans=True), "tabu", {}, clock=Budget())
    assert isinstance(prepared.source.rows, ScanStatistics)


def test_a_stated_size_that_cannot_be_true_is_not_believed(tmp_path):
    """Four bytes state it, so that of five gigabytes is stated as one."""
    packed = gzip.compress(R.bytes(5000))
    (tmp_path / "t.csv.gz").write_bytes(packed)
    assert unpacked_size(tmp_path / "t.csv.gz") == 5 * len(packed)
    (tmp_path / "t.csv.gz").write_bytes(packed[:-4] + (10**9).to_bytes(4, "little"))
    assert unpacked_size(tmp_path / "t.csv.gz") == 10**9
