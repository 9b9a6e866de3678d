"""A picture of the families of a graph that changed: their children, and the edges into these."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from dagora.graph.dag import DAG
from dagora.graph.drawing import INK, NodeRole, assemble_svg, box_widths, place_graph
from dagora.graph.strokes import Verdict, strokes_of

CHANGED = NodeRole("changed", 'fill="#fbeef0" stroke="#bb5566" stroke-width="2.6"', INK)
WORDS: dict[Verdict, str] = {"changed": "into a family that changed", "plain": "as before"}


def draw_drift(graph: DAG, changed: Collection[str]) -> str:
    """Draw a graph in which the families of some nodes changed.

    >>> "(changed)" in draw_drift(DAG("xy", ["xy"]), ["y"]), "(changed)" in draw_drift(DAG("xy", ["xy"]), [])
    (True, False)
    """
    marked: Verdict = "changed"
    strokes = [
        replace(stroke, verdict=marked) if stroke.edge[1] in changed else stroke
        for stroke in strokes_of(graph)
    ]
    widths = box_widths(graph.nodes, strokes)
    plan, line = place_graph(graph, widths, [stroke.edge for stroke in strokes])
    summary = f"Graph of {len(graph)} nodes and {len(graph.edges)} edges; {len(changed)} families changed"
    roles = dict.fromkeys(changed, CHANGED)
    return assemble_svg(
        strokes, widths, plan, line, words=WORDS, legend=WORDS, title=None, summary=summary, roles=roles
    )
