"""Warnings about how the rows came to be: chosen by an outcome, watched for some time, one value in each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from dagora.base.phrases import some_of
from dagora.data.columns.column_type import Column
from dagora.data.columns.rows_alike import is_occasion, numbers_of
from dagora.data.schema import Kind

CASES = ({"case", "control"}, {"cases", "controls"}, {"fall", "kontrolle"}, {"cas", "témoin"})
IS_CASE = re.compile(r"^((is[ _.-]?)?cases?|case[ _.-]?control|cc[ _.-]?status)$", re.IGNORECASE)
TIME_UNIT = r"[ _.-]?(time|days?|months?|years?|weeks?|zeit|tage|monate|jahre)"
# The time until something happens, or until nobody looks any more.
IS_SURVIVAL = re.compile(
    rf"^((follow[ _.-]?up|fup?|surv|survival|time[ _.-]?to[ _.-]?\w+|tte|überleben\w*){TIME_UNIT}?"
    rf"|(os|pfs|dfs){TIME_UNIT}|futime)$",
    re.IGNORECASE,
)
IS_EVENT = re.compile(
    r"^(events?|status|death|dead|died|deceased|cens|censored|relapsed?|progression|failure|recurrence|tod|"
    r"gestorben|verstorben|vital[ _.-]?status|(os|pfs|dfs)[ _.-]?(event|status))$",
    re.IGNORECASE,
)
# A column that names quantities, and one that holds them: a long table.
IS_QUANTITY = re.compile(
    r"^(variable|param(eter)?|analyte|measure(ment)?|metric|attribute|indicator|feature|item|key|"
    r"(lab[ _.-]?)?test|merkmal|messgröße)([ _.-]?(name|code|id))?$",
    re.IGNORECASE,
)
IS_VALUE = re.compile(r"^(value|val|result|wert|messwert|ergebnis|valeur|valor)s?$", re.IGNORECASE)


MOST_GROUPS = 20  # of rows that may have a coding of their own
FEWEST_IN_GROUP = 20  # rows: of fewer, a level may be absent by chance


def design_warnings(typed: Sequence[Column]) -> Iterator[str]:
    """Sentences about rows that are no plain sample of things measured once."""
    yield from case_control_warning(typed)
    yield from survival_warning(typed)
    yield from long_table_warning(typed)
    yield from coding_warning(typed)


def case_control_warning(typed: Sequence[Column]) -> Iterator[str]:
    """A sentence about rows that were chosen by whether they are cases."""
    for column in typed:
        if is_case_column(column.variable.name, column.variable.levels):
            yield describe_choice(column.variable.name, column.variable.levels)


def is_case_column(name: str, levels: Sequence[str]) -> bool:
    """Return True if a column tells cases from controls, by its levels or its name.

    >>> is_case_column("status", ["Case", "Control"]), is_case_column("status", ["ill", "well"])
    (True, False)
    """
    folded = {level.casefold() for level in levels}
    return len(levels) == 2 and (folded in CASES or bool(IS_CASE.match(name)))


def describe_choice(name: str, levels: Sequence[str]) -> str:
    """The consequence of rows that were chosen by a column."""
    return (
        f"rows seem to be chosen by '{name}' ({' and '.join(levels)}): the study decided how frequent each "
        "is, so probabilities and means are those of this table and not of a population, except where this "
        "column is given; odds ratios of it hold"
    )


def survival_warning(typed: Sequence[Column]) -> Iterator[str]:
    """A sentence about a time that ends where something happened, or where nobody looked any more."""
    events = [c for c in typed if len(c.variable.levels) == 2 and IS_EVENT.match(c.variable.name)]
    for column in typed:
        name, numbers = column.variable.name, numbers_of(column)
        timed = (
            column.variable.kind is Kind.CONTINUOUS and IS_SURVIVAL.match(name) and not is_occasion(column)
        )
        if events and timed and (numbers >= 0).all():
            event = events[0].variable.name
            yield (
                f"'{name}' seems to end with '{event}', or where watching stopped: rows without the event "
                f"tell a lower bound of the time only. Both are taken as plain columns, so means of '{name}' "
                "and edges at it mislead; survival models are made for this"
            )


def long_table_warning(typed: Sequence[Column]) -> Iterator[str]:
    """A sentence about a table with one value in each row, and a column that names what it is a value of."""
    named = [
        column.variable.name
        for column in typed
        if column.variable.kind is Kind.DISCRETE and IS_QUANTITY.match(column.variable.name)
    ]
    for column in typed:
        name = column.variable.name
        if named and column.variable.kind is Kind.CONTINUOUS and IS_VALUE.match(name):
            yield (
                f"'{name}' seems to hold values of what '{named[0]}' names, one in each row: make a column "
                "of each first, with one row for whatever was measured"
            )
            return


def coding_warning(typed: Sequence[Column]) -> Iterator[str]:
    """A sentence about columns of two numbers in each group of rows, which are others in other groups."""
    levels = [c for c in typed if c.variable.kind is Kind.DISCRETE and c.missing is None]
    codes = [c for c in levels if 2 < c.variable.cardinality <= 4 and len(numbers_of(c))]
    groups = [c for c in levels if 2 <= c.variable.cardinality <= MOST_GROUPS]
    found = [
        f"'{column.variable.name}' ({told} of '{group.variable.name}')"
        for column in codes
        for group in groups
        if group is not column and (told := codings_in(column, group))
    ]
    if found:
        yield (
            f"groups of rows seem to have two numbers each, and not the same ones: {some_of(found)}; if they "
            "mean the same, bring them to one coding"
        )


def codings_in(column: Column, group: Column) -> str:
    """Two groups and the two numbers that each has, where all have two that follow each other; else empty."""
    pairs: dict[tuple[float, ...], str] = {}
    numbers = numbers_of(column)
    for code, name in enumerate(group.variable.levels):
        own = numbers[group.values == code]
        if not len(own):
            continue
        seen = tuple(np.unique(own).tolist())
        if len(own) < FEWEST_IN_GROUP or len(seen) != 2 or seen[1] - seen[0] != 1:
            return ""
        pairs.setdefault(seen, name)
    told = [f"{one:g} and {two:g} in '{name}'" for (one, two), name in pairs.items()]
    return ", ".join(told) if len(told) > 1 else ""
