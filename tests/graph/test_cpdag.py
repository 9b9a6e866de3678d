import pickle

import numpy as np
import pytest
from hypothesis import given

from dagora.base.errors import GraphError
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from tests.graph.graph_strategies import dags, mixed_matrices


def test_edges_and_lines_sorted_by_position():
    graph = CPDAG("cab", [("b", "a"), ("c", "b")], [("a", "c")])
    assert graph.edges == (("c", "b"), ("b", "a"))
    assert graph.undirected == (("c", "a"),)
    assert graph.to_numpy().astype(int).tolist() == [[0, 1, 1], [1, 0, 0], [0, 1, 0]]
    assert (graph.parents("a"), graph.children("b"), graph.neighbours("a")) == (("b",), ("a",), ("c",))
    assert repr(graph) == "CPDAG(3 nodes, 2 directed and 1 undirected edges)"
    assert list(graph) == ["c", "a", "b"]


@pytest.mark.full
@given(mixed_matrices())
def test_round_trips(matrix):
    graph = CPDAG.from_numpy(matrix)
    assert np.array_equal(graph.to_numpy(), matrix)
    assert len(graph.edges) + 2 * len(graph.undirected) == matrix.sum()
    assert CPDAG(graph.nodes, graph.edges, [(b, a) for a, b in graph.undirected]) == graph
    copy = pickle.loads(pickle.dumps(graph))
    assert copy == graph
    assert hash(copy) == hash(graph)
    both = graph.to_networkx()
    assert set(both.edges) == {(graph.nodes[i], graph.nodes[j]) for i, j in np.argwhere(matrix)}
    assert list(both.nodes) == list(graph.nodes)
    back = graph.reorder(reversed(graph.nodes))
    assert set(back.edges) == set(graph.edges)
    assert {frozenset(line) for line in back.undirected} == {frozenset(line) for line in graph.undirected}
    assert back.reorder(graph.nodes) == graph


@pytest.mark.full
@given(dags())
def test_extension_is_in_the_class(dag):
    completed = CPDAG.from_dag(dag)
    assert CPDAG.from_dag(completed.extension()) == completed
    assert set(completed.edges) <= set(dag.edges)


def test_immutable_and_unlike_a_dag():
    graph = CPDAG("ab", [("a", "b")])
    graph.to_numpy()[1, 0] = True
    assert graph.undirected == ()
    assert graph != DAG("ab", [("a", "b")])
    assert graph != CPDAG("ab", (), [("a", "b")])


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CPDAG("aa"), "two nodes are named 'a'"),
        (lambda: CPDAG("ab", [("a", "b"), ("b", "a")]), "b → a is directed both ways"),
        (lambda: CPDAG("ab", [("a", "b")], [("a", "b")]), "a — b is both directed and undirected"),
        (lambda: CPDAG("ab", [("b", "a")], [("a", "b")]), "a — b is both directed and undirected"),
        (lambda: CPDAG("ab", [("a", "a")]), "'a' has an edge to itself"),
        (lambda: CPDAG("ab", (), [("b", "b")]), "'b' has an edge to itself"),
        (lambda: CPDAG("ab", (), [("a", "q")]), "no node named 'q'"),
        (lambda: CPDAG.from_numpy(np.eye(2)), "'x0' has an edge to itself"),
        (lambda: CPDAG.from_numpy(np.zeros((2, 3))), "must be square"),
        (lambda: CPDAG.from_numpy(np.zeros((2, 2)), "abc"), "3 names for a matrix of 2 nodes"),
        (lambda: CPDAG("abc", ["ab", "bc", "ca"]).extension(), "no consistent extension"),
        (lambda: CPDAG("abc").reorder("ab"), "exactly the graph's own nodes"),
    ],
)
def test_refuses(make, message):
    with pytest.raises(GraphError, match=message):
        make()
