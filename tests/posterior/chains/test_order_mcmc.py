"""Order MCMC against all graphs, each counted once for every order it agrees with."""

from __future__ import annotations

import numpy as np
import pytest

from dagora.graph.knowledge import Knowledge
from dagora.learning import make_score
from dagora.posterior.chains.order_mcmc import order_mcmc
from dagora.posterior.space.priors import prior_named
from dagora.posterior.space.space import Space
from dagora.run import Run
from tests.posterior.oracle import (
    RandomScore,
    discrete,
    drawn_edges,
    edge_matrix,
    family_weights,
    gaussian,
    posterior,
    total_variation,
)

SCORES = {
    "all alike": lambda: RandomScore(4, 0.0),
    "random": lambda: RandomScore(4, 2.0, seed=2, level=-3000.0),
    "BGe, noise": lambda: make_score(gaussian(4, 60, 0.0), "bge"),
    "BGe, dependent": lambda: make_score(gaussian(4, 200, 0.7), "bge"),
    "BDeu": lambda: make_score(discrete(4, 100, 0.6), "bdeu"),
    "GP": lambda: make_score(gaussian(4, 60, 0.5), "gp", points=32),
}


@pytest.mark.parametrize(
    ("score", "prior"),
    [*((name, "uniform") for name in SCORES), ("BGe, noise", "fair"), ("BGe, dependent", "sparse")],
)
def test_four_nodes_agree_with_enumeration(score: str, prior: str) -> None:
    local = SCORES[score]()
    draws = order_mcmc(local, Run(seed=1), draws=5000, chains=4, prior=prior)
    law = posterior(family_weights(local, 4, prior_named(prior)), 4, orders=True)
    assert np.abs(drawn_edges(draws) - edge_matrix(law, 4)).max() < 0.015
    distance, usual = total_variation(draws, law)
    assert distance < 2 * usual
    assert draws.status == "finished"
    assert draws.prior.endswith("times the number of orders that the graph agrees with")


def test_five_nodes_agree_with_enumeration() -> None:
    score = RandomScore(5, 1.5, seed=3)
    draws = order_mcmc(score, Run(seed=2), draws=5000, chains=4)
    law = posterior(family_weights(score, 5), 5, orders=True)
    assert np.abs(drawn_edges(draws) - edge_matrix(law, 5)).max() < 0.015


def test_the_score_of_a_draw_is_that_of_its_graph() -> None:
    score = RandomScore(4, 2.0)
    draws = order_mcmc(score, Run(), draws=20, chains=2, prior="sparse")
    weights = family_weights(score, 4, prior_named("sparse"))
    for rows, value in zip(draws.parents.reshape(-1, 4), draws.log_scores.ravel(), strict=True):
        assert value == pytest.approx(sum(weights[i, int(mask)] for i, mask in enumerate(rows)))


def test_a_plus_one_space_with_knowledge_agrees_with_the_graphs_left() -> None:
    score = RandomScore(5, 1.5, seed=6)
    space = Space.plus_one([(1, 2), (0,), (), (0,), (3,)], "a few")
    known = Knowledge(required=[("x3", "x1")], forbidden=[("x2", "x0")], max_parents=2)
    draws = order_mcmc(score, Run(known, seed=3), draws=5000, chains=4, space=space)
    weights = family_weights(score, 5)
    cores = [*map(set, space.cores)]
    cores[1].add(3)  # required
    for child, mask in list(weights):
        parents = {i for i in range(5) if mask >> i & 1}
        outside = len(parents - cores[child]) > 1 or len(parents) > 2
        if outside or (child == 1 and 3 not in parents) or (child == 0 and 2 in parents):
            del weights[child, mask]
    law = posterior(weights, 5, orders=True)
    assert np.abs(drawn_edges(draws) - edge_matrix(law, 5)).max() < 0.015
    assert draws.space == "a few, as far as the knowledge permits"
    assert drawn_edges(draws)[3, 1] == 1.0


def test_many_nodes_run_in_a_narrow_space() -> None:
    nodes = 70
    score = make_score(gaussian(nodes, 300, 0.8), "bge")
    cores = [[j for j in (i - 1, i + 1) if 0 <= j < nodes] for i in range(nodes)]
    draws = order_mcmc(
        score, Run(), draws=20, chains=2, space=Space.plus_one(cores, "neighbours"), thin=500, warmup=30_000
    )
    assert draws.parents.shape == (2, 20, nodes, 2)
    edges = drawn_edges(draws)
    assert np.all(np.diag(edges, 1) + np.diag(edges, -1) == 1.0)
