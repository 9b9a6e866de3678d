"""Read a sheet of a workbook: .xlsx, .xlsm, .xls and .ods, by python-calamine.

The first row that is not blank has the names. A column of numbers, of dates or of truths is taken as such.
Any other is text, as a CSV file of the sheet would have it, and is understood by the same rules.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dagora.base.errors import DataError, OptionError
from dagora.base.phrases import among
from dagora.base.wording import option
from dagora.data.columns.column_names import check_names, kept_positions
from dagora.data.columns.frames import one_line
from dagora.data.columns.levels import level_name
from dagora.data.columns.names import UNNAMED
from dagora.data.header import refuse_merged_names, refuse_title
from dagora.data.labelled_columns import float_column
from dagora.data.raw_table import RawTable
from dagora.data.workbook_size import check_workbook

if TYPE_CHECKING:
    import pyarrow as pa

    from dagora.data.columns.reading_options import ReadingOptions

ENDINGS = (".xlsx", ".xlsm", ".xls", ".ods")


def read_sheet(file: Path, reading: ReadingOptions) -> RawTable:
    """Read the sheet that is named, or the only one that has cells."""
    import python_calamine

    check_workbook(file)
    try:
        with python_calamine.CalamineWorkbook.from_path(file) as book:
            rows = choose_sheet(book, reading.table)
    except python_calamine.PasswordError:
        raise DataError("the workbook has a password: save it without one") from None
    except (python_calamine.CalamineError, OSError, ValueError) as problem:
        raise DataError(f"the workbook cannot be read, it may be damaged: {one_line(problem)}") from None
    rows = [row for row in rows if any(cell != "" for cell in row)]
    if not rows:
        raise DataError("the sheet is empty: a row with names and rows of data are needed")
    names = names_of(rows[0], rows[1:3])
    del rows[0]
    if not rows:
        raise DataError("there is a header but no rows: a row with names comes first, then the data")
    kept = kept_positions(names, reading)
    return RawTable(
        [names[k] for k in kept], [column_of([row[k] for row in rows]) for k in kept], text_cells=True
    )


def choose_sheet(book: Any, name: str | None) -> list[list[Any]]:  # noqa: ANN401 (calamine's workbook)
    """The rows of the sheet of this name; where no name is given, of the only visible one that has cells."""
    names = [sheet.name for sheet in book.sheets_metadata if "WorkSheet" in str(sheet.typ)]
    if name is not None:
        if name not in names:
            raise OptionError(f"there is no sheet '{name}' in it: {among(names)}")
        return book.get_sheet_by_name(name).to_python()  # type: ignore[no-any-return]
    shown = [sheet.name for sheet in book.sheets_metadata if str(sheet.visible).endswith(".Visible")]
    filled = [rows for each in names if each in shown and (rows := book.get_sheet_by_name(each).to_python())]
    if len(filled) > 1:
        raise OptionError(f"it has several sheets: choose one with {option('table')}; {among(names)}")
    return filled[0] if filled else []


def names_of(cells: Sequence[Any], below: Sequence[Sequence[Any]]) -> tuple[str, ...]:
    """The names of the columns; the first and the last may be blank, as in a CSV file."""
    names, *following = ([as_text(cell) or "" for cell in row] for row in (cells, *below))
    refuse_title(names)
    refuse_merged_names(names, following)
    for place in {0, len(names) - 1} if len(names) > 1 else ():
        names[place] = names[place] or f"{UNNAMED}: {place}"
    return check_names(names)


def column_of(cells: Sequence[Any]) -> pa.ChunkedArray:
    """A column of numbers, truths or dates where all of its cells are such; otherwise of text."""
    import pyarrow as pa

    kinds = {type(cell) for cell in cells if cell != ""}
    known = [None if cell == "" else cell for cell in cells]
    if kinds and kinds <= {int, float}:
        return float_column(known)
    if kinds == {bool}:
        return pa.chunked_array([pa.array(known, pa.bool_())])
    if kinds and kinds <= {dt.date, dt.datetime}:
        moments = [None if cell is None else np.datetime64(cell, "us") for cell in known]
        return pa.chunked_array([pa.array(np.array(moments, dtype="datetime64[us]"), from_pandas=True)])
    return pa.chunked_array([pa.array(map(as_text, cells), pa.string())])


def as_text(cell: Any) -> str | None:  # noqa: ANN401 (whatever a sheet holds)
    """A cell as a CSV file would have it; nothing for an empty one.

    >>> [as_text(cell) for cell in (2.0, 0.1, True, "a", "", dt.date(2024, 12, 31))]
    ['2', '0.1', 'TRUE', 'a', None, '2024-12-31']
    """
    if isinstance(cell, bool):
        return str(cell).upper()
    return level_name(cell) or None
