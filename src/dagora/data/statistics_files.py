"""Read files of Stata (.dta) and SPSS (.sav, .zsav), by pyreadstat.

Labels of values are levels, in the order of the values. What the file says is missing is missing, also where
the user of that program declared it. Dates count from the program's own first day.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from dagora.data.columns.column_names import check_names, kept_positions
from dagora.data.file_limits import Limits
from dagora.data.file_process import damaged_file
from dagora.data.labelled_columns import LabelReader, whole_numbers
from dagora.data.raw_table import RawTable

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from dagora.data.columns.reading_options import ReadingOptions

ENDINGS = (".dta", ".sav", ".zsav")
PROGRAMS = {".dta": "Stata", ".sav": "SPSS", ".zsav": "SPSS"}
DAY = 86_400
EPOCH = date(1970, 1, 1)
STATA_BEGIN, SPSS_BEGIN = date(1960, 1, 1), date(1582, 10, 14)
# Formats of dates: in Stata by how they begin, in SPSS by the letters before the width.
STATA_DAYS, STATA_MOMENTS, STATA_WEEKS = ("%td", "%d", "%-td", "%-d"), ("%tc", "%-tc"), ("%tw", "%-tw")
STATA_MONTHS = {"%tm": 1, "%-tm": 1, "%tq": 3, "%-tq": 3, "%th": 6, "%-th": 6}
SPSS_DATES = ("DATE", "ADATE", "EDATE", "JDATE", "SDATE", "QYR", "MOYR", "WKYR", "DATETIME", "YMDHMS")
WEEKS_A_YEAR = 52  # of Stata


def read_statistics_file(file: Path, ending: str, reading: ReadingOptions) -> RawTable:
    """Read a file of Stata or SPSS."""
    import pyreadstat

    read = pyreadstat.read_dta if ending == ".dta" else pyreadstat.read_sav

    def parse(**more: Any) -> tuple[dict[str, list[Any]], Any]:  # noqa: ANN401
        return read(file, disable_datetime_conversion=True, output_format="dict", **more)  # type: ignore[no-any-return]

    about = parse(metadataonly=True)[1]
    names = check_names(about.column_names)
    kept = kept_positions(names, reading)
    check_size(file, ending, about)
    cells = parse(usecols=[about.column_names[place] for place in kept])[0]
    labelled = LabelReader(names, reading)
    columns = []
    for place in kept:
        own = about.column_names[place]
        column = read_cells(cells.pop(own), about.readstat_variable_types[own])
        column = read_dates(column, ending, str(about.original_variable_types[own]).lower())
        columns.append(labelled.read(names[place], column, about.variable_value_labels.get(own, {})))
    return RawTable(
        [names[place] for place in kept], columns, notes=labelled.notes, nominal=tuple(labelled.nominal)
    )


def check_size(file: Path, ending: str, about: Any) -> None:  # noqa: ANN401 (pyreadstat's own)
    """Refuse a file that says of itself that it has more cells than can be in it."""
    rows, columns = -1 if about.number_rows is None else int(about.number_rows), len(about.column_names)
    if ending == ".zsav" and rows < 0:
        raise damaged_file("it does not state how many rows it has")
    if ending != ".zsav" and rows * columns > file.stat().st_size:
        raise damaged_file(f"it states {rows} rows of {columns} columns, more than it can hold")
    Limits.of(file).check_cells(rows * columns)


def read_cells(cells: list[Any], kind: str) -> pa.ChunkedArray:
    """Texts or numbers as a column; numbers of single precision are what they were written as."""
    import pyarrow as pa

    column = pa.chunked_array([pa.array(cells, pa.string() if kind == "string" else pa.float64())])
    if kind == "float":
        column = column.cast(pa.float32()).cast(pa.string()).cast(pa.float64())
    return whole_numbers(column)


def read_dates(column: pa.ChunkedArray, ending: str, form: str) -> pa.ChunkedArray:
    """Numbers as moments, where their format says that they are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(column.type):
        return column
    seconds = seconds_of(column, form) if ending == ".dta" else spss_seconds(column, form)
    if seconds is None:
        return column
    shift = ((STATA_BEGIN if ending == ".dta" else SPSS_BEGIN) - EPOCH) // timedelta(days=1) * DAY
    moments = pc.round(pc.multiply(pc.add(seconds, float(shift)), 1e6)).cast(pa.int64())
    return moments.cast(pa.timestamp("us"))


def spss_seconds(column: pa.ChunkedArray, form: str) -> pa.ChunkedArray | None:
    """Seconds since the first day of SPSS; None for numbers that are no dates."""
    import pyarrow as pa

    letters = form.upper().rstrip("0123456789.")
    return column.cast(pa.float64()) if letters in SPSS_DATES else None


def seconds_of(column: pa.ChunkedArray, form: str) -> pa.ChunkedArray | None:
    """Seconds since the first day of Stata; None for numbers that are no dates."""
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = column.cast(pa.float64())
    if form.startswith(STATA_DAYS):
        return pc.multiply(numbers, float(DAY))
    if form.startswith(STATA_MOMENTS):
        return pc.divide(numbers, 1000.0)
    months = next((months for begin, months in STATA_MONTHS.items() if form.startswith(begin)), None)
    if months is None and not form.startswith(STATA_WEEKS):
        return None
    places = np.nan_to_num(numbers.to_numpy()).astype(np.int64)
    if months is None:
        years, weeks = np.divmod(places, WEEKS_A_YEAR)
        days = days_since_1960(12 * years) + 7 * weeks
    else:
        days = days_since_1960(months * places)
    return pc.if_else(numbers.is_valid(), pa.chunked_array([days * float(DAY)]), None)


def days_since_1960(months: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Days from the first of January 1960 to the first of a month.

    >>> days_since_1960(np.array([0, 1, 12])).tolist()
    [0, 31, 366]
    """
    begin = np.datetime64("1960-01", "M")
    days = (begin + months.astype("timedelta64[M]")).astype("datetime64[D]") - np.datetime64("1960-01-01")
    return days.astype(np.int64)
