"""Strongly connected sets against all subsets of small graphs."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from dagora.learners.search.exact.strong_sets import strong_sets


def by_trying(arcs, size):
    graph = nx.from_numpy_array(arcs, create_using=nx.DiGraph)
    return {
        nodes
        for nodes in combinations(range(len(arcs)), size)
        if nx.is_strongly_connected(graph.subgraph(nodes))
    }


@pytest.mark.parametrize("seed", range(6))
def test_all_are_found_each_once(seed):
    rng = np.random.default_rng(seed)
    arcs = rng.random((8, 8)) < 0.25
    np.fill_diagonal(arcs, val=False)
    for size in range(3, 8):
        found = [tuple(row) for row in strong_sets(arcs, size, 10**6).tolist()]
        assert len(found) == len(set(found))
        assert set(found) == by_trying(arcs, size)


def test_with_a_limit_some_are_found():
    arcs = ~np.eye(9, dtype=np.bool_)
    for limit in (40, 80):
        found = {tuple(row) for row in strong_sets(arcs, 5, limit).tolist()}
        assert 1 <= len(found) <= limit
        assert found <= by_trying(arcs, 5)


def test_more_nodes_than_a_number_has_bits():
    # A circle of 70 nodes has no small sets; two arcs back make some, and one is among the first 64 nodes.
    arcs = np.roll(np.eye(70, dtype=np.bool_), 1, axis=1)
    arcs[3, 0] = arcs[69, 66] = True
    assert strong_sets(arcs, 4, 100).tolist() == [[0, 1, 2, 3]]
