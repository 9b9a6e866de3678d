"""The sums over all graphs, judged by lists of all graphs, by Robinson's numbers and by another recurrence."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dagora.base.budget import Budget
from dagora.base.errors import OptionError
from dagora.base.events import Event
from dagora.graph.bits import unpack
from dagora.graph.knowledge import Knowledge
from dagora.graph.topological import topological_order
from dagora.learners.run import Run
from dagora.posterior.exact.enumeration import enumerate_posterior, enumerate_weights
from dagora.posterior.exact.exact_posterior import MOST_NODES, exact, full_log_weights, refuse_too_many
from dagora.posterior.exact.graph_sums import GraphSums, edge_posteriors
from dagora.posterior.space.family_tables import family_tables
from dagora.posterior.space.priors import prior_named
from dagora.posterior.space.space import Space
from dagora.scores.bdeu import bdeu
from dagora.scores.bge import BGe
from dagora.scores.local_score import graph_score
from dagora.stats.table import TableStatistics
from tests.random_tables import random_continuous, random_discrete

ROBINSON = [1, 3, 25, 543, 29281, 3781503, 1138779265, 783702329343, 1213442454842881, 4175098976430598143]


def closed(mask, child):
    low = (1 << child) - 1
    return mask & low | mask >> 1 & ~low


def random_weights(rng, nodes, scale, forbidden=0.0):
    """Log weights far from zero; some families have none, the empty ones always do."""
    weights = rng.normal(size=(nodes, 1 << (nodes - 1))) * scale
    gone = rng.random(weights.shape) < forbidden
    gone[:, 0] = False
    weights[gone] = -np.inf
    return weights


def family_probabilities(listed, nodes):
    found = np.zeros((nodes, 1 << (nodes - 1)))
    for child in range(nodes):
        masks = [closed(int(mask), child) for mask in listed.masks[:, child]]
        np.add.at(found[child], masks, listed.probabilities)
    return found


@pytest.mark.parametrize("nodes", range(1, 11))
def test_all_weights_one_count_the_graphs(nodes):
    total = GraphSums(np.zeros((nodes, 1 << (nodes - 1)))).log_total
    assert total == pytest.approx(np.log(float(ROBINSON[nodes - 1])), abs=1e-12)


@pytest.mark.parametrize("forbidden", [0.0, 0.5])
@pytest.mark.parametrize("scale", [1.0, 20.0, 300.0, 1e5])
@pytest.mark.parametrize("nodes", [2, 3, 4, 5])
def test_sums_families_and_edges_agree_with_a_list_of_all_graphs(nodes, scale, forbidden):
    rng = np.random.default_rng([nodes, int(scale), int(10 * forbidden)])
    weights = random_weights(rng, nodes, scale, forbidden)
    listed = enumerate_weights([f"x{i}" for i in range(nodes)], weights)
    sums = GraphSums(weights)
    assert sums.log_total == pytest.approx(listed.log_total, rel=1e-13, abs=1e-11)
    families = sums.families()
    # Log weights of this size carry this much rounding into the list itself.
    rounding = 1e-12 + 1e-15 * scale
    np.testing.assert_allclose(families, family_probabilities(listed, nodes), atol=rounding)
    np.testing.assert_allclose(edge_posteriors(families), listed.edges, atol=rounding)


@pytest.mark.full
def test_a_large_constant_in_the_scores_costs_no_digits():
    weights = random_weights(np.random.default_rng(3), 5, 2.0)
    listed = enumerate_weights("abcde", weights)
    shift = np.array([-1e5, -2e6, 0.0, 3e5, -7e5])
    rounded = weights + shift[:, None]
    again = enumerate_weights("abcde", rounded - shift[:, None])
    np.testing.assert_allclose(again.edges, listed.edges, atol=1e-8)
    np.testing.assert_allclose(edge_posteriors(GraphSums(rounded).families()), again.edges, atol=1e-12)


def test_small_probabilities_are_as_exact_as_large_ones():
    """Edges that cost 60 nats: subtracting one sum from another would leave nothing of them."""
    nodes = 4
    weights = np.array([[-60.0 * mask.bit_count() for mask in range(1 << (nodes - 1))]] * nodes)
    families = GraphSums(weights).families()
    listed = enumerate_weights("abcd", weights)
    np.testing.assert_allclose(families, family_probabilities(listed, nodes), rtol=1e-10)
    assert families.min() < 1e-70


def sum_by_inclusion_exclusion(weights, nodes):
    """Robinson's recurrence with weights, in fractions: the nodes of T are sinks of the graph on S."""
    within = [
        [sum(w for sub, w in enumerate(own) if sub & ~mask == 0) for mask in range(len(own))]
        for own in weights
    ]
    total = [Fraction(1)] + [Fraction(0)] * ((1 << nodes) - 1)
    for s in range(1, 1 << nodes):
        members = [v for v in range(nodes) if s >> v & 1]
        for size in range(1, len(members) + 1):
            for sinks in itertools.combinations(members, size):
                rest = s & ~sum(1 << v for v in sinks)
                term = total[rest]
                for v in sinks:
                    term *= within[v][closed(rest, v)]
                total[s] += term if size % 2 else -term
    return total[-1]


