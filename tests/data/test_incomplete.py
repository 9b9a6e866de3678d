"""A table with missing values: what is missing is 0, and nothing can be written to."""

import numpy as np
import pytest

from dagora.base.errors import DataError
from dagora.data.columns.column_type import Column
from dagora.data.incomplete import IncompleteTable
from dagora.data.made_tables import table_of
from dagora.data.schema import Kind, Variable
from dagora.data.table import Table

WHOLE = Table.from_numpy([["no", "1.5"], ["yes", "2.5"], ["yes", "9.5"]], names=["ill", "dose"])
SEEN = [[True, False, True], [True, True, False]]


def test_the_content_of_a_missing_cell_is_zero() -> None:
    table = IncompleteTable.of(WHOLE, SEEN)
    assert table.columns[0].tolist() == [0, 0, 1]
    assert table.columns[1].tolist() == [1.5, 2.5, 0.0]
    for array in (*table.columns, table.seen):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_columns_that_are_chosen_are_told_alone() -> None:
    chosen = IncompleteTable.of(WHOLE, SEEN).select(["dose"])
    assert chosen.overview is not None
    assert [column.name for column in chosen.overview.columns] == ["dose"]
    assert chosen.seen.tolist() == [SEEN[1]]


def test_rows_that_are_chosen_keep_their_holes() -> None:
    table = IncompleteTable.of(WHOLE, SEEN)
    assert table.take([2, 1]).seen.tolist() == [[True, False], [False, True]]
    assert table.take(np.array([True, False, False])).missing == 0
    assert table.complete.equals(WHOLE.take([0]))


def test_a_column_of_which_nothing_was_seen_is_refused() -> None:
    nothing = Column(Variable("a", Kind.DISCRETE), np.zeros(2, dtype=np.uint16), np.ones(2, dtype=np.bool_))
    with pytest.raises(DataError, match="all cells of column 'a' are missing"):
        table_of([nothing])


def test_the_mask_has_the_shape_of_the_table() -> None:
    with pytest.raises(DataError, match="of each cell whether it was observed"):
        IncompleteTable.of(WHOLE, np.transpose(SEEN))
