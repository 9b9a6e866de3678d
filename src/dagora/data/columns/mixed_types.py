"""Columns of Python objects that mix numbers, text and others: refused, all such columns at once."""

from __future__ import annotations

import datetime as dt
import numbers
from collections.abc import Iterable, Sequence
from decimal import Decimal

import numpy as np

from dagora.base.errors import DataError, briefly
from dagora.base.phrases import some_of
from dagora.base.wording import col, option

MOST_NAMED = 5  # further columns that an error names
LONGEST = 30  # letters of an example
LONGEST_INTEGER = 63  # bits


class MixedTypesError(DataError):
    """The cells of a column are not of one type; `row` is the first one with the rarest type."""

    def __init__(self, name: str, cells: Iterable[object], reason: str) -> None:
        examples: dict[str, tuple[int, object]] = {}
        counts: dict[str, int] = {}
        huge = ""
        for row, cell in enumerate(cells, start=1):
            if not is_missing(cell):
                kind = kind_of(cell)
                examples.setdefault(kind, (row, cell))
                counts[kind] = counts.get(kind, 0) + 1
                if not huge and isinstance(cell, int) and cell.bit_length() > LONGEST_INTEGER:
                    huge = f"{briefly(cell, LONGEST)} in data row {row}"
        told = " and ".join(
            f"{counts[kind]} × {kind} ({briefly(plain(cell), LONGEST)} in data row {row})"
            for kind, (row, cell) in examples.items()
        )
        found = f", but has {told}" if counts and counts.keys() != {"number"} else f" ({reason})"
        what = f"is neither all numbers nor all text{found}"
        convert = "take real numbers from it" if "complex" in counts else "convert it"
        if huge and counts.keys() == {"number"}:
            what = f"has whole numbers of more than {LONGEST_INTEGER} bits ({huge})"
            convert = "if they are codes, make text of them, else numbers with a point"
        super().__init__(f"{col(name)} {what}: {convert}, or leave it out ({option('drop', name)})")
        self.name = name
        rarest = min(counts, key=counts.__getitem__, default="")
        self.row = examples[rarest][0] if counts and 2 * counts[rarest] < sum(counts.values()) else None


def plain(cell: object) -> object:
    """A cell as Python writes it.

    >>> plain(np.float64(2.5))
    2.5
    """
    return cell.item() if isinstance(cell, np.generic) else cell


def kind_of(cell: object) -> str:
    """A word for the type of a cell.

    >>> [kind_of(cell) for cell in (1, np.float32(2.5), True, "a", dt.date(2020, 1, 1), 1j)]
    ['number', 'number', 'true or false', 'text', 'date', 'complex']
    """
    if isinstance(cell, bool | np.bool_):
        return "true or false"
    if isinstance(cell, numbers.Real | Decimal):
        return "number"
    if isinstance(cell, str):
        return "text"
    if isinstance(cell, numbers.Complex):
        return "complex"
    return "date" if isinstance(cell, dt.date | np.datetime64) else type(cell).__name__


def is_missing(cell: object) -> bool:
    """Return True for None, NaN and the missing values of pandas."""
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or cell != cell  # noqa: PLR0124 (NaN)


def refuse_mixed(problems: Sequence[MixedTypesError]) -> None:
    """Raise the first of some errors, which then names the other columns too, and a row that they share."""
    if not problems:
        return
    first, *others = problems
    more = ""
    if others:
        names = some_of([f"'{other.name}'" for other in others], MOST_NAMED)
        more = f"; {names} {'mixes' if len(others) == 1 else 'mix'} types too"
        if first.row is not None and {other.row for other in others} == {first.row}:
            more += f": if data row {first.row} is no row of data, remove it"
    raise first.with_text(first.text + more)
