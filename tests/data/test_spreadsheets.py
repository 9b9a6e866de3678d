"""Cells of a sheet: numbers, truths and dates where all of a column are such, else text."""

import datetime as dt
from pathlib import Path

import openpyxl
import pytest

from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.spreadsheets import column_of, read_sheet

DAY = dt.date(2024, 2, 29)


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        ([1, 2.0, ""], [1, 2, None]),
        ([1.5, "", 2], [1.5, None, 2.0]),
        ([True, "", False], [True, None, False]),
        ([True, 1.0], ["TRUE", "1"]),
        ([DAY, dt.datetime.fromisoformat("2024-02-29T12:00"), ""],
         [dt.datetime.fromisoformat("2024-02-29"), dt.datetime.fromisoformat("2024-02-29T12:00"), None]),
    ],
)  # fmt: skip
def test_columns(cells: list[object], values: list[object]) -> None:
    assert column_of(cells).to_pylist() == values


def test_rows_of_zeros_are_rows_and_blank_ones_are_none(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["a", "b"], [0, 0], [None, None], [1, 2]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    raw = read_sheet(tmp_path / "t.xlsx", ReadingOptions())
    assert [column.to_pylist() for column in raw.columns] == [[0, 1], [0, 2]]
