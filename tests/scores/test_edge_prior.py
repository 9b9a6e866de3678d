"""Priors of edges: enumeration of all 543 graphs on four nodes, and the sampler's exact sums."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dagora
from dagora import DAG, Knowledge, KnowledgeError, OptionError
from dagora.graph.enumerate import all_dags
from dagora.scores.edge_prior import EdgePriorScore, with_prior
from dagora.scores.local_score import graph_score
from dagora.scores.registry import score_named
from dagora.stats.accepting import as_statistics

NAMES = ("a", "b", "c", "d")
KNOWN = Knowledge(
    prior=[("c", "a", 0.97), ("a", "b", 0.1)], prior_adjacent=[("b", "d", 0.99), ("c", "d", 0.02)]
)


def rows(seed: int, number: int = 60) -> dagora.Table:
    truth = DAG(NAMES, [("a", "b"), ("b", "c"), ("d", "c")])
    return dagora.simulate(truth, "gaussian", rows=number, seed=seed).table


def log_prior(graph: DAG, known: Knowledge) -> float:
    """By its definition, edge by edge."""
    total = 0.0
    for a, b, chance in known.prior:
        total += math.log(chance / (1 - chance)) * graph.has_edge(a, b)
    for a, b, chance in known.prior_adjacent:
        total += math.log(chance / (1 - chance)) * (graph.has_edge(a, b) or graph.has_edge(b, a))
    return total


@pytest.fixture(scope="module")
def graphs() -> list[DAG]:
    return [
        DAG(NAMES, [(NAMES[int(a[1])], NAMES[int(b[1])]) for a, b in graph.edges]) for graph in all_dags(4)
    ]


@pytest.mark.parametrize("seed", [1, 2])
def test_every_graph_scores_as_its_definition_says(graphs: list[DAG], seed: int) -> None:
    plain = score_named("bge").make(as_statistics(rows(seed)))
    likely = with_prior(plain, KNOWN)
    for graph in graphs[::7]:
        assert graph_score(likely, graph) == pytest.approx(
            graph_score(plain, graph) + log_prior(graph, KNOWN)
        )
    assert isinstance(likely, EdgePriorScore)
    block = likely.capabilities.block
    assert block is not None
    children, parents = np.array([0, 1, 3]), np.array([[1, 2], [0, 3], [1, 2]])
    families = [(int(child), tuple(own)) for child, own in zip(children, parents.tolist(), strict=True)]
    assert np.allclose(block(children, parents), likely.families(families))


@pytest.mark.parametrize("method", ["dynamic", "astar", "ilp", "tabu", "auto", "order-search"])
def test_the_best_graph_is_that_of_all_graphs(graphs: list[DAG], method: str) -> None:
    table = rows(3)
    plain = score_named("bic-gaussian").make(as_statistics(table))
    best = max(graph_score(plain, graph) + log_prior(graph, KNOWN) for graph in graphs)
    found = dagora.learn(table, method, knowledge=KNOWN)
    assert found.score == pytest.approx(best)
    assert graph_score(plain, found.graph) + log_prior(found.graph, KNOWN) == pytest.approx(best)
    without = max(graph_score(plain, graph) for graph in graphs)
    assert dagora.learn(table, method).score == pytest.approx(without)
    assert abs(best - without) > 0.1


def test_exact_posterior_is_that_of_all_graphs(graphs: list[DAG]) -> None:
    table = rows(4)
    plain = score_named("bge").make(as_statistics(table))
    logs = np.array([graph_score(plain, graph) for graph in graphs])
    for prior, pick in ((np.array([log_prior(graph, KNOWN) for graph in graphs]), 0), (np.zeros(543), 1)):
        weights = np.exp(logs + prior - (logs + prior).max())
        weights /= weights.sum()
        expected = sum(w * graph.to_numpy() for w, graph in zip(weights, graphs, strict=True))
        found = dagora.sample(table, "exact", knowledge=KNOWN, draws=20)
        assert found.prior_effect is not None
        ours = (found.prior_effect.with_prior, found.prior_effect.without)[pick]
        assert np.allclose(ours, expected, atol=1e-9)
    assert found.prior_effect.worth is None
    again = dagora.Posterior.from_json(found.to_json())
    assert np.allclose(again.prior_effect.without, found.prior_effect.without)


@pytest.mark.full
def test_chains_tell_both_posteriors(graphs: list[DAG]) -> None:
    table = rows(5)
    mild = Knowledge(prior=[("a", "b", 0.7)], prior_adjacent=[("b", "d", 0.6)])
    found = dagora.sample(table, "partition", knowledge=mild, draws=2000, seed=1)
    exact = dagora.sample(table, "exact", knowledge=mild, draws=2)
    assert np.abs(found.edge_probability - exact.edge_probability).max() < 0.05
    assert np.abs(found.prior_effect.without - exact.prior_effect.without).max() < 0.07
    assert found.prior_effect.worth > 500


@pytest.mark.parametrize("sampler", ["exact", "partition"])
def test_draws_have_the_paths(graphs: list[DAG], sampler: str) -> None:
    table, known = rows(6), Knowledge(causes=[("c", "a")], not_causes=[("d", "a")])
    plain = score_named("bge").make(as_statistics(table))
    permitted = [graph for graph in graphs if not known.violations(graph)]
    logs = np.array([graph_score(plain, graph) for graph in permitted])
    weights = np.exp(logs - logs.max())
    expected = sum(w * graph.to_numpy() for w, graph in zip(weights / weights.sum(), permitted, strict=True))
    found = dagora.sample(table, sampler, knowledge=known, draws=1500, seed=2)
    assert np.abs(found.edge_probability - expected).max() < 0.06
    assert all(not known.violations(graph) for graph, _ in found.graphs())
    assert "paths that knowledge asks for" in found.message


def test_ges_takes_adjacencies_only() -> None:
    table = rows(7)
    adjacent = Knowledge(prior_adjacent=[("b", "d", 0.9999)])
    found = dagora.learn(table, "ges", knowledge=adjacent)
    pairs = {frozenset(edge) for edge in (*found.graph.edges, *found.graph.undirected)}
    assert frozenset("bd") in pairs
    with pytest.raises(
        KnowledgeError, match=r"ges cannot obey a prior of one direction only \(a → b\): it learns"
    ):
        dagora.learn(table, "ges", knowledge={"prior": [["a", "b", 0.8]]})
    for method in ("pc", "notears", "lingam", "dual-pc"):
        with pytest.raises(KnowledgeError, match=f"the method {method} cannot obey a prior"):
            dagora.learn(table, method, knowledge={"prior": [["a", "b", 0.8]]})


def test_scores_that_are_no_probabilities_refuse() -> None:
    with pytest.raises(OptionError, match="the score lasso is no log probability"):
        dagora.learn(rows(1), score="lasso", knowledge={"prior": [["a", "b", 0.8]]})


def test_a_prior_that_the_data_contradict_is_told() -> None:
    table = rows(8, 2000)
    found = dagora.learn(table, "tabu", knowledge={"prior_adjacent": [["a", "b", 0.01]]})
    told = [line for line in found.warnings if "contradict the prior of a — b strongly" in line]
    assert len(told) == 1
    assert "prior odds are 1:99" in told[0]
    quiet = dagora.learn(table, "tabu", knowledge={"prior_adjacent": [["a", "b", 0.99]]})
    assert not any("contradict" in line for line in quiet.warnings)


def test_one_half_says_nothing() -> None:
    table = rows(9)
    half = {"prior": [[a, b, 0.5] for a in NAMES for b in NAMES if a != b]}
    assert dagora.learn(table, "tabu", knowledge=half).score == dagora.learn(table, "tabu").score


def test_series_take_a_prior_and_paths_of_windows() -> None:
    rng = np.random.default_rng(1)
    series = {"t": list(range(120)), "x": rng.normal(size=120), "y": rng.normal(size=120)}
    likely = {"prior": [["x[t-*]", "y", 1 - 1e-12]]}
    plain = dagora.learn(series, "tabu", time="t")
    found = dagora.learn(series, "tabu", time="t", knowledge=likely)
    assert ("x[t-1]", "y") not in plain.graph.edges
    assert ("x[t-1]", "y") in found.graph.edges
    path = dagora.learn(series, "tabu", time="t", knowledge={"causes": [["x[t-1]", "y"]]})
    assert "x[t-1]" in path.graph.ancestors("y")
    with pytest.raises(KnowledgeError, match=r"forbids the edge y → x.t-1., which has a prior"):
        dagora.learn(series, "tabu", time="t", knowledge={"prior": [["y", "x[t-1]", 0.9]]})


def test_ranked_classes_take_no_directions() -> None:
    with pytest.raises(OptionError, match="which a prior on directions or paths tell apart"):
        dagora.learn(rows(1), "ilp", best=3, knowledge={"prior": [["a", "b", 0.8]]})
    found = dagora.learn(rows(1), "ilp", best=2, knowledge={"prior_adjacent": [["a", "b", 0.8]]})
    assert len(found.classes) == 2
