"""DiBS+: its gradients against sums over all graphs and finite differences, its weights against enumeration."""

import itertools

import numpy as np
import pytest
from scipy.special import expit, logsumexp

import dagora
from dagora.base.errors import OptionError
from dagora.data.table import Table
from dagora.learners.run import Run
from dagora.posterior.dibs.dibs import dibs
from dagora.posterior.dibs.latent_graphs import Latents, cycle_gradient, drawn_graphs, likelihood_gradient
from dagora.posterior.dibs.stein import stein_direction
from dagora.posterior.space.priors import prior_named
from dagora.scores.bdeu import bdeu
from dagora.scores.digraph_scores import DigraphScores
from dagora.scores.registry import score_named
from dagora.stats.table import TableStatistics
from tests.random_tables import random_continuous, random_discrete

NUMBERS = random_continuous(np.random.default_rng(4), 60, 4)
LEVELS = random_discrete(np.random.default_rng(3), 80, [2, 3, 2, 2])
FREE = ~np.eye(3, dtype=bool)


def all_digraphs(nodes: int) -> np.ndarray:
    """Every directed graph, cyclic ones included."""
    pairs = np.argwhere(~np.eye(nodes, dtype=bool))
    graphs = np.zeros((2 ** len(pairs), nodes, nodes), dtype=bool)
    for graph, present in zip(graphs, itertools.product([False, True], repeat=len(pairs)), strict=True):
        graph[pairs[:, 0], pairs[:, 1]] = present
    return graphs


def log_probability(graphs: np.ndarray, logits: np.ndarray) -> np.ndarray:
    """ln p(G) of independent edges."""
    free = ~np.eye(len(logits), dtype=bool)
    each = np.where(graphs, -np.logaddexp(0, -logits), -np.logaddexp(0, logits))
    return each[:, free].sum(axis=1)


def test_the_likelihood_gradient_is_that_of_the_sum_over_all_graphs() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(3, 3))
    graphs = all_digraphs(3)
    scores = rng.normal(size=len(graphs))

    def value(at: np.ndarray) -> float:
        return float(logsumexp(log_probability(graphs, at) + scores))

    exact = np.zeros((3, 3))
    for i, j in np.argwhere(FREE):
        step = np.zeros((3, 3))
        step[i, j] = 1e-5
        exact[i, j] = (value(logits + step) - value(logits - step)) / 2e-5
    probabilities = np.where(FREE, expit(logits), 0.0)[None]
    drawn = drawn_graphs(probabilities, 200_000, rng)
    place = {graph.tobytes(): k for k, graph in enumerate(graphs)}
    found_scores = np.array([[scores[place[graph.tobytes()]] for graph in drawn[0]]])
    assert likelihood_gradient(probabilities, drawn, found_scores)[0] == pytest.approx(exact, abs=0.01)


def test_graphs_that_cannot_be_scored_give_no_gradient() -> None:
    probabilities = np.full((2, 3, 3), 0.5)
    graphs = np.ones((2, 4, 3, 3), dtype=bool)
    scores = np.full((2, 4), -np.inf)
    scores[1, 2] = -5.0
    found = likelihood_gradient(probabilities, graphs, scores)
    assert (found[0] == 0).all()
    assert found[1] == pytest.approx(0.5)


def test_the_cycle_gradient_is_that_of_the_expectation() -> None:
    """Finite differences with the same random numbers."""
    logits = np.random.default_rng(1).normal(size=(1, 3, 3))

    def value(at: np.ndarray) -> float:
        uniform = np.random.default_rng(7).random((1, 50, 3, 3))
        soft = expit(at[:, None] + np.log(uniform) - np.log1p(-uniform)) * FREE
        power = np.linalg.matrix_power(np.eye(3) + soft / 3, 3)
        return float(np.trace(power, axis1=-2, axis2=-1).mean() - 3)

    found = cycle_gradient(logits, 50, np.random.default_rng(7))[0]
    for i, j in np.argwhere(FREE):
        step = np.zeros((1, 3, 3))
        step[0, i, j] = 1e-5
        assert found[i, j] == pytest.approx((value(logits + step) - value(logits - step)) / 2e-5, rel=1e-5)