@pytest.mark.parametrize("nodes", [6, 7])
def test_larger_sums_agree_with_inclusion_and_exclusion_in_fractions(nodes):
    rng = np.random.default_rng(nodes)
    numbers = rng.integers(0, 1000, size=(nodes, 1 << (nodes - 1)))
    numbers[rng.random(numbers.shape) < 0.3] = 0
    numbers[:, 0] += 1
    with np.errstate(divide="ignore"):
        sums = GraphSums(np.log(numbers))
    weights = [[Fraction(int(w)) for w in own] for own in numbers]
    whole = sum_by_inclusion_exclusion(weights, nodes)
    assert sums.log_total == pytest.approx(np.log(float(whole)), abs=1e-11)
    edges = edge_posteriors(sums.families())
    for parent, child in ((0, 1), (nodes - 1, 2)):
        bit = closed(1 << parent, child)
        with_edge = [
            [w if v != child or mask & bit else Fraction(0) for mask, w in enumerate(own)]
            for v, own in enumerate(weights)
        ]
        share = sum_by_inclusion_exclusion(with_edge, nodes) / whole
        assert edges[parent, child] == pytest.approx(float(share), abs=1e-12)


@pytest.mark.parametrize(("scale", "forbidden"), [(1.0, 0.0), (3.0, 0.4)])
def test_draws_have_the_frequencies_of_the_posterior(scale, forbidden):
    rng = np.random.default_rng(11)
    weights = random_weights(rng, 4, scale, forbidden)
    listed = enumerate_weights("abcd", weights)
    count = 40_000
    masks, log_scores = GraphSums(weights).draws(rng.random((count, 8)))
    places = listed.find(masks[..., None].astype(np.uint64))
    np.testing.assert_allclose(log_scores, listed.log_scores[places], atol=1e-10)
    seen = np.bincount(places, minlength=543)
    assert seen[listed.probabilities == 0].sum() == 0
    expected = listed.probabilities * count
    often = expected >= 5
    table = np.append(seen[often], seen[~often].sum()), np.append(expected[often], expected[~often].sum())
    filled = table[1] > 0
    assert stats.chisquare(table[0][filled], table[1][filled]).pvalue > 1e-3


def test_draws_of_nine_nodes_agree_with_the_families():
    rng = np.random.default_rng(5)
    nodes, count = 9, 4000
    sums = GraphSums(random_weights(rng, nodes, 2.0, 0.2))
    masks, _ = sums.draws(rng.random((count, 2 * nodes)))
    assert all(topological_order(adjacency(row, nodes)) is not None for row in masks[:300])
    edges = edge_posteriors(sums.families())
    seen = np.mean([adjacency(row, nodes) for row in masks], axis=0)
    error = np.abs(seen - edges) / np.sqrt(np.maximum(edges * (1 - edges), 1e-6) / count)
    assert error.max() < 4.5


def adjacency(masks, nodes):
    return unpack(masks.astype(np.uint64)[:, None], nodes).T


