"""Where the nodes and edges of a graph in time are drawn: a column for each slice, the present on the right.

A variable has one row in all columns. Rows follow an order in which edges within a step lead down. Edges from
earlier steps run from the right side of a box to the left side of one at the present; those over several
steps bow upwards, past the boxes between. Edges within a step bow out on the right of the last column, the
further the more rows they pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dagora.graph.dag import Edge
from dagora.graph.lagged_graph import LaggedGraph, lagged_name, split_name
from dagora.graph.layout import NODE_HEIGHT, Point

COLUMN_GAP = 130.0
ROW_STEP = 58.0
HEADING = 26.0
FAN = 9.0  # how far above and below the middle of a side edges may arrive
BOW, WIDEST_BOW = 26.0, 190.0  # of edges within a step: for each row that is passed, and at most
LIFT = 24.0  # of edges over several steps, for each column that is passed

# The path of an edge, its middle, and where the mark at each end of it begins and ends.
Line = tuple[str, Point, tuple[Point, Point], tuple[Point, Point]]


@dataclass(frozen=True)
class Slices:
    """Centres of the nodes, headings of the columns, and where each edge arrives."""

    positions: dict[str, Point]
    headings: tuple[tuple[str, float], ...]
    width: float
    height: float
    half: dict[str, float]
    arrivals: dict[Edge, float]

    def line(self, edge: Edge, first: float, last: float) -> Line:
        """The line of an edge between marks of those lengths."""
        (x0, y0), (x1, y1) = self.positions[edge[0]], self.positions[edge[1]]
        lag = split_name(edge[0])[1]
        leave, shift = x0 + self.half[edge[0]], self.arrivals[edge]
        start = leave + first
        if lag:
            tip = (x1 - self.half[edge[1]], y1 + shift)
            base = (tip[0] - last, tip[1])
            reach, lift = (base[0] - start) * 0.45, LIFT * (lag - 1)
            one, two = (start + reach, y0 - lift), (base[0] - reach, base[1] - lift)
        else:
            tip = (x1 + self.half[edge[1]], y1 + shift)
            base = (tip[0] + last, tip[1])
            bow = bow_of(y1 - y0)
            one, two = (start + bow, y0), (base[0] + bow, base[1])
        path = (
            f"M{start:.1f} {y0:.1f}C{one[0]:.1f} {one[1]:.1f} {two[0]:.1f} {two[1]:.1f} "
            f"{base[0]:.1f} {base[1]:.1f}"
        )
        middle = (
            (start + 3 * one[0] + 3 * two[0] + base[0]) / 8,
            (y0 + 3 * one[1] + 3 * two[1] + base[1]) / 8,
        )
        return path, middle, ((start, y0), (leave, y0)), (base, tip)


def bow_of(distance: float) -> float:
    """How far an edge within a step bows out that leads some way down or up."""
    return min(WIDEST_BOW, BOW * (0.6 + abs(distance) / ROW_STEP))


def place_slices(graph: LaggedGraph, widths: Mapping[str, float], edges: Sequence[Edge]) -> Slices:
    """Lay out a graph in time; `edges` are those to be drawn, of its window.

    >>> graph = LaggedGraph("ab", 1, [("a", "b", 0), ("b", "b", 1)])
    >>> plan = place_slices(graph, dict.fromkeys(graph.window.nodes, 44.0), graph.window.edges)
    >>> [heading for heading, _ in plan.headings]
    ['t − 1', 't']
    >>> plan.positions["b[t-1]"][0] < plan.positions["b"][0], plan.positions["a"][1] < plan.positions["b"][1]
    (True, True)
    """
    rows = {name: row for row, name in enumerate(graph.within.order)}
    x = 0.0
    positions: dict[str, Point] = {}
    headings = []
    for lag in range(graph.lags, -1, -1):
        nodes = {name: lagged_name(name, lag) for name in graph.variables}
        wide = max(widths[node] for node in nodes.values())
        headings.append((f"t − {lag}" if lag else "t", x + wide / 2))
        for name, node in nodes.items():
            positions[node] = (x + wide / 2, HEADING + NODE_HEIGHT / 2 + ROW_STEP * rows[name])
        x += wide + COLUMN_GAP * (lag > 0)
    arrivals: dict[Edge, float] = {}
    for head in graph.variables:
        for earlier in (True, False):
            fan = [edge for edge in edges if edge[1] == head and (split_name(edge[0])[1] > 0) == earlier]
            fan.sort(key=lambda edge: (positions[edge[0]][1], positions[edge[0]][0]))
            for k, edge in enumerate(fan):
                arrivals[edge] = FAN * (2 * k / (len(fan) - 1) - 1) if len(fan) > 1 else 0.0
    bows = [
        bow_of(positions[head][1] - positions[tail][1]) for tail, head in edges if not split_name(tail)[1]
    ]
    height = HEADING + NODE_HEIGHT + ROW_STEP * (len(rows) - 1)
    half = {node: widths[node] / 2 for node in positions}
    return Slices(positions, tuple(headings), x + max(bows, default=0.0), height, half, arrivals)
