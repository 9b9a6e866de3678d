import itertools
import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.base.errors import GraphError
from dagora.graph.dag import DAG
from dagora.graph.topological import find_cycle, topological_order
from tests.graph.graph_strategies import dags


@pytest.mark.full
@given(dags())
def test_agrees_with_networkx(dag):
    graph = dag.to_networkx()
    assert list(graph.nodes) == list(dag.nodes)
    assert set(graph.edges) == set(dag.edges)
    for node in dag:
        assert set(dag.parents(node)) == set(graph.predecessors(node))
        assert set(dag.children(node)) == set(graph.successors(node))
        assert dag.ancestors(node) == nx.ancestors(graph, node)
        assert dag.descendants(node) == nx.descendants(graph, node)
    assert list(dag.order) == list(nx.lexicographical_topological_sort(graph, key=dag.index))


@pytest.mark.full
@given(dags())
def test_round_trips(dag):
    assert DAG(dag.nodes, dag.edges) == dag
    assert DAG.from_numpy(dag.to_numpy(), dag.nodes) == dag
    assert DAG.from_networkx(dag.to_networkx()) == dag
    assert DAG.from_parents(dag.nodes, [dag.parent_indices(j) for j in range(len(dag))]) == dag
    copy = pickle.loads(pickle.dumps(dag))
    assert copy == dag
    assert hash(copy) == hash(dag)


@pytest.mark.full
@given(dags(min_nodes=2), st.randoms(use_true_random=False))
def test_reorder_keeps_the_edges(dag, random):
    names = list(dag.nodes)
    random.shuffle(names)
    moved = dag.reorder(names)
    assert moved.nodes == tuple(names)
    assert set(moved.edges) == set(dag.edges)


@settings(max_examples=60)
@given(st.integers(1, 7), st.integers(0, 2**32))
def test_cycles_are_found_and_named(size, seed):
    matrix = np.random.default_rng(seed).random((size, size)) < 0.3
    graph = nx.from_numpy_array(matrix, create_using=nx.DiGraph)
    order, cycle = topological_order(matrix), find_cycle(matrix)
    assert (order is not None) == nx.is_directed_acyclic_graph(graph) == (not cycle)
    if order is None:
        assert all(matrix[a, b] for a, b in zip(cycle, [*cycle[1:], cycle[0]], strict=True))
        assert len(set(cycle)) == len(cycle) == min(map(len, nx.simple_cycles(graph)))
        with pytest.raises(GraphError, match="the graph has a cycle: x"):
            DAG.from_numpy(matrix)


def test_beyond_one_word():
    chain = DAG.from_parents([f"v{i}" for i in range(130)], [[]] + [[i] for i in range(129)])
    assert chain.parent_rows.shape == (130, 3)
    assert chain.parents("v100") == ("v99",)
    assert chain.order_indices == tuple(range(130))
    assert len(chain.ancestors("v129")) == 129


def test_edges_are_sorted_by_position_and_counted_once():
    dag = DAG("cab", [("a", "b"), ("c", "b"), ("a", "b")])
    assert dag.edges == (("c", "b"), ("a", "b"))
    assert dag.undirected == ()
    assert repr(dag) == "DAG(3 nodes, 2 edges)"
    assert dag.has_edge("a", "b")
    assert not dag.has_edge("b", "a")


def test_equality_needs_the_same_node_order():
    assert DAG("ab", [("a", "b")]) != DAG("ba", [("a", "b")])
    assert DAG("ab") != "ab"


def test_immutable():
    dag = DAG("ab", [("a", "b")])
    dag.to_numpy()[1, 0] = True
    assert dag.edges == (("a", "b"),)
    with pytest.raises(ValueError, match="read-only"):
        dag.parent_rows[0] = 1


def test_no_nodes():
    assert DAG([]).edges == ()
    assert DAG([]).order == ()


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DAG("aa"), "two nodes are named 'a'"),
        (lambda: DAG(["a", 1]), "node names are text, not int: 1"),
        (lambda: DAG("ab", [("a", "z")]), "there is no node named 'z'"),
        (lambda: DAG("ab", [("a", "a")]), "the graph has a cycle: a → a"),
        (lambda: DAG.from_numpy(np.zeros((2, 3))), r"must be square, not of shape \(2, 3\)"),
        (lambda: DAG.from_numpy(np.zeros((2, 2)), "abc"), "3 names for a matrix of 2 nodes"),
        (lambda: DAG("ab").parents("q"), "there is no node named 'q'"),
        (lambda: DAG("ab").reorder("abc"), "exactly the graph's own nodes"),
    ],
)
def test_refuses(make, message):
    with pytest.raises(GraphError, match=message):
        make()


def test_a_long_cycle_is_named_by_its_ends():
    names = [f"x{i}" for i in range(30)]
    with pytest.raises(GraphError, match=r"x0 → x1 .* → … \(30 nodes\) → .*x29 → x0$"):
        DAG(names, [*itertools.pairwise(names), ("x29", "x0")])
