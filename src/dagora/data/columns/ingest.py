"""Make typed columns, the parts of a `Table`, from raw ones, and an overview of how they were understood.

Names are checked, columns that only identify rows are left out, missing values are found and treated, types
are found. Missing values come before types, so that `drop` gives the same table as a file without those
rows. Rows are counted from 1, without the header ("data row 1").
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from dagora.base.errors import DataError
from dagora.base.wording import col, option
from dagora.data.columns.arrow_numbers import truths_of
from dagora.data.columns.cells import is_text, null_missing, null_where, parse_undeclared
from dagora.data.columns.column_names import check_marks, check_names, columns_to_join, declare_kinds, resolve
from dagora.data.columns.column_profile import (
    CONSTANT,
    DATES,
    MAX_INTEGER_LEVELS,
    UNIT,
    ColumnProfile,
    can_be_levels,
    is_constant,
    reason_to_leave_out,
)
from dagora.data.columns.column_type import Column, check_type, count_from_one, seen_cells, type_column
from dagora.data.columns.counted_rows import COUNTS, repeat_rows
from dagora.data.columns.dates import as_days, how_days_are_told, spells_dates
from dagora.data.columns.decimal_mark import choose_marks
from dagora.data.columns.doubtful_columns import column_warnings, unused_warning
from dagora.data.columns.find_missing import find_missing
from dagora.data.columns.first_and_last_rows import end_cells, refuse_end_rows, summary_warning, total_warning
from dagora.data.columns.intervals import cut
from dagora.data.columns.levels import sort_levels
from dagora.data.columns.merged_cells import has_merged_cells, merged_warning
from dagora.data.columns.missing import NaWords, na_words
from dagora.data.columns.missing_pattern import missing_pattern
from dagora.data.columns.ordinal import (
    ORDERED,
    order_levels,
    ordinal_columns,
    rank_values,
    rank_warning,
    ranked_columns,
    scale_warning,
    without_order,
)
from dagora.data.columns.overview import LEFT_OUT, ColumnSummary, Overview, summarise
from dagora.data.columns.raw_column import RawColumn
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.columns.reading_time import check_time
from dagora.data.columns.reading_warnings import codes_in, reading_warnings
from dagora.data.columns.refuse_missing import (
    complete_rows,
    describe_missing,
    instead_of_missing,
    refuse_all_rows,
    refuse_missing,
    refuse_models,
)
from dagora.data.columns.repeated_header import refuse_repeated_header
from dagora.data.columns.row_design import GROUP, WEIGHTS, read_design, whole_weights_warning
from dagora.data.columns.rows_alike import row_warnings
from dagora.data.columns.spelled_numbers import rewrite_numbers
from dagora.data.columns.spoilt_numbers import SpoiltNumbersError, refuse_together
from dagora.data.columns.trend import enough_rows, explain_order, ordered_columns
from dagora.data.schema import Kind, Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from dagora.data.columns.spoilt_numbers import RowNumber

Item = TypeVar("Item")
Made = TypeVar("Made")

# Why a column that says how rows count is no variable.
WHY = {"counts": COUNTS, "weights": WEIGHTS, "group": GROUP}
# With fewer rows than this, one thread is faster.
WORTH_A_THREAD = 100_000


def type_columns(
    names: Sequence[str],
    columns: list[pa.ChunkedArray],
    reading: ReadingOptions | None = None,
    *,
    text_cells: bool = False,
    words_nulled: bool = False,
) -> tuple[tuple[Column, ...], Overview]:
    """Check and type Arrow columns; `Table.from_columns` makes a table of them.

    `text_cells` says that text may stand for numbers, as in a CSV file; `words_nulled` is for `null_missing`.

    The list of columns is emptied meanwhile, so that a large file is never held twice.

    >>> import pyarrow as pa
    >>> raw = [pa.chunked_array([["1", "", "3"]])]
    >>> (column,), overview = type_columns(["a"], raw, ReadingOptions(missing="level"), text_cells=True)
    >>> column.variable.levels, column.values, overview.columns[0].missing
    (('1', '3', 'missing'), array([0, 2, 1], dtype=uint16), 1)
    """
    reading = reading or ReadingOptions()
    row_number = number_of(repeat_rows(names, columns, reading))
    design, left = read_design(names, columns, reading)
    row_number = number_of(left, row_number)
    rows = count_rows(columns)
    raw, kept = prepare_all(names, columns, reading, text_cells=text_cells, words_nulled=words_nulled)
    filled = [column for column in kept if column.name != reading.marks]
    holes = any(column.missing for column in filled)
    if reading.missing == "error" and holes:
        refusal = describe_missing(filled, reading, row_number)  # while the cells are there
        refuse_missing(refusal, type_all(raw, kept, reading, row_number, 0)[0], reading)
    if reading.missing in ("auto", "model") and holes:
        return keep_missing(raw, kept, filled, reading, row_number)
    dropped = 0
    if reading.missing == "drop" and holes:
        complete = complete_rows(filled)
        if not complete.any():
            refuse_all_rows(filled)
        dropped = rows - int(complete.sum())
        positions = np.flatnonzero(complete)
        row_number = number_of(positions, row_number)
        design = design and design.take(positions)
        for column in kept:
            keep_rows(column, complete, text_cells=text_cells)
        kept = leave_constants_out(kept, reading)
    typed, overview = type_all(raw, kept, reading, row_number, dropped)
    if dropped:
        overview = replace(overview, kept=positions.tolist())
    if design is not None:
        told = (*whole_weights_warning(design), *overview.warnings)
        overview = replace(overview, design=design, warnings=told)
    made = tuple(add_missing_level(column, reading) for column in typed)
    with_level = {column.variable.name: column.variable for column in made if reading.missing == "level"}
    return made, overview.with_levels(with_level)


def number_of(positions: NDArray[np.int64] | None, before: RowNumber = count_from_one) -> RowNumber:
    """Numbers of rows where row k stood at `positions[k]`; None: where it stands."""
    return before if positions is None else lambda position: before(int(positions[position]))


def keep_missing(
    raw: Sequence[RawColumn],
    kept: Sequence[RawColumn],
    filled: Sequence[RawColumn],
    reading: ReadingOptions,
    row_number: RowNumber,
) -> tuple[tuple[Column, ...], Overview]:
    """Type columns whose missing values will be modelled; refuse them where that cannot be done."""
    refusal = describe_missing(filled, reading, row_number)
    typed, overview = type_all(raw, kept, reading, row_number, 0)
    refuse_models(refusal, typed, reading)
    names = [column.variable.name for column in typed]
    return tuple(typed), replace(overview, holes=missing_pattern(names, seen_cells(typed)))


def look_at(
    names: Sequence[str],
    columns: list[pa.ChunkedArray],
    reading: ReadingOptions,
    *,
    text_cells: bool = False,
    words_nulled: bool = False,
) -> Overview:
    """Say how columns are understood, without refusing anything because a cell is missing.

    >>> import pyarrow as pa
    >>> look_at(["a"], [pa.chunked_array([[1.5, None]])], ReadingOptions()).warnings
    ('1 of 2 rows has a missing value: learn uses its observed ones; missing="drop" leaves it out, ...',)
    """
    row_number = number_of(repeat_rows(names, columns, reading))
    row_number = number_of(read_design(names, columns, reading)[1], row_number)
    count_rows(columns)
    raw, kept = prepare_all(names, columns, reading, text_cells=text_cells, words_nulled=words_nulled)
    complete = complete_rows(kept)
    incomplete = int((~complete).sum())
    if reading.missing == "drop" and incomplete and complete.any():
        for column in kept:
            keep_rows(column, complete, text_cells=text_cells)
        kept = leave_constants_out(kept, reading)
        return type_all(raw, kept, reading, row_number, incomplete)[1]
    _, overview = type_all(raw, kept, reading, row_number, 0)
    if not incomplete:
        return overview
    some = "rows has" if incomplete == 1 else "rows have"
    them, their = ("it", "its") if incomplete == 1 else ("them", "their")
    note = (
        f"{incomplete} of {overview.rows} {some} a missing value: learn uses {their} observed ones; "
        f"{option('missing', 'drop')} leaves {them} out, {option('missing', 'level')} makes missing a level"
    )
    return replace(overview, warnings=(note, *overview.warnings))


def count_rows(columns: Sequence[pa.ChunkedArray]) -> int:
    """Number of rows; a table without rows or columns is refused."""
    if not columns:
        raise DataError("there are no columns: at least one is needed")
    if not len(columns[0]):
        raise DataError("there are no rows: at least one is needed")
    return len(columns[0])


def prepare_all(
    names: Sequence[str],
    columns: list[pa.ChunkedArray],
    reading: ReadingOptions,
    *,
    text_cells: bool,
    words_nulled: bool,
) -> tuple[list[RawColumn], list[RawColumn]]:
    """Look into all columns; return all of them, and those that are not left out."""
    names = check_names(names)
    refuse_repeated_header(names, columns)
    declared = dict.fromkeys(reading.numbers, Kind.CONTINUOUS)
    declared |= declare_kinds(names, reading)
    if reading.marks is not None:
        check_marks(reading.marks, names)
        declared = {**declared, reading.marks: Kind.DISCRETE}
    words = na_words(reading.na, names, None if reading.only is not None else resolve(reading.drop, names))
    rows = len(columns[0])

    def prepare_one(name: str, cells: pa.ChunkedArray, decimal: str | None = None) -> RawColumn:
        raw = RawColumn(name, declared.get(name), cells)
        return prepare(raw, reading, words, text_cells=text_cells, words_nulled=words_nulled, decimal=decimal)

    def prepare_next(i: int) -> RawColumn:
        check_time(reading.clock, len(names), rows)
        cells, columns[i] = columns[i], None
        return prepare_one(names[i], cells)

    raw = in_parallel(prepare_next, range(len(names)), rows)
    told = {one.name: one.marks for one in raw if one.marks is not None and one.left_out is None}
    marks = choose_marks(told, reading.decimal, reading.separated_by)
    raw = [prepare_one(one.name, one.written, marks[one.name]) if one.name in marks else one for one in raw]
    for one in raw:
        one.written = None
    kept = [column for column in raw if column.left_out is None]
    if not kept:
        reasons = ", ".join(f"'{column.name}' ({column.left_out})" for column in raw[:3])
        usable = next((column.name for column in raw if can_be_levels(str(column.left_out))), None)
        way_out = "" if usable is None else f"; {option('discrete', usable)} keeps one"
        raise DataError(f"no column can be used: {reasons}{way_out}")
    return raw, kept


def type_all(
    raw: Sequence[RawColumn],
    kept: Sequence[RawColumn],
    reading: ReadingOptions,
    row_number: RowNumber,
    dropped: int,
) -> tuple[list[Column], Overview]:
    """Type the columns that are kept, and say how all were understood."""
    rows = len(kept[0].cells)
    names = [column.name for column in raw]
    joined, ordinal = columns_to_join(names, reading), ordinal_columns(names, reading)

    def type_next(column: RawColumn) -> Column | SpoiltNumbersError:
        check_time(reading.clock, len(kept), rows)
        try:
            typed = type_column(
                column.name,
                column.cells,
                column.declared,
                row_number,
                na=reading.na,
                join=column.name in joined,
            )
        except SpoiltNumbersError as problem:  # told with those of other columns
            return problem
        if reading.numbers_for and column.declared is None and typed.variable.kind is Kind.DISCRETE:
            typed = as_numbers(column, typed, reading.numbers_for, row_number)
        if column.spelling:
            typed = replace(typed, why=f"{typed.why}: {column.spelling}")
        column.cells = column.spelled = None
        column.codes = codes_in(typed) if column.leaves_codes else {}
        if column.name in reading.nominal and column.name not in ordinal:
            typed = without_order(typed)
        if reading.discretise is not None and typed.variable.kind is Kind.CONTINUOUS:
            typed = cut_column(typed, reading.discretise, reading.bins or 2)
        return order_levels(typed, ordinal)

    made = in_parallel(type_next, kept, rows)
    refuse_together(problem for problem in made if isinstance(problem, SpoiltNumbersError))
    undecided = [column for column in kept if column.name not in ordinal]
    typed = find_order([column for column in made if isinstance(column, Column)], undecided, reading)
    edges = end_cells(typed)
    last = row_number(rows - 1) or rows
    refuse_end_rows(edges, last)
    ranked = ranked_columns([column.variable for column in typed], reading)
    used = [rank_values(column, ranked) for column in typed]
    by_name = {column.variable.name: column for column in used}
    summaries = tuple(
        summarise(by_name[column.name], column.missing)
        if column.left_out is None
        else ColumnSummary(column.name, LEFT_OUT, column.left_out, missing=column.missing)
        for column in raw
    )
    overview = Overview(summaries, rows + dropped, dropped, reading.non_defaults())
    variables = [column.variable for column in typed]
    told = [*total_warning(edges, last), *reading_warnings(overview, raw, variables)]
    told += summary_warning(
        {one.name: one.cells for one in raw if one.left_out is not None and is_text(one.cells.type)},
        row_number,
    )
    told += merged_warning([column.name for column in raw if column.merged])
    told += column_warnings(typed, row_number)
    told += unused_warning([column for column in typed if column.variable.name not in reading.levels])
    told += [*scale_warning(typed), *rank_warning(ranked)]
    if not reading.in_time and reading.counts is None and reading.group is None:
        told += row_warnings(typed, grouped=any(column.left_out == UNIT for column in raw))
    return used, replace(overview, warnings=tuple(told))


def find_order(typed: list[Column], kept: Sequence[RawColumn], reading: ReadingOptions) -> list[Column]:
    """Take few whole numbers as ordered where the other columns show it, and say what was decided."""
    if reading.discretise is not None or reading.numbers_for or reading.in_time:
        return typed
    open_ = {
        column.name
        for column in kept
        if column.declared is None
        and column.name not in reading.levels
        and not (column.missing and reading.missing == "level")
    }
    tested = reading.trends and enough_rows(typed)
    ordered = ordered_columns(typed, open_) if tested else set()
    return [
        explain_order(column, ordered=column.variable.name in ordered, tested=tested)
        if column.variable.name in open_
        else column
        for column in typed
    ]


def as_numbers(column: RawColumn, codes: Column, purpose: str, row_number: RowNumber) -> Column:
    """Take codes that are numbers as numbers, for a purpose that takes nothing else."""
    import pyarrow as pa

    kind = column.cells.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return codes
    numbers = type_column(column.name, column.cells, Kind.CONTINUOUS, row_number)
    return replace(numbers, why=f"{codes.why}, taken as numbers for {purpose}")


def in_parallel(work: Callable[[Item], Made], items: Iterable[Item], rows: int) -> list[Made]:
    """Work on columns, in threads if they are long; the first error in their order is the one raised."""
    if rows < WORTH_A_THREAD:
        return list(map(work, items))
    # Arrow releases the interpreter lock.
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        return list(pool.map(work, items))


def prepare(
    raw: RawColumn,
    reading: ReadingOptions,
    words: NaWords,
    *,
    text_cells: bool,
    words_nulled: bool,
    decimal: str | None = None,
) -> RawColumn:
    """Find the missing values of a column, numbers in text, and whether it should be left out.

    `decimal` decides how numbers are read that can be read in two ways.
    """
    if raw.name in (about_rows := reading.about_rows).values():
        raw.left_out = next(WHY[what] for what, name in about_rows.items() if name == raw.name)
        return raw
    wanted = raw.declared is not None or raw.name in reading.wanted or raw.name in reading.levels
    declared = (*reading.discrete, *reading.continuous, *reading.numbers)
    if is_temporal(raw.cells.type) and raw.name not in declared:
        raw.left_out = DATES
        return raw
    if raw.declared is Kind.CONTINUOUS and (is_temporal(raw.cells.type) or spells_dates(raw.cells)):
        raw.cells, raw.spelling = as_days(raw.name, raw.cells), how_days_are_told(raw.cells)
    check_type(raw.name, raw.cells.type)
    told = words.of(raw.name)
    raw.leaves_codes = words.leaves_codes(raw.name) and raw.name not in reading.levels
    cells = null_missing(raw.cells, told, words_nulled=words_nulled and not told)
    if (text_cells or raw.declared is Kind.CONTINUOUS) and is_text(cells.type):
        fewest = 0 if raw.declared is Kind.CONTINUOUS or decimal else MAX_INTEGER_LEVELS
        if raw.declared is not Kind.DISCRETE:
            texts = cells
            cells, raw.spelling, raw.marks = rewrite_numbers(texts, fewest, decimal=decimal)
            raw.written = texts if raw.marks is not None and raw.marks.mark == "either" else None
        parsed = parse_undeclared(cells, raw.declared)
        if parsed is not cells:
            parsed = null_missing(parsed, told)  # -999 is also -999.0
            if reading.missing == "drop":
                raw.spelled = null_where(cells, parsed.is_null())
        cells = parsed
    if words.finds(raw.name):
        levels = reading.levels.get(raw.name, ())
        found = find_missing(cells, wanted=reading.expects_holes, levels=levels, declared=raw.declared)
        cells, raw.holes, raw.doubtful = found.cells, found.holes, found.doubtful
    raw.cells, raw.missing = cells, cells.null_count
    raw.merged = raw.missing > 0 and has_merged_cells(truths_of(cells.is_valid()))
    if not wanted:
        raw.left_out = reason_to_leave_out(ColumnProfile(raw.name, cells)) or reason_constant(raw, reading)
    return raw


def reason_constant(column: RawColumn, reading: ReadingOptions) -> str | None:
    """Return why a column is left out if it is a constant number that nobody asked for."""
    asked = column.declared is not None or column.name in (*reading.wanted, *reading.levels)
    if asked or reading.constants or reading.discretise:
        return None
    return CONSTANT if is_constant(column.cells, whole_numbers=bool(reading.numbers_for)) else None


def leave_constants_out(columns: Sequence[RawColumn], reading: ReadingOptions) -> list[RawColumn]:
    """The columns that still change once rows were dropped; if none does, all of them."""
    for column in columns:
        column.left_out = reason_constant(column, reading)
    left = [column for column in columns if column.left_out is None]
    if left:
        return left
    for column in columns:
        column.left_out = None
    return list(columns)


def is_temporal(kind: pa.DataType) -> bool:
    """Return True if an Arrow type is one of dates and times."""
    import pyarrow as pa

    return bool(pa.types.is_temporal(kind))


def keep_rows(column: RawColumn, complete: NDArray[np.bool_], *, text_cells: bool) -> None:
    """Keep only the complete rows of a column; text is looked at anew, as if the file had no others."""
    import pyarrow as pa

    cells = (column.cells if column.spelled is None else column.spelled).filter(pa.array(complete))
    column.spelled = None
    column.cells = parse_undeclared(cells, column.declared) if text_cells and is_text(cells.type) else cells


def cut_column(column: Column, method: str, bins: int) -> Column:
    """Cut a continuous column into intervals; missing values stay missing."""
    known = column.values if column.missing is None else column.values[~column.missing]
    if not known.size:
        raise DataError(f"{col(column.variable.name)} has no value to cut into intervals: leave it out")
    levels, codes = cut(known, method, bins)
    values = np.zeros(len(column.values), dtype=np.uint16)
    values[slice(None) if column.missing is None else ~column.missing] = codes
    why = f"{column.why.partition(':')[0]}, cut into intervals ({method})"
    return Column(Variable(column.variable.name, Kind.DISCRETE, levels), values, column.missing, why)


def add_missing_level(column: Column, reading: ReadingOptions) -> Column:
    """Make missing values a level "missing", with underscores added while that name is taken."""
    if column.missing is None:
        return column
    name, levels = column.variable.name, column.variable.levels
    if column.variable.kind is Kind.CONTINUOUS:
        cut_it = f", cut it into intervals ({option('discretise', 'quantile')})," if reading.cuts else ""
        instead = f"choose {option('missing', 'drop')}{cut_it} or leave it out ({option('drop', name)})"
        if reading.in_time:
            instead = instead_of_missing(reading)
        raise DataError(
            f"{col(name)} is continuous and has {int(column.missing.sum())} missing values, which cannot "
            f"be a level: {instead}"
        )
    if column.why == ORDERED:
        raise DataError(
            f"{col(name)} has {int(column.missing.sum())} missing values, without a place in the order of "
            f"its levels: choose {option('missing', 'drop')} or leave it out ({option('drop', name)})"
        )
    word = "missing"
    while word in levels:
        word += "_"
    # The order that was declared stays, but it says nothing about missing.
    kept = column.variable.ordered or name in reading.nominal
    longer = (*levels, word) if kept else sort_levels([*levels, word])
    code_of = np.array([*map(longer.index, levels), longer.index(word)], dtype=np.uint16)
    codes = np.where(column.missing, len(levels), column.values)
    return replace(
        column, variable=Variable(name, Kind.DISCRETE, longer), values=code_of[codes], missing=None
    )
