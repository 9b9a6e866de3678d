"""Warnings about how a table was read, each where it is due and not where it is not."""

from types import SimpleNamespace

import numpy as np

from dagora.base.wording import render
from dagora.data.columns.column_type import Column
from dagora.data.columns.overview import ColumnSummary, Overview
from dagora.data.columns.reading_warnings import codes_in, missing_option, no_header, reading_warnings
from dagora.data.schema import Kind, Variable


def discrete(name: str, *levels: str) -> Variable:
    return Variable(name, Kind.DISCRETE, levels)


def test_dropped_rows_are_told_where_they_are_more_than_a_twentieth() -> None:
    for dropped, told in ((5, []), (6, ["6 of 100 rows (6.0 %) were dropped, because a cell is missing"])):
        assert list(reading_warnings(Overview((), rows=100, dropped=dropped), [], [])) == told


def test_many_levels_are_more_than_a_tenth_of_the_rows() -> None:
    def told(levels: int, rows: int) -> int:
        overview = Overview((ColumnSummary("a", "discrete", "text", levels=levels),), rows)
        return sum("expect few edges" in line for line in reading_warnings(overview, [], []))

    assert [told(30, 299), told(30, 300), told(20, 50), told(21, 50)] == [1, 0, 0, 1]


def test_names_that_count_the_columns_are_no_row() -> None:
    assert not no_header([discrete("0", "0", "1"), discrete("1", "0", "1")])
    assert no_header([discrete("1", "0", "1"), discrete("0", "0", "1")])
    assert not no_header([discrete("yes", "no", "yes")])
    assert not no_header([discrete("yes", "no", "yes"), discrete("ill", "no", "yes")])


def test_words_of_many_columns_are_named_once() -> None:
    def option_for(columns: int) -> str:
        found = [
            SimpleNamespace(name=f"c{k}", holes={}, doubtful={"NA": 1}, codes={}) for k in range(columns)
        ]
        return render(missing_option(found, [], "auto"))

    assert option_for(2) == 'na="c0:NA,c1:NA"'
    assert option_for(8).count("NA") == 8
    assert option_for(9) == 'na="NA"'


def test_a_scale_that_runs_on_to_nine_has_no_codes() -> None:
    """Each value counts where there are few: 9 is one of nine answers, and stands apart from three."""
    nine, three = np.tile(np.arange(1.0, 10.0), 20), np.r_[np.tile([1.0, 2.0, 3.0], 20), [9.0] * 5]
    assert codes_in(Column(Variable("answer", Kind.CONTINUOUS), nine)) == {}
    assert codes_in(Column(Variable("answer", Kind.CONTINUOUS), three)) == {"9": 5}
