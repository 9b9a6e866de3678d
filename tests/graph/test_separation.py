import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.base.errors import GraphError
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.enumerate import all_dags
from dagora.graph.equivalence import cpdag_matrix
from dagora.graph.random_graphs import random_dag
from dagora.graph.separation import d_separated, markov_blanket, moral_graph
from tests.graph.graph_strategies import dags


def separated_in_moral_graph(dag, x, y, given):
    """Lauritzen's criterion: take the ancestors, marry parents, drop directions, remove the given nodes."""
    kept = set().union(x, y, given)
    kept |= {a for node in kept for a in dag.ancestors(node)}
    graph = nx.Graph()
    graph.add_nodes_from(kept)
    for node in kept:
        graph.add_edges_from((parent, node) for parent in dag.parents(node))
        graph.add_edges_from(itertools.combinations(dag.parents(node), 2))
    graph.remove_nodes_from(given)
    return not any(nx.has_path(graph, a, b) for a in x for b in y)


@pytest.mark.full
@given(dags(min_nodes=2, max_nodes=9), st.data())
def test_against_networkx_and_the_moral_graph(dag, data):
    role = data.draw(st.lists(st.integers(0, 3), min_size=len(dag), max_size=len(dag)))
    x, y, given = ({n for n, r in zip(dag.nodes, role, strict=True) if r == k} for k in range(3))
    found = d_separated(dag, x, y, given)
    assert found == nx.is_d_separator(dag.to_networkx(), x, y, given)
    assert found == separated_in_moral_graph(dag, x, y, given)
    assert found == d_separated(dag, y, x, given)


def test_equivalent_dags_imply_the_same_independences():
    names = [f"x{i}" for i in range(3)]
    queries = [
        (a, b, given) for a, b in itertools.combinations(names, 2) for given in ([], set(names) - {a, b})
    ]
    implied = {}
    for dag in all_dags(3):
        facts = tuple(d_separated(dag, a, b, given) for a, b, given in queries)
        implied.setdefault(cpdag_matrix(dag.to_numpy()).tobytes(), set()).add(facts)
    assert len(implied) == 11
    assert all(len(facts) == 1 for facts in implied.values())
    assert len(set.union(*implied.values())) == 11


@settings(max_examples=40)
@given(dags(min_nodes=2))
def test_markov_blanket_separates_and_is_smallest(dag):
    for node in dag:
        blanket = markov_blanket(dag, node)
        rest = set(dag.nodes) - blanket - {node}
        assert d_separated(dag, node, rest, blanket)
        for member in blanket:
            assert not d_separated(dag, node, member, blanket - {member})


@given(dags())
def test_moral_graph(dag):
    assert np.array_equal(moral_graph(dag), nx.to_numpy_array(nx.moral_graph(dag.to_networkx())) != 0)


def test_a_class_has_the_moral_graph_of_each_of_its_members():
    for dag in all_dags(4):
        assert np.array_equal(moral_graph(dag), moral_graph(CPDAG.from_dag(dag)))


def test_one_name_may_be_longer_than_a_letter():
    dag = DAG(["rain", "wet"], [("rain", "wet")])
    assert not d_separated(dag, "rain", "wet")
    assert d_separated(dag, "rain", [])


def test_large():
    dag = random_dag("er", 800, 3, seed=4)
    first, last = dag.order[0], dag.order[-1]
    assert d_separated(dag, first, last, dag.parents(last)) == (first not in dag.parents(last))


@pytest.mark.parametrize(
    ("x", "y", "given", "message"),
    [
        ("a", "a", (), "'a' is in two of the sets"),
        ("a", "b", "b", "'b' is in two of the sets"),
        ("c", "b", "c", "'c' is in two of the sets"),
        ("a", "z", (), "no node named 'z'"),
    ],
)
def test_refuses(x, y, given, message):
    with pytest.raises(GraphError, match=message):
        d_separated(DAG("abc"), x, y, given)
