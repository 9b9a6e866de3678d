"""Dates, numbers and sizes of files of Stata and SPSS, against Python's own calendar."""

import datetime as dt
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from dagora.base.errors import DataError
from dagora.data.statistics_files import check_size, read_cells, read_dates

at = dt.datetime.fromisoformat


def moments(numbers: list[float | None], ending: str, form: str) -> list[dt.datetime | None]:
    found = read_dates(pa.chunked_array([pa.array(numbers, pa.float64())]), ending, form)
    return found.to_pylist()  # type: ignore[no-any-return]


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("form", "number", "moment"),
    [
        ("%td", 366.0, at("1961-01-01")),
        ("%-tdD_m_Y", -1.0, at("1959-12-31")),
        ("%d", 1.0, at("1960-01-02")),
        ("%tc", 1500.0, at("1960-01-01T00:00:01.500000")),
        ("%tw", 53.0, at("1961-01-08")),
        ("%tm", 14.0, at("1961-03-01")),
        ("%tq", 5.0, at("1961-04-01")),
        ("%th", 3.0, at("1961-07-01")),
        ("%-th", -1.0, at("1959-07-01")),
    ],
)
def test_dates_of_stata(form: str, number: float, moment: dt.datetime) -> None:
    """As `help datetime` of Stata has it: units since the first of January 1960, of weeks 52 in a year."""
    assert moments([number, None], ".dta", form) == [moment, None]


@pytest.mark.every_case
@pytest.mark.parametrize(
    "form", ["DATE11", "ADATE10", "EDATE8", "SDATE10", "MOYR8", "DATETIME20", "YMDHMS19.2"]
)
def test_dates_of_spss(form: str) -> None:
    """Seconds since the beginning of the Gregorian calendar, by the manual of SPSS."""
    seconds = (at("2024-02-29T12:00:00") - at("1582-10-14")).total_seconds()
    assert moments([seconds, None], ".sav", form) == [at("2024-02-29T12:00:00"), None]


@pytest.mark.parametrize(("ending", "form"), [(".dta", "%9.0g"), (".sav", "F8.2"), (".sav", "WKDAY9")])
def test_other_numbers_are_no_dates(ending: str, form: str) -> None:
    assert moments([3.0], ending, form) == [3.0]


def test_numbers_of_single_precision_are_what_was_typed() -> None:
    cells = [float(np.float32(0.1)), None, float(np.float32(2.5))]
    assert read_cells(cells, "float").to_pylist() == [0.1, None, 2.5]
    assert read_cells(cells, "double").to_pylist() == cells
    assert read_cells(["a", None], "string").to_pylist() == ["a", None]
    assert read_cells([1.0, None], "double").type == pa.int64()


def test_a_file_cannot_have_more_cells_than_bytes(tmp_path: Path) -> None:
    """Only a .zsav file is compressed, and has to say how many rows it has."""
    file = tmp_path / "t"
    file.write_bytes(bytes(100))

    def check(ending: str, rows: int | None) -> None:
        check_size(file, ending, SimpleNamespace(number_rows=rows, column_names=["a", "b"]))

    check(".sav", 50)
    check(".sav", None)
    check(".zsav", 51)
    for ending, rows, words in ((".sav", 51, "51 rows of 2 columns"), (".zsav", None, "does not state")):
        with pytest.raises(DataError, match=words):
            check(ending, rows)
