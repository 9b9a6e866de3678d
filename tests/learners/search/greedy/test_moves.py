"""Kernels over graphs and gains against networkx and brute force."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.graph.knowledge import Knowledge
from dagora.learners.search.greedy.moves import (
    ADD,
    DELETE,
    NONE,
    REVERSE,
    best_move,
    edge_hash,
    extend_reach,
    reachability,
    reversal_closes_cycle,
    topological_sort,
)
from tests.learners.search.search_oracles import legal_moves
from tests.random_tables import random_dag

NO_TABU = np.zeros(0, dtype=np.uint64)
seeds = st.integers(0, 2**32 - 1)


def closure(graph):
    matrix = np.zeros((len(graph), len(graph)), dtype=bool)
    for i, node in enumerate(graph.nodes):
        for other in nx.descendants(graph.to_networkx(), node):
            matrix[i, graph.index(other)] = True
    return matrix


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(1, 9), st.sampled_from([0.0, 0.2, 0.5, 1.0]))
def test_orders_and_paths_equal_networkx(seed, size, density):
    graph = random_dag(np.random.default_rng(seed), size, density)
    present = graph.to_numpy()
    order = topological_sort(present)
    assert sorted(order.tolist()) == list(range(size))
    place = {node: position for position, node in enumerate(order.tolist())}
    assert all(place[i] < place[j] for i, j in np.argwhere(present).tolist())
    expected = closure(graph)
    np.testing.assert_array_equal(reachability(present, order), expected)
    np.testing.assert_array_equal(reachability(present, np.array(graph.order_indices)), expected)


@settings(max_examples=30, deadline=None)
@given(seeds, st.integers(2, 8))
def test_paths_grow_with_each_edge(seed, size):
    rng = np.random.default_rng(seed)
    graph = random_dag(rng, size, 0.6)
    reach = np.zeros((size, size), dtype=bool)
    present = np.zeros((size, size), dtype=bool)
    edges = np.argwhere(graph.to_numpy())
    for i, j in rng.permutation(edges).tolist():
        present[i, j] = True
        extend_reach(reach, i, j)
        np.testing.assert_array_equal(reach, reachability(present, topological_sort(present)))


@settings(max_examples=30, deadline=None)
@given(seeds, st.integers(2, 7))
def test_a_reversal_is_judged_as_networkx_would(seed, size):
    graph = random_dag(np.random.default_rng(seed), size, 0.5)
    present = graph.to_numpy()
    reach = closure(graph)
    for i, j in np.argwhere(present).tolist():
        other = graph.to_networkx()
        other.remove_edge(graph.nodes[i], graph.nodes[j])
        other.add_edge(graph.nodes[j], graph.nodes[i])
        assert reversal_closes_cycle(present, reach, i, j) != nx.is_directed_acyclic_graph(other)


def random_gains(rng, size):
    """Gains that need not come from any score; some moves are barred, some tie."""
    additions, deletions = (rng.integers(-4, 5, size=(size, size)).astype(float) for _ in range(2))
    additions[rng.random((size, size)) < 0.2] = -np.inf
    deletions[rng.random((size, size)) < 0.2] = -np.inf
    np.fill_diagonal(additions, -np.inf)
    return additions, deletions


def brute_best(graph, additions, deletions, tolerance, banned):
    """Largest gain, then the first move by tail, head, kind that comes within the tolerance."""
    gains = {}
    for (kind, i, j), after in legal_moves(graph, Knowledge()).items():
        gain = additions[i, j] if kind == ADD else deletions[i, j]
        gain += additions[j, i] if kind == REVERSE else 0.0
        if gain > -np.inf and after not in banned:
            gains[i, j, kind] = gain
    if not gains:
        return -np.inf, NONE, -1, -1
    top = max(gains.values())
    i, j, kind = min(move for move, gain in gains.items() if gain >= top - tolerance)
    return gains[i, j, kind], kind, i, j


@pytest.mark.full
@settings(max_examples=80, deadline=None)
@given(seeds, st.integers(1, 6), st.sampled_from([0.0, 0.3, 0.7, 1.0]), st.sampled_from([0.0, 1e-9, 1.0]))
def test_best_move_equals_brute_force_ties_and_tabus_included(seed, size, density, tolerance):
    assert DELETE < REVERSE
    rng = np.random.default_rng(seed)
    graph = random_dag(rng, size, density)
    present = graph.to_numpy()
    additions, deletions = random_gains(rng, size)

    def hash_of(other):
        hashes = [edge_hash(i, j) for i, j in np.argwhere(other.to_numpy())]
        return np.bitwise_xor.reduce(np.array(hashes, dtype=np.uint64), initial=np.uint64(0))

    banned = set()
    for _ in range(4):
        tabu = np.array([hash_of(other) for other in banned], dtype=np.uint64)
        found = best_move(additions, deletions, present, closure(graph), tolerance, hash_of(graph), tabu)
        assert tuple(found) == brute_best(graph, additions, deletions, tolerance, banned)
        if found[1] == NONE:
            break
        banned.add(legal_moves(graph, Knowledge())[found[1], found[2], found[3]])


@pytest.mark.parametrize("size", [1, 2])
def test_where_nothing_is_permitted_there_is_no_move(size):
    barred = np.full((size, size), -np.inf)
    empty = np.zeros((size, size), dtype=bool)
    assert best_move(barred, barred, empty, empty, 0.0, np.uint64(0), NO_TABU)[1] == NONE
