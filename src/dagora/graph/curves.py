"""The shape of drawn edges: where they meet their nodes, and the smooth curve in between.

Edges leave at the bottom of a box and arrive at the top of another (or the other way round, for an edge that
leads up the page). Those that share a side are spread along it in the order of their directions, so that
arrowheads do not cover each other; the curve is made of cubic pieces with matching slopes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import hypot

from dagora.graph.dag import Edge
from dagora.graph.layout import NODE_HEIGHT, GraphLayout, Point, keep_apart

CORNER = 10.0  # least distance from a corner of a box to an edge that meets it
PORT_GAP = 9.0  # between edges that meet the same side of a box, where there is room
STEEPEST = 0.7  # largest sideways step per downward step at a bend, so that curves stay clear of boxes


def ports(plan: GraphLayout, widths: Mapping[str, float]) -> dict[tuple[Edge, str], Point]:
    """The point where each edge meets each of its two nodes."""
    sides: dict[tuple[str, bool], list[tuple[float, Edge]]] = {}
    for edge, route in plan.routes.items():
        for node, centre, towards in ((edge[0], route[0], route[1]), (edge[1], route[-1], route[-2])):
            slope = (towards[0] - centre[0]) / max(abs(towards[1] - centre[1]), 1.0)
            sides.setdefault((node, towards[1] > centre[1]), []).append((slope, edge))
    found: dict[tuple[Edge, str], Point] = {}
    for (node, lower), fan in sides.items():
        fan.sort()
        x, y = plan.positions[node]
        reach = max(widths[node] / 2 - CORNER, 0.0)
        gap = min(PORT_GAP, 2 * reach / max(len(fan) - 1, 1))
        offsets = [gap * k for k in range(len(fan))]
        wishes = [max(-reach, min(reach, slope * reach * 0.8)) for slope, _ in fan]
        placed = keep_apart(wishes, [1.0] * len(fan), offsets)
        for (_, edge), shift, offset in zip(fan, placed, offsets, strict=True):
            inside = max(-reach, min(reach - offsets[-1], shift - offset)) + offset
            found[edge, node] = (x + inside, y + NODE_HEIGHT / 2 if lower else y - NODE_HEIGHT / 2)
    return found


def curve(points: Sequence[Point]) -> tuple[str, Point]:
    """SVG path through points that run down (or up) the page, and the middle of the curve.

    >>> curve([(0, 0), (0, 10)])
    ('M0.0 0.0C0.0 4.0 0.0 6.0 0.0 10.0', (0.0, 5.0))
    """
    slopes = []
    last = len(points) - 1
    for k in range(len(points)):
        (x0, y0), (x1, y1) = points[max(k - 1, 0)], points[min(k + 1, last)]
        slope = (x1 - x0) / (y1 - y0) if y0 != y1 else 0.0
        limit = 0.35 * abs(slope) if k in (0, last) else STEEPEST  # near its ends a curve is nearly vertical
        slopes.append(max(-limit, min(limit, slope)))
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    middle = points[0]
    for k in range(last):
        (x0, y0), (x1, y1) = points[k], points[k + 1]
        step = (y1 - y0) * 0.4
        one, two = (x0 + slopes[k] * step, y0 + step), (x1 - slopes[k + 1] * step, y1 - step)
        path += f"C{one[0]:.1f} {one[1]:.1f} {two[0]:.1f} {two[1]:.1f} {x1:.1f} {y1:.1f}"
        if k == last // 2:
            middle = ((x0 + 3 * one[0] + 3 * two[0] + x1) / 8, (y0 + 3 * one[1] + 3 * two[1] + y1) / 8)
    return path, middle


def arrowhead(base: Point, tip: Point, half_width: float) -> str:
    """SVG path of a triangle that points from `base` to `tip`.

    >>> arrowhead((0, 0), (0, 8), 3)
    'M0.0 8.0L3.0 0.0L-3.0 0.0Z'
    """
    length = hypot(tip[0] - base[0], tip[1] - base[1]) or 1.0
    dx, dy = (tip[1] - base[1]) * half_width / length, (base[0] - tip[0]) * half_width / length
    corners = [tip, (base[0] + dx, base[1] + dy), (base[0] - dx, base[1] - dy)]
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in corners) + "Z"
