"""The mark before decimals, a point or a comma: decided for a whole file of text.

`3.762` is 3762 where another column has `12,5`, and `3,762` is 3762 where another has `0.5`. Where other
columns tell nothing, or one thing and its opposite, `3,762` and `3.762` beside `95` can be read in two ways:
they are refused, with both readings, unless the option `decimal` says which is meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dagora.base.errors import DataError
from dagora.base.phrases import some_of
from dagora.base.wording import option
from dagora.data.columns.cells import is_text
from dagora.data.columns.spelled_numbers import DecimalMarks, plainly, rewrite_numbers

if TYPE_CHECKING:
    import pyarrow as pa

    from dagora.data.columns.reading_options import ReadingOptions

OTHER = {"point": "comma", "comma": "point"}


def choose_marks(
    found: Mapping[str, DecimalMarks], decimal: str | None, separated_by: str = ""
) -> dict[str, str]:
    """The mark of each column that can be read in two ways and is not read as it stands.

    Semicolons separate cells where commas stand before decimals, and points may stand between thousands.

    >>> price = DecimalMarks("either", "3.762", "95")
    >>> choose_marks({"price": price, "dose": DecimalMarks("comma", "0,5")}, None)
    {'price': 'comma'}
    >>> choose_marks({"price": price, "dose": DecimalMarks("point", "0.5")}, None)
    {}
    """
    either = {name: marks for name, marks in found.items() if marks.mark == "either"}
    sure = {marks.mark: (name, marks.example) for name, marks in found.items() if marks.mark in OTHER}
    if decimal is None and len(sure) == 1:
        (decimal,) = sure
    if decimal is None and either:
        # A point in every number of a file with commas between cells is one before decimals.
        open_ = bool(sure) or separated_by == ";"
        doubtful = [name for name, m in either.items() if open_ or m.beside or "," in m.example]
        if doubtful:
            raise two_readings({name: either[name] for name in doubtful}, sure)
    return {name: decimal for name in either if decimal is not None and reads_anew(either[name], decimal)}


def numbers_by_mark(
    name: str, cells: pa.ChunkedArray, others: Mapping[str, pa.ChunkedArray], reading: ReadingOptions
) -> pa.ChunkedArray:
    """A column of text that is to hold numbers, written plainly by the mark that the other columns show.

    >>> import pyarrow as pa
    >>> from dagora.data.columns.reading_options import ReadingOptions
    >>> dose, n = (pa.chunked_array([words]) for words in (["0,5", "1,25"], ["2.000", "95"]))
    >>> numbers_by_mark("n", n, {"dose": dose}, ReadingOptions()).to_pylist()
    ['2000', '95']
    """
    if not is_text(cells.type):
        return cells
    found = rewrite_numbers(cells, 0, decimal=reading.decimal)
    if found.marks is None or found.marks.mark != "either":
        return found.cells
    told = {other: rewrite_numbers(each, 0).marks for other, each in others.items() if is_text(each.type)}
    sure = {other: marks for other, marks in told.items() if marks is not None and marks.mark in OTHER}
    chosen = choose_marks({**sure, name: found.marks}, reading.decimal, reading.separated_by)
    return rewrite_numbers(cells, 0, decimal=chosen.get(name)).cells


def reads_anew(marks: DecimalMarks, decimal: str) -> bool:
    """Return True if numbers are not plain ones under this mark."""
    return "," in marks.example or decimal == "comma"


def two_readings(doubtful: Mapping[str, DecimalMarks], sure: Mapping[str, tuple[str, str]]) -> DataError:
    """The error about columns that can be read in two ways, with both readings."""
    name, marks = next(iter(doubtful.items()))
    example = marks.example
    beside = f" beside '{marks.beside}'" if marks.beside else ""
    readings = {mark: as_read(example, mark) for mark in OTHER}
    both = " and ".join(f"decimal {mark}s ('{seen}' in '{where}')" for mark, (where, seen) in sure.items())
    why = f", and the file has {both}" if sure else ""
    others = [f"'{other}'" for other in doubtful if other != name]
    also = f" (so have {some_of(others)})" if others else ""
    return DataError(
        f"column '{name}' has '{example}'{beside}{also}: with a decimal point that is {readings['point']}, "
        f"with a decimal comma {readings['comma']}{why}: say which ({option('decimal', 'point')} or "
        f"{option('decimal', 'comma')})"
    )


def as_read(text: str, decimal: str) -> str:
    """A number as it is read under a mark.

    >>> as_read("3.762", "point"), as_read("3.762", "comma"), as_read("$1,200", "comma")
    ('3.762', '3762', '1.200')
    """
    found = plainly([text], decimal)
    return text if found is None else found[0][0]
