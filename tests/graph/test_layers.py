import itertools
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from dagora.graph.layers import Layers, arrange, assign_rows, count_crossings, orient_downwards
from dagora.graph.topological import topological_order
from tests.graph.graph_strategies import dags, mixed_matrices


def arcs_of(dag):
    return [(dag.index(a), dag.index(b)) for a, b in dag.edges]


@given(dags())
def test_every_arc_leads_down(dag):
    row = assign_rows(len(dag), arcs_of(dag))
    assert all(row[a] < row[b] for a, b in arcs_of(dag))
    assert min(row) == 0


@pytest.mark.full
@given(dags())
def test_arcs_are_no_longer_than_with_longest_paths(dag):
    arcs = arcs_of(dag)
    longest = [0] * len(dag)
    for node in dag.order_indices:
        longest[node] = max((longest[p] + 1 for p in dag.parent_indices(node)), default=0)
    row = assign_rows(len(dag), arcs)
    assert sum(row[b] - row[a] for a, b in arcs) <= sum(longest[b] - longest[a] for a, b in arcs)


@given(mixed_matrices())
def test_orientation_is_acyclic_and_keeps_what_it_can(matrix):
    both = matrix & matrix.T
    arrows = [tuple(map(int, pair)) for pair in np.argwhere(matrix & ~both)]
    lines = [tuple(map(int, pair)) for pair in np.argwhere(np.triu(both))]
    down = orient_downwards(len(matrix), arrows, lines)
    assert [set(arc) for arc in down] == [set(arc) for arc in arrows + lines]
    result = np.zeros_like(matrix)
    for arc in down:
        result[arc] = True
    assert topological_order(result) is not None
    if topological_order(matrix & ~both) is not None:
        assert down[: len(arrows)] == arrows


@settings(max_examples=60)
@given(dags())
def test_chains_pass_through_every_row_between(dag):
    layers = arrange(len(dag), arcs_of(dag))
    row_of = {vertex: k for k, row in enumerate(layers.rows) for vertex in row}
    assert sorted(row_of) == list(range(len(layers.above)))
    for arc, chain in zip(arcs_of(dag), layers.chains, strict=True):
        assert (chain[0], chain[-1]) == arc
        assert [row_of[v] for v in chain] == list(range(row_of[arc[0]], row_of[arc[1]] + 1))
        for one, other in pairwise(chain):
            assert other in layers.below[one]
            assert one in layers.above[other]


@settings(max_examples=60)
@given(dags())
def test_crossings_by_brute_force(dag):
    layers = arrange(len(dag), arcs_of(dag))
    place = {vertex: k for row in layers.rows for k, vertex in enumerate(row)}
    total = 0
    for row in layers.rows:
        segments = [(place[v], place[w]) for v in row for w in layers.below[v]]
        total += sum((a - c) * (b - d) < 0 for (a, b), (c, d) in itertools.combinations(segments, 2))
    assert count_crossings(layers) == total


def test_untangles_what_can_be_untangled():
    crossed = [(0, 7), (1, 6), (2, 5), (3, 4)]
    assert count_crossings(arrange(8, crossed)) == 0
    tree = [(k, child) for k in range(15) for child in (2 * k + 1, 2 * k + 2)]
    assert count_crossings(arrange(31, tree)) == 0


def test_crossings_of_a_complete_bipartite_graph():
    arcs = [(a, 3 + b) for a in range(3) for b in range(3)]
    assert count_crossings(arrange(6, arcs)) == 9  # no order does better


def test_crossing_count_sees_a_crossing():
    twisted = Layers(4, [[0, 1], [2, 3]], [], [[], [], [1], [0]], [[3], [2], [], []])
    assert count_crossings(twisted) == 1


@pytest.mark.parametrize(("size", "rows"), [(0, []), (1, [[0]]), (3, [[0, 1, 2]])])
def test_without_arcs(size, rows):
    assert arrange(size, []).rows == rows
