"""Warnings about columns that may not be what they seem: counts and weights, mixed units, rounded copies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dagora.base.phrases import some_of
from dagora.base.wording import option
from dagora.data.columns.column_type import Column
from dagora.data.columns.names import IS_COUNT, IS_WEIGHT, MAY_BE_WEIGHT
from dagora.data.columns.rows_alike import hash_rows
from dagora.data.schema import Kind

Floats = NDArray[np.float64]

FACTORS = (2.2046, 10.0, 100.0, 1000.0)  # kilograms and pounds; decimal units
NEAR = 0.15  # relative distance of the ratio of two clusters from such a factor
FEWEST_ROWS = 20  # with fewer, clusters mean nothing
COPY = 1 - 1e-5  # correlation, plain or of ranks, from which on a column is a copy
MOST_ROWS = 10_000  # evenly spaced, that are compared
MOST_COLUMNS = 300  # whose copies are looked for
MOST_NAMED = 5  # columns that one warning names, to stay readable


def column_warnings(typed: Sequence[Column]) -> Iterator[str]:
    """Sentences about columns that count or weigh rows, mix units or copy another one."""
    yield from count_warnings(typed)
    mixed = [(column.variable.name, found) for column in typed if (found := mixed_units(column))]
    if mixed:
        told = "; ".join(
            f"'{name}' (around {low:g} and {high:g})" for name, (low, high) in mixed[:MOST_NAMED]
        )
        noun = "column seems" if len(mixed) == 1 else "columns seem"
        yield f"{len(mixed)} {noun} to mix units: {told}: bring all rows to one unit"
    copies = rounded_copies(typed)
    if copies:
        told = some_of([f"'{one}' and '{other}'" for one, other in copies], MOST_NAMED, noun="pairs")
        yield (
            f"these columns say the same, but for units or rounding: {told}; leave one of each out "
            f"({option('drop', copies[0][1])})"
        )


def count_warnings(typed: Sequence[Column]) -> Iterator[str]:
    """Sentences about columns that say how many rows a row stands for."""
    for column in typed:
        name = column.variable.name
        others = [other for other in typed if other is not column]
        if IS_COUNT.match(name) and tabulates(column, others):
            yield (
                f"column '{name}' seems to count the rows that each row stands for: every row is counted "
                f"once, so repeat rows accordingly, and leave it out ({option('drop', name)})"
            )
        elif IS_WEIGHT.match(name) or (MAY_BE_WEIGHT.match(name) and averages_one(column)):
            yield (
                f"column '{name}' seems to hold weights of rows: it is taken as a variable, and every row "
                f"counts the same; leave it out if it is none ({option('drop', name)})"
            )


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


def tabulates(column: Column, others: Sequence[Column]) -> bool:
    """Return True for whole numbers beside levels of which no combination occurs twice."""
    numbers = numbers_of(column)
    counts = bool(numbers.size > 1 and (numbers >= 0).all() and (numbers == np.floor(numbers)).all())
    if not (counts and numbers.max() > 1 and others):
        return False
    if any(other.variable.kind is Kind.CONTINUOUS for other in others):
        return False
    hashed = hash_rows(others).sum(0)
    return len(np.unique(hashed)) == len(hashed)


def averages_one(column: Column) -> bool:
    """Return True for different positive numbers whose mean is 1, as weights of samples have."""
    numbers = numbers_of(column)
    positive = bool(numbers.size > FEWEST_ROWS and (numbers > 0).all() and np.ptp(numbers) > 0)
    return positive and abs(float(numbers.mean()) - 1) < 0.02


def mixed_units(column: Column) -> tuple[float, float] | None:
    """The middles of two clusters of positive numbers that differ by a factor between units; else None.

    >>> from dagora.data.schema import Variable
    >>> grams = np.linspace(12, 16, 50)
    >>> mixed_units(Column(Variable("hb", Kind.CONTINUOUS), np.r_[grams, 10 * grams]))
    (14.0, 140.0)
    """
    if column.variable.kind is not Kind.CONTINUOUS:
        return None
    numbers = np.sort(numbers_of(column))
    if len(numbers) < FEWEST_ROWS or not 0 < numbers[0] < numbers[-1]:
        return None
    logs = np.log(numbers)
    gaps = np.diff(logs)
    place = int(gaps.argmax()) + 1
    low, high = logs[:place], logs[place:]
    if min(len(low), len(high)) < max(3, len(logs) // 100):
        return None
    ratio = float(np.exp(np.median(high) - np.median(low)))
    inner = max(float(np.ptp(part)) for part in (low, high))
    others = float(np.sort(gaps)[-2])
    alike = max(low.std(), high.std()) < 2.5 * min(low.std(), high.std()) + 1e-12
    clear = gaps[place - 1] > max(2 * others, inner / 4)
    near = any(abs(ratio / factor - 1) < NEAR for factor in FACTORS)
    if not (alike and clear and near and inner > 0):
        return None
    return float(f"{np.exp(np.median(low)):.3g}"), float(f"{np.exp(np.median(high)):.3g}")


def rounded_copies(typed: Sequence[Column]) -> list[tuple[str, str]]:
    """Pairs of continuous columns whose correlation, plain or of ranks, is 1 but for rounding."""
    columns = [
        column for column in typed if column.variable.kind is Kind.CONTINUOUS and column.missing is None
    ]
    if not 1 < len(columns) <= MOST_COLUMNS or len(columns[0].values) < FEWEST_ROWS:
        return []
    step = -(-len(columns[0].values) // MOST_ROWS)
    values = np.array([column.values[::step] for column in columns])
    values = values / np.maximum(np.abs(values).max(1, keepdims=True), 1e-300)
    moving = np.ptp(values, axis=1) > 0
    columns = [column for column, moves in zip(columns, moving, strict=True) if moves]
    found: set[tuple[int, int]] = set()
    for table in (values[moving], np.array([mean_ranks(row) for row in values[moving]])):
        if not len(table):
            break
        scaled = table - table.mean(1, keepdims=True)
        scaled /= np.sqrt((scaled**2).sum(1, keepdims=True))
        close = np.triu(np.abs(scaled @ scaled.T) > COPY, 1)
        found |= {(int(i), int(j)) for i, j in np.argwhere(close)}
    names = [column.variable.name for column in columns]
    return [(names[i], names[j]) for i, j in sorted(found)]


def mean_ranks(values: Floats) -> Floats:
    """Ranks of numbers; equal ones have the mean of theirs.

    >>> mean_ranks(np.array([5.0, 7.0, 5.0]))
    array([0.5, 2. , 0.5])
    """
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.array([(last + first - 1) / 2 for first, last in pairwise([0, *np.cumsum(counts)])])
    ranks: Floats = ends[codes]
    return ranks
