"""Pictures of graphs in time: what is written on an edge stands where no box covers it."""

import itertools

from dagora.graph.lagged_graph import LaggedGraph
from dagora.graph.layout import NODE_HEIGHT
from dagora.graph.slices import COLUMN_GAP, place_slices


def test_labels_of_lagged_edges_stand_in_gaps_between_columns():
    names = ["soil", "rain", "river", "a very long name", "lake"]
    edges = [(a, b, lag) for a, b in itertools.product(names, names) for lag in (1, 2, 3)]
    graph = LaggedGraph(names, 3, edges)
    widths = {node: 44.0 + 6 * len(node) for node in graph.window.nodes}
    plan = place_slices(graph, widths, graph.window.edges)
    for edge in graph.window.edges:
        _, (x, y), _, _ = plan.line(edge, 0.0, 9.0)
        for node, (left, top) in plan.positions.items():
            away = abs(x - left) - widths[node] / 2, abs(y - top) - NODE_HEIGHT / 2
            assert max(away) > 0, f"the label of {edge} is behind {node}"
            if abs(x - left) < COLUMN_GAP / 2 + widths[node] / 2:
                assert away[0] > COLUMN_GAP / 3