def test_the_gradient_by_vectors() -> None:
    rng = np.random.default_rng(2)
    tails, heads, weights = rng.normal(size=(3, 2, 3, 3))
    required = np.zeros((3, 3), dtype=bool)

    def value(u: np.ndarray) -> float:
        return float((Latents(u, heads, FREE, required).products() * weights * FREE).sum())

    by_tail, by_head = Latents(tails, heads, FREE, required).pull_back(weights)
    step = np.zeros_like(tails)
    step[1, 2, 0] = 1e-5
    assert by_tail[1, 2, 0] == pytest.approx((value(tails + step) - value(tails - step)) / 2e-5)
    assert by_head.shape == heads.shape


def test_the_stein_direction_by_its_definition() -> None:
    rng = np.random.default_rng(3)
    positions, gradients = rng.normal(size=(2, 5, 4))
    width = 2.5
    expected = np.zeros_like(positions)
    for p in range(5):
        for q in range(5):
            apart = positions[q] - positions[p]
            kernel = np.exp(-(apart @ apart) / width)
            expected[p] += kernel * gradients[q] - 2 / width * apart * kernel
    assert stein_direction(positions, gradients, width) == pytest.approx(expected / 5)


@pytest.mark.full
@pytest.mark.parametrize("table", [NUMBERS, LEVELS], ids=["bge", "bdeu"])
def test_weights_of_graphs_are_those_of_the_exact_posterior(table: Table) -> None:
    """All weights have the right ratios; what particles missed is the only error."""
    exact = dagora.sample(table, "exact", draws=2)
    found = dagora.sample(table, "dibs", draws=100, steps=100, seed=2)
    reached = [dagora.score(table, graph, found.score_name) for graph, _ in found.graphs()]
    assert sorted(found.draws.log_scores[0]) == pytest.approx(sorted(reached))
    assert len(set(map(bytes, found.draws.parents[0]))) == found.draws.per_chain
    total = exact.stats["log_sum"]
    missed = 1 - np.exp(logsumexp(found.draws.log_scores) - total)
    assert 0 <= missed < 0.2
    off = np.abs(found.edge_probability - exact.edge_probability).max()
    assert off <= missed + 1e-6, "as far off as what was missed, and no more"
    assert found.diagnostics.verdict == "particles"
    assert any("surer" in warning for warning in found.warnings)
    assert not any("mixed" in warning for warning in found.warnings)


def test_scores_of_cyclic_graphs_are_sums_of_families() -> None:
    score = score_named("bge").make(TableStatistics(NUMBERS))
    scores = DigraphScores(score, 1, prior_named("sparse").log_factor)
    graphs = all_digraphs(4)[::97]
    found = scores.of(graphs)
    for graph, value in zip(graphs, found, strict=True):
        parents = [np.flatnonzero(graph[:, child]).tolist() for child in range(4)]
        if max(map(len, parents)) > 1:
            assert value == -np.inf
        else:
            families = score.families(list(enumerate(parents)))
            assert value == pytest.approx(families.sum() - np.log(4) * graph.sum())


def test_too_many_variables() -> None:
    wide = random_continuous(np.random.default_rng(0), 30, 63)
    with pytest.raises(OptionError, match=r"62 variables at most, not 63.*method order"):
        dagora.sample(wide, "dibs")


def test_every_chain_has_particles_of_its_own() -> None:
    score = bdeu(TableStatistics(LEVELS))
    one, two = (dibs(score, Run(), draws=10, chains=chains, steps=1) for chains in (1, 2))
    assert len(two.log_scores[0]) > len(one.log_scores[0])
