"""Layout of a graph in time: a column for each slice, the present on the right.

A variable has one row in all columns. Rows follow an order in which edges within a step lead down. Edges from
earlier steps run from the right side of a box to the left side of one at the present; those over several
steps bow upwards, past the boxes between. The label of an edge stands in the gap behind the column that it
comes from, where no box hides it. Edges within a step bow out on the right of the last column, the further
the more rows they pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dagora.base.errors import GraphError
from dagora.graph.dag import DAG, Edge
from dagora.graph.lagged_graph import LaggedGraph, lagged_name, split_name
from dagora.graph.layout import NODE_HEIGHT, Point

# In pixels, chosen by eye.
COLUMN_GAP = 130.0
ROW_STEP = 58.0
HEADING = 26.0
FAN = 9.0  # how far above and below the middle of a side edges may arrive
BOW, WIDEST_BOW = 26.0, 190.0  # of edges within a step: for each row that is passed, and at most
LIFT = 24.0  # of edges over several steps, for each column that is passed

# The path of an edge, where its label stands, and where the mark at each end of it begins and ends.
Line = tuple[str, Point, tuple[Point, Point], tuple[Point, Point]]


@dataclass(frozen=True)
class TimeLayout:
    """Centres of the nodes, headings of the columns, and where each edge arrives.

    `gaps` has the middle of the gap behind the column of each lag, the present one left out.
    """

    positions: dict[str, Point]
    headings: tuple[tuple[str, float], ...]
    width: float
    height: float
    half: dict[str, float]
    arrivals: dict[Edge, float]
    gaps: dict[int, float]

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
        ends = ((start, y0), one, two, base)
        middle = point_at_x(self.gaps[lag], ends) if lag else on_curve(0.5, ends)
        return path, middle, ((start, y0), (leave, y0)), (base, tip)


def on_curve(share: float, ends: tuple[Point, Point, Point, Point]) -> Point:
    """A point on the curve of Bézier with these ends and handles.

    >>> on_curve(0.5, ((0.0, 0.0), (0.0, 4.0), (8.0, 4.0), (8.0, 0.0)))
    (4.0, 3.0)
    """
    rest = 1.0 - share
    parts = (rest**3, 3 * rest**2 * share, 3 * rest * share**2, share**3)
    x, y = (sum(part * end[axis] for part, end in zip(parts, ends, strict=True)) for axis in (0, 1))
    return x, y


def point_at_x(x: float, ends: tuple[Point, Point, Point, Point]) -> Point:
    """The point of a curve that runs from left to right at which it has passed x, by bisection.

    >>> point_at_x(4.0, ((0.0, 0.0), (0.0, 4.0), (8.0, 4.0), (8.0, 0.0)))
    (4.0, 3.0)
    """
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if on_curve(middle, ends)[0] >= x else (middle, high)
    return on_curve(high, ends)


def bow_of(distance: float) -> float:
    """The width of the bow of an edge within a step, by its vertical distance."""
    return min(WIDEST_BOW, BOW * (0.6 + abs(distance) / ROW_STEP))


def place_slices(graph: LaggedGraph, widths: Mapping[str, float], edges: Sequence[Edge]) -> TimeLayout:
    """Lay out a graph in time; `edges` are those to be drawn, of its window.

    >>> graph = LaggedGraph("ab", 1, [("a", "b", 0), ("b", "b", 1)])
    >>> plan = place_slices(graph, dict.fromkeys(graph.window.nodes, 44.0), graph.window.edges)
    >>> [heading for heading, _ in plan.headings]
    ['t − 1', 't']
    >>> plan.positions["b[t-1]"][0] < plan.positions["b"][0], plan.positions["a"][1] < plan.positions["b"][1]
    (True, True)
    """
    rows = {name: row for row, name in enumerate(order_within(graph))}
    x = 0.0
    positions: dict[str, Point] = {}
    headings = []
    gaps: dict[int, float] = {}
    for lag in range(graph.lags, -1, -1):
        nodes = {name: lagged_name(name, lag) for name in graph.variables}
        wide = max(widths[node] for node in nodes.values())
        headings.append((f"t − {lag}" if lag else "t", x + wide / 2))
        for name, node in nodes.items():
            positions[node] = (x + wide / 2, HEADING + NODE_HEIGHT / 2 + ROW_STEP * rows[name])
        x += wide + COLUMN_GAP * (lag > 0)
        gaps |= {lag: x - COLUMN_GAP / 2} if lag else {}
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
    return TimeLayout(positions, tuple(headings), x + max(bows, default=0.0), height, half, arrivals, gaps)


def order_within(graph: LaggedGraph) -> tuple[str, ...]:
    """The variables in an order in which edges within a step lead down, as far as these are directed.

    >>> order_within(LaggedGraph("abc", 1, [("c", "b", 0)], undirected=[("a", "b")]))
    ('c', 'b', 'a')
    """
    within = graph.within
    try:
        return within.order if isinstance(within, DAG) else within.extension().order
    except GraphError:
        return graph.variables
