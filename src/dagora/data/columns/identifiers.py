"""Which columns say nothing about rows: numbers of rows, identifiers, names, free text, constant numbers.

No network can be learned with such a column, and it costs time and memory, so it is left out unless it was
asked for.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dagora.data.columns.cells import is_text
from dagora.data.columns.dates import IS_DATE
from dagora.data.columns.levels import DECIMAL_COMMA, NUMBER, THOUSANDS

if TYPE_CHECKING:
    import pyarrow as pa

FIRST_LOOK = 100  # cells that usually tell that a number changes
FEWEST_VALUES = 20  # a column with at most as many is not judged
EMPTY, DATES, CONSTANT = "every cell is missing", "dates or times", "a constant number"
UNNAMED = "Unnamed"  # the first column of a file that has no name for it: most often the row's number
IS_ID = re.compile(
    r"(^|[^a-z])(id|ids|uuid|guid|key|index|nr|no)$|^(id|index|rownames|unnamed)\b", re.IGNORECASE
)
IS_CAMEL_ID = re.compile(r"[a-z](ID|Id|UUID|Nr|No|Key|Index)$")


def why_left_out(name: str, column: pa.ChunkedArray) -> str | None:
    """Why a column should not be learned from; None if nothing speaks against it.

    >>> import pyarrow as pa
    >>> why_left_out("row", pa.chunked_array([range(1, 101)]))
    'numbers the rows'
    >>> why_left_out("name", pa.chunked_array([[f"person {i}" for i in range(100)]]))
    '100 levels in 100 rows: names or free text'
    >>> why_left_out("age", pa.chunked_array([[20, 30, 40] * 30]))
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = len(column) - column.null_count
    if not rows:
        return EMPTY
    if pa.types.is_temporal(column.type):
        return DATES
    texts = column.unique().drop_null() if is_text(column.type) else None
    if texts is not None and pc.all(pc.match_substring_regex(texts, IS_DATE)).as_py():
        return DATES
    if rows <= FEWEST_VALUES and not name.startswith(UNNAMED):
        return None
    if texts is not None:
        many = len(texts) > max(FEWEST_VALUES, rows / 2)
        return (
            f"{len(texts)} levels in {rows} rows: names or free text" if many and not spoilt(texts) else None
        )
    if pa.types.is_integer(column.type) or (pa.types.is_floating(column.type) and is_whole(column)):
        return why_numbers_identify(name, column, rows)
    return None


def is_constant(column: pa.ChunkedArray, *, whole_numbers: bool) -> bool:
    """Whether a column holds one number only, of floats; `whole_numbers` says whether of any.

    >>> import pyarrow as pa
    >>> [is_constant(pa.chunked_array([[k, None, k]]), whole_numbers=False) for k in (3.5, 3, "3")]
    [True, False, False]
    """
    from pyarrow import types

    floats = types.is_floating(column.type) or types.is_decimal(column.type)
    return (floats or (whole_numbers and types.is_integer(column.type))) and (
        len(column.slice(0, FIRST_LOOK).unique().drop_null()) <= 1 and len(column.unique().drop_null()) == 1
    )


def is_whole(column: pa.ChunkedArray) -> bool:
    """Whether a column of floats holds whole numbers only."""
    import pyarrow.compute as pc

    return bool(pc.all(pc.equal(column, pc.floor(column))).as_py())


def spoilt(texts: pa.Array) -> bool:
    """Whether most texts, but not all, are numbers, or have a decimal comma: then it is a measurement."""
    import pyarrow.compute as pc

    number = f"({NUMBER}|{DECIMAL_COMMA}|{THOUSANDS})"
    count = pc.sum(pc.match_substring_regex(texts, rf"^(\({number}\)|[+-]? ?{number})$")).as_py()
    commas = pc.any(pc.match_substring(texts, ",")).as_py()
    return bool(len(texts) < 2 * count and (commas or count < len(texts)))


def why_numbers_identify(name: str, column: pa.ChunkedArray, rows: int) -> str | None:
    """Why whole numbers only tell rows apart: each occurs once, and they run on or are called so."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ends = pc.min_max(column).as_py()
    runs_on = ends["max"] - ends["min"] == rows - 1
    called_so = bool(IS_ID.search(name) or IS_CAMEL_ID.search(name))
    if (
        not (called_so or (runs_on and pa.types.is_integer(column.type)))
        or pc.count_distinct(column, mode="only_valid").as_py() < rows
    ):
        return None
    return "numbers the rows" if runs_on else "a different number in every row, and called an identifier"
