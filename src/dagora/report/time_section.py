"""A graph in time in a report: which variable depends on which, how many steps later, in three views.

The picture of the graph shows the steps side by side; here stand one node for each variable, one matrix for
each lag, and a table.
"""

from __future__ import annotations

from collections.abc import Collection

from dagora.graph.dag import Edge
from dagora.graph.lag_matrices import draw_lags
from dagora.graph.lagged_graph import LaggedGraph
from dagora.graph.summary_picture import draw_summary
from dagora.report.page import Content, Section, table

MOST_VARIABLES = 40  # of a table in which every pair has a cell
NOTE = (
    '<p class="soft">Rows are causes, columns what depends on them. 0: within a step; 1, 2, …: so many steps '
    "later; 0?: within a step, and the data leave the direction open. The same edges hold at every step.</p>"
)


VIEWS = (
    '<p class="soft">One node for each variable: the number on an edge says how many steps later it acts. '
    "Then a matrix for each step that edges come from: rows are causes. What is dashed is weak, what is a "
    "bar has no known direction.</p>"
)


def time_section(graph: LaggedGraph, weak: Collection[Edge] = ()) -> list[Section]:
    """The lags of the edges between every two variables; nothing of many variables, or without an edge.

    `weak` are edges of the window that other rows may not show.
    """
    if len(graph.variables) > MOST_VARIABLES or not (graph.edges or graph.undirected):
        return []
    lags = lags_of_pairs(graph)
    rows: list[list[Content]] = [
        [tail, *(", ".join(lags.get((tail, head), ())) for head in graph.variables)]
        for tail in graph.variables
    ]
    pictures = "".join(
        f"<figure>{picture}</figure>" for picture in [draw_summary(graph, weak), *draw_lags(graph, weak)]
    )
    views = f'{VIEWS}<div class="charts">{pictures}</div>'
    return [Section("Over time", views + NOTE + table(["", *graph.variables], rows))]


def lags_of_pairs(graph: LaggedGraph) -> dict[tuple[str, str], list[str]]:
    """The lags of the edges from one variable to another, in words.

    >>> lags_of_pairs(LaggedGraph("ab", 2, [("a", "b", 0), ("a", "b", 2)]))
    {('a', 'b'): ['0', '2']}
    >>> lags_of_pairs(LaggedGraph("ab", 1, [("a", "b", 1)], undirected=[("b", "a")]))
    {('a', 'b'): ['0?', '1'], ('b', 'a'): ['0?']}
    """
    found: dict[tuple[str, str], list[str]] = {}
    for one, other in graph.undirected:
        found[one, other], found[other, one] = ["0?"], ["0?"]
    for tail, head, lag in sorted(graph.edges, key=lambda edge: edge[2]):
        found.setdefault((tail, head), []).append(str(lag))
    return {pair: found[pair] for pair in sorted(found)}
