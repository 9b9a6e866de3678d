"""Names, declarations and the policy for missing values."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dagora
from dagora.base.errors import DataError, OptionError
from dagora.data.columns.ingest import type_columns
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.schema import Kind
from dagora.data.table import Table
from tests.data.table_strategies import quick


def build(columns, **options):
    raw = [pa.chunked_array([values]) for values in columns.values()]
    return Table.from_columns(*type_columns(list(columns), raw, ReadingOptions(**options), text_cells=True))


def decode(table, column):
    return [table.schema[column].levels[code] for code in table.codes(column)]


def test_missing_is_an_error_that_says_how_many_and_where():
    columns = {"a": ["1", "2", "3"], "b": ["x", "y", ""], "c": ["", "NaN", "1"]}
    with pytest.raises(
        DataError, match=r"3 cells are missing, the first in column 'b', data row 3: .*drop.*missing=.level"
    ):
        build(columns)
    with pytest.raises(DataError, match=r"^1 cell is missing"):
        build({"a": ["1", None]})


def test_drop_leaves_out_the_incomplete_rows():
    table = build({"a": ["1", "", "3"], "b": ["x", "y", "z"]}, missing="drop")
    assert decode(table, 0) == ["1", "3"]
    assert table.schema[1].levels == ("x", "z")


cell = st.sampled_from(["", "1", "2", "2.5", "x", " ", "NaN", "NA"])


@quick
@given(st.lists(st.tuples(cell, cell), min_size=1, max_size=8), st.sampled_from(["none", "NA"]))
def test_drop_gives_the_table_of_the_complete_rows(rows, na):
    gone = {"", " ", "NaN"} | ({"NA"} if na == "NA" else set())
    columns = [("a", [row[0] for row in rows]), ("b", [row[1] for row in rows])]
    usable = {name: cells for name, cells in columns if set(cells) - gone}
    complete = [row for row in zip(*usable.values(), strict=True) if not gone & set(row)]
    if complete:
        table = build(dict(columns), missing="drop", na=na)
        kept = dict(zip(usable, map(list, zip(*complete, strict=True)), strict=True))
        assert table.equals(build(kept, na=na))
        assert table.overview.dropped == len(rows) - len(complete)
    elif usable:
        with pytest.raises(DataError, match=f"no row is left: all {len(rows)} have"):
            build(dict(columns), missing="drop", na=na)
    else:
        with pytest.raises(DataError, match=r"no column can be used: 'a' .every cell is missing"):
            build(dict(columns), missing="drop", na=na)


def test_drop_names_the_column_that_is_to_blame():
    with pytest.raises(DataError, match=r"no row is left: all 3 have .*\(2\) in column 'b'.*drop=\[.b.\]"):
        build({"a": ["1", "2", ""], "b": ["", "", "3"]}, missing="drop")


def test_declared_levels_survive_a_drop():
    column = pa.DictionaryArray.from_arrays(pa.array([0, None, 1]), ["b", "a", "c"])
    table = Table.from_columns(
        *type_columns(["v"], [pa.chunked_array([column])], ReadingOptions(missing="drop"))
    )
    assert table.schema[0].levels == ("a", "b", "c")
    assert decode(table, 0) == ["b", "a"]


def test_errors_after_a_drop_count_the_rows_of_the_file():
    with pytest.raises(DataError, match=r"infinite values .* data row 3"):
        build({"a": ["1.5", "", "inf"]}, missing="drop")
    with pytest.raises(DataError, match="'x' in data row 3"):
        build({"a": ["1.5", "", "x"]}, missing="drop", continuous=["a"])


def test_missing_as_a_level():
    table = build({"a": ["1", "", "10", "9"], "b": ["x", "y", "x", "y"]}, missing="level")
    assert sorted(table.schema[0].levels) == ["1", "10", "9", "missing"]
    assert decode(table, 0) == ["1", "missing", "10", "9"]
    assert table.schema[1].levels == ("x", "y")


def test_the_level_finds_a_free_name():
    table = build({"a": ["missing", "", "missing_"]}, missing="level", na="none")
    assert decode(table, 0) == ["missing", "missing__", "missing_"]


def test_the_word_missing_is_missing_and_the_level_of_that_name_stays_itself():
    """A table written with such a level is read as it was."""
    columns = {"a": ["low", "missing", "", "high"]}
    assert decode(build(columns, missing="level"), 0) == ["low", "missing", "missing", "high"]
    assert "'missing' (1 ×) in 'a'" in "".join(dagora.inspect({"a": ["low", "missing", "high"]}).warnings)
    assert build({"x": ["1.5", "missing", "2.5"]}, missing="drop").n_rows == 2


def test_a_column_without_any_value_is_left_out_unless_asked_for():
    columns = {"a": ["", ""], "b": ["x", "y"]}
    assert build(columns).names == ("b",)
    assert build(columns, missing="level", discrete="a").schema[0].levels == ("missing",)


def test_a_continuous_column_cannot_have_the_level_unless_it_is_cut():
    match = r"column 'x' is continuous and has 1 missing values.*missing=.drop.*discretise=.quantile"
    with pytest.raises(DataError, match=match):
        build({"x": ["1.5", ""]}, missing="level")
    assert build({"x": ["1.5", ""]}, missing="level", discrete=["x"]).schema[0].levels == ("1.5", "missing")
    cut = build({"x": ["1.5", "", "2.5", "9.5"]}, missing="level", discretise="quantile", bins=2)
    assert decode(cut, 0) == ["(-inf, 2.5]", "missing", "(-inf, 2.5]", "(2.5, inf)"]


def test_unknown_policy():
    with pytest.raises(OptionError, match="missing must be one of error, drop, level, not 'ignore'"):
        build({"a": ["1"]}, missing="ignore")


def test_declarations():
    table = build({"a": ["1", "2"], "b": ["1.5", "2.5"]}, continuous="a", discrete=["b"])
    assert [variable.kind for variable in table.schema] == [Kind.CONTINUOUS, Kind.DISCRETE]
    with pytest.raises(DataError, match=r"there is no column 'agee' .declared discrete.: did you mean 'age'"):
        build({"age": ["1"]}, discrete=["agee"])
    with pytest.raises(
        DataError, match=r"there is no column 'z' .declared continuous.: the columns are a, b"
    ):
        build({"a": ["1"], "b": ["1"]}, continuous=["z"])
    with pytest.raises(DataError, match="'a' is declared both"):
        build({"a": ["1"]}, continuous=["a"], discrete=["a"])


def test_names_are_trimmed_unique_and_not_empty():
    assert build({" a ": ["1"]}).names == ("a",)
    with pytest.raises(DataError, match="two columns are named 'a'"):
        build({" a ": ["1"], "a": ["1"]})
    with pytest.raises(DataError, match="column 2 has no name"):
        build({"a": ["1"], " ": ["1"]})


def test_no_rows_and_no_columns():
    with pytest.raises(DataError, match="there are no columns"):
        build({})
    with pytest.raises(DataError, match="there are no rows"):
        build({"a": pa.array([], pa.string())})


def test_the_first_wrong_column_is_reported():
    columns = {f"c{i}": ["inf", "1.0"] for i in range(30)}
    for _ in range(5):
        with pytest.raises(DataError, match="column 'c0'"):
            build(columns)
