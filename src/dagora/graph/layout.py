"""A layered layout of a graph's nodes and edges, with x to the right and y downwards.

Rows and their order come from `dagora.graph.layers`. Along a row, x solves a least-squares problem: each
vertex is to be near the mean x of its neighbours, while the order and minimum distances are kept. With the
distances subtracted that is isotonic regression, solved exactly by pooling adjacent violators. Rows are
placed in turn, downwards and upwards, several times. Connected parts of the graph are laid out one by one and
packed side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

from dagora.graph.cpdag import Graph
from dagora.graph.dag import Edge
from dagora.graph.layers import Arc, Layers, affordable, arrange, orient_downwards

Point = tuple[float, float]

# In pixels, chosen by eye.
NODE_WIDTH = 60.0
NODE_HEIGHT = 30.0
ROW_GAP = 46.0  # between the bottom of a row and the top of the next
NODE_GAP = 22.0
BEND_GAP = 14.0
PART_GAP = 40.0
ASPECT = 1.4  # width of the picture per height, about
STRAIGHTENING_SWEEPS = 16  # times that all rows are placed
WIDE, FLATTEST = 3000.0, 3.0  # a part wider than this is no more than so many times as wide as high
BEND_PULL = 6.0  # weight of a neighbouring bend for a bend, so that long edges come out straight


@dataclass(frozen=True)
class GraphLayout:
    """Centres of the nodes and the points each edge passes through, in a box of `width` × `height`.

    A route starts at the centre of its edge's first node and ends at the centre of the second.
    """

    positions: dict[str, Point]
    routes: dict[Edge, tuple[Point, ...]]
    width: float
    height: float


def layout(
    graph: Graph, *, widths: Mapping[str, float] | None = None, extra: Iterable[Edge] = ()
) -> GraphLayout:
    """Lay out a graph; `widths` gives the width of each node, `extra` names further edges to route.

    >>> from dagora.graph.dag import DAG
    >>> fork = layout(DAG("abc", [("a", "b"), ("a", "c")]))
    >>> fork.positions["a"][1] < fork.positions["b"][1] == fork.positions["c"][1]
    True
    """
    edges = [*graph.edges, *graph.undirected, *extra]
    pairs = [(graph.index(one), graph.index(other)) for one, other in edges]
    arrows = len(graph.edges)
    down = orient_downwards(len(graph), pairs[:arrows], pairs[arrows:])
    sizes = [NODE_WIDTH if widths is None else widths[name] for name in graph.nodes]

    parts = [_lay_out_part(part, inside, down, sizes) for part, inside in _connected_parts(len(graph), down)]
    corners, width, height = _pack(parts)
    positions: dict[str, Point] = {}
    routes: dict[Edge, tuple[Point, ...]] = {}
    for part, (left, top) in zip(parts, corners, strict=True):
        for node, (x, y) in part.centres.items():
            positions[graph.nodes[node]] = (x + left, y + top)
        for edge, points in part.routes.items():
            moved = tuple((x + left, y + top) for x, y in points)
            routes[edges[edge]] = moved if down[edge] == pairs[edge] else moved[::-1]
    return GraphLayout(
        positions={name: positions[name] for name in graph.nodes},
        routes={edge: routes[edge] for edge in edges},
        width=width,
        height=height,
    )


@dataclass(frozen=True)
class _Part:
    """A connected part of the graph, in its own box."""

    centres: dict[int, Point]
    routes: dict[int, list[Point]]
    width: float
    height: float


def _connected_parts(size: int, arcs: Sequence[Arc]) -> list[tuple[list[int], list[int]]]:
    """Nodes and edges of each connected part, by the position of its first node."""
    near: list[list[int]] = [[] for _ in range(size)]
    for one, other in arcs:
        near[one].append(other)
        near[other].append(one)
    part_of = [-1] * size
    parts: list[tuple[list[int], list[int]]] = []
    for start in range(size):
        if part_of[start] >= 0:
            continue
        part_of[start] = len(parts)
        found = [start]
        for node in found:
            for other in near[node]:
                if part_of[other] < 0:
                    part_of[other] = len(parts)
                    found.append(other)
        parts.append((sorted(found), []))
    for edge, (one, _) in enumerate(arcs):
        parts[part_of[one]][1].append(edge)
    return parts


def _lay_out_part(nodes: list[int], inside: list[int], down: list[Arc], sizes: list[float]) -> _Part:
    local = {node: i for i, node in enumerate(nodes)}
    layers = arrange(len(nodes), [(local[down[edge][0]], local[down[edge][1]]) for edge in inside])
    widths = [sizes[node] for node in nodes]
    x = _place_along_rows(layers, widths)
    left = min(x[i] - widths[i] / 2 for i in range(len(nodes)))
    left = min(left, *x)
    right = max(*x, *(x[i] + widths[i] / 2 for i in range(len(nodes))))
    y = _spread_rows(_place_rows(layers, x), right - left)
    points = [(x[vertex] - left, y[vertex]) for vertex in range(len(x))]
    return _Part(
        centres={node: points[i] for node, i in local.items()},
        routes={edge: [points[v] for v in chain] for edge, chain in zip(inside, layers.chains, strict=True)},
        width=right - left,
        height=max(y) + NODE_HEIGHT / 2,
    )


def _place_along_rows(layers: Layers, widths: list[float]) -> list[float]:
    count = len(layers.above)
    width = [*widths, *([0.0] * (count - layers.size))]
    gap = [NODE_GAP if vertex < layers.size else BEND_GAP for vertex in range(count)]
    offsets = []
    for row in layers.rows:
        offset = [0.0]
        for one, other in pairwise(row):
            offset.append(offset[-1] + (width[one] + width[other]) / 2 + (gap[one] + gap[other]) / 2)
        offsets.append(offset)
    x = [0.0] * count
    for row, offset in zip(layers.rows, offsets, strict=True):
        for vertex, start in zip(row, offset, strict=True):
            x[vertex] = start - offset[-1] / 2
    sweeps = affordable(STRAIGHTENING_SWEEPS, layers, least=4)
    for sweep in range(sweeps):
        if sweep >= sweeps - 4:
            near = [[*up, *down] for up, down in zip(layers.above, layers.below, strict=True)]
        else:
            near = layers.below if sweep % 2 else layers.above
        order = range(len(layers.rows)) if sweep % 2 == 0 else range(len(layers.rows) - 1, -1, -1)
        for k in order:
            row = layers.rows[k]
            wish, weight = [], []
            for vertex in row:
                pull = [
                    BEND_PULL if vertex >= layers.size and other >= layers.size else 1.0
                    for other in near[vertex]
                ]
                total = sum(pull)
                aim = sum(p * x[other] for p, other in zip(pull, near[vertex], strict=True))
                wish.append(aim / total if total else x[vertex])
                weight.append(total or 0.1)
            for vertex, place in zip(row, keep_apart(wish, weight, offsets[k]), strict=True):
                x[vertex] = place
    return x


def keep_apart(wish: list[float], weight: list[float], offset: list[float]) -> list[float]:
    """Positions nearest to the wished ones (weighted least squares) that keep the order and the distances.

    >>> keep_apart([0.0, 0.0, 10.0], [1.0, 1.0, 1.0], [0.0, 4.0, 8.0])
    [-2.0, 2.0, 10.0]
    """
    blocks: list[tuple[float, float, int]] = []  # mean, weight, length
    for aim, pull, start in zip(wish, weight, offset, strict=True):
        mean, mass, length = aim - start, pull, 1
        while blocks and blocks[-1][0] > mean:
            earlier, earlier_mass, earlier_length = blocks.pop()
            mean = (mean * mass + earlier * earlier_mass) / (mass + earlier_mass)
            mass += earlier_mass
            length += earlier_length
        blocks.append((mean, mass, length))
    flat = [mean for mean, _, length in blocks for _ in range(length)]
    return [mean + start for mean, start in zip(flat, offset, strict=True)]


def _place_rows(layers: Layers, x: list[float]) -> list[float]:
    """Find y of each vertex; rows are further apart where the edges between them run far sideways."""
    y = [0.0] * len(x)
    level = NODE_HEIGHT / 2
    for row in layers.rows:
        for vertex in row:
            y[vertex] = level
        drift = [abs(x[vertex] - x[other]) for vertex in row for other in layers.below[vertex]]
        steepest = sorted(drift)[int(0.9 * len(drift))] if drift else 0.0
        level += NODE_HEIGHT + min(3 * ROW_GAP, max(ROW_GAP, steepest / 4))
    return y


def _spread_rows(y: list[float], width: float) -> list[float]:
    """Move the rows of a wide part further apart: else edges between them would lie on top of each other."""
    height = max(y) - NODE_HEIGHT / 2
    if width <= WIDE or height <= 0:
        return y
    stretch = max(1.0, width / FLATTEST / height)
    return [NODE_HEIGHT / 2 + (level - NODE_HEIGHT / 2) * stretch for level in y]


def _pack(parts: list[_Part]) -> tuple[list[Point], float, float]:
    """Put the parts on shelves, tallest first; returns each part's corner and the size of the whole.

    Nodes without any edge come last, on shelves of their own.
    """
    corners: list[Point] = [(0.0, 0.0)] * len(parts)
    joined = [k for k, part in enumerate(parts) if part.routes]
    alone = [k for k, part in enumerate(parts) if not part.routes]
    width = bottom = 0.0
    for group, gap in ((joined, PART_GAP), (alone, NODE_GAP)):
        if not group:
            continue
        area = sum((parts[k].width + gap) * (parts[k].height + gap) for k in group)
        limit = max(width, *(parts[k].width for k in group), ASPECT * sqrt(area))
        left, shelf = 0.0, 0.0
        top = bottom + PART_GAP if bottom else 0.0
        for k in sorted(group, key=lambda k: (-parts[k].height, k)):
            part = parts[k]
            if left > 0 and left + part.width > limit:
                left, top, shelf = 0.0, top + shelf + gap, 0.0
            corners[k] = (left, top)
            shelf = max(shelf, part.height)
            width = max(width, left + part.width)
            left += part.width + gap
        bottom = top + shelf
    return corners, width, bottom
