"""What an edge is worth: the score of the graph minus that of the graph without it."""

import numpy as np
import pytest

import dagora
from dagora.base.events import Budget
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.directions import WEAK
from dagora.graph.knowledge import Knowledge
from dagora.learners.edge_gains import absent_costs, edge_gains
from dagora.learners.run import Run
from dagora.scores.registry import score_named
from dagora.stats.accepting import as_statistics

EDGES = [("c", "a"), ("c", "d"), ("a", "d"), ("b", "d")]


def rows(kind):
    rng = np.random.default_rng(3)
    values = rng.standard_normal((200, 4)) @ rng.standard_normal((4, 4))
    if kind == "bic":
        values = np.digitize(values, [-1, 1])
    return {
        name: column.astype(str if kind == "bic" else float)
        for name, column in zip("abcd", values.T, strict=True)
    }


@pytest.mark.parametrize("score", ["bic", "bge"])
def test_the_gain_is_the_difference_of_two_graphs(score):
    data, graph = rows(score), DAG("dbca", EDGES)  # the nodes stand in another order than the columns
    whole = dagora.score(data, graph, score)
    found = edge_gains(score_named(score).make(as_statistics(data)), graph, Run())
    assert list(found) == list(graph.edges)
    for edge, gain in found.items():
        rest = DAG(graph.nodes, [each for each in EDGES if each != edge])
        assert gain == pytest.approx(whole - dagora.score(data, rest, score), abs=1e-8)


@pytest.mark.parametrize("score", ["bic", "bge"])
def test_the_cost_of_an_absent_edge_is_the_difference_of_two_graphs(score):
    rng = np.random.default_rng(5)
    values = rng.standard_normal((200, 4))
    values[:, 2] += values[:, 0] + values[:, 1] + values[:, 3]
    data = {
        name: np.digitize(column, [0]).astype(str) if score == "bic" else column
        for name, column in zip("abcd", values.T, strict=True)
    }
    graph = DAG("dbca", [("a", "c"), ("b", "c"), ("d", "c")])
    local = score_named(score).make(as_statistics(data))
    found = absent_costs(local, graph, Run())
    whole = dagora.score(data, graph, score)
    for pair in (("a", "b"), ("a", "d"), ("b", "d")):
        cost = whole - dagora.score(data, DAG(graph.nodes, [*graph.edges, pair]), score)
        asked = found.get(pair, found.get(pair[::-1]))
        assert cost >= WEAK if asked is None else asked == pytest.approx(cost, abs=1e-8)
    assert found
    forbidden = Run(knowledge=Knowledge(forbidden=[*found, *(edge[::-1] for edge in found)]))
    assert absent_costs(local, graph, forbidden) == {}
    assert absent_costs(local, graph, Run(budget=Budget(0.0))) == {}


def test_of_a_class_one_graph_is_asked():
    data = rows("bge")
    dag = DAG("abcd", [("a", "b"), ("b", "c")])
    found = edge_gains(score_named("bge").make(as_statistics(data)), CPDAG.from_dag(dag), Run())
    assert set(found) == {("a", "b"), ("b", "c")}
    assert found["b", "c"] == pytest.approx(  # of a chain every graph of the class gives the same
        dagora.score(data, DAG("abcd", [("b", "c")]), "bge") - dagora.score(data, DAG("abcd"), "bge"),
        abs=1e-8,
    )


def test_nothing_is_asked_when_time_is_up():
    score = score_named("bic").make(as_statistics(rows("bic")))
    budget = Budget(0.0)
    assert edge_gains(score, DAG("abcd", EDGES), Run(budget=budget)) == {}


def test_learn_keeps_gains_and_what_the_data_decide():
    result = dagora.learn(rows("bic"))
    assert list(result.edge_gains) == list(result.graph.edges)
    assert min(result.edge_gains.values()) > 0  # a local optimum has no edge that it would be better without
    again = dagora.Result.from_json(result.to_json())
    assert again.edge_gains == result.edge_gains
    assert again.open_edges == result.open_edges
    assert set(map(frozenset, result.directions.open)) == set(map(frozenset, result.cpdag.undirected))
    assumed = dagora.learn(rows("bge"), method="notears")
    assert not assumed.class_only
    assert not dagora.Result.from_json(assumed.to_json()).class_only
    assert assumed.open_edges == ()
