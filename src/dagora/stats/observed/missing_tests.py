"""Tests of whether values are missing more often where other columns have certain values.

Each column with missing values is tested against each other column: a chi-square test of independence for a
discrete one, Welch's t-test for a continuous one, at 1 % over all tests together (Bonferroni). Missingness
that depends on observed values is missing at random, as the model assumes. Whether it depends on the missing
values themselves cannot be seen in the data.

A question for smokers alone is a skip pattern: its column is seen at one value of another. Then no data show
how the two depend on each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dagora.base.phrases import some_of
from dagora.data.schema import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dagora.data.incomplete import IncompleteTable

LEVEL = 0.01  # of all tests together (Bonferroni): larger ones warn of chance
# Fewest missing values of a column, and fewest seen cells, for a test of it.
FEWEST = 5
ONE, SEVERAL = ("is", "it depends", "it does"), ("are", "they depend", "they do")
MOST_NAMED = 5  # columns that a sentence names, and sentences


def missing_value_warnings(table: IncompleteTable) -> list[str]:
    """A sentence, where missing values depend on values that were seen."""
    tests = {
        (i, j): hole_test(table, i, j)
        for i in np.flatnonzero((~table.seen).sum(axis=1) >= FEWEST).tolist()
        for j in range(len(table.schema))
        if i != j
    }
    if not tests:
        return []
    (i, j), p = min(tests.items(), key=lambda test: test[1])
    if p * len(tests) >= LEVEL:
        return []
    columns = {hole for (hole, _), value in tests.items() if value * len(tests) < LEVEL}
    more = f", and those of {len(columns) - 1} more columns on others" if len(columns) > 1 else ""
    told = (
        f"missing values in '{table.names[i]}' depend on the values of '{table.names[j]}'{more}: the model "
        "takes that into account, but not whether they depend on the missing values themselves, which no "
        "data can show"
    )
    return [told, *skip_warnings(skip_patterns(table))]


class SkipPattern(NamedTuple):
    """A column that is seen only where another one has a certain value."""

    column: str
    where: str
    value: str


def skip_patterns(table: IncompleteTable) -> list[SkipPattern]:
    """The columns that are seen at one value of another only, unless chance explains it."""
    found = []
    holes = np.flatnonzero((~table.seen).sum(axis=1) >= FEWEST).tolist()
    for hole in holes:
        for other, variable in enumerate(table.schema):
            both = table.seen[hole] & table.seen[other]
            values = table.columns[other][both]
            if hole == other or not len(values) or (values != values[0]).any():
                continue
            if hole_test(table, hole, other) * len(holes) * (len(table.schema) - 1) < LEVEL:
                value = variable.levels[values[0]] if variable.levels else f"{values[0]:g}"
                found.append(SkipPattern(table.names[hole], variable.name, value))
    return found


def skip_warnings(patterns: list[SkipPattern]) -> list[str]:
    """A sentence for each value at which alone some columns are seen."""
    columns: dict[tuple[str, str], list[str]] = {}
    for pattern in patterns:
        columns.setdefault((pattern.where, pattern.value), []).append(f"'{pattern.column}'")
    return [skip_warning(names, *at) for at, names in columns.items()][:MOST_NAMED]


def skip_warning(names: list[str], where: str, value: str) -> str:
    """A sentence about columns that are seen at one value of another only."""
    seen, depend, apply = ONE if len(names) == 1 else SEVERAL
    return (
        f"{some_of(names, MOST_NAMED)} {seen} seen only where '{where}' is '{value}': no data show how "
        f"{depend} on '{where}', so do not trust edges and directions around them; if {apply} not apply "
        "elsewhere, write that as a value (0, or a word)"
    )


def hole_test(table: IncompleteTable, hole: int, other: int) -> float:
    """The p-value of the test that missing values of one column are independent of the values of another."""
    seen = table.seen[other]
    gone = ~table.seen[hole][seen]
    values = table.columns[other][seen]
    if min(gone.sum(), (~gone).sum()) < FEWEST:
        return 1.0
    if table.schema[other].kind is Kind.DISCRETE:
        return chi_square(values, gone)
    return welch(values[gone], values[~gone])


def chi_square(values: NDArray[np.uint16], gone: NDArray[np.bool_]) -> float:
    """Pearson's test of independence of a discrete column and a mask."""
    from scipy.special import chdtrc

    counts = np.array([np.bincount(values[gone == side], minlength=values.max() + 1) for side in (0, 1)])
    counts = counts[:, counts.sum(axis=0) > 0].astype(np.float64)
    if counts.shape[1] < 2:
        return 1.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    if expected.min() < 1:  # too few rows for the approximation
        return 1.0
    return float(chdtrc(counts.shape[1] - 1, ((counts - expected) ** 2 / expected).sum()))


def welch(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Welch's test that two samples have the same mean."""
    from scipy.special import stdtr

    a, b = one.var(ddof=1) / len(one), other.var(ddof=1) / len(other)
    if a + b <= 0:
        return 1.0
    freedom = (a + b) ** 2 / (a**2 / (len(one) - 1) + b**2 / (len(other) - 1))
    return float(2 * stdtr(freedom, -abs(one.mean() - other.mean()) / np.sqrt(a + b)))
