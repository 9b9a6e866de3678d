"""Warnings and refusals about odd data."""

import numpy as np
import pytest

from dagora.base.errors import DataError
from dagora.data.columns.column_profile import DATES, EMPTY
from dagora.data.columns.overview import LEFT_OUT, ColumnSummary, Overview
from dagora.data.incomplete import IncompleteTable
from dagora.stats.data_warnings import check_learnable, data_warnings, listing
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.table import TableStatistics
from tests.random_tables import continuous_table, discrete_table


def sentences(table):
    return data_warnings(TableStatistics(table))


def test_ordinary_data_cause_no_word():
    assert sentences(discrete_table([[0, 1, 0, 1], [0, 0, 1, 1]], [2, 2])) == []
    assert sentences(continuous_table(np.eye(3))) == []


def test_constant_columns_and_levels_seen_once_are_named():
    found = sentences(discrete_table([[0, 0, 0, 0], [0, 1, 1, 1], [0, 0, 1, 1]], [2, 2, 2]))
    assert len(found) == 2
    assert "'x0'" in next(sentence for sentence in found if "constant" in sentence)
    assert "'x1'" in next(sentence for sentence in found if "once" in sentence)


def test_cells_that_were_not_seen_are_no_level():
    table = discrete_table([[0, 0, 0, 1, 1], [0, 1, 1, 1, 1]], [2, 2])
    seen = np.array([[True, False, False, True, True], [False, True, True, True, True]])
    found = data_warnings(IncompleteStatistics(IncompleteTable.of(table, seen)))
    assert "a level is seen only once in: 'x0'" in found
    assert "constant columns, at which no edge can be learned: 'x1'" in found


def test_more_columns_than_rows():
    assert any("fewer rows (2) than columns (3)" in s for s in sentences(continuous_table(np.ones((2, 3)))))


@pytest.mark.parametrize(("table", "word"), [([[1.0], [2.0]], "1 column"), ([[1.0, 2.0]], "1 row")])
def test_too_little_to_learn_from(table, word):
    with pytest.raises(DataError, match=word):
        check_learnable(continuous_table(table).schema, continuous_table(table).n_rows)


def test_long_lists_are_cut():
    assert listing([f"x{i}" for i in range(8)]) == "'x0', 'x1', 'x2', 'x3', 'x4' and 3 more"
    assert listing(["a"] * 5) == ", ".join(["'a'"] * 5)


def test_a_column_that_was_left_out_is_named_with_the_way_to_keep_it():
    """Dates are kept as numbers, names as levels, unless the method takes numbers only; empty ones not at all."""

    def refused(*reasons, **options):
        gone = tuple(ColumnSummary(f"c{k}", LEFT_OUT, why) for k, why in enumerate(reasons))
        with pytest.raises(DataError) as found:
            check_learnable(continuous_table([[1.0], [2.0]]).schema, 2, Overview(gone, 2), **options)
        return str(found.value)

    assert "'c1' was left out (dates or times); continuous=[\"c1\"] keeps it" in refused(EMPTY, DATES)
    assert "'c0' was left out (numbers the rows); discrete=[\"c0\"] keeps it" in refused("numbers the rows")
    assert refused("numbers the rows", numbers_only=True).endswith("'c0' was left out (numbers the rows)")
    assert refused(EMPTY).endswith(f"'c0' was left out ({EMPTY})")


def test_as_many_rows_as_columns_are_no_word():
    assert sentences(continuous_table([[1.0, 2.0], [3.0, 5.0]])) == []
