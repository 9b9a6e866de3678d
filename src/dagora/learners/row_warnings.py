"""Warnings about a learned graph that are found in the rows: curves, scales that rise together, single rows.

Where time is up, as after Ctrl-C, they look at fewer rows, and what takes longer is left out with a word.
"""

from __future__ import annotations

from collections.abc import Mapping

from dagora.data.table import Table
from dagora.graph.any_graph import AnyGraph, number_of_edges
from dagora.graph.dag import Edge
from dagora.learners.curved_pairs import curved_pairs
from dagora.learners.influential_rows import MOST_WORK, SCORES, influential_rows, takes_long
from dagora.learners.rising_pairs import rising_pairs
from dagora.scores.registry import Score

LATE_ROWS = 2000
"""Rows that are looked at where time is up: of 300 columns, a tenth of a second."""

LATE_SHARE = 0.1
"""The part of the work of finding single rows that is done where time is up: a tenth of a second."""

NOT_LOOKED = "as time was up, rows that carry an edge alone were not looked for"


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
    rows = LATE_ROWS if late else None
    found = curved_pairs(table, graph, rows) if score.linear else []
    found += rising_pairs(table, graph, rows)
    if late and (not gains or takes_long(table, graph, MOST_WORK * LATE_SHARE)):
        return found, NOT_LOOKED if score.name in SCORES and number_of_edges(graph) else ""
    return found + influential_rows(table, graph, gains, score.name), ""
