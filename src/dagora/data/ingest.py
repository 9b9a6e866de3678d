"""Make typed columns, the parts of a `Table`, from raw ones: check names, treat missing values, find types.

Missing values are treated before types, so that `drop` gives the same table as a file without those rows.
Rows are counted from 1, without the header ("data row 1").
"""

from __future__ import annotations

import difflib
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from dagora.data.cells import is_text, null_missing, parse_numbers
from dagora.data.columns import Column, check_type, count_from_one, type_column
from dagora.data.levels import sort_levels
from dagora.data.schema import Kind, Variable
from dagora.errors import DataError, OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

# With fewer rows than this, one thread is faster.
WORTH_A_THREAD = 100_000
POLICIES = ("error", "drop", "level")


def type_columns(
    names: Sequence[str],
    columns: list[pa.ChunkedArray],
    *,
    text_cells: bool = False,
    words_nulled: bool = False,
    discrete: Iterable[str] = (),
    continuous: Iterable[str] = (),
    missing: str = "error",
) -> tuple[Column, ...]:
    """Check and type Arrow columns; `Table.from_columns` makes a table of them.

    `text_cells` says that text may stand for numbers, as in a CSV file; `words_nulled` is for `null_missing`.

    The list of columns is emptied meanwhile, so that a large file is never held twice.

    >>> import pyarrow as pa
    >>> raw = [pa.chunked_array([["1", "", "3"]])]
    >>> (column,) = type_columns(["a"], raw, text_cells=True, missing="level")
    >>> column.variable.levels, column.values
    (('1', '3', 'missing'), array([0, 2, 1], dtype=uint16))
    """
    if missing not in POLICIES:
        raise OptionError(f"missing must be one of {', '.join(POLICIES)}, not '{missing}'")
    names = check_names(names)
    declared = declare_kinds(names, discrete, continuous)
    if not columns:
        raise DataError("there are no columns: at least one is needed")
    if not len(columns[0]):
        raise DataError("there are no rows: at least one is needed")
    for i, name in enumerate(names):
        check_type(name, columns[i].type)
        columns[i] = null_missing(columns[i], words_nulled=words_nulled)
    if missing == "error":
        refuse_missing(names, columns)
    row_number = count_from_one
    if missing == "drop" and any(column.null_count for column in columns):
        kept = complete_rows(names, columns)
        positions = np.flatnonzero(kept)
        row_number = lambda position: int(positions[position]) + 1  # noqa: E731
        for i, column in enumerate(columns):
            columns[i] = column.filter(kept)

    def type_next(i: int) -> Column:
        column, columns[i] = columns[i], None
        if text_cells and is_text(column.type):
            column = parse_numbers(column)
        return add_missing_level(type_column(names[i], column, declared.get(names[i]), row_number))

    # Arrow releases the interpreter lock. `map` keeps the order, so the first bad column is the one reported.
    workers = min(8, os.cpu_count() or 1) if len(columns[0]) >= WORTH_A_THREAD else 1
    with ThreadPoolExecutor(workers) as pool:
        return tuple(pool.map(type_next, range(len(names))))


def check_names(names: Sequence[object]) -> tuple[str, ...]:
    """Trim the names; an empty one, or the same one twice, is refused."""
    trimmed = tuple(str(name).strip() for name in names)
    seen: set[str] = set()
    for position, name in enumerate(trimmed, start=1):
        if not name:
            raise DataError(
                f"column {position} has no name: give it one, or remove it if it only numbers the rows"
            )
        if name in seen:
            raise DataError(f"two columns are named '{name}': rename one of them")
        seen.add(name)
    return trimmed


def declare_kinds(
    names: Sequence[str], discrete: Iterable[str], continuous: Iterable[str]
) -> dict[str, Kind]:
    """Map each declared column to its kind; names are checked."""
    declared: dict[str, Kind] = {}
    for kind, chosen in ((Kind.DISCRETE, discrete), (Kind.CONTINUOUS, continuous)):
        for name in as_names(chosen):
            check_known(name, names, f"declared {kind}")
            if declared.setdefault(name, kind) is not kind:
                raise DataError(f"column '{name}' is declared both discrete and continuous: choose one")
    return declared


def as_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return names as a tuple; a single string is one name, not a sequence of letters."""
    return (names,) if isinstance(names, str) else tuple(names)


def check_known(name: str, names: Sequence[str], what: str) -> None:
    """Refuse the name of a column that does not exist; suggest a similar one."""
    if name not in names:
        near = difflib.get_close_matches(str(name), names, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"the columns are {list_names(names)}"
        raise DataError(f"there is no column '{name}' ({what}): {hint}")


def list_names(names: Sequence[str], most: int = 8) -> str:
    """List a few names in one line."""
    more = f", … ({len(names)} in all)" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def refuse_missing(names: Sequence[str], columns: Sequence[pa.ChunkedArray]) -> None:
    """Refuse missing cells: say how many there are, and where the first column has its first one."""
    counts = [column.null_count for column in columns]
    if not any(counts):
        return
    first = next(i for i, count in enumerate(counts) if count)
    row = columns[first].is_null().index(value=True).as_py() + 1
    total = sum(counts)
    raise DataError(
        f"{total} {'cell is' if total == 1 else 'cells are'} missing, the first in column '{names[first]}', "
        f"data row {row}: choose --missing drop to leave out such rows, or --missing level to make missing a "
        "level of a discrete column"
    )


def complete_rows(names: Sequence[str], columns: Sequence[pa.ChunkedArray]) -> NDArray[np.bool_]:
    """Return which rows have no missing cell; it is an error if none has."""
    kept = np.ones(len(columns[0]), dtype=np.bool_)
    for column in columns:
        if column.null_count:
            kept &= np.asarray(column.is_valid(), dtype=np.bool_)
    if not kept.any():
        emptiest = max(range(len(columns)), key=lambda i: columns[i].null_count)
        raise DataError(
            f"no row is left: all {len(kept)} have a missing cell, most of them "
            f"({columns[emptiest].null_count}) in column '{names[emptiest]}': leave that one out "
            f"(--drop {names[emptiest]})"
        )
    return kept


def add_missing_level(column: Column) -> Column:
    """Make missing cells a level "missing", with underscores added while that name is taken."""
    if column.missing is None:
        return column
    name, levels = column.variable.name, column.variable.levels
    if column.variable.kind is Kind.CONTINUOUS:
        raise DataError(
            f"column '{name}' is continuous and has {int(column.missing.sum())} missing values, which cannot "
            f"be a level: choose --missing drop, leave it out (--drop {name}), or declare it "
            f"discrete (--discrete {name})"
        )
    word = "missing"
    while word in levels:
        word += "_"
    longer = sort_levels([*levels, word])
    code_of = np.array([*map(longer.index, levels), longer.index(word)], dtype=np.uint16)
    codes = np.where(column.missing, len(levels), column.values)
    return Column(Variable(name, Kind.DISCRETE, longer), code_of[codes])
