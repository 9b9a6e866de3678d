"""A graph in time as one node for each variable: an edge says how many steps later one acts on another.

Nodes stand on an ellipse, so that no edge runs through a box between. Edges bow to one side, so that those of
both directions stay apart; a variable that depends on its own past has a loop.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import cos, hypot, pi, sin

from dagora.base.phrases import amount
from dagora.graph.dag import Edge
from dagora.graph.drawing import assemble_svg, box_widths
from dagora.graph.lagged_graph import LaggedGraph, window_edge
from dagora.graph.layout import NODE_HEIGHT, GraphLayout, Point
from dagora.graph.slices import Line, on_curve, order_within
from dagora.graph.strokes import Stroke, Verdict

# In pixels, chosen by eye.
LOOP = 34.0
AROUND = 46.0  # of the ellipse, for each node
LEAST = 85.0
BOW = 0.16  # of the length of an edge
ASIDE = 0.37  # of the way: labels of edges that cross in the middle stay apart
LEGEND: dict[Verdict, str] = {"weak": "weak:"}


def draw_summary(graph: LaggedGraph, weak: Collection[Edge] = ()) -> str:
    """Draw one node for each variable; `weak` edges of the window are dashed where a pair has no other.

    >>> picture = draw_summary(LaggedGraph("ab", 2, [("a", "b", 0), ("a", "b", 2), ("b", "b", 1)]))
    >>> ">0, 2</text>" in picture, ">1</text>" in picture
    (True, True)
    """
    lags: dict[Edge, list[str]] = {}
    strong = set()
    for edge in sorted(graph.edges, key=lambda one: one[2]):
        lags.setdefault(edge[:2], []).append(str(edge[2]))
        if window_edge(edge) not in weak:
            strong.add(edge[:2])
    strokes = [
        Stroke(pair, "-->", "plain" if pair in strong else "weak", None, label=", ".join(listed))
        for pair, listed in lags.items()
    ]
    strokes += [Stroke(line, "---", "plain", None, label="0") for line in graph.undirected]
    widths = box_widths(graph.variables, [])
    plan = around(graph, widths)
    centre = plan.width / 2, plan.height / 2

    def line(edge: Edge, first: float, last: float) -> Line:
        return joining(edge, plan.positions, widths, centre, first, last)

    legend = LEGEND if any(stroke.verdict == "weak" for stroke in strokes) else {}
    said = f"Summary of {amount(len(graph.variables), 'variable')}, {amount(graph.lags, 'step')} back"
    return assemble_svg(strokes, widths, plan, line, words={}, legend=legend, title=None, summary=said)


def around(graph: LaggedGraph, widths: Mapping[str, float]) -> GraphLayout:
    """The nodes on an ellipse, from the top and with the clock."""
    order = order_within(graph)
    high = max(LEAST, AROUND * len(order) / pi)
    wide = high + max(widths.values()) / 2
    width, height = 2 * wide + max(widths.values()), 2 * high + NODE_HEIGHT + 2 * LOOP
    positions = {
        name: (width / 2 + wide * sin(turn), height / 2 - high * cos(turn))
        for name, turn in ((name, 2 * pi * k / len(order)) for k, name in enumerate(order))
    }
    return GraphLayout(positions, {}, width, height)


def joining(
    edge: Edge,
    positions: Mapping[str, Point],
    widths: Mapping[str, float],
    centre: Point,
    first: float,
    last: float,
) -> Line:
    """The line between two boxes, or from one to itself, with room for marks of these lengths."""
    (x0, y0), (x1, y1) = positions[edge[0]], positions[edge[1]]
    if edge[0] == edge[1]:
        out = -1.0 if y0 <= centre[1] else 1.0
        side = y0 + out * NODE_HEIGHT / 2
        start, base, tip = (x0 - 11, side), (x0 + 11, side + out * last), (x0 + 11, side)
        one, two = (x0 - 17, side + out * LOOP), (x0 + 17, side + out * (LOOP + last / 2))
        began = start
    else:
        bend = (x0 + x1) / 2 + BOW * (y1 - y0), (y0 + y1) / 2 - BOW * (x1 - x0)
        began, tip = (
            leaving((x0, y0), bend, widths[edge[0]]), leaving((x1, y1), bend, widths[edge[1]]),
        )  # fmt: skip
        start, base = towards(began, bend, first), towards(tip, bend, last)
        one, two = (((end[0] + 2 * bend[0]) / 3, (end[1] + 2 * bend[1]) / 3) for end in (start, base))
    path = "M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}".format(*start, *one, *two, *base)
    middle = on_curve(0.5 if edge[0] == edge[1] else ASIDE, (start, one, two, base))
    return path, middle, (start, began), (base, tip)


def leaving(box: Point, to: Point, width: float) -> Point:
    """The point at which a line from the middle of a box leaves it.

    >>> leaving((0.0, 0.0), (100.0, 0.0), 44.0)
    (22.0, 0.0)
    """
    across, down = to[0] - box[0], to[1] - box[1]
    share = min(width / 2 / abs(across) if across else 1e9, NODE_HEIGHT / 2 / abs(down) if down else 1e9)
    return box[0] + share * across, box[1] + share * down


def towards(start: Point, to: Point, length: float) -> Point:
    """The point so far from the start on the way to another."""
    far = hypot(to[0] - start[0], to[1] - start[1]) or 1.0
    return start[0] + length * (to[0] - start[0]) / far, start[1] + length * (to[1] - start[1]) / far
