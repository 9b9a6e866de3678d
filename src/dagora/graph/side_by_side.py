"""Two graphs over the same nodes as two pictures with every node in the same place.

What both have is blue, what one has the other way round yellow, and what only one has red; each kind also has
its own dashes, as in `drawing`.
"""

from __future__ import annotations

from dataclasses import replace

from dagora.graph.ancestral.pag import PAG
from dagora.graph.any_graph import AnyGraph, number_of_edges
from dagora.graph.drawing import assemble_svg, box_widths, place_graph
from dagora.graph.pag_metrics import both_pags
from dagora.graph.strokes import Stroke, Verdict, strokes_of

WORDS: dict[Verdict, str] = {"correct": "in both", "reversed": "other direction", "extra": "only here"}


def draw_pair(one: AnyGraph, other: AnyGraph) -> tuple[str, str]:
    """Draw two graphs; edges have the colour of whether the other has them too.

    An undirected edge agrees with a directed one where `compare` says so: if the other graph is a DAG.

    >>> from dagora.graph.dag import DAG
    >>> left, right = draw_pair(DAG("abc", ["ab", "bc"]), DAG("abc", ["ba", "ac"]))
    >>> [picture.count("only here)") for picture in (left, right)]
    [1, 1]
    """
    if isinstance(one, PAG) or isinstance(other, PAG):
        one, other = both_pags(one, other)
    strokes = strokes_of(one, other)
    verdicts = {frozenset(stroke.edge): stroke.verdict for stroke in strokes}
    lost = {pair for pair, verdict in verdicts.items() if verdict == "missing"}
    left = [stroke for stroke in strokes if stroke.verdict != "missing"]
    right = []
    for stroke in strokes_of(other):
        pair = frozenset(stroke.edge)
        right.append(replace(stroke, verdict="extra" if pair in lost else verdicts[pair]))
    drawn = list(dict.fromkeys(stroke.edge for stroke in (*left, *right)))
    widths = box_widths(one.nodes, [*left, *right])
    plan, line = place_graph(one.outline() if isinstance(one, PAG) else one, widths, drawn)
    marks: dict[Verdict, str] = {**WORDS, "reversed": "other marks"} if isinstance(one, PAG) else WORDS

    def picture(graph: AnyGraph, strokes: list[Stroke]) -> str:
        summary = f"Graph of {len(graph)} nodes and {number_of_edges(graph)} edges"
        return assemble_svg(
            strokes, widths, plan, line, words=marks, legend=marks, title=None, summary=summary
        )

    return picture(one, left), picture(other, right)
