"""Implied independences: against paths in every DAG on four nodes, classes and graphs with hidden causes."""

from itertools import combinations

import numpy as np
import pytest

from dagora.base.errors import GraphError
from dagora.graph.ancestral.true_pag import true_pag
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.enumerate import all_dags
from dagora.graph.independences import Independence, implied_independences, separated
from dagora.graph.random_graphs import random_dag
from dagora.graph.separation import d_separated


def questions(nodes):
    for a, b in combinations(nodes, 2):
        others = [node for node in nodes if node not in {a, b}]
        for size in range(len(others) + 1):
            yield from ((a, b, given) for given in combinations(others, size))


@pytest.mark.full
def test_a_class_implies_what_each_member_does():
    for dag in all_dags(4):
        graph = CPDAG.from_dag(dag)
        for a, b, given in questions(dag.nodes):
            true = d_separated(dag, a, b, given)
            assert separated(dag, a, b, given) == true
            assert separated(graph, a, b, given) == true


def test_a_pag_implies_what_the_graph_with_hidden_causes_does():
    rng = np.random.default_rng(1)
    for seed in range(40):
        dag = random_dag("er", 7, 1.3, seed)
        hidden = [str(name) for name in rng.choice(dag.nodes, 2, replace=False)]
        pag = true_pag(dag, hidden)
        for a, b, given in questions(pag.nodes):
            assert separated(pag, a, b, given) == d_separated(dag, a, b, given)
        for one in implied_independences(pag):
            assert d_separated(dag, one.a, one.b, one.given)


def test_each_pair_without_an_edge_is_separated_by_a_set_with_none_to_spare():
    for dag in all_dags(4):
        found = implied_independences(dag)
        joined = {frozenset(edge) for edge in dag.edges}
        assert {frozenset((one.a, one.b)) for one in found} == {
            frozenset(pair) for pair in combinations(dag.nodes, 2)
        } - joined
        for one in found:
            assert d_separated(dag, one.a, one.b, one.given)
            for name in one.given:
                assert not d_separated(dag, one.a, one.b, set(one.given) - {name})


def test_all_members_of_a_class_give_the_same_independences():
    by_class = {}
    for dag in all_dags(4):
        by_class.setdefault(CPDAG.from_dag(dag), set()).add(implied_independences(dag))
    assert all(found == {implied_independences(graph)} for graph, found in by_class.items())
    for seed in range(30):
        graph = CPDAG.from_dag(random_dag("er", 9, 1.4, seed))
        assert implied_independences(graph) == implied_independences(graph.extension())


def test_independences_in_words():
    assert str(Independence("a", "b")) == "a ⊥ b"
    assert str(Independence("a", "b", ("c", "d"))) == "a ⊥ b | c, d"


@pytest.mark.parametrize(
    ("sets", "words"),
    [
        (("a", "a"), "'a' is in two of the sets"),
        (("a", "b", ["b"]), "'b' is in two of the sets"),
        (("a", "z"), "'z'"),
    ],
)
def test_sets_that_overlap_and_unknown_names_are_refused(sets, words):
    with pytest.raises(GraphError, match=words):
        separated(DAG("abc", ["ab"]), *sets)


def test_a_graph_of_no_dag_is_refused():
    square = CPDAG("abcd", undirected=["ab", "bc", "cd", "da"])
    with pytest.raises(GraphError, match="stands for no DAG"):
        implied_independences(square)
