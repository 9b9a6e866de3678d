"""Rows of a table that repeat the names of its columns, as where files were put together: refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dagora.base.errors import DataError
from dagora.data.columns.cells import is_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

# What may stand around a name in a header: blanks, and the mark with which a file of its own begins.
AROUND_A_NAME = " \t\ufeff"
# Share of rows that may repeat the names in other letters.
MOST_HEADERS = 0.05


def refuse_repeated_header(names: Sequence[str], columns: Sequence[pa.ChunkedArray]) -> None:
    """Refuse a row of text that repeats the names of the columns, as where files were put together.

    Where it has other small or capital letters, its words may stand in no other row, and in few such rows:
    they could be levels.
    """
    import pyarrow.compute as pc

    if len(names) < 2 or not all(is_text(column.type) for column in columns):
        return
    repeats, seen = None, []
    for name, column in zip(names, columns, strict=True):
        folded = pc.utf8_lower(pc.utf8_trim(column, characters=AROUND_A_NAME))
        same = pc.equal(folded, pc.utf8_lower(name)).fill_null(False)
        repeats = same if repeats is None else pc.and_(repeats, same)
        if not pc.any(repeats).as_py():
            return
        seen.append(int(pc.sum(same).as_py()))
    assert repeats is not None
    row, number = repeats.index(value=True).as_py(), int(pc.sum(repeats).as_py())
    cells = [str(column[row]).strip(AROUND_A_NAME) for column in columns]
    alike = cells == list(names)
    if alike and min(seen) > number:
        raise no_names(names)
    if alike or max(seen) == number <= max(1, len(repeats) * MOST_HEADERS):
        raise repeated_header(row + 1, number)


def no_names(names: Sequence[str]) -> DataError:
    """The error about names each of which is a value of its column in many rows."""
    told = ", ".join(f"'{name}'" for name in names[:3]) + (", …" if len(names) > 3 else "")
    return DataError(
        f"the names of the columns ({told}) look like a row of data, and are values of their columns in "
        "other rows too: if the table has no header, put a line with names first"
    )


def repeated_header(row: int | None, number: int = 1) -> DataError:
    """The error about rows that repeat the names of the columns."""
    more = f" (and {number - 1} more)" if number > 1 else ""
    where = "a row" if row is None else f"data row {row}{more}"
    return DataError(f"{where} repeats the names of the columns: remove it, it is no row of data")
