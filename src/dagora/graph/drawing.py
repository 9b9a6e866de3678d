"""A picture of a graph as one self-contained SVG, without any drawing program.

Nodes are rounded boxes, edges are smooth curves along the routes of the layered layout; a graph in time is
drawn in slices side by side (`slices`). Given the truth, each
edge is coloured by its verdict (correct, reversed, extra, missing) and the legend counts them. The colours
follow Tol's "high contrast" set, with a darker yellow, which colour-blind readers can tell apart and which
differ in grey print; each verdict also has its own dash pattern. Nothing in the picture has an id, so that
one page can hold many pictures. At an end that a PAG leaves open stands a circle.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from xml.sax.saxutils import escape, quoteattr

from numpy.typing import ArrayLike

from dagora.graph.ancestral.pag import PAG, SIGNS
from dagora.graph.ancestral.pag import SHOWN as SHOWN_SIGNS
from dagora.graph.any_graph import AnyGraph, number_of_edges
from dagora.graph.cpdag import Graph
from dagora.graph.curves import CORNER, PORT_GAP, arrowhead, curve, ports
from dagora.graph.dag import Edge
from dagora.graph.edge_marks import ARROW, CIRCLE
from dagora.graph.lagged_graph import LaggedGraph, split_name
from dagora.graph.layout import NODE_HEIGHT, GraphLayout, Point, layout
from dagora.graph.slices import Line, TimeLayout, place_slices
from dagora.graph.strokes import Stroke, Verdict, strokes_of, with_strength

# In pixels, chosen by eye.
MARGIN = 24.0
FONT_SIZE = 13.0
LONGEST_LABEL = 28
CIRCLE_RADIUS = 4.2
LABELLED_EDGES = 40  # beyond this many, weights are shown by width and tooltip only
FONT = "font-family=\"'Helvetica Neue',Helvetica,Arial,'DejaVu Sans',sans-serif\""
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
BOX = 'fill="#f4f6f9" stroke="#5b6b7f" stroke-width="1.2"'
INK = "#1d2733"

STYLES: dict[Verdict, tuple[str, str]] = {  # colour, dash pattern
    "plain": ("#4a5869", ""),
    "shown": ("#004488", "12 2 2 2"),
    "correct": ("#004488", ""),
    "reversed": ("#b98500", "9 3"),
    "extra": ("#bb5566", "2 3"),
    "missing": ("#7c8794", "6 5"),
    "causal": ("#004488", ""),
    "not causal": ("#bb5566", "2 3"),
    "deciding": ("#b98500", "9 3"),
    "changed": ("#bb5566", ""),
    "weak": ("#7c8794", "5 4"),
}
# The words of a legend.
JUDGED: dict[Verdict, str] = {word: word for word in ("correct", "reversed", "extra", "missing")}
# Edges of a PAG have no direction that could be reversed.
MARKED: dict[Verdict, str] = {**JUDGED, "reversed": "other marks"}
SHOWN: dict[Verdict, str] = {"shown": "direction shown by an intervention:", "plain": "other edges:"}
WEAK: dict[Verdict, str] = {"weak": "weak edge from an earlier step:"}


# About the time that a layout takes, on one core.
SECONDS_AN_EDGE = 2e-3

LineOf = Callable[[Edge, float, float], Line]


@dataclass(frozen=True)
class NodeRole:
    """The role of a node in a question: the words for it, and the colours of its box."""

    words: str
    box: str = BOX
    ink: str = INK


PLAIN = NodeRole("")


def draw_svg(
    graph: AnyGraph,
    *,
    truth: AnyGraph | None = None,
    weights: ArrayLike | None = None,
    title: str | None = None,
    shown: Collection[Edge] = (),
    strengths: Mapping[Edge, float] | None = None,
    unsure: Collection[Edge] = (),
) -> str:
    """Draw a graph; `truth` colours the edges by verdict, `weights` ([i, j] for i → j) sets their width.

    `strengths` sets their width too, where there are no weights: what the score would lose without an edge.
    `shown` are edges whose direction an intervention shows: without a truth, they have a colour of their own.
    `unsure` are arrows that are drawn as lines, because weak evidence directs them; those from an earlier
    step, which time directs, are dashed.

    >>> from dagora.graph.dag import DAG
    >>> draw_svg(DAG("ab", [("a", "b")]), title="a < b")[:4]
    '<svg'
    """
    strokes = [
        in_doubt(with_strength(each, strengths or {}), unsure)
        for each in strokes_of(graph, truth, weights, shown)
    ]
    widths = box_widths(graph.nodes, strokes)
    outline = graph.outline() if isinstance(graph, PAG) else graph
    plan, line = place_graph(outline, widths, [stroke.edge for stroke in strokes])
    words = MARKED if isinstance(graph, PAG) else JUDGED
    is_weak = any(stroke.verdict == "weak" for stroke in strokes)
    legend = words if truth is not None else SHOWN if shown else WEAK if is_weak else {}
    summary = title or f"Graph of {len(graph)} nodes and {number_of_edges(graph)} edges"
    return assemble_svg(strokes, widths, plan, line, words=words, legend=legend, title=title, summary=summary)


def in_doubt(stroke: Stroke, unsure: Collection[Edge]) -> Stroke:
    """The stroke as a line, or dashed where time directs it, if it is among the unsure ones."""
    if stroke.edge not in unsure:
        return stroke
    if split_name(stroke.edge[0])[1]:
        return replace(stroke, verdict="weak") if stroke.verdict == "plain" else stroke
    return replace(stroke, unsure=True)


def too_slow_to_draw(graph: AnyGraph, seconds: float | None) -> bool:
    """Return True if a picture would take about more than so many seconds; None is any number of them."""
    return seconds is not None and SECONDS_AN_EDGE * number_of_edges(graph) > seconds


def assemble_svg(
    strokes: Sequence[Stroke],
    widths: Mapping[str, float],
    plan: GraphLayout | TimeLayout,
    line: LineOf,
    *,
    words: Mapping[Verdict, str],
    legend: Mapping[Verdict, str],
    title: str | None,
    summary: str,
    roles: Mapping[str, NodeRole] | None = None,
) -> str:
    """The picture: edges, boxes, title, and a legend of some verdicts with how many edges have each.

    `words` say of an edge which verdict it has, `roles` what some nodes are.
    """
    listed = _legend(strokes, legend)
    heading = 30.0 * (title is not None) + 26.0 * bool(listed)
    needed = [plan.width, sum(width for _, width in listed), text_width(title or "") * 1.3]
    width, height = max(needed) + 2 * MARGIN, plan.height + heading + 2 * MARGIN
    size = f'width="{width:.0f}" height="{height:.0f}"'
    view = f'viewBox="0 0 {width:.0f} {height:.0f}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {view} role="img" {FONT}>',
        f"<title>{clean_text(summary)}</title>",
        f'<rect {size} fill="#ffffff"/>',
    ]
    if title is not None:
        style = f'font-size="17" font-weight="600" fill="{INK}"'
        parts.append(f'<text x="{MARGIN:g}" y="{MARGIN + 12:g}" {style}>{clean_text(title)}</text>')
    x = MARGIN
    for drawing, length in listed:
        parts.append(f'<g transform="translate({x:.1f} {MARGIN + heading - 22:.1f})">{drawing}</g>')
        x += length
    left = (width - plan.width) / 2
    parts.append(f'<g transform="translate({left:.1f} {MARGIN + heading:.1f})">')
    scale = max((abs(s.weight) for s in strokes if s.weight is not None), default=0.0)
    labelled = len(strokes) <= LABELLED_EDGES
    strongest = max((s.strength for s in strokes if s.strength is not None), default=0.0)
    # Correct edges are drawn last, on top of the others.
    ranks = list(STYLES)
    parts += [
        _edge(stroke, line, scale, strongest, words, labelled=labelled)
        for stroke in sorted(strokes, key=lambda s: -ranks.index(s.verdict))
    ]
    parts += [_heading(*heading) for heading in plan.headings] if isinstance(plan, TimeLayout) else []
    known = roles or {}
    parts += [_node(name, plan.positions[name], widths[name], known.get(name, PLAIN)) for name in widths]
    return "\n".join([*parts, "</g>", "</svg>", ""])


def place_graph(
    graph: Graph, widths: Mapping[str, float], edges: Sequence[Edge]
) -> tuple[GraphLayout | TimeLayout, LineOf]:
    """Place nodes and give edges their shapes: in layers, or in slices of time for a graph in time.

    `edges` are all that are to be drawn, also those that the graph has the other way round or not at all.
    """
    in_time = LaggedGraph.of_window(graph)
    if in_time is not None:
        slices = place_slices(in_time, widths, edges)
        return slices, slices.line
    own = {frozenset(edge) for edge in (*graph.edges, *graph.undirected)}
    plan = layout(graph, widths=widths, extra=[edge for edge in edges if frozenset(edge) not in own])
    meets = ports(plan, widths)

    def line(edge: Edge, first: float, last: float) -> Line:
        known = edge if edge in plan.routes else edge[::-1]
        _, *inner, _ = plan.routes[known] if known == edge else plan.routes[known][::-1]
        tail, head = meets[known, edge[0]], meets[known, edge[1]]
        route = [tail, *inner, head]
        left, right = mark_start(tail, route[1], first), mark_start(head, route[-2], last)
        return *curve([left, *inner, right]), (left, tail), (right, head)

    return plan, line


def mark_start(end: Point, towards: Point, length: float) -> Point:
    """The point some way above or below the end of an edge, where its mark begins.

    >>> mark_start((0.0, 10.0), (3.0, 40.0), 8.0)
    (0.0, 18.0)
    """
    (x, y), (_, other) = end, towards
    return (x, y - length if other < y else y + length)


def _heading(text: str, x: float) -> str:
    """The name of a slice of time, above its column."""
    style = f'font-size="{FONT_SIZE:g}" font-weight="600" text-anchor="middle" fill="{INK}"'
    return f'<text x="{x:.1f}" y="12" {style}>{clean_text(text)}</text>'


def box_widths(nodes: Sequence[str], strokes: Sequence[Stroke]) -> dict[str, float]:
    """Wide enough for the label, and for the edges that meet one side of the box."""
    fan: Counter[tuple[str, int]] = Counter((stroke.edge[end], end) for stroke in strokes for end in (0, 1))
    widths = {}
    for name in nodes:
        edges = max(fan[name, 0], fan[name, 1])
        widths[name] = max(
            44.0, text_width(short_label(name)) + 22, min(PORT_GAP * (edges - 1) + 2 * CORNER, 240.0)
        )
    return widths


def _legend(strokes: Sequence[Stroke], words: Mapping[Verdict, str]) -> list[tuple[str, float]]:
    """Line sample, words and count of each verdict, with the width each takes."""
    entries = []
    for verdict, word in words.items():
        text = f"{word} {sum(stroke.verdict == verdict for stroke in strokes)}"
        colour, _ = STYLES[verdict]
        drawing = (
            f'<path d="M0 0H28" {_line(verdict, 2.4)}/>'
            f'<path d="{arrowhead((27.0, 0.0), (36.0, 0.0), 5.0)}" fill="{colour}"/>'
            f'<text x="42" y="4.5" font-size="{FONT_SIZE:g}" fill="{INK}">{text}</text>'
        )
        entries.append((drawing, 42 + text_width(text) + 26))
    return entries


def _node(name: str, centre: Point, width: float, role: NodeRole) -> str:
    x, y = centre
    left, top, base = x - width / 2, y - NODE_HEIGHT / 2, y + FONT_SIZE * 0.36
    said = f" data-role={quoteattr(role.words)}" if role.words else ""
    note = f" ({role.words})" if role.words else ""
    return (
        f"<g data-node={quoteattr(clean_letters(name))}{said}><title>{clean_text(name + note)}</title>"
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{NODE_HEIGHT:g}" rx="9" {role.box}/>'
        f'<text x="{x:.1f}" y="{base:.1f}" font-size="{FONT_SIZE:g}" text-anchor="middle" fill="{role.ink}">'
        f"{clean_text(short_label(name))}</text></g>"
    )


def _edge(
    stroke: Stroke,
    line: LineOf,
    scale: float,
    strongest: float,
    words: Mapping[Verdict, str],
    *,
    labelled: bool,
) -> str:
    tail, head = stroke.edge
    colour, _ = STYLES[stroke.verdict]
    share = abs(stroke.weight) / scale if stroke.weight is not None and scale > 0 else None
    if share is None and stroke.strength is not None and strongest > 0:
        # Of the root, as strengths in one graph are often a hundred times as large as others.
        share = math.sqrt(max(stroke.strength, 0.0) / strongest)
    thickness = 1.9 if share is None else 1.0 + 2.6 * share
    thickness = {"missing": 1.6, "causal": 3.2}.get(stroke.verdict, thickness)
    sign = "---" if stroke.unsure else stroke.sign
    left, right = SIGNS[sign]
    path, middle, first, last = line(
        stroke.edge, _mark_length(left, thickness), _mark_length(right, thickness)
    )
    mark = f" {SHOWN_SIGNS[sign]} "
    note = f": {stroke.label}" * bool(stroke.label) if stroke.weight is None else f": {stroke.weight:.3g}"
    lost = "" if stroke.strength is None else f", {stroke.strength:.1f} nats"
    verdict = "" if stroke.verdict == "plain" else f" ({words.get(stroke.verdict, stroke.verdict)})"
    drawing = f'<path d="{path}" fill="none" {_line(stroke.verdict, thickness)}/>'
    drawing += _mark(*first, left, thickness, colour) + _mark(*last, right, thickness, colour)
    if labelled and stroke.weight is not None:
        drawing += _label(middle, f"{stroke.weight:.2f}".replace("-0.00", "0.00"), colour)
    elif stroke.label:
        drawing += _label(middle, stroke.label, colour)
    ends = f"data-tail={quoteattr(clean_letters(tail))} data-head={quoteattr(clean_letters(head))}"
    ends += f" data-sign={quoteattr(stroke.sign)}" + ' data-missing=""' * (stroke.verdict == "missing")
    if stroke.strength is not None:
        ends += f' data-strength="{stroke.strength:.6g}"'
    return f"<g {ends}><title>{clean_text(tail + mark + head + note + lost + verdict)}</title>{drawing}</g>"


def _mark_length(mark: int, thickness: float) -> float:
    """Length of the mark at an end of an edge."""
    return {ARROW: 5.0 + 2.0 * thickness, CIRCLE: 2 * CIRCLE_RADIUS + 0.8}.get(mark, 0.0)


def _mark(base: Point, tip: Point, mark: int, thickness: float, colour: str) -> str:
    """The mark between the end of a line and the node, which `tip` is at."""
    if mark == ARROW:
        return f'<path d="{arrowhead(base, tip, 2.2 + 1.3 * thickness)}" fill="{colour}"/>'
    if mark == CIRCLE:
        share = CIRCLE_RADIUS / _mark_length(CIRCLE, thickness)
        x, y = (b + share * (t - b) for b, t in zip(base, tip, strict=True))
        ring = f'stroke="{colour}" stroke-width="1.6" fill="#ffffff"'
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{CIRCLE_RADIUS:g}" {ring}/>'
    return ""


def _label(at: Point, text: str, colour: str) -> str:
    width = 6.6 * len(text) + 4
    return (
        f'<rect x="{at[0] - width / 2:.1f}" y="{at[1] - 8:.1f}" width="{width:.1f}" height="16" rx="4" '
        f'fill="#ffffff" fill-opacity="0.88"/><text x="{at[0]:.1f}" y="{at[1] + 4:.1f}" font-size="11" '
        f'text-anchor="middle" fill="{colour}">{text}</text>'
    )


def _line(verdict: Verdict, thickness: float) -> str:
    colour, dashes = STYLES[verdict]
    pattern = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'stroke="{colour}" stroke-width="{thickness:.2f}"{pattern}'


def short_label(name: str) -> str:
    """Return a name, shortened if it is too long to be drawn."""
    return name if len(name) <= LONGEST_LABEL else name[: LONGEST_LABEL - 1] + "…"


def text_width(text: str) -> float:
    """Estimated width of a drawn text; fonts differ, so this is rather too wide than too narrow."""
    per_letter = {"wide": 1.0, "capital": 0.72, "thin": 0.34, "other": 0.58}
    total = 0.0
    for letter in text:
        if unicodedata.east_asian_width(letter) in "WF":
            total += per_letter["wide"]
        elif letter in "MWmw@%" or letter.isupper():
            total += per_letter["capital"]
        else:
            total += per_letter["thin" if letter in "iljftrI.,:;'|!()[] " else "other"]
    return total * FONT_SIZE


def clean_text(text: str) -> str:
    """Escape a text for XML."""
    return escape(clean_letters(text))


def clean_letters(text: str) -> str:
    """Replace characters that XML cannot hold by U+FFFD."""
    return text if text.isprintable() else NOT_XML.sub("\ufffd", text)
