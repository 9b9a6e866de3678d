"""Rows that are scanned: what is odd about the first of them is told as it is of a table in memory."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import dagora
from dagora.data.scan import first_rows

ROWS = 400


def walk(rng, rows):
    return rng.normal(size=rows).cumsum().round(3)


def messy(rows):
    rng = np.random.default_rng(0)
    kg = rng.normal(70, 10, rows).round(1)
    grams, litres = rng.normal(14, 1, rows).round(1), rng.normal(140, 10, rows).round(0)
    return {
        "hb": np.where(rng.random(rows) < 0.2, litres, grams),
        "kg": kg,
        "lb": (2.2046 * kg).round(1),
        "patient": np.repeat(np.arange(rows // 5), 5),
    }


def walks(rows):
    rng = np.random.default_rng(1)
    return {name: walk(rng, rows) for name in "abc"}


def copies(rows):
    rng = np.random.default_rng(2)
    columns = {name: rng.normal(size=rows).round(3) for name in "abc"}
    return {name: np.r_[values[: rows - 20], values[:20]] for name, values in columns.items()}


def write(path, columns):
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("make", [messy, walks, copies])
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_the_first_rows_are_checked_as_in_memory(make, ending, tmp_path):
    path = tmp_path / f"rows{ending}"
    if ending == ".csv":
        write(path, make(ROWS))
    else:
        parquet.write_table(pa.table(make(ROWS)), path, row_group_size=64)
    told = dagora.inspect(path).warnings
    assert told
    assert dagora.open_rows(path).overview.warnings == told


def test_a_line_says_that_no_other_rows_were_checked(tmp_path, monkeypatch):
    monkeypatch.setattr(first_rows, "MOST_ROWS", 150)
    columns = messy(ROWS)
    columns["hb"][:150] = np.linspace(12, 16, 150).round(1)  # the first rows are in one unit
    found = dagora.open_rows(write(tmp_path / "rows.csv", columns)).overview.warnings
    assert any("the first 150 of 400 rows only" in line for line in found)
    assert not any("mix units" in line for line in found)
    assert any("'kg' and 'lb'" in line for line in found)


def test_rows_with_a_missing_value_are_left_out(tmp_path):
    columns = {name: values.astype(object) for name, values in messy(ROWS).items()}
    columns["kg"][::9] = ""
    statistics = dagora.open_rows(write(tmp_path / "rows.csv", columns), missing="drop")
    assert any("mix units" in line for line in statistics.overview.warnings)
    sheet = {"clinic": np.where(np.arange(ROWS) % 8 == 0, "A", ""), "x": walks(ROWS)["a"]}
    merged = dagora.open_rows(write(tmp_path / "merged.csv", sheet), missing="drop")
    assert any("merged: 'clinic'" in line for line in merged.overview.warnings)
