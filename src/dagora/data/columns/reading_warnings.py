"""Warnings about how a table was read, as sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from dagora.base.phrases import some_of
from dagora.base.wording import option
from dagora.data.columns.column_profile import (
    CONSTANT,
    DATES,
    EMPTY,
    FIRST_LOOK,
    MAX_INTEGER_LEVELS,
    NUMBERED_DATES,
    NUMBERS_IN_TEXT,
    UNIT,
    can_be_levels,
    numbers_in_text,
)
from dagora.data.columns.column_type import DECLARED, Column
from dagora.data.columns.levels import IS_NUMBER, level_name, looks_of, same_levels
from dagora.data.columns.missing import EVERY, Na, extend_na
from dagora.data.columns.missing_codes import (
    FEW_LEVELS,
    codes_among_words,
    facts_of,
    facts_of_levels,
    missing_codes,
)
from dagora.data.columns.names import MAY_BE_NONE, NEVER_NONE
from dagora.data.columns.overview import LEFT_OUT, WORTH_A_WARNING, Overview
from dagora.data.columns.reading_options import ABOUT_ROWS
from dagora.data.columns.several_values import WRITTEN_TOGETHER, several_values, words_among_numbers
from dagora.data.columns.spelled_numbers import AMOUNTS_IN, WITH_EXPONENTS
from dagora.data.schema import Kind, Variable

MOST_NAMED = 5  # columns that one warning names, to stay readable
UNUSABLE = frozenset({EMPTY, DATES, CONSTANT})  # why columns are left out that need not be kept
MOST_ENTRIES = 8  # words of single columns that one option names; of more, it names the words alone


class Suspicious(Protocol):
    """A column with words or numbers that often mean missing, and how often each occurs."""

    name: str
    holes: Mapping[str, int]
    doubtful: Mapping[str, int]
    codes: Mapping[str, int]


def reading_warnings(
    overview: Overview, raw: Sequence[Suspicious], variables: Sequence[Variable] = ()
) -> Iterator[str]:
    """Sentences about rows and columns left out, doubtful words and numbers, and columns of many levels."""
    import pyarrow as pa

    if overview.dropped > WORTH_A_WARNING * overview.rows:
        yield overview.dropped_rows
    asked = {overview.reading.get(name) for name in ABOUT_ROWS}
    gone = [column for column in overview.columns if column.type == LEFT_OUT and column.name not in asked]
    if gone:
        told = some(f"'{column.name}' ({column.why})" for column in gone)
        verb = "column is" if len(gone) == 1 else "columns are"
        kept = next(
            (
                column.name
                for column in gone
                if column.why not in UNUSABLE
                and can_be_levels(column.why)
                and not column.why.startswith(NUMBERS_IN_TEXT)
            ),
            None,
        )
        how = "" if kept is None else f"; {option('discrete', kept)} would keep one"
        if any(column.why in (DATES, NUMBERED_DATES) for column in gone):
            how += (
                f"; {option('time')} takes dates where rows are series, and months or weekdays can be levels"
            )
        yield f"{len(gone)} {verb} left out: {told}{how}"
    yield from units_warning([column.name for column in gone if column.why == UNIT])
    holes = [column for column in raw if column.holes]
    if holes:
        told = some(f"{tally(column.holes)} in '{column.name}'" for column in holes)
        yield f"read as missing: {told}; to keep such words as levels, {option('na', 'none')}"
    doubtful = [column for column in raw if column.doubtful or column.codes]
    if doubtful:
        told = some(f"{tally({**column.doubtful, **column.codes})} in '{column.name}'" for column in doubtful)
        kind = "values" if any(column.codes for column in doubtful) else "levels"
        na = missing_option(doubtful, holes, overview.reading.get("na", "auto"))
        yield (
            f"taken as {kind}, though they often mean missing: {told}; choose {na} if they are missing, or "
            f"{option('na', 'none')} if they are not"
        )
    alike = {variable.name: groups for variable in variables if (groups := same_levels(variable.levels))}
    if alike:
        told = some(
            f"{some_of(map(quote_levels, groups), MOST_NAMED, between=' and ', noun='groups')} in '{name}'"
            for name, groups in alike.items()
        )
        join = option("join", next(iter(alike)) if len(alike) == 1 else EVERY)
        yield f"levels that seem to be the same: {told}; {join} joins them"
    yield from names_warning([column.name for column in overview.columns])
    if no_header(variables):
        names = ", ".join(f"'{variable.name}'" for variable in variables[:3])
        yield (
            f"the names of the columns ({names}{', …' if len(variables) > 3 else ''}) look like a row of the "
            "table: if it has no header, put a line with names first"
        )
    rows = overview.rows - overview.dropped
    text = {column.name for column in overview.columns if column.why == "text"}
    numbers = {
        variable.name: why
        for variable in variables
        if variable.name in text
        and variable.cardinality > MAX_INTEGER_LEVELS
        and (why := numbers_in_text(variable.name, pa.array(variable.levels)))
    }
    for name, why in numbers.items():
        yield f"the levels of column '{name}' are {why}"
    for variable in variables:
        if variable.name in text and (several := several_values(variable.levels)):
            yield f"the levels of column '{variable.name}' {several}"
        words = words_among_numbers(variable.levels) if variable.name in text else ()
        if words and not any(variable.name == column.name for column in doubtful):
            na = extend_na(overview.reading.get("na", "auto"), [(variable.name, word) for word in words])
            named = ", ".join(map(repr, words))
            yield (
                f"column '{variable.name}' has numbers, but also {named}, so that all are "
                f"levels: if the numbers are amounts, write one for each word, or choose {option('na', na)}"
            )
    for column in overview.columns:
        if AMOUNTS_IN in column.why:
            how = column.why[column.why.index(AMOUNTS_IN) :]
            yield f"column '{column.name}' has {how}, read as if they were of one currency: convert them"
        if WRITTEN_TOGETHER in column.why:
            how = column.why[column.why.index(WRITTEN_TOGETHER) :]
            yield f"the numbers of column '{column.name}' {how}: make each answer a column of its own"
        if WITH_EXPONENTS in column.why:
            how = column.why[column.why.index(WITH_EXPONENTS) :]
            keep = option("discrete", column.name)
            yield f"column '{column.name}' has numbers {how}: if they are codes, {keep} keeps them as written"
        told_already = column.why == DECLARED or column.name in numbers
        if column.levels > max(MAX_INTEGER_LEVELS, rows / 10) and not told_already:
            yield f"column '{column.name}' has {column.levels} levels in {rows} rows: expect few edges at it"


def names_warning(names: Sequence[str]) -> Iterator[str]:
    """A sentence about columns whose names differ only in case, blanks and marks between words.

    >>> next(names_warning(["Age", "age", "x1_1", "x11", "body_mass", "Body mass"]))[:86]
    "names that differ only in case or blanks: 'Age' and 'age', 'body_mass' and 'Body mass'"
    """
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(re.sub(r"[\s_.-]+", " ", name.casefold()).strip(), []).append(name)
    groups = [group for group in alike.values() if len(group) > 1]
    if groups:
        told = ", ".join(" and ".join(f"'{name}'" for name in group) for group in groups[:MOST_NAMED])
        yield (
            f"names that differ only in case or blanks: {told}; if they are one variable, leave one out "
            f"({option('drop', groups[0][-1])})"
        )


def units_warning(names: Sequence[str], *, columns: bool = True) -> Iterator[str]:
    """A sentence about rows that belong together by some columns, or by levels of an index.

    >>> list(units_warning(["patient_id"], columns=False))
    ["rows that share a 'patient_id' are not independent: strengths and p-values are too optimistic"]
    """
    if names:
        shared = " or a ".join(f"'{name}'" for name in names[:MOST_NAMED])
        way_out = f"; {option('group', names[0])} allows for that" if columns else ""
        alike = f"rows that share a {shared} are not independent"
        yield f"{alike}: strengths and p-values are too optimistic{way_out}"


def no_header(variables: Sequence[Variable]) -> bool:
    """Return True if all names could be values of their columns, and do not only count the columns.

    >>> no_header([Variable("no", Kind.DISCRETE, ("no", "yes")), Variable("1.5", Kind.CONTINUOUS)])
    True
    """
    names = [variable.name for variable in variables]
    counting = all(name.isdecimal() for name in names) and sorted(names, key=int) == names
    return (
        len(names) > 1
        and not counting
        and all(
            variable.name in variable.levels
            if variable.kind is Kind.DISCRETE
            else IS_NUMBER.fullmatch(variable.name)
            for variable in variables
        )
    )


def missing_option(doubtful: Sequence[Suspicious], holes: Sequence[Suspicious], na: Na) -> str:
    """The option that makes all doubtful words and numbers missing; what is missing already stays so."""
    codes = [(column.name, code) for column in doubtful for code in column.codes]
    words = [(column.name, word) for column in doubtful for word in column.doubtful]
    if len(words) <= MOST_ENTRIES or na != "auto":
        return option("na", extend_na(na, [*words, *codes]))
    shared = [*(word for column in holes for word in column.holes), *(word for _, word in words)]
    return option("na", extend_na(list(dict.fromkeys(shared)), codes))


def codes_in(column: Column) -> dict[str, int]:
    """The numbers of a column that seem to stand for missing, and how often each occurs.

    >>> ages = np.array([30.0, 45.0, -99.0, -999.0, 71.0])
    >>> codes_in(Column(Variable("age", Kind.CONTINUOUS), ages))
    {'-999': 1, '-99': 1}
    """
    values = column.values if column.missing is None else column.values[~column.missing]
    if column.variable.kind is Kind.CONTINUOUS:
        facts = facts_of(values)
        if facts.codes and len(np.unique(values[:FIRST_LOOK])) <= FEW_LEVELS:
            facts = facts_of_levels(dict(zip(*np.unique(values, return_counts=True), strict=True)))
        found = missing_codes(facts, never_none=bool(NEVER_NONE.search(column.variable.name)))
        return without_true_zeros(column.variable.name, name_codes(found))
    counts = np.bincount(values, minlength=len(column.variable.levels)).tolist()
    found_levels = codes_of_levels(dict(zip(column.variable.levels, counts, strict=True)))
    return without_true_zeros(column.variable.name, found_levels)


def without_true_zeros(name: str, codes: dict[str, int]) -> dict[str, int]:
    """Codes without zero in a column of which there may be none, such as an income.

    >>> without_true_zeros("net income", {"0": 5, "-9": 2}), without_true_zeros("pressure", {"0": 5})
    ({'-9': 2}, {'0': 5})
    """
    return {code: count for code, count in codes.items() if code != "0" or not MAY_BE_NONE.search(name)}


def codes_of_levels(counts: Mapping[str, int]) -> dict[str, int]:
    """The same for levels and how often each occurs.

    >>> codes_of_levels({"1": 50, "2": 40, "9": 3})
    {'9': 3}
    """
    seen = {level: count for level, count in counts.items() if count}
    if len(seen) > FEW_LEVELS:
        return {}
    if all(map(IS_NUMBER.fullmatch, seen)):
        return name_codes(missing_codes(facts_of_levels({float(level): n for level, n in seen.items()})))
    return codes_among_words(seen)


def name_codes(codes: Mapping[float, int]) -> dict[str, int]:
    """Codes as they are written."""
    return {level_name(code): count for code, count in codes.items()}


def quote_levels(levels: Sequence[str]) -> str:
    """Levels in quotes, and whether some look the same.

    >>> quote_levels(["é", "e\u0301"])
    "'é', 'e\u0301' (which look alike, and are stored in different ways)"
    """
    alike = len(set(looks_of(levels))) < len(levels)
    told = some_of((f"'{level}'" for level in levels), MOST_NAMED)
    return f"{told} (which look alike, and are stored in different ways)" if alike else told


def tally(words: Mapping[str, int]) -> str:
    """Words and how often each occurs.

    >>> tally({"?": 3, "NA": 1})
    "'?' (3 ×), 'NA' (1 ×)"
    """
    return ", ".join(f"'{word}' ({count} ×)" for word, count in words.items())


def some(parts: Iterable[str]) -> str:
    """A few parts, and how many more there are."""
    return some_of(parts, MOST_NAMED, between="; ", noun="columns")