@pytest.mark.parametrize("prior", ["uniform", "fair", "sparse", "gpn"])
def test_the_sampler_obeys_prior_and_knowledge(prior):
    table = random_discrete(np.random.default_rng(2), 60, [2, 3, 2, 2])
    score = bdeu(TableStatistics(table))
    knowledge = Knowledge(
        required=[("x0", "x1")], forbidden=[("x2", "x3")], tiers=[["x0"], ["x2", "x3"]], max_parents=2
    )
    run = Run(knowledge, seed=4)
    found = exact(score, run, draws=50, chains=2, prior=prior, edge_penalty=0.5)
    listed = enumerate_posterior(score, run, prior=prior, edge_penalty=0.5)
    np.testing.assert_allclose(found.edges, listed.edges, atol=1e-12)
    assert found.edges[0, 1] == pytest.approx(1.0)
    assert found.edges[2, 3] == found.edges[2, 0] == 0.0
    assert found.parents.shape == (2, 50, 4, 1)
    assert found.independent
    assert found.status == "finished"
    assert found.prior == prior_named(prior, edge_penalty=0.5).sentence
    places = listed.find(found.parents)
    graph = listed.graph(int(places[0, 0]))
    assert not knowledge.violations(graph)
    factor = prior_named(prior, edge_penalty=0.5).log_factor(
        np.array([len(graph.parents(v)) for v in graph]), 4
    )
    assert found.log_scores[0, 0] == pytest.approx(graph_score(score, graph) + factor.sum())


@pytest.mark.full
def test_a_hundred_thousand_rows_neither_overflow_nor_vanish():
    """Scores differ by tens of thousands of nats; the edge posteriors still agree with the list."""
    table = random_continuous(np.random.default_rng(8), 100_000, 5)
    score = BGe(TableStatistics(table))
    found = exact(score, Run(), draws=20)
    listed = enumerate_posterior(score, Run())
    assert np.ptp(listed.log_scores) > 1e4
    np.testing.assert_allclose(found.edges, listed.edges, atol=1e-7)


def test_one_seed_one_answer():
    score = BGe(TableStatistics(random_continuous(np.random.default_rng(1), 50, 5)))
    first, again, other = (exact(score, Run(seed=seed), draws=30, chains=3) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.parents, again.parents)
    assert not np.array_equal(first.parents, other.parents)


def test_weights_of_any_tables_are_placed_by_node():
    score = BGe(TableStatistics(random_continuous(np.random.default_rng(1), 50, 4)))
    space = Space.plus_one([(1,), (0, 2), (), (0, 1, 2)], "as told")
    weights = full_log_weights(family_tables(score, space, prior_named("uniform"), Run()))
    for child, core in enumerate(space.cores):
        for mask in range(16):
            if mask >> child & 1:
                continue
            parents = [j for j in range(4) if mask >> j & 1]
            value = weights[child, closed(mask, child)]
            if len([j for j in parents if j not in core]) <= 1:
                assert value == pytest.approx(score.families([(child, parents)])[0])
            else:
                assert value == -np.inf


def test_too_many_variables_are_refused_with_a_way_out():
    with pytest.raises(OptionError, match="use the method partition or order"):
        refuse_too_many(MOST_NODES + 1, 1e9)
    with pytest.raises(OptionError, match=r"option 'memory' allows 0\.5"):
        refuse_too_many(16, 0.5)
    refuse_too_many(15, 4.0)
    refuse_too_many(17, 4.0)


def test_progress_is_told_and_time_is_kept():
    score = BGe(TableStatistics(random_continuous(np.random.default_rng(1), 50, 5)))
    events: list[Event] = []
    exact(score, Run(on_event=events.append), draws=10)
    assert {"summing", "drawing"} <= {event.phase for event in events}
    budget = Budget()

    def stop(event):
        if event.phase == "drawing":
            budget.stop("interrupted")

    late = exact(score, Run(budget=budget, on_event=stop), draws=500)
    assert late.status == "time-limit"
    assert late.edges is None
    assert 0 < late.per_chain < 500


def test_time_that_ends_amid_the_sum_is_said(monkeypatch):
    monkeypatch.setattr("dagora.posterior.exact.graph_sums.WORK_PER_ROUND", 10)
    score = BGe(TableStatistics(random_continuous(np.random.default_rng(1), 50, 5)))
    budget = Budget()

    def stop(event):
        if event.phase == "summing":
            budget.stop("interrupted")

    with pytest.raises(OptionError, match=r"interrupted before the sum over all graphs of 5 variables"):
        exact(score, Run(budget=budget, on_event=stop), draws=10)
    # In small rounds the answer is the same.
    listed = enumerate_posterior(score, Run())
    np.testing.assert_allclose(exact(score, Run(), draws=1).edges, listed.edges, atol=1e-10)
