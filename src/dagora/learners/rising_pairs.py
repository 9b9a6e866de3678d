"""A warning about columns of few whole numbers that rise together, and got no edge as unordered categories.

Two scales of seven answers need 36 parameters as categories, and one as amounts. Where the reader found no
order in them, an association that a correlation would show may not pay for its parameters. Only columns
without any edge are looked at: others may well rise together by way of their neighbours.
"""

from __future__ import annotations

from math import erfc, sqrt

import numpy as np

from dagora.base.wording import option
from dagora.data.columns.levels import IS_NUMBER
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.graph.any_graph import AnyGraph

FEWEST_LEVELS = 5  # by hand: two such scales need 16 parameters as categories, smaller ones fewer
LEAST_P = 1e-3
"""Probability of so large a correlation, times the number of pairs, below which it is no chance."""

MOST_COLUMNS, MOST_ROWS = 300, 20_000
"""More columns are not looked at, and of more rows the first."""


def rising_pairs(table: Table, graph: AnyGraph, most_rows: int | None = None) -> list[str]:
    """One line about the two columns of whole numbers that go most clearly together without an edge.

    Of more than `most_rows` the first are looked at; None is the usual number.

    >>> from dagora.data.schema import Schema, Variable
    >>> from dagora.graph.dag import DAG
    >>> codes = np.arange(100, dtype=np.uint16) % 5
    >>> columns = [Variable(name, Kind.DISCRETE, tuple("12345")) for name in "ab"]
    >>> rising_pairs(Table(Schema(columns), (codes, codes)), DAG("ab"))[0][:46]
    "'a' and 'b' rise together (correlation 1.00), "
    """
    adjacent = {name for edge in (*graph.edges, *graph.undirected) for name in edge}
    scales = [
        i
        for i, one in enumerate(table.schema)
        if one.kind is Kind.DISCRETE
        and len(one.levels) >= FEWEST_LEVELS
        and all(map(IS_NUMBER.fullmatch, one.levels))
    ]
    n = min(table.n_rows, most_rows or MOST_ROWS)
    if not 2 <= len(scales) <= MOST_COLUMNS or n < 30:
        return []
    numbers = np.stack(
        [np.array(table.schema[i].levels, dtype=np.float64)[table.codes(i)[:n]] for i in scales]
    )
    numbers -= numbers.mean(axis=1, keepdims=True)
    numbers /= np.maximum(np.sqrt((numbers**2).sum(axis=1, keepdims=True)), 1e-300)
    alone = np.array([table.names[i] not in adjacent for i in scales])
    strength = np.triu(np.abs(numbers @ numbers.T), 1) * (alone[:, None] | alone[None, :])
    i, j = np.unravel_index(int(strength.argmax()), strength.shape)
    if erfc(float(strength[i, j]) * sqrt(n / 2)) * len(scales) ** 2 / 2 > LEAST_P:
        return []
    first, second = (table.names[scales[int(k)]] for k in (i, j))
    together = "rise together" if numbers[i] @ numbers[j] > 0 else "go against each other"
    how = f"declare both continuous ({option('continuous', first)}, …)"
    shown = f"correlation {float(numbers[i] @ numbers[j]):.2f}"
    words = f"'{first}' and '{second}' {together} ({shown}), which unordered levels do not show"
    return [f"{words}: if they are amounts, {how}"]
