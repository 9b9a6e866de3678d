"""Names of columns that a user means."""

import pytest

from dagora.base.errors import DataError
from dagora.data.columns.column_names import MOST_COLUMNS, check_known, declare_kinds, kept_positions
from dagora.data.columns.reading_options import ReadingOptions


def test_a_part_of_a_name_that_has_a_comma_is_explained() -> None:
    with pytest.raises(DataError, match="a name that has a comma goes in quotes"):
        check_known("b", ["a, b", "c"], "to be dropped")
    with pytest.raises(DataError, match="did you mean 'dose'"):
        check_known("dosis", ["dose", "age"], "to be dropped")


def test_all_columns_are_of_one_kind() -> None:
    with pytest.raises(DataError, match="all columns are declared both discrete and continuous"):
        declare_kinds(["a"], ReadingOptions(discrete="all", continuous="all"))
    with pytest.raises(DataError, match="column 'a' is declared both"):
        declare_kinds(["a"], ReadingOptions(ordinal="a", continuous="a"))


def test_columns_that_are_left_out_do_not_count() -> None:
    names = [f"x{k}" for k in range(MOST_COLUMNS + 1)]
    assert len(kept_positions(names, ReadingOptions(drop=["x7"]))) == MOST_COLUMNS
    with pytest.raises(DataError, match="there are 20001 columns, and at most 20000"):
        kept_positions(names, ReadingOptions())
    with pytest.raises(DataError, match="all columns are dropped"):
        kept_positions(["a"], ReadingOptions(drop=["a"]))
