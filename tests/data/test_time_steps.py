"""Steps of the calendar, held against pandas' ranges of dates; gaps; the words for irregular steps."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dagora
from dagora.base.errors import DataError
from dagora.data.columns.dates import as_days, how_days_are_told, spells_dates
from dagora.data.time_steps import MONTH, WORKING_DAY, count_steps

FREQUENCIES = {
    "MS": ("month", MONTH),
    "ME": ("month", MONTH),
    "QS": ("quarter", 3 * MONTH),
    "QE": ("quarter", 3 * MONTH),
    "YS": ("year", 12 * MONTH),
    "2MS": ("2-month step", 2 * MONTH),
    "B": ("working day", WORKING_DAY),
    "D": ("", 1.0),
    "W-MON": ("", 7.0),
    "h": ("", 1 / 24),
}


def days(dates: pd.DatetimeIndex) -> np.ndarray:
    return dates.to_numpy().astype("datetime64[us]").astype(np.float64) / 86_400e6


@pytest.mark.every_case
@pytest.mark.parametrize("start", ["2019-12-01", "2020-02-29", "2021-07-15"])
@pytest.mark.parametrize("frequency", FREQUENCIES)
def test_steps_of_the_calendar_are_those_of_pandas(frequency: str, start: str) -> None:
    dates = pd.date_range(start, periods=40, freq=frequency)
    found = count_steps(days(dates), np.array([0, 40]), "t", dates=True)
    unit, length = FREQUENCIES[frequency]
    assert found.steps.tolist() == list(range(40))
    assert (found.unit, found.missing) == (unit, 0)
    assert found.length == pytest.approx(length)
    kept = np.delete(np.arange(40), [5, 6, 20])
    with_gaps = count_steps(days(dates[kept]), np.array([0, 37]), "t", dates=True)
    assert with_gaps.steps.tolist() == kept.tolist()
    assert with_gaps.gap_rows.tolist() == [5, 18]
    assert (with_gaps.missing, with_gaps.unit) == (3, unit)


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["2020-01", "2020-12", "2021-01"], ["2020-01-01", "2020-12-01", "2021-01-01"]),
        (["2020M01", None, "2021M10"], ["2020-01-01", None, "2021-10-01"]),
        (["01/2020", "12/2020"], ["2020-01-01", "2020-12-01"]),
        (["2020-Q1", "2020-Q4"], ["2020-01-01", "2020-10-01"]),
        (["2020q1", "2020q4"], ["2020-01-01", "2020-10-01"]),
        (["Q3 1999", "Q1 2000"], ["1999-07-01", "2000-01-01"]),
        (["2020-W53", "2021-W01", "2019-W01"], ["2020-12-28", "2021-01-04", "2018-12-31"]),
    ],
)
def test_periods_are_the_day_on_which_they_begin(texts: list[str | None], expected: list[str | None]) -> None:
    column = pa.chunked_array([texts])
    assert spells_dates(column)
    known = [None if day is None else float(np.datetime64(day).astype(int)) for day in expected]
    assert as_days("t", column).to_pylist() == known


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["1/31/2024", "02/01/2024", None], ["2024-01-31", "2024-02-01", None]),
        (["31/01/2024", "1/2/2024"], ["2024-01-31", "2024-02-01"]),
    ],
)
def test_dates_with_slashes_are_read_where_a_day_tells(
    texts: list[str | None], expected: list[str | None]
) -> None:
    known = [None if day is None else float(np.datetime64(day).astype(int)) for day in expected]
    assert as_days("t", pa.chunked_array([texts])).to_pylist() == known


@pytest.mark.parametrize(
    "texts",
    [
        ["2026-11-19T10:00:00+02:00", "2026-11-19 08:30:00Z", None],
        ["2026-11-19T10:00+0200", "2026-11-19T05:00-03:30"],
        ["2026-11-19 10:00:00.000+02", "2026-11-19 08:30:00.000Z"],
    ],
)
def test_times_with_a_zone_are_those_of_utc(texts: list[str | None]) -> None:
    column = pa.chunked_array([texts])
    assert spells_dates(column)
    assert how_days_are_told(column) == "dates as days since 1970, in UTC"
    eight = np.datetime64("2026-11-19T08:00", "m").astype(int) / 1440
    assert as_days("t", column).to_pylist() == pytest.approx([eight, eight + 1 / 48, None][: len(texts)])


def test_times_with_a_zone_and_without_one_are_refused() -> None:
    with pytest.raises(DataError, match=r"some times of column 't' have a zone \(Z, \+02:00\) and others"):
        as_days("t", pa.chunked_array([["2026-11-19T10:00Z", "2026-11-19T11:00"]]))
    assert how_days_are_told(pa.chunked_array([["2026-11-19T11:00"]])) == "dates as days since 1970"


@pytest.mark.parametrize(
    "texts", [["1/2/2024", "3/4/2024"], ["13/13/2024"], ["2/30/2024"], ["31/1/2024", "1/31/2024"]]
)
def test_dates_with_slashes_that_can_be_read_in_two_ways_or_none_are_refused(texts: list[str]) -> None:
    with pytest.raises(DataError, match="cannot be read as days"):
        as_days("t", pa.chunked_array([texts]))


@pytest.mark.parametrize("texts", [["2020-13"], ["2020-01", "2020-Q1"], ["20-01"], ["2020Q5"], ["1234-01"]])
def test_what_is_no_period(texts: list[str]) -> None:
    assert not spells_dates(pa.chunked_array([texts]))


def test_a_week_that_its_year_does_not_have_is_refused() -> None:
    with pytest.raises(DataError, match="cannot be read as days"):
        as_days("t", pa.chunked_array([["2021-W53"]]))


@pytest.mark.parametrize(
    "values",
    [
        [f"{month}" for month in pd.period_range("2019-05", periods=60, freq="M")],
        pd.date_range("2019-05-31", periods=60, freq="ME"),
        [int(f"{month:%Y%m}") for month in pd.date_range("2019-05-01", periods=60, freq="MS")],
        [int(f"{month:%Y%m%d}") for month in pd.date_range("2019-05-01", periods=60, freq="MS")],
        pd.period_range("2019-05", periods=60, freq="M"),
    ],
    ids=["text", "month ends", "202403", "20240301", "periods"],
)
@pytest.mark.parametrize("ending", ["", "csv"])
def test_months_are_learned_from_as_numbers_are(values: object, ending: str, tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    x = generator.standard_normal(60).cumsum() * 0.5
    rows = pd.DataFrame({"month": values, "x": x, "y": np.roll(x, 1) + 0.1 * generator.standard_normal(60)})
    expected = dagora.learn(rows.assign(month=range(60)), "dynotears", time="month")
    data: object = rows
    if ending:
        data = tmp_path / "rows.csv"
        rows.to_csv(data, index=False)
    found = dagora.learn(data, "dynotears", time="month")
    assert np.array_equal(found.weights, expected.weights)
    assert "59 windows of 2 months" in found.message


def test_many_months_are_left_out_as_dates_and_few_are_levels() -> None:
    months = [f"{month}" for month in pd.period_range("2019-05", periods=30, freq="M")]
    overview = dagora.inspect({"month": months, "wave": months[:3] * 10, "x": np.arange(30) + 0.5})
    assert [(column.type, column.why) for column in overview.columns][:2] == [
        ("left out", "dates or times"),
        ("discrete", "text"),
    ]
    assert "takes dates where rows are series" in overview.warnings[0]


def test_rounded_steps_add_up_over_a_long_gap() -> None:
    thirds = np.round(np.r_[np.arange(10), np.arange(310, 330)] / 3, 7)
    found = count_steps(thirds, np.array([0, 30]), "t")
    assert (found.steps[-1], found.missing) == (329, 300)


def test_no_window_reaches_over_a_gap_which_is_told() -> None:
    generator = np.random.default_rng(1)
    dates = pd.bdate_range("2024-11-01", periods=80)
    rows = pd.DataFrame(
        {"day": dates, "x": generator.standard_normal(80), "y": generator.standard_normal(80)}
    )
    holiday = rows.drop([38])
    found = dagora.learn(holiday, "dynotears", time="day", lags=2)
    assert found.stats["windows"] == 38 - 2 + 41 - 2
    (told,) = [line for line in found.warnings if "missing" in line]
    assert told.startswith(
        "1 working day is missing (2024-12-25, between 2024-12-24 and 2024-12-26): nothing is filled in"
    )
    split = holiday.assign(day=range(79), run=(np.arange(79) >= 38).astype(int))
    two = dagora.learn(split, "dynotears", time="day", series="run", lags=2)
    assert np.array_equal(found.weights, two.weights)


@pytest.mark.parametrize(
    ("dates", "said"),
    [
        (["2024-01-01", "2024-02-01", "2024-02-15", "2024-03-01"], "from 2024-01-01 to 2024-02-01 .* the length 31, and others have 14"),
        (["2024-01", "2024-02", "2024-02"], "the time 2024-02 is there twice"),
        (["2024-Q1", "2024-Q2", "2024-Q2"], "the time 2024-Q2 is there twice"),
        (["2024-01-01", "2024-01-03", "2024-01-04", "2024-01-09", "2024-01-20"], "from 2024-01-01 to 2024-01-03 .* the length 2, and others have 1"),
    ],
)  # fmt: skip
def test_the_first_irregular_pair_is_named_in_one_line(dates: list[str], said: str) -> None:
    rows = {"t": dates, "x": np.arange(len(dates)) ** 2 + 0.5, "y": np.arange(len(dates)) ** 3 + 0.5}
    with pytest.raises(DataError, match=said) as error:
        dagora.learn(rows, "dynotears", time="t")
    assert "\n" not in str(error.value)


def test_from_one_series_to_the_next_is_no_step():
    found = count_steps(np.array([1.0, 2.0, 3.0, 1.0, 2.0, 4.0]), np.array([0, 3, 6]), "t", ("a", "b"))
    assert found.steps.tolist() == [0, 1, 2, 0, 1, 3]
    assert (found.gap_rows.tolist(), found.missing) == ([5], 1)
    assert found.first == "3, between 2 and 4 in the series 'b'"


def test_half_of_the_steps_make_a_length_usual():
    assert count_steps(np.array([1.0, 2.0, 4.0]), np.array([0, 3]), "t").gap_rows.tolist() == [2]
    with pytest.raises(DataError, match="has the length 2, and others have 1"):
        count_steps(np.array([1.0, 2.0, 4.0, 7.0]), np.array([0, 4]), "t")


def test_times_of_later_steps_do_not_drift_with_the_rounding_of_one_step() -> None:
    hours = np.array([24 * day + hour for day in range(1, 13) for hour in range(9, 17)], dtype="float64")
    moments = np.datetime64("2024-01-01", "D").astype(float) + hours / 24
    found = count_steps(moments, np.array([0, len(moments)]), "t", dates=True)
    for ahead in (1, 2, 500):
        expected = np.datetime64("2024-01-01T00:00:00") + np.timedelta64(int(hours[-1]) + ahead, "h")
        text = found.written(int(found.steps[-1]) + ahead)
        assert text.removesuffix(" 00:00:00") == str(expected).replace("T", " ").removesuffix(" 00:00:00")


def test_months_at_midnight_of_a_place_are_refused_with_the_way_out() -> None:
    midnights = [f"2024-{month:02}-01T00:00:00+0{2 if 3 < month < 11 else 1}:00" for month in range(1, 13)]
    data = {"t": midnights, "x": np.arange(12.0) % 5, "y": np.arange(12.0) % 3}
    with pytest.raises(DataError, match="write days and months of a place without their hours"):
        dagora.learn(data, time="t", continuous=["x", "y"])
