"""A picture of what an effect rests on: what is set, the outcome, what is adjusted for, and the paths."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from dagora.graph.ancestral.pag import PAG
from dagora.graph.any_graph import AnyGraph, number_of_edges
from dagora.graph.curves import arrowhead
from dagora.graph.dag import Edge
from dagora.graph.drawing import INK, STYLES, NodeRole, assemble_svg, box_widths, place_graph
from dagora.graph.effect_paths import EffectPaths
from dagora.graph.strokes import Stroke, Verdict, strokes_of

SET = NodeRole("set", 'fill="#004488" stroke="#004488" stroke-width="1.2"', "#ffffff")
OUTCOME = NodeRole("outcome", 'fill="#228833" stroke="#228833" stroke-width="1.2"', "#ffffff")
ADJUSTED = NodeRole("adjusted for", 'fill="#f4f6f9" stroke="#bb5566" stroke-width="2.6"', INK)
WORDS: dict[Verdict, str] = {
    "causal": "causal path",
    "not causal": "path that is not causal",
    "deciding": "its direction decides",
}


def effect_roles(x: Iterable[str], y: str, adjustment: Iterable[str]) -> dict[str, NodeRole]:
    """The role of each variable in a question about an effect.

    >>> [role.words for role in effect_roles(["drug"], "death", ["severity"]).values()]
    ['adjusted for', 'set', 'outcome']
    """
    return {**dict.fromkeys(adjustment, ADJUSTED), **dict.fromkeys(x, SET), y: OUTCOME}


def draw_effect(
    graph: AnyGraph, roles: Mapping[str, NodeRole], paths: EffectPaths, deciding: Collection[Edge] = ()
) -> str:
    """Draw a graph with the roles of its nodes and the paths between them; its legend is `effect_legend`.

    >>> from dagora.graph.dag import DAG
    >>> from dagora.graph.effect_paths import effect_paths
    >>> graph = DAG("xy", ["xy"])
    >>> paths = effect_paths(graph, "x", "y", identified=True)
    >>> "(causal path)" in draw_effect(graph, effect_roles("x", "y", ()), paths)
    True
    """
    open_ = {frozenset(edge) for edge in deciding}

    def judge(stroke: Stroke) -> Stroke:
        pair = frozenset(stroke.edge)
        found: Verdict = "deciding" if pair in open_ else "causal" if pair in paths.causal else "plain"
        return replace(stroke, verdict="not causal" if pair in paths.other else found)

    strokes = [judge(stroke) for stroke in strokes_of(graph)]
    widths = box_widths(graph.nodes, strokes)
    outline = graph.outline() if isinstance(graph, PAG) else graph
    plan, line = place_graph(outline, widths, [stroke.edge for stroke in strokes])
    summary = f"Graph of {len(graph)} nodes and {number_of_edges(graph)} edges, with what the effect rests on"
    return assemble_svg(
        strokes, widths, plan, line, words=WORDS, legend={}, title=None, summary=summary, roles=roles
    )


def effect_legend(
    roles: Mapping[str, NodeRole], paths: EffectPaths, deciding: Collection[Edge] = ()
) -> list[tuple[str, str]]:
    """A small picture and the words of each kind of node and edge that there is."""
    there = [role for role in (SET, OUTCOME, ADJUSTED) if role in roles.values()]
    entries = [
        (f'<rect x="2" y="2" width="30" height="14" rx="5" {role.box}/>', role.words) for role in there
    ]
    seen: dict[Verdict, bool] = {
        "causal": bool(paths.causal), "not causal": bool(paths.other), "deciding": bool(deciding)
    }  # fmt: skip
    for verdict in (verdict for verdict, is_there in seen.items() if is_there):
        colour, dashes = STYLES[verdict]
        pattern = f' stroke-dasharray="{dashes}"' if dashes else ""
        line = f'<path d="M1 9H{24 if verdict == "causal" else 33}" stroke="{colour}" stroke-width="2.8"'
        tip = f'<path d="{arrowhead((23.0, 9.0), (33.0, 9.0), 5.0)}" fill="{colour}"/>'
        entries.append((f"{line}{pattern}/>" + tip * (verdict == "causal"), WORDS[verdict]))
    return [
        (f'<svg viewBox="0 0 34 18" width="34" height="18" aria-hidden="true">{drawing}</svg>', words)
        for drawing, words in entries
    ]
