"""A warning about pairs of continuous columns whose relation is a curve that linear scores do not see.

Of each pair, columns are brought to normal scores by their ranks, so that outliers and skewness do not count,
and one is correlated with the square of the other, less what is linear in it. Only pairs without an edge are
looked at: an edge says that they are related.
"""

from __future__ import annotations

from math import erfc, sqrt

import numpy as np
from numpy.typing import NDArray

from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.graph.any_graph import AnyGraph

LEAST_CORRELATION = 0.25
"""Correlation with the square from which on a relation is worth a line: a sixteenth of the variance."""

LEAST_P = 1e-6
"""Probability, times the number of pairs, below which it is no chance."""

MOST_COLUMNS, MOST_ROWS = 300, 20_000
"""More columns are not looked at, and of more rows the first; together a second of work at most."""

MOST_NAMED = 3  # pairs that the line names, to stay readable


def curved_pairs(table: Table, graph: AnyGraph, most_rows: int | None = None) -> list[str]:
    """One line about pairs without an edge of which one is related to the square of the other.

    Of more than `most_rows` the first are looked at; None is the usual number.

    >>> from dagora.graph.dag import DAG
    >>> x = np.linspace(-1, 1, 200)
    >>> table = Table.from_numpy(np.column_stack([x, x**2]), names=["x", "y"])
    >>> curved_pairs(table, DAG(["x", "y"]))[0][:52]
    'y depends on the square of x, and linear scores do n'
    """
    columns = [i for i, one in enumerate(table.schema) if one.kind is Kind.CONTINUOUS]
    n = min(table.n_rows, most_rows or MOST_ROWS)
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
        if i != j and chance < LEAST_P and frozenset((names[i], names[j])) not in adjacent:
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

    different, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    if len(different) < 2:
        return np.zeros(len(values))
    ranks = np.cumsum(counts) - (counts + 1) / 2 + 0.5
    scores = ndtri(ranks / len(values))[places]
    return np.asarray((scores - scores.mean()) / scores.std())
