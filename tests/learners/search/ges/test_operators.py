"""Every operator of greedy equivalence search, on every class of four nodes, against brute force."""

from collections import Counter
from functools import cache

import numpy as np
import pytest

from dagora.base.budget import Budget
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.enumerate import all_dags
from dagora.graph.topological import topological_order
from dagora.learners.search.ges import operators as ges_operators
from dagora.learners.search.ges.class_graph import DELETE, INSERT, TURN, ClassGraph, Operator
from dagora.learners.search.ges.family_memory import FamilyMemory
from dagora.learners.search.ges.operators import ClassLimits, offers
from dagora.scores.local_score import graph_score
from tests.learners.search.ges.class_oracles import KINDS, members, neighbouring_classes
from tests.learners.search.search_oracles import random_score
from tests.random_tables import random_dag


@cache
def one_of_each_class(size):
    return list({CPDAG.from_dag(dag): dag for dag in all_dags(size)}.values())


def some_graphs(size, seed, number=25):
    rng = np.random.default_rng(seed)
    return [random_dag(rng, size, density=rng.uniform(0.2, 0.8)) for _ in range(number)]


def class_of(dag):
    return ClassGraph(CPDAG.from_dag(dag).to_numpy())


def limits(size, most=None):
    return ClassLimits(np.eye(size, dtype=bool), size if most is None else most)


def legal_operators(kind, graph, memory, limits):
    """All operators that no path forbids, with their gains."""
    for table in offers(kind, graph, memory, limits, range(len(graph))):
        for place in range(len(table.gains)):
            operator = table.operator(place)
            if not len(graph.path_against(operator)):
                yield operator, float(table.gains[place])


@pytest.mark.full
def test_the_oracle_knows_all_members():
    sizes = Counter(CPDAG.from_dag(dag) for dag in all_dags(4))
    for dag in one_of_each_class(4):
        assert len(members(dag)) == sizes[CPDAG.from_dag(dag)]


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "size"), [("bic", 3), ("bge", 4), ("bdeu", 5), ("bic-gaussian", 6)])
def test_operators_lead_to_every_neighbouring_class_with_its_gain(kind, name, size):
    score = random_score(name, 3, columns=size)
    memory = FamilyMemory(score, Budget())
    reached = 0
    for dag in one_of_each_class(size) if size < 5 else some_graphs(size, 7):
        own = graph_score(score, dag)
        found = {}
        current = class_of(dag)
        for operator, gain in legal_operators(kind, current, memory, limits(size)):
            after = current.after(operator)
            assert after is not None, operator
            reached_class = CPDAG.from_numpy(after.matrix)
            if reached_class not in found:
                found[reached_class] = graph_score(score, reached_class.extension())
            assert gain == pytest.approx(found[reached_class] - own, abs=1e-8 * abs(own)), (
                dag.edges,
                operator,
            )
        assert set(found) == neighbouring_classes(dag, kind), dag.edges
        reached += len(found)
    assert reached > 5


@pytest.mark.parametrize("kind", [INSERT, TURN])
def test_a_path_forbids_exactly_what_would_be_cyclic(kind):
    """Where the path says no, no member of the class can be changed in that way."""
    score = random_score("bic", 3, columns=5)
    memory = FamilyMemory(score, Budget())
    refused = 0
    for dag in some_graphs(5, 11, number=60):
        current = class_of(dag)
        for table in offers(kind, current, memory, limits(5), range(5)):
            for operator in map(table.operator, range(len(table.gains))):
                if len(current.path_against(operator)):
                    refused += 1
                    assert not any(changeable(member, current, operator) for member in members(dag))
    assert refused > 5


def changeable(member, graph, operator):
    """Whether x → y can be put in this member, whose parents of y among the neighbours are the clique."""
    present = member.to_numpy()
    x, y = operator.x, operator.y
    into = {node for node in graph.neighbours(y) if present[node, y]}
    if into != set(operator.clique) or present[x, y]:
        return False
    present[y, x], present[x, y] = False, True
    return topological_order(present) is not None


@pytest.mark.full
@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_limit_on_parents_keeps_the_classes_that_obey_it(most):
    """All members of a class have the same largest number of parents, so the limit is one on classes."""
    score = random_score("bic", 3, columns=5)
    memory = FamilyMemory(score, Budget())
    kept = 0
    for dag in some_graphs(5, 23, number=12):
        if dag.to_numpy().sum(axis=0).max() > most:
            continue
        for kind in KINDS:
            current = class_of(dag)
            found = {
                CPDAG.from_numpy(current.after(operator).matrix)
                for operator, _ in legal_operators(kind, current, memory, limits(5, most))
            }
            obeying = {
                graph
                for graph in neighbouring_classes(dag, kind)
                if all(
                    len(member.parents(node)) <= most for member in members(graph.extension()) for node in dag
                )
            }
            assert found == obeying
            kept += len(found)
    assert kept > 20


def test_pairs_that_must_stay_apart_are_not_offered():
    score = random_score("bic", 3, columns=4)
    apart = np.eye(4, dtype=bool)
    apart[1, 2] = apart[2, 1] = True
    tables = offers(
        INSERT,
        class_of(DAG(["x0", "x1", "x2", "x3"])),
        FamilyMemory(score, Budget()),
        ClassLimits(apart, 4),
        range(4),
    )
    pairs = {(int(x), table.y) for table in tables for x in table.x}
    assert pairs == {(x, y) for x in range(4) for y in range(4) if not apart[x, y]}


def test_too_many_cliques_are_cut_at_the_largest(monkeypatch):
    monkeypatch.setattr(ges_operators, "MOST_CLIQUES", 5)
    names = [f"x{i}" for i in range(6)]
    dense = DAG(names, [(a, b) for a in names[:5] for b in names[:5] if a < b])
    score = random_score("bic", 3, columns=6)
    tables = offers(INSERT, class_of(dense), FamilyMemory(score, Budget()), limits(6), range(6))
    assert [table.all_cliques for table in tables] == [False] * 5 + [True]
    assert tables[0].cliques == [(), (1,), (2,), (3,), (4,)]
    assert {len(table.gains) for table in tables[:5]} == {5}


def test_an_operator_that_cannot_be_leads_nowhere():
    graph = class_of(DAG("abcd", [("a", "c"), ("b", "c"), ("c", "d")]))
    backwards = Operator(INSERT, 3, 0, ())
    assert graph.path_against(backwards).tolist() == [0, 2, 3]
    assert graph.after(backwards) is None
    # A turned edge itself is no path, a second way is.
    assert graph.path_against(Operator(TURN, 2, 0, ())).tolist() == []
    triangle = class_of(DAG("abcd", [("a", "c"), ("b", "c"), ("c", "d"), ("a", "d")]))
    assert triangle.path_against(Operator(TURN, 3, 0, ())).tolist() == [0, 2, 3]
    assert triangle.path_against(Operator(DELETE, 0, 3, ())).tolist() == []
