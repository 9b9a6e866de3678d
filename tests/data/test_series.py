"""Series in a table: order of time, steps that are missing, twice there or of another length."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dagora
from dagora.base.errors import DataError, OptionError
from dagora.base.wording import render
from dagora.data.series import Panel, Timing
from dagora.data.table import Table


def table_of(times: list[float], labels: list[str] | None = None) -> Table:
    rows = {"t": times, "x": np.arange(len(times)) + 0.5}
    if labels is not None:
        rows["id"] = labels
    return Table.from_frame(pd.DataFrame(rows), continuous=["t", "x"], discrete=["id"] if labels else [])


def test_rows_in_any_order_become_runs_in_the_order_of_time() -> None:
    table = table_of([3, 1, 2, 2, 1], ["b", "a", "b", "a", "b"])
    panel = Panel.of_table(table, "t", "id")
    assert panel.labels == ("a", "b")
    assert panel.starts.tolist() == [0, 2, 5]
    assert panel.table.names == ("x",)
    assert panel.table.values(0).tolist() == [1.5, 3.5, 4.5, 2.5, 0.5]


@pytest.mark.parametrize(
    ("times", "labels", "said"),
    [
        ([1, 2, 3, 3], None, "the time 3 is there twice"),
        ([1, 2, 2.5, 3.5, 4.5], None, "the step from 2 to 2.5 (column 't') has the length 0.5, and others"),
        ([1, 2, 3, 5, 1, 2, 2, 3], ["z"] * 4 + ["b"] * 4, "in the series 'b' the time 2 is there twice"),
        ([5, 5], None, "the time 5 is there twice"),
    ],
)
def test_the_first_wrong_step_is_named(times: list[float], labels: list[str] | None, said: str) -> None:
    with pytest.raises(DataError) as error:
        Panel.of_table(table_of(times, labels), "t", None if labels is None else "id")
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("times", "labels", "lengths", "said"),
    [
        ([1, 2, 4, 5, 6], None, [2, 3], "1 step is missing (3, between 2 and 4): nothing is filled in"),
        ([1, 2, 3, 5, 9], None, [3, 1, 1], "4 steps are missing (the first: 4, between 3 and 5)"),
        ([1, 2, 1, 2, 4], [*"aabbb"], [2, 2, 1], "1 step is missing (3, between 2 and 4 in the series 'b')"),
    ],
)
def test_a_run_ends_where_steps_are_missing(
    times: list[float], labels: list[str] | None, lengths: list[int], said: str
) -> None:
    panel = Panel.of_table(table_of(times, labels), "t", None if labels is None else "id")
    assert panel.lengths.tolist() == lengths
    (told,) = panel.warnings
    assert said in told


def test_the_end_of_a_series_is_no_step() -> None:
    """From the last time of one series to the first of the next is any distance, also back."""
    panel = Panel.of_table(table_of([8, 9, 1, 2, 3], ["a", "a", "b", "b", "b"]), "t", "id")
    assert panel.step == 1
    assert panel.lengths.tolist() == [2, 3]


def test_decimal_steps_and_dates() -> None:
    assert Panel.of_table(table_of([k * 0.1 for k in range(50)]), "t").step == pytest.approx(0.1)
    result = dagora.learn(many_days(), "dynotears", time="day")
    assert any("(2024-02-29, between 2024-02-28 and 2024-03-01)" in line for line in result.warnings)


def many_days() -> dict[str, list[object]]:
    """Sixty days of 2024 without the 29th of February."""
    days = [str(np.datetime64("2024-01-20") + np.timedelta64(k, "D")) for k in range(60)]
    kept = [day for day in days if day != "2024-02-29"]
    generator = np.random.default_rng(0)
    return {
        "day": kept,
        "x": generator.standard_normal(len(kept)).tolist(),
        "y": generator.standard_normal(len(kept)).tolist(),
    }


SECONDS = 1.7e9 + 0.1 * np.arange(3000)


def test_the_rounding_of_fine_times_is_no_other_step() -> None:
    assert Panel.of_table(table_of(SECONDS.tolist()), "t").step == pytest.approx(0.1, rel=1e-5)
    (told,) = Panel.of_table(table_of(np.delete(SECONDS, 3).tolist()), "t").warnings
    assert "(1700000000.3, between 1700000000.2 and 1700000000.4)" in told
    late = SECONDS.copy()
    late[7] += 0.001
    told = r"the step from 1700000000.6 to 1700000000.701 .* has the length 0.101"
    with pytest.raises(DataError, match=told):
        Panel.of_table(table_of(late.tolist()), "t")


def test_times_that_numbers_cannot_hold_are_refused() -> None:
    with pytest.raises(DataError, match="too fine for the numbers they are read as"):
        Panel.of_table(table_of((1.7e9 + 1e-6 * np.arange(50)).tolist()), "t")
    whole = (2.0**52 + np.arange(50)).tolist()
    assert Panel.of_table(table_of(whole), "t").step == 1


@pytest.mark.parametrize("form", ["{}", "{:%Y-%m-%dT%H:%M:%S.%f}"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_milliseconds_are_read(form: str, ending: str, tmp_path: Path) -> None:
    times = list(pd.date_range("2024-01-01", periods=60, freq="100ms"))
    x, y = np.random.default_rng(0).standard_normal((2, 60))
    frame = pd.DataFrame({"t": [form.format(t) for t in times] if ending == "csv" else times, "x": x, "y": y})
    file = tmp_path / f"rows.{ending}"
    for rows, told in (
        (frame, ""),
        (frame.drop(30), "1 step is missing (2024-01-01 00:00:03, between 2024-01-01 00:00:02.9"),
    ):
        rows.to_csv(file, index=False) if ending == "csv" else rows.to_parquet(file)
        warnings = dagora.learn(file, "dynotears", time="t", lags=1).warnings
        assert any(told and told in line for line in warnings) is bool(told)


DAYS = pd.date_range("2024-01-01", periods=60)


@pytest.mark.parametrize(
    "days",
    [DAYS, DAYS.tz_localize("UTC"), DAYS.date, list(DAYS.to_pydatetime()), DAYS.astype("datetime64[s]")],
    ids=["datetime64", "with zone", "date", "datetime", "seconds"],
)
@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_of_dates_are_times(make: Callable, days: object) -> None:
    generator = np.random.default_rng(0)
    x, y = generator.standard_normal((2, 60))
    rows = make({"t": days if make is not pl.DataFrame else list(days), "x": x, "y": y})
    numbered = {"t": np.arange(60), "x": x, "y": y}
    found = dagora.learn(rows, "dynotears", time="t", lags=1)
    expected = dagora.learn(numbered, "dynotears", time="t", lags=1)
    assert found.graph == expected.graph
    assert np.array_equal(found.weights, expected.weights)


def test_short_series_are_left_out_with_a_warning_and_an_error_where_all_are_short() -> None:
    panel = Panel.of_table(table_of([1, 2, 3, 1, 2, 1], ["a", "a", "a", "b", "b", "c"]), "t", "id")
    long, warnings = panel.longer_than(2)
    assert long.tolist() == [0]
    assert [*map(render, warnings)] == [
        "2 of 3 series are shorter than 3 steps (lags=2) and were left out: 'b' (2), 'c' (1)"
    ]
    with pytest.raises(DataError, match=r"no series is long enough: the longest has 3 steps, and 4 steps"):
        panel.longer_than(3)


def test_what_cannot_be_time_or_series_is_refused() -> None:
    table = Table.from_numpy([["mon", 1.5], ["tue", 2.5]], ["t", "x"])
    with pytest.raises(DataError, match="must hold numbers, dates"):
        Panel.of_table(table, "t")
    with pytest.raises(OptionError, match="there is no column 'when', which time names"):
        Panel.of_table(table, "when")
    with pytest.raises(OptionError, match="name one column"):
        Panel.of_table(table_of([1, 2]), "t", "t")
    with pytest.raises(OptionError, match="series goes with time"):
        Timing.read(None, "id")
    with pytest.raises(OptionError, match="takes the name of a column"):
        Timing.read(3, None)  # type: ignore[arg-type]


@pytest.mark.parametrize("missing", ["auto", "error", "model", "level"])
def test_no_step_is_advised_to_be_dropped(missing: str) -> None:
    rows = {"t": list(range(30)), "x": [0.5, None, *np.arange(28.0)], "y": list(np.arange(30.0) ** 2)}
    with pytest.raises(DataError, match="fill in what is missing, leave its column out") as error:
        dagora.learn(rows, "dynotears", time="t", missing=missing)
    assert "drop" not in str(error.value)
    assert "discretise" not in str(error.value)


def test_runs_of_one_series_without_a_name_are_counted_and_not_listed() -> None:
    rows = Table.from_numpy(
        [[1, 0.5], [2, 1.5], [4, 0.1], [6, 0.7], [7, 0.2]], ["t", "x"], continuous=["all"]
    )
    long, said = Panel.of_table(rows, "t").longer_than(1)
    assert long.tolist() == [0, 2]
    assert len(said) == 1
    assert said[0].startswith("1 of 3 runs of rows without a gap is shorter than 2 steps")
    assert said[0].endswith("and was left out")
