"""A graph in time in a report: which variable depends on which, and how many steps later."""

from __future__ import annotations

from dagora.graph.lagged_graph import LaggedGraph
from dagora.report.page import Content, Section, table

MOST_VARIABLES = 40  # of a table in which every pair has a cell
NOTE = (
    '<p class="soft">Rows are causes, columns what depends on them. 0: within a step; 1, 2, …: so many steps '
    "later; 0?: within a step, and the data leave the direction open. The same edges hold at every step.</p>"
)


def time_section(graph: LaggedGraph) -> list[Section]:
    """The lags of the edges between every two variables; nothing of many variables, or without an edge."""
    if len(graph.variables) > MOST_VARIABLES or not (graph.edges or graph.undirected):
        return []
    lags = lags_of_pairs(graph)
    rows: list[list[Content]] = [
        [tail, *(", ".join(lags.get((tail, head), ())) for head in graph.variables)]
        for tail in graph.variables
    ]
    return [Section("Over time", NOTE + table(["", *graph.variables], rows))]


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
