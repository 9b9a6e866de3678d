"""Cutting weights to a DAG, against networkx and against the rule itself, edge by edge."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.graph.topological import topological_order
from dagora.learners.optimise.acyclic_support import acyclic_support


def graph_of(support):
    return nx.from_numpy_array(support.astype(int), create_using=nx.DiGraph)


@st.composite
def problems(draw):
    """Weights of any sign with many ties, a threshold, and required edges without a cycle."""
    d = draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = np.array([0.0, 0.0, 0.1, -0.3, 0.3, 1.0, -1.0, 2.5, 1e-12, -1e6])
    strength = rng.choice(values, size=(d, d)) if draw(st.booleans()) else rng.normal(size=(d, d))
    np.fill_diagonal(strength, 0.0)
    order = rng.permutation(d)
    required = (np.triu(rng.random((d, d)), 1) > draw(st.sampled_from([0.6, 0.9, 2.0])))[np.ix_(order, order)]
    return strength, draw(st.sampled_from([0.0, 0.3, 1.0, 10.0])), required


@pytest.mark.full
@settings(max_examples=200)
@given(problems())
def test_what_is_cut_closes_a_cycle_with_stronger_edges(problem):
    strength, threshold, required = problem
    before = strength.copy(), required.copy()
    support, dropped = acyclic_support(strength, threshold, required)
    assert np.array_equal(strength, before[0])
    assert np.array_equal(required, before[1])
    wanted = required | ((np.abs(strength) >= threshold) & (strength != 0))
    assert support.dtype == np.bool_
    assert nx.is_directed_acyclic_graph(graph_of(support))
    assert support[required].all()
    assert not support[~wanted].any()
    # Each wanted edge is kept or listed, never both.
    listed = np.zeros_like(support)
    for edge in dropped:
        assert not listed[edge]
        listed[edge] = True
    assert np.array_equal(support ^ listed, wanted)
    assert not (support & listed).any()
    rank = np.where(required, np.inf, np.abs(strength))
    for tail, head in dropped:
        stronger = support & (rank >= rank[tail, head])
        assert nx.has_path(graph_of(stronger), head, tail), "this edge could have stayed"
    assert [rank[edge] for edge in dropped] == sorted((rank[edge] for edge in dropped), reverse=True)


@pytest.mark.full
@settings(max_examples=100)
@given(problems())
def test_nothing_is_dropped_from_a_dag(problem):
    strength, threshold, required = problem
    support, _ = acyclic_support(strength, threshold, required)
    again, dropped = acyclic_support(np.where(support, strength, 0.0), threshold, required)
    assert dropped == []
    assert np.array_equal(again, support)


@pytest.mark.full
@settings(max_examples=200)
@given(st.integers(1, 8), st.integers(0, 2**32 - 1), st.sampled_from([0.05, 0.15, 0.4]))
def test_topological_order(d, seed, density):
    support = np.random.default_rng(seed).random((d, d)) < density
    order = topological_order(support)
    graph = graph_of(support)
    if not nx.is_directed_acyclic_graph(graph):
        assert order is None
        return
    assert order is not None
    assert order.tolist() == list(nx.lexicographical_topological_sort(graph)), (
        "of the ready ones the first column"
    )


def test_required_edges_beat_any_weight():
    strength = np.array([[0.0, 0.0, 0.0], [1e9, 0.0, 0.0], [0.0, 5.0, 0.0]])
    required = np.zeros((3, 3), dtype=bool)
    required[0, 1] = True
    support, dropped = acyclic_support(strength, 0.3, required)
    assert dropped == [(1, 0)]
    assert np.argwhere(support).tolist() == [[0, 1], [2, 1]]


def test_the_weakest_of_a_cycle_goes():
    strength = np.zeros((4, 4))
    strength[0, 1], strength[1, 2], strength[2, 3], strength[3, 0] = 1.0, -0.5, 2.0, 0.7
    assert acyclic_support(strength, 0.1, np.zeros((4, 4), dtype=bool))[1] == [(1, 2)]
    assert acyclic_support(strength, 0.6, np.zeros((4, 4), dtype=bool))[1] == [], (
        "the threshold has cut it already"
    )


def test_of_equal_weights_the_earlier_edge_stays():
    strength = np.array([[0.0, 1.0], [1.0, 0.0]])
    support, dropped = acyclic_support(strength, 0.0, np.zeros((2, 2), dtype=bool))
    assert (np.argwhere(support).tolist(), dropped) == ([[0, 1]], [(1, 0)])


@pytest.mark.parametrize("d", [300])
def test_many_nodes(d):
    strength = np.random.default_rng(0).normal(size=(d, d))
    np.fill_diagonal(strength, 0.0)
    support, dropped = acyclic_support(strength, 0.0, np.zeros((d, d), dtype=bool))
    assert topological_order(support) is not None
    # Whatever the weights, of each pair one direction can stay.
    assert support.sum() == len(dropped) == d * (d - 1) // 2
