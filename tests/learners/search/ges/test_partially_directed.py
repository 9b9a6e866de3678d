"""The kernels of class searches against `graph.equivalence` and networkx."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.graph.equivalence import consistent_extension, cpdag_matrix
from dagora.learners.search.ges.partially_directed import complete, extend, open_path, successor_lists
from tests.random_tables import random_dag


def random_pattern(rng, size):
    """A class with some of its lines directed at random: it may have no extension any more."""
    matrix = cpdag_matrix(random_dag(rng, size, density=rng.uniform(0.1, 0.7)).to_numpy())
    for i, j in np.argwhere(np.triu(matrix & matrix.T)):
        if rng.random() < 0.3:
            matrix[(i, j) if rng.random() < 0.5 else (j, i)] = False
    return matrix


@pytest.mark.full
@settings(max_examples=150)
@given(st.integers(0, 10**6), st.integers(1, 9))
def test_completion_is_the_slow_one(seed, size):
    dag = random_dag(np.random.default_rng(seed), size, density=np.random.default_rng(seed).uniform(0.1, 0.9))
    assert (complete(dag.to_numpy()) == cpdag_matrix(dag.to_numpy())).all()


def test_extension_is_the_slow_one():
    outcomes = set()
    for seed in range(400):
        rng = np.random.default_rng(seed)
        pattern = random_pattern(rng, int(rng.integers(1, 9)))
        expected, found = consistent_extension(pattern), extend(pattern)
        outcomes.add(found is None)
        assert (expected is None) == (found is None)
        assert expected is None or (expected == found).all()
    assert outcomes == {True, False}


def test_a_cycle_has_no_class():
    assert complete(np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=bool)) is None


@pytest.mark.full
@settings(max_examples=150)
@given(st.integers(0, 10**6), st.integers(2, 9), st.booleans())
def test_paths_are_shortest_and_avoid_what_is_closed(seed, size, direct):
    rng = np.random.default_rng(seed)
    matrix = random_pattern(rng, size)
    start, goal = rng.choice(size, 2, replace=False).tolist()
    closed = [node for node in range(size) if node not in (start, goal) and rng.random() < 0.2]
    lists = successor_lists(size, np.flatnonzero(matrix))
    path = open_path(*lists, start, goal, np.array(closed, dtype=np.int64), direct).tolist()
    graph = nx.DiGraph(list(zip(*np.nonzero(matrix), strict=True)))
    graph.add_nodes_from(range(size))
    graph.remove_nodes_from(closed)
    if not direct and graph.has_edge(start, goal):
        graph.remove_edge(start, goal)
    if not nx.has_path(graph, start, goal):
        assert path == []
        return
    assert (path[0], path[-1]) == (start, goal)
    assert nx.is_path(graph, path)
    assert len(path) == nx.shortest_path_length(graph, start, goal) + 1
