"""Refuse missing values: how many there are, where the first one is, and all that is to be chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np

from dagora.base.errors import DataError
from dagora.base.wording import col, option
from dagora.data.columns.arrow_numbers import truths_of
from dagora.data.schema import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dagora.data.columns.column_type import Column
    from dagora.data.columns.raw_column import RawColumn
    from dagora.data.columns.reading_options import ReadingOptions
    from dagora.data.columns.spoilt_numbers import RowNumber


def refuse_missing(refusal: str, typed: Sequence[Column], reading: ReadingOptions) -> NoReturn:
    """Refuse missing values by a sentence, and say whether they could be modelled."""
    kinds = frozenset(column.variable.kind for column in typed)
    model = (
        f"; {option('missing', 'model')} would learn from what is there"
        if reading.why_not_model is not None and not reading.why_not_model(kinds)
        else ""
    )
    raise DataError(f"{refusal}{numbers_too(typed, reading)}{model}")


def refuse_models(refusal: str, typed: Sequence[Column], reading: ReadingOptions) -> None:
    """Refuse missing values where they cannot be modelled."""
    kinds = frozenset(column.variable.kind for column in typed)
    why_not = "" if reading.why_not_model is None else reading.why_not_model(kinds)
    if why_not and reading.missing == "model":
        raise DataError(f"{why_not}, so missing values cannot be modelled: {instead_of_missing(reading)}")
    if why_not:
        raise DataError(f"{why_not}, and {refusal}{numbers_too(typed, reading)}")


def describe_missing(kept: Sequence[RawColumn], reading: ReadingOptions, row_number: RowNumber) -> str:
    """The sentence that refuses missing values, while the cells are still there."""
    incomplete = [column for column in kept if column.missing]
    first, total = incomplete[0], sum(column.missing for column in incomplete)
    row = row_number(first.cells.is_null().index(value=True).as_py())
    read = ", ".join(f"'{word}'" for word in dict.fromkeys(w for column in incomplete for w in column.holes))
    also = f" ({read} among numbers counts as missing)" if read else ""
    return (
        f"{total} {'cell is' if total == 1 else 'cells are'} missing{also}, the first in "
        f"{col(first.name)}, data row {row}: {instead_of_missing(reading)}"
    )


def instead_of_missing(reading: ReadingOptions) -> str:
    """Advice about missing values; a series must keep every step, and a method for numbers has no levels."""
    if reading.in_time:
        return "fill in what is missing, leave its column out, or make two series of what is before and after"
    drop = f"choose {option('missing', 'drop')} to leave out such rows"
    draw = f"{option('impute', 20)} to draw what is missing"
    draws = reading.imputes and not reading.has_design
    if reading.numbers_for:
        return f"{drop}, or {draw if draws else 'fill in what is missing'}"
    level = f"{option('missing', 'level')} to make missing a level of a discrete column"
    return f"{drop}, {level}, or {draw}" if draws else f"{drop}, or {level}"


def numbers_too(typed: Sequence[Column], reading: ReadingOptions) -> str:
    """A hint for continuous columns with missing values, in which missing cannot be a level as it is."""
    holes = any(c.variable.kind is Kind.CONTINUOUS and c.missing is not None for c in typed)
    cut_too = f"numbers have to be cut for that ({option('discretise', 'quantile')})"
    levels = reading.cuts and not reading.in_time and not reading.numbers_for
    return f"; {cut_too}" if holes and levels else ""


def complete_rows(columns: Sequence[RawColumn]) -> NDArray[np.bool_]:
    """Return which rows have no missing value."""
    complete = np.ones(len(columns[0].cells), dtype=np.bool_)
    for column in columns:
        if column.missing:
            complete &= truths_of(column.cells.is_valid())
    return complete


def refuse_all_rows(columns: Sequence[RawColumn]) -> NoReturn:
    """Refuse a table without a complete row; name the column with the most missing values."""
    emptiest = max(columns, key=lambda column: column.missing)
    raise DataError(
        f"no row is left: all {len(emptiest.cells)} have a missing value, most of them "
        f"({emptiest.missing}) in {col(emptiest.name)}: leave that one out "
        f"({option('drop', emptiest.name)})"
    )
