"""Classes under interventions, against the definition: all 543 graphs of four nodes."""

from itertools import combinations

import numpy as np
import pytest

from dagora.base.errors import KnowledgeError
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.enumerate import all_dags
from dagora.graph.equivalence import v_structures
from dagora.graph.interventions import directed_by_knowledge, interventional_cpdag
from dagora.graph.knowledge import Knowledge

NODES = "abcd"
MATRICES = [dag.to_numpy() for dag in all_dags(4)]
FAMILIES = [
    [set()],
    [set(), {"a"}],
    [set(), {"b", "c"}],
    [{"a"}, {"b"}],
    [set(), {"a", "b"}, {"c"}],
    [{"a", "b", "c"}, {"d"}],
    [set(), {"a", "b", "c", "d"}],
]


def definition(matrix, regimes):
    """Skeleton, v-structures, and the skeleton that is left in each regime once edges into targets are cut."""
    left = []
    for targets in regimes:
        cut = matrix.copy()
        cut[:, [NODES.index(node) for node in targets]] = False
        left.append((cut | cut.T).tobytes())
    return (matrix | matrix.T).tobytes(), tuple(v_structures(matrix)), tuple(left)


@pytest.mark.parametrize(
    "regimes", FAMILIES, ids=lambda family: "+".join("".join(sorted(t)) or "-" for t in family)
)
def test_the_completed_graph_is_the_union_of_the_class(regimes):
    classes = {}
    for matrix in MATRICES:
        classes.setdefault(definition(matrix, regimes), []).append(matrix)
    for members in classes.values():
        union = np.logical_or.reduce(members)
        for matrix in members:
            found = interventional_cpdag(DAG.from_numpy(matrix, NODES), regimes)
            assert np.array_equal(found.to_numpy(), union)


def test_setting_each_variable_once_directs_every_edge():
    regimes = [{node} for node in NODES]
    for matrix in MATRICES:
        assert not interventional_cpdag(DAG.from_numpy(matrix, NODES), regimes).undirected


def test_more_regimes_never_take_a_direction_away():
    for matrix in MATRICES[::7]:
        dag = DAG.from_numpy(matrix, NODES)
        few = {frozenset(pair) for pair in interventional_cpdag(dag, [{"a"}]).undirected}
        for targets in combinations(NODES, 2):
            more = {frozenset(pair) for pair in interventional_cpdag(dag, [{"a"}, set(targets)]).undirected}
            assert more <= few


@pytest.mark.parametrize("graph", [DAG("abc", [("a", "b")]), CPDAG("abc", [], [("a", "b")])])
def test_a_required_edge_that_a_graph_lacks_is_named(graph):
    with pytest.raises(KnowledgeError, match="requires b → c, which the graph does not have"):
        directed_by_knowledge(graph, Knowledge(required=[("b", "c")]))


def test_nothing_follows_in_a_graph_that_stands_for_no_dag():
    square = CPDAG("abcd", [], ["ab", "bc", "cd", "ad"])
    found = directed_by_knowledge(square, Knowledge(forbidden=[("b", "a")]))
    assert found.edges == (("a", "b"),)
    assert len(found.undirected) == 3
