"""Whatever a user has becomes a table; a table that was read keeps what was said when it was."""

import pytest

from dagora.base.errors import DataError, OptionError
from dagora.data.accepting import as_any_table, as_table, frame_of
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.incomplete import IncompleteTable
from dagora.data.table import Table

TABLE = Table.from_numpy([[0, 0.5], [1, 1.5], [1, 2.5], [0, 9.5]], names=["a", "x"], discrete=["a"])
HOLES = IncompleteTable.of(TABLE, [[True, False, True, True], [True] * 4])


def test_a_table_is_cut_as_it_would_have_been_when_it_was_read() -> None:
    again = as_table(TABLE, ReadingOptions(discretise="quantile", bins=4))
    assert again.schema[1].cardinality == 4
    assert again.overview is not None
    assert dict(again.overview.reading) == {"discrete": ["a"], "discretise": "quantile", "bins": 4}
    assert as_table(TABLE, ReadingOptions(discretise="mean")).schema[1].cardinality == 2
    assert as_table(TABLE, ReadingOptions(drop=["a"])).names == ("x",)


@pytest.mark.parametrize(
    "options", [{"na": "NA"}, {"discrete": "x"}, {"missing": "drop"}, {"discretise": "mean"}]
)
def test_what_was_settled_when_a_table_was_made(options: dict[str, str]) -> None:
    """Columns may still be left out of one with missing values, and of another also cut into intervals."""
    with pytest.raises(OptionError, match="cannot change a table that was already read"):
        as_any_table(HOLES, ReadingOptions(**options))
    if "discretise" not in options:
        with pytest.raises(OptionError, match="cannot change a table that was already read"):
            as_any_table(TABLE, ReadingOptions(**options))
    assert as_any_table(HOLES, ReadingOptions(drop=["a"])).names == ("x",)
    assert as_any_table(HOLES) is HOLES


def test_missing_values_are_refused_where_complete_rows_are_needed() -> None:
    with pytest.raises(DataError, match="1 of 8 cells are missing, and this needs complete rows"):
        as_table(HOLES)


def test_names_of_a_mapping_differ_as_texts() -> None:
    with pytest.raises(DataError, match="two columns are named '1'"):
        frame_of({1: [0.5], "1": [1.5]})
    with pytest.raises(DataError, match="differ in length"):
        frame_of({"a": [0, 1], "b": [0]})
    with pytest.raises(DataError, match="several lines is not the name of a file"):
        as_any_table("a,b\n1,2\n")
    with pytest.raises(OptionError, match="goes with a file"):
        as_any_table({"a": [0, 1]}, ReadingOptions(table="sheet"))
