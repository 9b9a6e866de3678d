"""Checks of the data: what cannot be learned from, and what can but deserves a warning."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.base.phrases import some_of
from dagora.base.wording import option
from dagora.data.columns.column_profile import DATES, EMPTY, can_be_levels
from dagora.data.columns.overview import LEFT_OUT, Overview
from dagora.data.schema import Kind, Schema
from dagora.stats.observed.missing_tests import missing_value_warnings
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.statistics import Statistics


def keeping(name: str, why: str, *, numbers_only: bool = False) -> str:
    """A clause about the option that keeps a column which was left out; empty where none does.

    Dates are kept as numbers, all else as levels, unless `numbers_only` are taken.
    """
    if why == DATES:
        return f"; {option('continuous', name)} keeps it"
    return f"; {option('discrete', name)} keeps it" if can_be_levels(why) and not numbers_only else ""


def check_learnable(
    schema: Schema,
    n_rows: int,
    overview: Overview | None = None,
    *,
    numbers_only: bool = False,
    in_time: bool = False,
) -> None:
    """Refuse data with too few columns or rows to learn a structure from.

    With `numbers_only`, no column can be kept as a discrete one. With `in_time`, a single series will do.
    """
    if len(schema) < (1 if in_time else 2):
        gone = [column for column in overview.columns if column.type == LEFT_OUT] if overview else []
        hint = "is the separator right?"
        if gone:
            chosen = next((column for column in gone if column.why != EMPTY), gone[0])
            name, why = chosen.name, chosen.why
            hint = f"'{name}' was left out ({why}){keeping(name, why, numbers_only=numbers_only)}"
        raise DataError(f"there is {len(schema)} column, a network needs 2: {hint}")
    if n_rows < 2:
        raise DataError(f"there is {n_rows} row: at least 2 are needed")


def data_warnings(statistics: Statistics) -> list[str]:
    """Sentences about data that can be learned from, but whose results are easily misread."""
    schema, n = statistics.schema, statistics.n_rows
    found = fewer_rows(n, len(schema))
    discrete = [i for i, variable in enumerate(schema) if variable.kind is Kind.DISCRETE]
    constant, once = [], []
    for i, seen in zip(discrete, level_counts(statistics, discrete), strict=True):
        if len(seen) == 1:
            constant.append(schema[i].name)
        elif np.any(seen == 1):
            once.append(schema[i].name)
    if constant:
        found.append(f"constant columns, at which no edge can be learned: {listing(constant)}")
    if once:
        found.append(f"a level is seen only once in: {listing(once)}")
    if isinstance(statistics, IncompleteStatistics):
        found += missing_value_warnings(statistics.table)
    return found


def fewer_rows(rows: int, columns: int, named: str = "rows", beside: str = "columns") -> list[str]:
    """A warning of fewer rows than columns.

    >>> fewer_rows(3, 2), fewer_rows(2, 3)
    ([], ['there are fewer rows (2) than columns (3): expect unreliable edges'])
    """
    if rows >= columns:
        return []
    return [f"there are fewer {named} ({rows}) than {beside} ({columns}): expect unreliable edges"]


def level_counts(statistics: Statistics, columns: list[int]) -> list[NDArray[np.int64]]:
    """For each discrete column, how often the levels that occur were seen."""
    if isinstance(statistics, IncompleteStatistics):
        table = statistics.table
        return [np.unique(table.columns[i][table.seen[i]], return_counts=True)[1] for i in columns]
    counts = statistics.counts([(i,) for i in columns])
    return [counts.values[counts.offsets[k] : counts.offsets[k + 1]] for k in range(len(columns))]


def listing(names: list[str]) -> str:
    """Name up to five columns.

    >>> listing(["a", "b"])
    "'a', 'b'"
    """
    return some_of([f"'{name}'" for name in names], 5)
