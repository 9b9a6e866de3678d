"""A PAG in a report: its edges, and what the marks at their ends say, in plain words."""

from __future__ import annotations

from dagora.graph.ancestral.pag import PAG, SHOWN
from dagora.graph.any_graph import AnyGraph
from dagora.graph.drawing import MARKED
from dagora.graph.pag_metrics import both_pags, classify_pag_edges
from dagora.report.page import Content, table

CAUTION = (
    "The marks follow from tests of independence. They hold if the tests are right, if what is independent "
    "is so because nothing connects it and not by chance, and if no variable causes itself in a circle."
)
# What an edge says of its two ends.
MEANINGS = {
    "-->": "{0} is a cause of {1}, directly or through others; something hidden may act on both as well",
    "<->": "neither causes the other: something hidden causes both",
    "o->": "{1} does not cause {0}: {0} causes {1}, something hidden causes both, or both hold",
    "o-o": "open: either may cause the other, or something hidden causes both",
    "---": "which rows are in the data depends on both",
    "--o": "{0} causes {1}, or what decided which rows are in the data",
}
SELECTED = (
    "Rows may have been selected (option selection): then “a cause of b” means a cause of b, or of what "
    "decided which rows are in the data."
)


def meaning(edge: tuple[str, str, str]) -> str:
    """The meaning of an edge.

    >>> meaning(("smoke", "o->", "cough"))
    'cough does not cause smoke: smoke causes cough, something hidden causes both, or both hold'
    """
    one, sign, other = edge
    return MEANINGS[sign].format(one, other)


def explain_marks(graph: PAG) -> str:
    """A table of the kinds of edges that the graph has, and what they mean."""
    present = {sign for _, sign, _ in graph.marked_edges}
    rows: list[list[Content]] = [
        [
            f"a\u00a0{SHOWN[sign]}\u00a0b",
            meaning(("a", sign, "b")),
            sum(edge[1] == sign for edge in graph.marked_edges),
        ]
        for sign in SHOWN
        if sign in present
    ]
    note = (
        '<p class="soft">Causes may be hidden. Each end of an edge has a mark: at b, an arrow says that b '
        "does not cause a, a tail (a bare end) that it does, a circle that the data leave it open. Variables "
        "without an edge are independent given some of the others.</p>"
    )
    return note + (table(("edge", "it says", "edges"), rows) if rows else "")


def edge_rows(graph: PAG, truth: AnyGraph | None) -> tuple[list[str], list[list[Content]]]:
    """All edges with what they say: head and rows of a table."""
    head = ["from", "edge", "to", "it says"]
    rows: list[list[Content]] = [
        [one, SHOWN[sign], other, meaning((one, sign, other))] for one, sign, other in graph.marked_edges
    ]
    if truth is not None:
        head.append("verdict")
        found, known = both_pags(graph, truth)
        verdicts = classify_pag_edges(found, known)
        for row, (one, _, other) in zip(rows, graph.marked_edges, strict=True):
            row.append(MARKED[verdicts.of_edge(known.index(one), known.index(other))])
    return head, rows
