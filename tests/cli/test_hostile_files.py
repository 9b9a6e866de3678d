"""Small files that would become huge, or numbers that Python cannot print: one line, exit code 2, little memory."""

import gzip
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dagora.base import files
from dagora.cli.main import run
from dagora.data import binary_files, delimited_text, file_limits
from dagora.data.columns import column_names
from dagora.formats import bif

MOST_BYTES = 200 << 20


def variable(name: str, levels: int, declared: object = None) -> str:
    listed = ", ".join(f"l{code}" for code in range(levels))
    return f"variable {name} {{ type discrete [ {declared or levels} ] {{ {listed} }}; }}\n"


def network_by_default(parents: int, levels: int) -> str:
    names = [f"p{number}" for number in range(parents)]
    row = ", ".join(["1"] + ["0"] * (levels - 1))
    text = "".join(variable(name, levels) for name in [*names, "x"])
    text += "".join(f"probability ( {name} ) {{ table {row}; }}\n" for name in names)
    return text + f"probability ( x | {', '.join(names)} ) {{ default {row}; }}\n"


def many_tables(count: int) -> str:
    """Each table is small enough, all together are not."""
    shared = network_by_default(8, 5)
    one = next(line for line in shared.splitlines() if line.startswith("probability ( x"))
    more = "".join(variable(f"x{k}", 5) + one.replace("( x ", f"( x{k} ") + "\n" for k in range(count))
    return shared + more


BOMBS = {
    "parents.bif": network_by_default(13, 4),
    "levels.bif": network_by_default(2, 1500),
    "astronomic.bif": network_by_default(60, 9),
    "dimensions.bif": network_by_default(70, 1),
    "together.bif": many_tables(20),
    "digits.bif": variable("a", 2, "9" * 5000),
    "nested.json": '{"nodes": ' + "[" * 100_000 + "]" * 100_000 + ', "edges": []}',
    "digits.json": '{"nodes": ["a"], "edges": [], "kind": "gaussian", "intercepts": {"a": '
    + "9" * 5000
    + "}}",
    "entities.graphml": '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><graphml>&b;</graphml>',
}


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line with which the command refuses, while it takes little memory."""
    tracemalloc.start()
    try:
        code = run(list(arguments))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    err = capsys.readouterr().err
    assert code == 2, err
    assert err.startswith("dagora: error: ")
    assert err.count("\n") == 1
    assert len(err) < 600
    assert peak < MOST_BYTES
    return err


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_network_file_cannot_become_huge(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    file = tmp_path / name
    file.write_text(BOMBS[name])
    assert name in refused(capsys, "convert", str(file), str(tmp_path / "out.dot"))


@pytest.mark.parametrize("name", ["table.csv.gz", "network.json.gz", "scores.jkl.gz", "line.csv.gz"])
def test_a_small_gzip_file_cannot_become_huge(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(files, "UNPACKED_FREELY", 4 << 20)
    file = tmp_path / name
    line = b"0" * 20 if name.startswith("line") else b"0,0\n" * 5
    with gzip.open(file, "wb", compresslevel=6) as packed:
        packed.write(b"a,b\n")
        for _ in range(5):
            packed.write(line * (1 << 16))
    assert file.stat().st_size < 40_000
    if "json" in name:
        err = refused(capsys, "convert", str(file), str(tmp_path / "out.dot"))
    elif "jkl" in name:
        err = refused(capsys, "learn", str(file), "--method", "dynamic")
    else:
        err = refused(capsys, "learn", str(file), "--discrete", "all")
    assert name.startswith("line") or "unpacks to more than 4 MiB" in err


def test_a_small_parquet_file_cannot_become_huge(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_limits, "CELLS_FREELY", 1 << 20)
    file = tmp_path / "constant.parquet"
    names = [f"c{number}" for number in range(40)]
    column = pa.array([0], pa.int8()).take(pa.array([0] * 1000)).cast(pa.int8())
    rows = pa.table({name: pa.concat_arrays([column] * 50) for name in names})
    pq.write_table(rows, file)
    assert file.stat().st_size < 31_000
    assert "unpacks to 2000000 cells" in refused(capsys, "learn", str(file))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_too_wide_for_any_time_limit_is_refused_at_its_header(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    file = tmp_path / f"wide.{ending}"
    monkeypatch.setattr(column_names, "MOST_COLUMNS", 500)
    names = [f"c{number}" for number in range(501)]
    if ending == "csv":
        file.write_text(",".join(names) + "\n" + ",".join("01"[k % 2] for k in range(501)) + "\n")
    else:
        pq.write_table(pa.table({name: [0, 1] for name in names}), file)
    for module, function in ((delimited_text, "parse_delimited"), (binary_files, "read_whole")):
        monkeypatch.setattr(module, function, lambda *_, **__: pytest.fail("the rows were read"))
    err = refused(capsys, "learn", str(file), "--time-limit", "1")
    assert "there are 501 columns, and at most 500 can be used" in err


def test_networks_as_large_as_their_files_are_read() -> None:
    network = bif.parse(network_by_default(5, 10))
    assert network.tables["x"].shape == (10,) * 6


def test_a_hostile_name_does_not_reach_the_screen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "escape.bif"
    file.write_text('variable "a\x1b[2J\u202e" { type discrete [ 2 ] { x }; }')
    err = refused(capsys, "convert", str(file), str(tmp_path / "out.dot"))
    assert r"a\x1b[2J\u202e" in err
    assert err.rstrip("\n").isprintable()


UNREADABLE = {
    "digits.json": '{"max_parents": ' + "9" * 5000 + "}",
    "nested.json": "[" * 200_000,
    "digits.toml": "least_sites = " + "9" * 5000,
    "nested.toml": "x = " + "[" * 200_000,
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_knowledge_and_policies_that_python_cannot_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    file = tmp_path / name
    file.write_text(UNREADABLE[name])
    table = tmp_path / "table.csv"
    table.write_text("a,b\n" + "0,1\n1,0\n" * 10)
    if name.endswith("json"):
        said = refused(capsys, "learn", str(table), "--knowledge", str(file))
    else:
        said = refused(capsys, "federate", "policy", "check", str(file))
    assert f"{name}: is not " in said
