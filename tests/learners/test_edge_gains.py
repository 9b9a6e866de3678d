"""What an edge is worth: the score of the graph minus that of the graph without it."""

from dataclasses import replace

import numpy as np
import pytest

import dagora
from dagora.base.budget import Budget
from dagora.data.simulate_missing import punch_holes
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.directions import WEAK
from dagora.graph.knowledge import Knowledge
from dagora.learners.edge_gains import NOT_KNOWN, edge_evidence
from dagora.learners.run import Run
from dagora.scores.local_score import graph_score
from dagora.scores.registry import score_named
from dagora.stats.accepting import as_statistics
from dagora.stats.observed.statistics import IncompleteStatistics

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
    found = edge_evidence(score_named(score).make(as_statistics(data)), graph, Run()).gains
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
    found = edge_evidence(local, graph, Run()).costs
    whole = dagora.score(data, graph, score)
    for pair in (("a", "b"), ("a", "d"), ("b", "d")):
        cost = whole - dagora.score(data, DAG(graph.nodes, [*graph.edges, pair]), score)
        asked = found.get(pair, found.get(pair[::-1]))
        assert cost >= WEAK if asked is None else asked == pytest.approx(cost, abs=1e-8)
    assert found
    forbidden = Run(knowledge=Knowledge(forbidden=[*found, *(edge[::-1] for edge in found)]))
    assert edge_evidence(local, graph, forbidden).costs == {}


def test_of_a_class_one_graph_is_asked():
    data = rows("bge")
    dag = DAG("abcd", [("a", "b"), ("b", "c")])
    found = edge_evidence(score_named("bge").make(as_statistics(data)), CPDAG.from_dag(dag), Run()).gains
    assert set(found) == {("a", "b"), ("b", "c")}
    assert found["b", "c"] == pytest.approx(  # of a chain every graph of the class gives the same
        dagora.score(data, DAG("abcd", [("b", "c")]), "bge") - dagora.score(data, DAG("abcd"), "bge"),
        abs=1e-8,
    )


def test_nothing_is_asked_when_time_is_up():
    score = score_named("bic").make(as_statistics(rows("bic")))
    budget = Budget(0.0)
    assert edge_evidence(score, DAG("abcd", EDGES), Run(budget=budget)) == NOT_KNOWN


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


def weak_collider():
    """x → y ← z with a weak z: both graphs without one of its two absences nearly fit as well."""
    rng = np.random.default_rng(3)
    x, z = rng.normal(size=(2, 500))
    return {"x": x, "y": 0.6 * x + 0.14 * z + rng.normal(size=500), "z": z}


@pytest.mark.parametrize("method", ["hill-climb", "ges"])
def test_weak_arrows_are_undetermined_wherever_the_rows_are(method, tmp_path):
    data = weak_collider()
    in_memory = dagora.learn(data, method)
    path = tmp_path / "rows.csv"
    path.write_text("x,y,z\n" + "\n".join(f"{x},{y},{z}" for x, y, z in zip(*data.values(), strict=True)))
    scanned = dagora.learn(dagora.open_rows(path), method)
    assert scanned.edge_gains == pytest.approx(in_memory.edge_gains)
    assert scanned.absent_costs == pytest.approx(in_memory.absent_costs)
    sites = {name: {key: column[k::3] for key, column in data.items()} for k, name in enumerate("pqr")}
    over_sites = dagora.learn_federated(sites, method)
    assert over_sites.edge_gains == pytest.approx(in_memory.edge_gains, abs=1e-4)
    data["x"][0] = np.nan
    with_a_gap = dagora.learn(data, method)
    assert with_a_gap.edge_gains
    for result in (in_memory, scanned, over_sites, with_a_gap):
        assert result.directions.unsure
        assert result.shown_graph.edges == ()
        assert result.describe_directions() == "the data determine 0 of 2 directions"


@pytest.mark.parametrize("kind", ["bic", "bge"])
def test_gains_of_incomplete_rows_are_differences_of_their_score(kind):
    holes = IncompleteStatistics(punch_holes(as_statistics(rows(kind)).rows(), "mcar:0.2", 1))
    score = score_named("bic" if kind == "bic" else "bic-gaussian").make(holes)
    graph = DAG("abcd", EDGES)
    for edge, gain in edge_evidence(score, graph, Run()).gains.items():
        rest = DAG("abcd", [each for each in EDGES if each != edge])
        assert gain == pytest.approx(graph_score(score, graph) - graph_score(score, rest), abs=1e-6)


def test_scanned_rows_take_one_more_pass(tmp_path):
    path = tmp_path / "rows.csv"
    data = rows("bic")
    path.write_text("a,b,c,d\n" + "\n".join(map(",".join, zip(*data.values(), strict=True))) + "\n")
    statistics = dagora.open_rows(path)
    score = score_named("bic").make(statistics)
    before = statistics.passes
    assert edge_evidence(score, DAG("abcd", EDGES), Run()).gains
    assert statistics.passes == before + 1


def test_directions_that_nobody_checked_are_not_determined(monkeypatch):
    """A score whose families take long is not asked about single edges."""
    from dagora.scores.information import bic

    def dear(statistics, **options):
        score = bic(statistics, **options)
        plain = type(score).capabilities.fget
        monkeypatch.setattr(
            type(score), "capabilities", property(lambda s: replace(plain(s), is_expensive=True))
        )
        return score

    a, b = np.arange(400) % 2, np.arange(400) // 2 % 2
    c = a + b + (np.arange(400) % 7 == 0)
    d = c + (np.arange(400) % 5 == 0)
    data = {name: column.astype(str) for name, column in zip("abcd", (a, b, c, d), strict=True)}
    monkeypatch.setattr("dagora.scores.information.bic", dear)
    known = {"required": [["c", "d"]]}
    result = dagora.learn(data, "hill-climb", knowledge=known)
    assert not result.edge_gains
    directed = {*result.graph.edges} - {*result.directions.open}
    assert {*result.directions.unchecked} == directed - {("c", "d")}
    assert "it is not known whether" in result.describe_directions()
    assert dagora.Result.from_json(result.to_json()).directions == result.directions
