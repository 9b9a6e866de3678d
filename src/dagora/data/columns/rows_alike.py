"""Warnings about rows that depend on each other: copies, groups, rows that follow each other in time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.base.phrases import some_of
from dagora.base.wording import option
from dagora.data.columns.column_type import Column
from dagora.data.columns.names import IS_OCCASION, SHORT_UNITS, SINGLE_UNITS, UNITS, called_unit
from dagora.data.schema import Kind

Floats = NDArray[np.float64]

MOST_CELLS = 5_000_000  # of the first rows, that are compared
FEWEST_COLUMNS = 4  # in which rows that differ in one cell are called alike
NEAR_COPIES = 3  # times as many copies as near copies are no chance
FEWEST_LEVELS = 5  # of a column that may say which rows belong together
MANY_LEVELS = 20  # by hand: so few runs may be the conditions of a design, listed one after the other
BLOCK = 30  # rows in which a trend over the table is not seen
FEWEST_STARTS = 10  # of a column that counts on and begins again
LONG_RUN = 5  # rows with the same value, on average: the table is grouped by the column
FEWEST_ROWS = 100  # with fewer, neighbours are alike by chance
ALIKE = 0.3  # correlation with the row before
SURE = 6.0  # standard errors of it
FEWEST_SORTED = 3  # columns: two are often a table of values of one function
FEWEST_STEPS = 20  # different numbers of a column that is sorted by no chance
SORTED = 0.97  # correlation of ranks with the number of the row: sorted by it, or by what goes with it
MOST_NAMED = 5  # columns that one warning names, to stay readable


def row_warnings(typed: Sequence[Column], *, grouped: bool = False) -> Iterator[str]:
    """Sentences about copies and neighbours that are alike; `grouped` says that groups are told already."""
    if len(typed[0].values) < 2:
        return
    yield from copy_warning(typed)
    yield from sorted_warning(typed)
    groups = [] if grouped else groups_of(typed)
    if groups:
        shared = " or a ".join(f"'{name}'" for name in groups[:MOST_NAMED])
        yield (
            f"rows that share a {shared} seem to belong together and are not independent then: strengths and "
            f"p-values are too optimistic; if it tells who was measured, {option('group', groups[0])} "
            "allows for that"
        )
    elif not grouped and (occasion := next(filter(is_occasion, typed), None)) is not None:
        name = occasion.variable.name
        yield (
            f"'{name}' seems to number the times at which somebody was measured: if rows are of the same "
            "persons, they are not independent, and strengths and p-values are too optimistic"
        )
    elif not grouped:
        yield from neighbour_warning(typed)


def hash_rows(columns: Sequence[Column]) -> NDArray[np.uint64]:
    """A random number for each cell, the same for equal cells of a column; their sum tells rows apart."""
    hashed = np.empty((len(columns), len(columns[0].values)), dtype=np.uint64)
    for place, column in enumerate(columns):
        bits = np.ascontiguousarray(column.values + 0.0, dtype=np.float64).view(np.uint64).copy()
        if column.missing is not None:
            bits[column.missing] = 1
        bits += np.uint64((place + 1) * 0x9E3779B97F4A7C15 % 2**64)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
        hashed[place] = bits ^ (bits >> np.uint64(31))
    return hashed


def cut_column(column: Column, rows: int) -> Column:
    """The first rows of a column."""
    missing = None if column.missing is None else column.missing[:rows]
    return Column(column.variable, column.values[:rows], missing)


def count_copies(hashed: NDArray[np.uint64]) -> tuple[int, int]:
    """The number of rows that equal an earlier one, and of pairs of equal rows.

    >>> count_copies(np.array([7, 7, 7, 8], dtype=np.uint64))
    (2, 3)
    """
    counts = np.unique(hashed, return_counts=True)[1]
    return len(hashed) - len(counts), int((counts * (counts - 1)).sum()) // 2


def copy_warning(typed: Sequence[Column]) -> Iterator[str]:
    """A sentence about rows that are copies, where chance would bring more near copies than copies."""
    rows = min(len(typed[0].values), MOST_CELLS // len(typed))
    seen = np.array(
        [np.ones(rows) if (holes := column.missing) is None else ~holes[:rows] for column in typed]
    )
    # Rows of which little is known are alike by that.
    known = seen.mean(0) > 0.5
    first = [cut_column(column, rows) for column in typed]
    hashed = hash_rows(first)[:, known]
    whole = hashed.sum(0)
    copies, pairs = count_copies(whole)
    yield from near_copy_warning(hashed, whole, copies)
    if not copies or NEAR_COPIES * pairs_by_chance(hashed) >= pairs or one_usual_row(whole):
        return
    near = 0
    for part in hashed:
        near += count_copies(whole - part)[1] - pairs
        if NEAR_COPIES * near >= pairs:
            return
    verb = "is an exact copy of another" if copies == 1 else "are exact copies of others"
    yield (
        f"{copies} of {rows} rows {verb}, which chance does not explain: if a record was entered twice, it "
        "counts twice"
    )


def near_copy_warning(hashed: NDArray[np.uint64], whole: NDArray[np.uint64], copies: int) -> Iterator[str]:
    """A sentence about rows that equal another one but for one cell, where chance explains no such pairs.

    `copies` are the rows that equal an earlier one in all cells.
    """
    columns, rows = hashed.shape
    if columns < FEWEST_COLUMNS or rows < FEWEST_ROWS:
        return
    possible = rows * (rows - 1) / 2
    equal = np.array([max(count_copies(part)[1], 1) / possible for part in hashed])
    near = np.array([count_copies(whole - part)[0] - copies for part in hashed])
    # Pairs that agree in all other columns, if of three of those two were independent.
    by_chance = possible * (np.prod(equal) / equal) ** (2 / 3)
    often = (near >= max(FEWEST_COLUMNS, rows / 100)) & (near > NEAR_COPIES * by_chance)
    if often.any() and stand_out(hashed, whole, int(np.where(often, near, -1).argmax())):
        yield (
            f"{near[often].max()} of {rows} rows equal another one but for one cell, which chance does not "
            "explain: if a record was entered twice, it counts twice"
        )


def stand_out(hashed: NDArray[np.uint64], whole: NDArray[np.uint64], place: int) -> bool:
    """Return True if more pairs of rows differ in one column alone than in that and a second one.

    Where columns depend on each other, rows are alike by that: few pairs differ in one, and more in two.
    """
    without = whole - hashed[place]
    same, alone = count_copies(whole)[1], count_copies(without)[1]
    others = (part for k, part in enumerate(hashed) if k != place)
    two = sum(
        count_copies(without - part)[1] - count_copies(whole - part)[1] - alone + same for part in others
    )
    return two < alone - same


def one_usual_row(hashed: NDArray[np.uint64]) -> bool:
    """Return True if most copies are of one row: that is how rows usually are, as where nobody is ill."""
    counts = np.unique(hashed, return_counts=True)[1]
    return bool(counts.max() > max(2, (counts - 1).sum() / 2))


def pairs_by_chance(hashed: NDArray[np.uint64]) -> float:
    """Pairs of equal rows to expect if the columns were half as many, and independent of each other."""
    rows: int = hashed.shape[1]
    possible = rows * (rows - 1) / 2
    equal = [count_copies(column)[1] / possible for column in hashed]
    return float(possible * np.sqrt(np.prod(equal)))


def groups_of(typed: Sequence[Column]) -> list[str]:
    """Columns that seem to say which rows belong together, by name, or by runs of rows of one length."""
    return [column.variable.name for column in typed if is_group(column)]


def is_group(column: Column) -> bool:
    """Return True if a column is called by who was measured, or has each value in one run of rows."""
    if column.missing is not None:
        return False
    values, variable = column.values, column.variable
    levels = len(np.unique(values[: BLOCK * BLOCK]))
    if levels < FEWEST_LEVELS:
        return False
    if variable.kind is Kind.DISCRETE and called_unit(variable.name) and names_person(variable.name):
        return variable.cardinality <= len(values) / 2
    starts = np.flatnonzero(values[1:] != values[:-1]) + 1
    lengths = np.diff(np.r_[0, starts, len(values)])
    # The last one may be cut off.
    if len(lengths) <= MANY_LEVELS or lengths[0] < 2 or len(np.unique(lengths[:-1])) > 1:
        return False
    distinct = np.unique(values)
    counts_on = variable.kind is Kind.DISCRETE or bool((np.diff(distinct) == 1).all())
    return len(distinct) == len(lengths) and counts_on and bool(lengths[-1] <= lengths[0])


def numbers_of(column: Column) -> Floats:
    """The known numbers of a column, also those that its levels spell; empty for words."""
    values = column.values if column.missing is None else column.values[~column.missing]
    if column.variable.kind is Kind.CONTINUOUS:
        return values
    try:
        spelled: Floats = np.array([float(level) for level in column.variable.levels])[values]
    except ValueError:
        return np.zeros(0)
    return spelled


FEWEST_VISITS = 3
"""The largest number of a column that counts visits, at least: two levels that take turns are a design."""


def is_occasion(column: Column) -> bool:
    """Return True if a column numbers visits: by its name, or as it counts on by one and begins again.

    >>> from dagora.data.schema import Variable
    >>> visits = Column(Variable("k", Kind.CONTINUOUS), np.array([1.0, 2, 3, 1, 2, 1, 2, 3, 1, 2, 3, 4] * 5))
    >>> is_occasion(visits)
    True
    """
    values = numbers_of(column)
    if column.missing is not None or len(values) < FEWEST_STARTS or not np.isfinite(values).all():
        return False
    if (values != np.floor(values)).any():
        return False
    first, last = values.min(), values.max()
    if IS_OCCASION.match(column.variable.name):
        return bool(0 <= first < last <= MANY_LEVELS)
    if first != 1 or last < FEWEST_VISITS:
        return False
    starts = np.flatnonzero(values == first)
    counts_on = (np.diff(values) == 1) | (values[1:] == first)
    lengths = np.diff(starts)
    return bool(
        counts_on.all() and len(starts) >= FEWEST_STARTS and starts[0] == 0 and np.median(lengths) > 1
    )


def names_person(name: str) -> bool:
    """Return True if a name speaks of somebody who was measured.

    >>> names_person("patient_id"), names_person("ward_id")
    (True, False)
    """
    return any(unit in name.lower() for unit in f"{UNITS}|{SINGLE_UNITS}|{SHORT_UNITS}".split("|"))


def sorted_warning(typed: Sequence[Column]) -> Iterator[str]:
    """A sentence about continuous columns that all rise or fall from the first row to the last."""
    columns = [column for column in typed if column.variable.kind is Kind.CONTINUOUS]
    known = [
        column.values if column.missing is None else column.values[~column.missing] for column in columns
    ]
    if len(columns) < FEWEST_SORTED or not all(map(is_sorted, known)):
        return
    names = some_of([f"'{column.variable.name}'" for column in columns], MOST_NAMED)
    yield (
        f"all numbers are sorted from the first row to the last, in {names}: if each column was sorted by "
        "itself, the values of a row do not belong together, and edges say nothing; if they grow with time, "
        f"rows are not independent ({option('time')})"
    )


def is_sorted(values: Floats) -> bool:
    """Return True if many different numbers rise or fall from the first to the last.

    >>> is_sorted(np.arange(40.0)), is_sorted(-np.arange(40.0)), is_sorted(np.arange(40.0) % 30)
    (True, True, False)
    """
    rises, falls = np.any(values[1:] > values[:-1]), np.any(values[1:] < values[:-1])
    return bool(rises != falls) and len(np.unique(values)) >= FEWEST_STEPS


def neighbour_warning(typed: Sequence[Column]) -> Iterator[str]:
    """A sentence about continuous columns in which rows resemble the row before them."""
    columns = [column for column in typed if column.variable.kind is Kind.CONTINUOUS]
    if not columns or len(columns[0].values) < FEWEST_ROWS:
        return
    ends = block_ends(typed)
    found = [(column.variable.name, likeness_of_neighbours(fill(column), ends)) for column in columns]
    alike = [(name, likeness) for name, likeness in found if likeness > ALIKE]
    if len(alike) < 2 or 2 * len(alike) < len(columns):
        return
    names = some_of([f"'{name}'" for name, _ in alike], MOST_NAMED)
    middle = float(np.median([likeness for _, likeness in alike]))
    yield (
        f"rows resemble the row before them in {names} (correlation {middle:.2f}): if they follow each "
        f"other in time, {option('time')} says so; taken as independent, strengths and p-values are too "
        "optimistic"
    )


def fill(column: Column) -> Floats:
    """The numbers of a column, with the mean where one is missing."""
    if column.missing is None or column.missing.all():
        return np.zeros(len(column.values)) if column.missing is not None else column.values
    return np.where(column.missing, column.values[~column.missing].mean(), column.values)


def block_ends(typed: Sequence[Column]) -> NDArray[np.int64]:
    """The first rows of blocks, in which a table that is sorted or grouped by some columns has no order."""
    rows = len(typed[0].values)
    ends = np.zeros(rows, dtype=np.bool_)
    ends[::BLOCK] = True
    for column in typed:
        changes = np.flatnonzero(column.values[1:] != column.values[:-1]) + 1
        if len(changes) <= rows / LONG_RUN:
            ends[changes] = True
    return np.flatnonzero(ends)


def likeness_of_neighbours(values: Floats, starts: NDArray[np.int64]) -> float:
    """The correlation of neighbours within blocks; 0 where it is unclear, or where rows are sorted by it."""
    rows = len(values)
    scaled = values / max(float(np.abs(values).max()), 1e-300)  # squares of huge numbers would overflow
    middle = scaled - scaled.mean()
    place = np.arange(rows) - (rows - 1) / 2
    ranks = np.empty(rows)
    ranks[np.argsort(values, kind="stable")] = place
    if not np.ptp(values) > 0 or abs(float((ranks * place).sum())) > SORTED * float((place**2).sum()):
        return 0.0
    lengths = np.diff(np.r_[starts, rows])
    within = middle - np.repeat(np.add.reduceat(middle, starts) / lengths, lengths)
    inside = np.ones(rows, dtype=np.bool_)
    inside[starts] = False
    spread = float((within**2).sum())
    if spread <= 1e-12 * float((middle**2).sum()):
        return 0.0
    likeness = float((within[1:] * within[:-1])[inside[1:]].sum()) / spread
    return likeness if likeness * np.sqrt(rows) > SURE else 0.0
