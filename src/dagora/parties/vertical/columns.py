"""Columns as private K2 computes with them: codes, and an indicator for each level but the first.

Columns have 2 to 5 levels. A column of r levels has r − 1 indicators, bits that say whether a row has that
level. Indicators are numbered through: those of the first variable, then those of the second, and so on, so
that of binary columns each is its own indicator. Sets of indicators of different variables are what moments
are taken of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, combinations, product

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.base.phrases import amount
from dagora.data.columns.overview import level_list
from dagora.data.schema import Kind, Schema
from dagora.data.table import Table

MOST_LEVELS = 5  # circuits grow with the product of the levels of a family
IndicatorSet = tuple[int, ...]


def column_levels(table: Table) -> tuple[int, ...]:
    """The number of levels of each column; a column that private K2 cannot use is refused.

    >>> column_levels(Table.from_numpy([[0, 1], [1, 1], [2, 0]], names=["a", "b"]))
    (3, 2)
    """
    for variable in table.schema:
        if variable.kind is Kind.CONTINUOUS:
            what, way_out = "is continuous", "cut it into a few levels"
        elif variable.cardinality == 1:
            what, way_out = "has 1 level", ""
        elif variable.cardinality > MOST_LEVELS:
            what, way_out = f"has {variable.cardinality} levels", "merge some of them"
        else:
            continue
        raise DataError(
            f"column '{variable.name}' {what}, but private K2 takes columns of 2 to {MOST_LEVELS} levels: "
            f"leave it out{'' if variable.cardinality == 1 else ', or ' + way_out}"
        )
    if not len(table.schema):
        raise DataError("there is no column beside the key: at least one is needed")
    return tuple(variable.cardinality for variable in table.schema)


def without_unused_levels(table: Table) -> Table:
    """A table whose columns have those levels only that some row has; its overview says what was left out.

    >>> some = Table.from_numpy([["no"], ["yes"], ["perhaps"]], names=["a"]).take([0, 2])
    >>> without_unused_levels(some).schema[0].levels
    ('no', 'perhaps')
    """
    variables, columns, overview = list(table.schema), list(table.columns), table.overview
    for place, variable in enumerate(variables):
        if variable.kind is Kind.CONTINUOUS:
            continue
        used, codes = np.unique(table.codes(place), return_inverse=True)
        if (unused := variable.cardinality - len(used)) == 0:
            continue
        names = tuple(variable.levels[code] for code in used)
        variables[place], columns[place] = replace(variable, levels=names), codes.astype(np.uint16)
        if overview is not None:
            warning = (
                f"column '{variable.name}': {amount(unused, 'declared level')} that no row has: not counted"
            )
            summaries = [
                replace(each, values=level_list(names), levels=len(names))
                if each.name == variable.name
                else each
                for each in overview.columns
            ]
            overview = replace(overview, columns=tuple(summaries), warnings=(*overview.warnings, warning))
    return Table(Schema(variables), tuple(columns), overview)


def absent_levels(table: Table, rows: NDArray[np.int64]) -> tuple[str, ...]:
    """Warnings about columns with levels that none of some rows has, for their owner alone.

    >>> table = Table.from_numpy([["no"], ["yes"], ["perhaps"]], names=["a"])
    >>> [line[:60] for line in absent_levels(table, np.array([0, 2]))]
    ["column 'a' has 3 levels, of which no common row has 1: K2 co"]
    """
    warnings = []
    for place, variable in enumerate(table.schema):
        lacking = variable.cardinality - len(np.unique(table.codes(place)[rows]))
        if lacking:
            warnings.append(
                f"column '{variable.name}' has {variable.cardinality} levels, of which no common row has "
                f"{lacking}: K2 counted all, so the graph may differ from that of K2 on the joined rows; "
                "leave out the rows with such a level, or merge it"
            )
    return tuple(warnings)


def indicator_columns(table: Table) -> NDArray[np.uint8]:
    """The indicators of a table's columns, uint8[indicators, rows].

    >>> indicator_columns(Table.from_numpy([[0, 1], [1, 1], [2, 0]], names=["a", "b"])).tolist()
    [[0, 1, 0], [0, 0, 1], [1, 1, 0]]
    """
    levels = column_levels(table)
    return np.stack(
        [
            table.codes(column) == level
            for column, count in enumerate(levels)
            for level in range(1, count)
        ]
    ).astype(np.uint8)  # fmt: skip


def indicators(levels: Sequence[int]) -> list[range]:
    """The numbers of each variable's indicators.

    >>> indicators([2, 4, 3])
    [range(0, 1), range(1, 4), range(4, 6)]
    """
    ends = list(accumulate(count - 1 for count in levels))
    return [range(end - count + 1, end) for end, count in zip(ends, levels, strict=True)]


def indicator_sets(groups: Sequence[Sequence[int]], largest: int) -> list[IndicatorSet]:
    """All sets of 1 to `largest` indicators, at most one of each group.

    >>> indicator_sets([[0], [1, 2]], 2)
    [(0,), (1,), (2,), (0, 1), (0, 2)]
    """
    return [
        chosen
        for size in range(1, largest + 1)
        for some in combinations(groups, size)
        for chosen in product(*some)
    ]


def number_of_sets(levels: Sequence[int], largest: int) -> int:
    """The number of sets of 1 to `largest` indicators: Σ_k of the k-th elementary symmetric polynomial.

    >>> number_of_sets([2, 3], 2) == len(indicator_sets([[0], [1, 2]], 2))
    True
    """
    by_size = [1, *[0] * largest]
    for count in levels:
        for size in range(largest, 0, -1):
            by_size[size] += by_size[size - 1] * (count - 1)
    return sum(by_size[1:])
