import itertools
import time
from collections import defaultdict

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

from dagora.base.errors import GraphError
from dagora.graph.enumerate import all_dags
from dagora.graph.equivalence import consistent_extension, cpdag_matrix, meek_closure, v_structures
from dagora.graph.random_graphs import random_dag
from dagora.graph.topological import topological_order
from tests.graph.graph_strategies import dags, mixed_matrices


def brute_v_structures(matrix):
    size = len(matrix)
    adjacent = matrix | matrix.T
    return [
        (a, c, b)
        for a, c, b in itertools.product(range(size), repeat=3)
        if a < b and matrix[a, c] and matrix[b, c] and not adjacent[a, b]
    ]


def class_key(matrix):
    return (matrix | matrix.T).tobytes(), tuple(brute_v_structures(matrix))


def pattern(matrix, find_v_structures=brute_v_structures):
    """Skeleton with only the edges of v-structures directed."""
    result = matrix | matrix.T
    for a, c, b in find_v_structures(matrix):
        result[c, a] = result[c, b] = False
    return result


def orientations(matrix):
    """Every DAG that keeps the arrows, the skeleton and the v-structures of a partially directed graph."""
    both = matrix & matrix.T
    arrows = matrix & ~both
    colliders = brute_v_structures(arrows)
    adjacent = matrix | matrix.T
    colliders = [(a, c, b) for a, c, b in colliders if not adjacent[a, b]]
    lines = np.argwhere(np.triu(both))
    for flips in itertools.product([False, True], repeat=len(lines)):
        dag = arrows.copy()
        for (i, j), flip in zip(lines, flips, strict=True):
            dag[(j, i) if flip else (i, j)] = True
        if topological_order(dag) is not None and brute_v_structures(dag) == colliders:
            yield dag


@pytest.fixture(scope="module")
def classes():
    found = defaultdict(list)
    for dag in all_dags(4):
        found[class_key(dag.to_numpy())].append(dag.to_numpy())
    return found


def test_number_of_classes_on_four_nodes(classes):
    assert len(classes) == 185  # Gillispie and Perlman 2002


def test_cpdag_is_the_union_of_its_class(classes):
    for members in classes.values():
        union = np.logical_or.reduce(members)
        for member in members:
            assert np.array_equal(cpdag_matrix(member), union)


def test_extension_is_a_member_of_the_class(classes):
    for members in classes.values():
        extension = consistent_extension(np.logical_or.reduce(members))
        assert any(np.array_equal(extension, member) for member in members)


def test_meek_rules_complete_the_pattern(classes):
    for members in classes.values():
        assert np.array_equal(meek_closure(pattern(members[0])), np.logical_or.reduce(members))


@pytest.mark.full
@given(dags(max_nodes=9))
def test_two_ways_to_the_cpdag(dag):
    matrix = dag.to_numpy()
    completed = cpdag_matrix(matrix)
    assert v_structures(matrix) == brute_v_structures(matrix)
    assert np.array_equal(meek_closure(pattern(matrix)), completed)
    extension = consistent_extension(completed)
    assert class_key(extension) == class_key(matrix)
    assert np.array_equal(cpdag_matrix(extension), completed)


@pytest.mark.full
@given(dags(max_nodes=7))
def test_undirected_part_of_a_cpdag_is_chordal(dag):
    completed = cpdag_matrix(dag.to_numpy())
    assert nx.is_chordal(nx.from_numpy_array(completed & completed.T))


@pytest.mark.full
@settings(max_examples=150)
@given(mixed_matrices(max_nodes=5))
def test_extension_exists_exactly_where_brute_force_finds_one(matrix):
    possible = list(orientations(matrix))
    extension = consistent_extension(matrix)
    assert (extension is not None) == bool(possible)
    if extension is not None:
        assert any(np.array_equal(extension, dag) for dag in possible)


@pytest.mark.full
@settings(max_examples=60)
@given(dags(min_nodes=3, max_nodes=5))
def test_meek_closure_with_knowledge_is_maximal(dag):
    """With rule 4 the rules are complete when some of the lines are directed beforehand (Meek 1995)."""
    matrix = cpdag_matrix(dag.to_numpy())
    lines = np.argwhere(np.triu(matrix & matrix.T))
    for i, j in lines:
        known = matrix.copy()
        tail, head = (i, j) if dag.to_numpy()[i, j] else (j, i)
        known[head, tail] = False
        members = [member for member in orientations(matrix) if member[tail, head]]
        assert np.array_equal(meek_closure(known), np.logical_or.reduce(members))


def test_rule_four():
    """The one rule that patterns never need: 0 — 1, 0 — 2, 0 — 3, 2 → 3 → 1."""
    matrix = np.zeros((4, 4), dtype=bool)
    for a, b in [(0, 1), (1, 0), (0, 2), (2, 0), (0, 3), (3, 0), (2, 3), (3, 1)]:
        matrix[a, b] = True
    closed = meek_closure(matrix)
    assert closed[0, 1]
    assert not closed[1, 0]


def test_rule_four_can_be_set_off_from_two_edges_away():
    """Found by random search: an edge is compelled by an orientation that touches neither of its ends."""
    rows = ["0011110", "0000001", "0000101", "1100111", "1111001", "1000000", "1101110"]
    matrix = np.array([[entry == "1" for entry in row] for row in rows])
    closed = meek_closure(matrix)
    assert np.array_equal(meek_closure(closed), closed)


@pytest.mark.full
@given(mixed_matrices())
def test_meek_closure_keeps_skeleton_and_arrows_and_is_idempotent(matrix):
    closed = meek_closure(matrix)
    assert np.array_equal(closed | closed.T, matrix | matrix.T)
    assert not (closed & ~matrix).any()
    assert np.array_equal(meek_closure(closed), closed)


def test_a_cycle_has_no_class_and_no_extension():
    cycle = np.roll(np.eye(3, dtype=bool), 1, axis=1)
    with pytest.raises(GraphError, match="has a cycle"):
        cpdag_matrix(cycle)
    assert consistent_extension(cycle) is None


def test_no_nodes():
    empty = np.zeros((0, 0), dtype=bool)
    assert cpdag_matrix(empty).shape == meek_closure(empty).shape == (0, 0)
    assert consistent_extension(empty).shape == (0, 0)
    assert v_structures(empty) == []


def test_a_thousand_nodes_in_a_moment():
    matrix = random_dag("er", 1000, 3, seed=1).to_numpy()
    start = time.perf_counter()
    completed = cpdag_matrix(matrix)
    closed = meek_closure(pattern(matrix, v_structures))
    extension = consistent_extension(completed)
    assert time.perf_counter() - start < 10  # about 0.1 s on a quiet machine
    assert np.array_equal(closed, completed)
    assert v_structures(extension) == v_structures(matrix)
