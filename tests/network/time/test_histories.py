"""Rows in time as histories: order, gaps, missing cells, series, times of later steps."""

import numpy as np
import pytest

from dagora.base.errors import DataError
from dagora.data.series import Timing
from dagora.network.time.histories import histories_of, read_in_time


def read(data: dict, variables: str, levels: dict | None = None, series: str | None = None):
    timing = Timing("t", series)
    table = read_in_time(
        data, timing, {"continuous": ["x"]} if "x" in data else {}, variables=variables, levels=levels
    )
    return histories_of(table, timing, variables, levels or {})


def test_rows_in_any_order_with_a_gap_and_a_missing_cell() -> None:
    found = read({"t": [5, 1, 2, 3], "x": [0.5, 1.5, None, 3.5]}, "x", {})
    (history,) = found.series
    assert history.rows.tolist() == [1, 2, 3, -1, 0]
    assert history.seen.ravel().tolist() == [True, False, True, False, True]
    assert history.values[history.seen].tolist() == [1.5, 3.5, 0.5]
    assert [found.written(k) for k in (0, 4, 6)] == ["1", "5", "7"]
    assert found.notes == ("1 step without a row: nothing was seen then (4, between 3 and 5)",)


def test_series_begin_and_end_on_their_own() -> None:
    data = {"t": [1, 2, 3, 2, 3], "s": ["b", "b", "b", "a", "a"], "x": [0.5, 1.5, 2.5, 3.5, 4.5]}
    one, other = read(data, "x", {}, "s").series
    assert (one.label, one.begin, one.values.ravel().tolist()) == ("a", 1, [3.5, 4.5])
    assert (other.label, other.begin, other.steps) == ("b", 0, 3)
    longer = one.extended(2)
    assert (longer.steps, longer.seen[2:].any(), longer.rows[2:].tolist()) == (4, False, [-1, -1])
    assert other.until(2).since(1).values.ravel().tolist() == [1.5]
    assert other.since(1).begin == 1


def test_levels_are_those_of_the_network_and_hidden_variables_are_unseen() -> None:
    found = read({"t": [1, 2], "a": ["yes", "no"]}, "ah", {"a": ("yes", "no", "maybe"), "h": ("0", "1")})
    (history,) = found.series
    assert history.values[:, 0].tolist() == [0.0, 1.0]
    assert history.seen.tolist() == [[True, False], [True, False]]
    assert found.notes == ("no column is named h: never seen, and inferred",)
    with pytest.raises(DataError, match="'maybe', which the network does not know"):
        read({"t": [1, 2], "a": ["yes", "maybe"]}, "a", {"a": ("yes", "no")})


def test_a_missing_time_is_refused_by_its_row() -> None:
    with pytest.raises(DataError, match="column 't' is missing in data row 2"):
        read({"t": [1, None, 3], "x": [0.5, 1.5, 2.5]}, "x", {})


def test_dates_go_on_as_dates() -> None:
    found = read({"t": np.array(["2024-01-31", "2024-02-29"], "datetime64[D]"), "x": [0.5, 1.5]}, "x", {})
    assert found.written(2) == "2024-03-31"
    assert found.unit == "month"
