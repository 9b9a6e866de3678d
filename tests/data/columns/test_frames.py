"""The same data from every kind of frame, from numpy and from a file."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

import dagora
from dagora.base.errors import DataError
from dagora.data.readers import read_table
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.data.writers import write_table
from tests.data.table_strategies import quick, tables, words

FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "lazy": lambda columns: pl.DataFrame(columns).lazy(),
}


def native(table):
    """The columns as Python values: integers where the levels are, text, floats."""
    columns = {}
    for variable, values in zip(table.schema, table.columns, strict=True):
        cells = values.tolist()
        if variable.kind is Kind.DISCRETE:
            cells = [variable.levels[code] for code in cells]
            if all(level.lstrip("-").isdecimal() and level.isascii() for level in variable.levels):
                cells = [int(cell) for cell in cells]
        columns[variable.name] = cells
    return columns


@pytest.mark.full
@quick
@given(table=tables(unseen=False))
def test_all_frames_and_a_file_agree(tmp_path_factory, table):
    # One column of texts that are cut at the same marks reads like a title above several columns.
    assume(len(table.names) > 1 or not any(set(";|\t,") & set(level) for level in table.schema[0].levels))
    columns = native(table)
    for make in FRAMES.values():
        assert Table.from_frame(make(columns)).equals(table)
    path = tmp_path_factory.getbasetemp() / "agree.csv"
    write_table(table, path)
    assert read_table(path).equals(table)


@pytest.mark.full
@quick
@given(table=tables(unseen=True))
def test_categorical_columns_keep_their_levels(table):
    arrow = table.to_arrow()
    assert Table.from_frame(arrow).equals(table)
    assert Table.from_frame(arrow.to_pandas()).equals(table)
    enums = {
        variable.name: pl.Series(
            [variable.levels[code] for code in values] if variable.levels else values,
            dtype=pl.Enum(variable.levels) if variable.levels else pl.Float64,
        )
        for variable, values in zip(table.schema, table.columns, strict=True)
    }
    assert Table.from_frame(pl.DataFrame(enums)).equals(table)


@pytest.mark.full
@quick
@given(st.lists(st.one_of(st.none(), words), min_size=1, max_size=6))
def test_missing_cells_mean_the_same_everywhere(values):
    assume("missing" not in values and any(value is not None for value in values))
    expected = ["missing" if value is None else value for value in values]
    for make in (pd.DataFrame, lambda columns: pl.DataFrame(columns, schema={"a": pl.String}), pa.table):
        table = Table.from_frame(make({"a": values}), missing="level", na="none")
        assert [table.schema[0].levels[code] for code in table.codes(0)] == expected


def test_missing_numbers():
    for frame in (
        pd.DataFrame({"x": [1.5, np.nan]}),
        pl.DataFrame({"x": [1.5, None]}),
        pl.DataFrame({"x": [1.5, float("nan")]}),
        pa.table({"x": [1.5, None]}),
    ):
        assert Table.from_frame(frame, missing="drop").values(0).tolist() == [1.5]
        with pytest.raises(DataError, match="1 cell is missing, the first in column 'x', data row 2"):
            Table.from_frame(frame)


def test_nullable_integers_of_pandas():
    table = Table.from_frame(pd.DataFrame({"a": pd.array([1, None, 10], dtype="Int64")}), missing="level")
    assert set(table.schema[0].levels) == {"1", "10", "missing"}


def test_levels_of_a_polars_categorical_are_those_seen():
    frame = pl.DataFrame(
        {"a": ["x", "y"], "b": ["p", "q"]}, schema={"a": pl.Categorical, "b": pl.Categorical}
    )
    assert [variable.levels for variable in Table.from_frame(frame).schema] == [("x", "y"), ("p", "q")]
    assert Table.from_frame(frame[:1]).schema[0].levels == ("x",)


def test_intervals_of_pandas_are_levels():
    cut = pd.cut(pd.Series([1.0, 5.0, 20.0]), [0, 2, 10, 30, 40])
    assert Table.from_frame(pd.DataFrame({"a": cut})).schema[0].levels == (
        "(0, 2]",
        "(2, 10]",
        "(10, 30]",
        "(30, 40]",
    )


def test_names_that_are_no_text():
    assert Table.from_frame(pd.DataFrame(np.eye(2))).names == ("0", "1")


def test_a_record_batch():
    assert Table.from_frame(pa.record_batch({"a": [1, 2]})).schema[0].levels == ("1", "2")


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            pd.DataFrame({"a": [1, "x", 2.5, None]}),
            "but has 2 × number .1 in data row 1. and 1 × text .'x' in data row 2.: convert it, or leave it out",
        ),
        (
            pd.DataFrame({"a": ["kg", 70.5, 81.0], "b": ["cm", 170, 180], "c": [1, 2, 3]}),
            "column 'a' .*'kg' in data row 1.*; 'b' mixes types too: if data row 1 is no row of data, remove",
        ),
        (pd.DataFrame({"a": [1, "x"], "b": ["y", 2]}), "; 'b' mixes types too$"),
        (
            pd.DataFrame({"a": [1, 2**70]}),
            r"has whole numbers of more than 63 bits \(118.* in data row 2\): if",
        ),
        (pd.DataFrame({"a": [{"b": 1}]}), "holds several values in a cell .struct<b: int64>., neither"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), r"two columns have the same name \('a'\): rename one"),
        (pa.table([[1], [2]], names=["a", "a"]), r"two columns have the same name \('a'\): rename one"),
        (
            pd.DataFrame({"a": pd.interval_range(0, 3)}),
            r"values of type interval\[int64, right\], neither numbers nor text: convert it",
        ),
        (pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])}), "no column can be used: 'a' .dates or times"),
        (
            pd.DataFrame({"a": pd.period_range("2020", periods=2)}),
            "no column can be used: 'a' .dates or times",
        ),
        (pd.DataFrame({"a": [1j]}), "column 'a' is neither"),
        (pl.DataFrame({"a": [[1]]}), "column 'a' holds several values in a cell"),
        (pl.DataFrame({"a": [object()]}), "column 'a' holds values of type Object"),
        (pd.DataFrame(), "there are no columns"),
        (pd.DataFrame({"a": []}), "there are no rows"),
        (pd.DataFrame({"a": [1.0, np.inf]}), "infinite"),
        ({"a": [1]}, "a dict is not a data frame"),
        (pd.Series([1]), "a Series is not a data frame"),
    ],
)
def test_frames_that_cannot_be_tables(frame, message):
    with pytest.raises(DataError, match=message) as caught:
        Table.from_frame(frame)
    assert "\n" not in str(caught.value)


def test_a_matrix_of_floats_is_continuous_unless_declared():
    table = Table.from_numpy([[0, 1.5], [1, 2.5], [1, 0.5]], names=["a", "x"])
    assert table.schema.kinds == {Kind.CONTINUOUS}
    assert Table.from_numpy([[0.0], [10.0], [2.0]], discrete=["x0"]).schema[0].levels == ("0", "2", "10")


@pytest.mark.full
@quick
@given(st.lists(st.lists(st.integers(-5, 5), min_size=2, max_size=2), min_size=1, max_size=6))
def test_matrices_and_frames_agree(matrix):
    array = np.array(matrix)
    expected = Table.from_frame(pd.DataFrame(array, columns=["x0", "x1"]))
    for version in (
        array,
        array.astype("i1"),
        np.asfortranarray(array),
        array.astype(">i4"),
        array.astype(object),
        array.astype(str),
    ):
        assert Table.from_numpy(version).equals(expected)


def test_text_is_read_like_a_file_and_objects_like_a_frame():
    table = Table.from_numpy(np.array([["1.5", "a", ""], ["2.5", "b", "7"]]), missing="level")
    assert [str(variable.kind) for variable in table.schema] == ["continuous", "discrete", "discrete"]
    mixed = np.array([[1, "a", 2.5, None], [2, "b", 1, "q"]], dtype=object)
    table = Table.from_numpy(mixed, missing="level")
    assert [variable.levels for variable in table.schema] == [("1", "2"), ("a", "b"), (), ("missing", "q")]


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("array", "message"),
    [
        ([1, 2], "a matrix of rows and columns is needed, not an array with 1"),
        ([[1], [1, 2]], "differ in length"),
        ([[1j]], "complex128 cannot be a table"),
        (
            np.array([[1], ["b"]], dtype=object),
            "column 'x0' is neither all numbers nor all text.*'b' in data row 2",
        ),
        (np.array([["2020-01-01"]], dtype="M8[D]"), "no column can be used: 'x0' .dates or times"),
        (np.empty((0, 2)), "there are no rows"),
        (np.empty((2, 0)), "there are no columns"),
        ([[1.0, np.nan], [1.0, 2.0]], "1 cell is missing, the first in column 'x1'"),
    ],
)
def test_arrays_that_cannot_be_tables(array, message):
    with pytest.raises(DataError, match=message):
        Table.from_numpy(array)


def test_names_must_fit():
    with pytest.raises(DataError, match="1 names for a matrix of 2 columns"):
        Table.from_numpy([[1, 2]], names=["a"])
    with pytest.raises(DataError, match="two columns are named 'a'"):
        Table.from_numpy([[1, 2]], names=["a", "a"])
    assert Table.from_numpy([[1, 2]], names=[0, 1]).names == ("0", "1")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (sparse.random(20, 3, 0.5), "a coo_matrix is sparse, and columns are needed in full: toarray"),
        ({"a": sparse.random(20, 1, 0.5)}, "column 'a' is sparse, and is needed in full: toarray"),
        (np.array(3.0), "a matrix of rows and columns is needed, not a single value"),
        (np.arange(9), "not an array with 1 dimension$"),
        ({"a": np.array(3.0)}, "column 'a' cannot be used: give a list of values, not a single value"),
        ({"a": np.ones((3, 2))}, "give a list of values, not an array with 2 dimensions"),
        ({"a": 3}, "give a list of values, not one of type int"),
        ({"a": np.arange(9) * 1j}, r"'a' is neither all numbers nor all text, but has 9 × complex \(0j in"),
        (pd.DataFrame({"a": np.arange(9) * 1j}), "9 × complex .*: take real numbers from it, or leave it"),
    ],
)
def test_what_cannot_be_columns_is_told_in_our_words(data, message):
    with pytest.raises(DataError, match=message) as told:
        dagora.inspect(data)
    assert "Unsupported" not in str(told.value)


def test_sparse_columns_of_pandas_are_read():
    cells = sparse.random(200, 2, 0.5, random_state=0)
    dense = pd.DataFrame(cells.toarray(), columns=["a", "b"])
    thin = pd.DataFrame.sparse.from_spmatrix(cells, columns=["a", "b"])
    assert dagora.inspect(thin) == dagora.inspect(dense)


def test_numbers_of_text_columns_are_told_and_read_where_declared():
    draws = np.random.default_rng(0)
    values = draws.gamma(2, 1000, 300).round(1)
    german = [f"{value:,.1f}".translate(str.maketrans(",.", ".,")) for value in values]
    for texts, how in ((german, "with a decimal comma"), ([f"{v:.1f}%" for v in values], "per cent")):
        frame = pd.DataFrame({"amount": texts, "x": draws.random(300)})
        (line,) = dagora.inspect(frame).warnings
        assert f"'amount' (numbers written as text ({how}): continuous=[\"amount\"] reads them)" in line
        read = dagora.Table.from_frame(frame, continuous=["amount"])
        assert np.array_equal(read.values(0), values)
    with pytest.raises(DataError, match=r"decimal comma such as '.*': continuous=\[\"amount\"\] reads them"):
        dagora.inspect({"amount": [f"{v:.2f}".replace(".", ",") for v in values], "x": values})


def test_words_in_columns_declared_continuous_are_refused_together():
    frame = pd.DataFrame({"a": ["1.5", "x", "2"] * 9, "b": ["1", "2", "y"] * 9, "c": ["3", "2", "1"] * 9})
    message = (
        "2 columns are declared continuous, but have words: 'x' in 'a' (first in data row 2); 'y' in 'b' "
        '(first in data row 3): correct them, say that they mean missing (na="a:x,b:y"), or declare those '
        "columns discrete"
    )
    with pytest.raises(DataError) as told:
        dagora.inspect(frame, continuous=["a", "b", "c"])
    assert str(told.value) == message
    with pytest.raises(DataError, match=r"but 'x', 'y' .first in data row 1. are no numbers: correct them"):
        dagora.inspect({"a": ["x", "1", "y"]}, continuous=["a"])
