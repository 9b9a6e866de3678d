"""Warnings about a learned graph that are found in the rows: curves, scales that rise together, single rows.

Where time is up, as after Ctrl-C, they look at fewer rows, and what takes longer is left out with a word.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import erfc, sqrt

import numpy as np
from numpy.typing import NDArray

from dagora.base.wording import option
from dagora.data.columns.levels import IS_NUMBER
from dagora.data.columns.ordinal import mean_ranks
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.graph.any_graph import AnyGraph, number_of_edges
from dagora.graph.dag import Edge
from dagora.learners.influential_rows import MOST_WORK, SCORES, influential_rows, takes_long
from dagora.scores.registry import Score

LATE_ROWS = 2000
"""Rows that are looked at where time is up: of 300 columns, a tenth of a second."""

LATE_SHARE = 0.1
"""The part of the work of finding single rows that is done where time is up: a tenth of a second."""

NOT_LOOKED = "as time was up, rows that carry an edge alone were not looked for"

# Of curves that linear scores do not see:
LEAST_CORRELATION = 0.25
"""Correlation with the square from which on a relation is worth a line: a sixteenth of the variance."""

LEAST_P_OF_A_CURVE = 1e-6
"""Probability, times the number of pairs, below which it is no chance."""

MOST_NAMED = 3  # pairs that the line names, to stay readable

# Of scales that rise together:
FEWEST_LEVELS = 5  # by hand: two such scales need 16 parameters as categories, smaller ones fewer
LEAST_P_OF_SCALES = 1e-3
"""Probability of so large a correlation, times the number of pairs, below which it is no chance."""

MOST_COLUMNS, MOST_ROWS = 300, 20_000
"""More columns are not looked at, and of more rows the first; together a second of work at most."""


def row_warnings(
    table: Table, graph: AnyGraph, score: Score, gains: Mapping[Edge, float], *, late: bool
) -> tuple[list[str], str]:
    """Warnings about a graph, and a sentence on what was left out; `gains` are what its edges are worth.

    >>> from dagora.graph.dag import DAG
    >>> from dagora.scores.registry import score_named
    >>> table = Table.from_numpy([[0.0, 1.0], [1.0, 2.0], [2.0, 4.0]] * 20, names=["a", "b"])
    >>> row_warnings(table, DAG("ab", [("a", "b")]), score_named("bic-gaussian"), {}, late=True)
    ([], 'as time was up, rows that carry an edge alone were not looked for')
    """
    rows = LATE_ROWS if late else MOST_ROWS
    found = curved_pairs(table, graph, rows) if score.linear else []
    found += rising_pairs(table, graph, rows)
    if late and (not gains or takes_long(table, graph, MOST_WORK * LATE_SHARE)):
        return found, NOT_LOOKED if score.name in SCORES and number_of_edges(graph) else ""
    return found + influential_rows(table, graph, gains, score.name), ""


def curved_pairs(table: Table, graph: AnyGraph, most_rows: int = MOST_ROWS) -> list[str]:
    """One line about pairs without an edge of which one is related to the square of the other.

    Columns are brought to normal scores by their ranks, so that outliers and skewness do not count, and one
    is correlated with the square of the other, less what is linear in it.

    >>> from dagora.graph.dag import DAG
    >>> x = np.linspace(-1, 1, 200)
    >>> table = Table.from_numpy(np.column_stack([x, x**2]), names=["x", "y"])
    >>> curved_pairs(table, DAG(["x", "y"]))[0][:52]
    'y depends on the square of x, and linear scores do n'
    """
    columns = [i for i, one in enumerate(table.schema) if one.kind is Kind.CONTINUOUS]
    n = min(table.n_rows, most_rows)
    if not 2 <= len(columns) <= MOST_COLUMNS or n < 30:
        return []
    scores = np.stack([normal_scores(table.values(i)[:n]) for i in columns])
    squares = scores**2 - 1.0
    squares -= (squares @ scores.T).diagonal()[:, None] / n * scores
    squares /= np.maximum(squares.std(axis=1, keepdims=True), 1e-12)
    strength = np.abs(squares @ scores.T) / n
    adjacent = {frozenset(edge) for edge in (*graph.edges, *graph.undirected)}
    names = [table.names[i] for i in columns]
    found = []
    for i, j in np.argwhere(strength > LEAST_CORRELATION):
        chance = erfc(strength[i, j] * sqrt(n / 2)) * len(columns) ** 2
        if i != j and chance < LEAST_P_OF_A_CURVE and frozenset((names[i], names[j])) not in adjacent:
            found.append((float(strength[i, j]), names[j], names[i]))
    if not found:
        return []
    shown = [f"{one} depends on the square of {other}" for _, one, other in sorted(found)[::-1][:MOST_NAMED]]
    more = f" ({len(found) - MOST_NAMED} more such pairs)" if len(found) > MOST_NAMED else ""
    which = ", ".join(shown) + more
    return [f"{which}, and linear scores do not see that: the score gp, or pc with test=features, does"]


def normal_scores(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Normal quantiles of the mid-ranks, with mean 0 and variance 1; zeros for a constant column."""
    from scipy.special import ndtri

    if (values == values[0]).all():
        return np.zeros(len(values))
    scores = ndtri((mean_ranks(values) + 0.5) / len(values))
    return np.asarray((scores - scores.mean()) / scores.std())


def rising_pairs(table: Table, graph: AnyGraph, most_rows: int = MOST_ROWS) -> list[str]:
    """One line about the two columns of whole numbers that go most clearly together without an edge.

    Two scales of seven answers need 36 parameters as categories, and one as amounts: an association that a
    correlation would show may not pay for its parameters. Only columns without any edge are looked at, as
    others may well rise together by way of their neighbours.

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
    n = min(table.n_rows, most_rows)
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
    if erfc(float(strength[i, j]) * sqrt(n / 2)) * len(scales) ** 2 / 2 > LEAST_P_OF_SCALES:
        return []
    first, second = (table.names[scales[int(k)]] for k in (i, j))
    together = "rise together" if numbers[i] @ numbers[j] > 0 else "go against each other"
    how = f"declare both continuous ({option('continuous', first)}, …)"
    shown = f"correlation {float(numbers[i] @ numbers[j]):.2f}"
    words = f"'{first}' and '{second}' {together} ({shown}), which unordered levels do not show"
    return [f"{words}: if they are amounts, {how}"]
