"""The key column comes out as it is written, beside the rows it belongs to."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dagora.base.errors import DataError
from dagora.data.keys import split_key
from dagora.data.table import Table

CELLS = "ID,a,b\n007,yes,0\nann,no,1\n12,no,0\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(CELLS)
    return path


def test_keys_of_a_file_are_texts_as_written(file):
    table, keys, source = split_key(file, "ID")
    assert keys == ["007", "ann", "12"]
    assert table.names == ("a", "b")
    assert table.codes(0).tolist() == [1, 0, 0]
    assert source == f"{file}, column 'ID'"


def test_columns_can_be_left_out_and_the_separator_given(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(CELLS.replace(",", ";"))
    table, keys, _ = split_key(str(path), "ID", drop=["b"], separator=";")
    assert (table.names, keys) == (("a",), ["007", "ann", "12"])


def test_ten_thousand_texts_are_no_levels(tmp_path):
    path = tmp_path / "many.csv"
    path.write_text("ID,a\n" + "".join(f"person {i},{i % 2}\n" for i in range(12_000)))
    table, keys, _ = split_key(path, "ID")
    assert table.n_rows == 12_000
    assert keys[11_999] == "person 11999"


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_binary_files(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    frame = pd.DataFrame({"ID": [5, 3, 4], "a": [True, False, True]})
    getattr(frame, f"to_{ending}")(path)
    table, keys, _ = split_key(path, "ID")
    assert (keys, table.codes(0).tolist()) == ([5, 3, 4], [1, 0, 1])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames(make):
    table, keys, _ = split_key(make({"a": ["u", "v"], "ID": ["x", "y"], "c": [0, 1]}), "ID", drop=["c"])
    assert (table.names, keys) == (("a",), ["x", "y"])


def test_tables():
    rows = np.column_stack([np.arange(100, 130), np.arange(30) % 2])
    for discrete in (["a"], ["ID", "a"]):
        table = Table.from_numpy(rows, names=["ID", "a"], discrete=discrete, continuous=["all"])
        rest, keys, source = split_key(table, "ID")
        assert rest.names == ("a",)
        assert [str(key) for key in keys] == [str(number) for number in range(100, 130)]
        assert source == "column 'ID'"


def test_keys_that_are_not_whole():
    table = Table.from_numpy([[0.5, 1], [1.5, 0]], names=["ID", "a"], continuous=["ID"])
    with pytest.raises(DataError, match="key column 'ID' holds numbers that are not whole"):
        split_key(table, "ID")


@pytest.mark.parametrize(
    ("key", "drop", "line"),
    [
        ("nr", (), "there is no column 'nr' for the key: the columns are ID, a, b"),
        ("ID", ("ID",), "the key column 'ID' cannot be left out"),
    ],
)
def test_refusals_name_the_file(file, key, drop, line):
    with pytest.raises(DataError) as caught:
        split_key(file, key, drop=drop)
    assert str(caught.value) == f"{file}: {line}"


def test_a_file_of_keys_alone(tmp_path):
    path = tmp_path / "keys.csv"
    path.write_text("ID\n1\n2\n")
    with pytest.raises(DataError, match="no column beside the key 'ID'"):
        split_key(path, "ID")


def test_no_data_frame():
    with pytest.raises(DataError, match="a dict is not a data frame"):
        split_key({"ID": [1]}, "ID")
    with pytest.raises(DataError, match="there is no column 'ID' for the key"):
        split_key(pd.DataFrame({"a": [1]}), "ID")


@pytest.mark.parametrize("kind", ["file", "pandas", "polars"])
def test_keys_stay_beside_their_rows_when_rows_are_left_out(tmp_path, kind):
    data = tmp_path / "a.csv"
    data.write_text("a,ID,b\nno,u,yes\nyes,v,\nyes,w,no\n,x,yes\nno,y,no\n")
    if kind != "file":
        data = {"pandas": pd, "polars": pl}[kind].read_csv(data)
    with pytest.raises(DataError, match="2 cells are missing"):
        split_key(data, "ID")
    table, keys, _ = split_key(data, "ID", missing="drop")
    assert keys == ["u", "w", "y"]
    assert table.names == ("a", "b")
    assert (table.codes(0).tolist(), table.codes(1).tolist()) == ([0, 1, 0], [1, 0, 0])
    table, keys, _ = split_key(data, "ID", missing="level")
    assert keys == list("uvwxy")
    assert table.schema[1].cardinality == 3


def test_columns_of_a_frame_can_be_left_out():
    frame = pd.DataFrame({"id": ["p", "q"], "a": [0.5, 1.5], "note": ["x", "y"]})
    table, keys, _ = split_key(frame, "id", drop=["note"])
    assert (table.names, keys) == (("a",), ["p", "q"])


def test_keys_of_which_some_are_not_whole():
    table = Table.from_numpy([[1.0, 0.5], [2.5, 1.5]], names=["id", "x"], continuous=["all"])
    with pytest.raises(DataError, match="the key column 'id' holds numbers that are not whole"):
        split_key(table, "id")
