"""Order and partition MCMC against all graphs; orders count a graph once for every order it agrees with."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from dagora.api.score import make_score
from dagora.graph.knowledge import Knowledge
from dagora.learners.run import Run
from dagora.posterior.chains.order_mcmc import order_mcmc
from dagora.posterior.chains.partition_mcmc import partition_mcmc
from dagora.posterior.draws import Draws
from dagora.posterior.space.priors import prior_named
from dagora.posterior.space.space import Space
from tests.posterior.oracle import (
    RandomScore,
    discrete,
    drawn_edges,
    drawn_graphs,
    edge_matrix,
    family_weights,
    gaussian,
    posterior,
    total_variation,
)

Sampler = Callable[..., Draws]

SCORES = {
    "all alike": lambda: RandomScore(4, 0.0),
    "random": lambda: RandomScore(4, 2.0, seed=2, level=-3000.0),
    "BGe, noise": lambda: make_score(gaussian(4, 60, 0.0), "bge"),
    "BGe, dependent": lambda: make_score(gaussian(4, 200, 0.7), "bge"),
    "BDeu": lambda: make_score(discrete(4, 100, 0.6), "bdeu"),
    "GP": cache(lambda: make_score(gaussian(4, 60, 0.5), "gp", points=32)),  # its families are dear
}
PRIOR_OF_ORDERS = ", times the number of orders that the graph agrees with"


@pytest.fixture(params=[order_mcmc, partition_mcmc], ids=["order", "partition"])
def sampler(request: pytest.FixtureRequest) -> Sampler:
    return request.param


@pytest.mark.full
@pytest.mark.parametrize(
    ("score", "prior"),
    [*((name, "uniform") for name in SCORES), ("BGe, noise", "fair"), ("BGe, dependent", "sparse")],
)
def test_four_nodes_agree_with_enumeration(sampler: Sampler, score: str, prior: str) -> None:
    local = SCORES[score]()
    thin = None if sampler is order_mcmc else 80
    draws = sampler(local, Run(seed=1), draws=5000, chains=4, prior=prior, thin=thin)
    law = posterior(family_weights(local, 4, prior_named(prior)), 4, orders=sampler is order_mcmc)
    assert np.abs(drawn_edges(draws) - edge_matrix(law, 4)).max() < 0.015
    distance, usual = total_variation(draws, law)
    assert distance < 2 * usual
    assert draws.status == "finished"
    assert draws.prior == prior_named(prior).sentence + (PRIOR_OF_ORDERS if sampler is order_mcmc else "")


@pytest.mark.full
def test_five_nodes_agree_with_enumeration(sampler: Sampler) -> None:
    score = RandomScore(5, 1.5, seed=3)
    draws = sampler(score, Run(seed=2), draws=5000, chains=4)
    law = posterior(family_weights(score, 5), 5, orders=sampler is order_mcmc)
    assert np.abs(drawn_edges(draws) - edge_matrix(law, 5)).max() < 0.015


def test_the_score_of_a_draw_is_that_of_its_graph(sampler: Sampler) -> None:
    score = RandomScore(4, 2.0)
    draws = sampler(score, Run(), draws=20, chains=2, prior="sparse")
    weights = family_weights(score, 4, prior_named("sparse"))
    for rows, value in zip(draws.parents.reshape(-1, 4), draws.log_scores.ravel(), strict=True):
        assert value == pytest.approx(sum(weights[i, int(mask)] for i, mask in enumerate(rows)))


@pytest.mark.full
def test_a_plus_one_space_with_knowledge_agrees_with_the_graphs_left(sampler: Sampler) -> None:
    score = RandomScore(5, 1.5, seed=6)
    space = Space.plus_one([(1, 2), (0,), (), (0,), (3,)], "a few")
    known = Knowledge(required=[("x3", "x1")], forbidden=[("x2", "x0")], max_parents=2)
    draws = sampler(score, Run(known, seed=3), draws=5000, chains=4, space=space)
    weights = family_weights(score, 5)
    cores = [*map(set, space.cores)]
    cores[1].add(3)  # required
    for child, mask in list(weights):
        parents = {i for i in range(5) if mask >> i & 1}
        outside = len(parents - cores[child]) > 1 or len(parents) > 2
        if outside or (child == 1 and 3 not in parents) or (child == 0 and 2 in parents):
            del weights[child, mask]
    law = posterior(weights, 5, orders=sampler is order_mcmc)
    assert np.abs(drawn_edges(draws) - edge_matrix(law, 5)).max() < 0.015
    assert draws.space == "a few, as far as the knowledge permits"
    assert drawn_edges(draws)[3, 1] == 1.0


@pytest.mark.full
def test_many_nodes_run_in_a_narrow_space(sampler: Sampler) -> None:
    nodes = 70
    score = make_score(gaussian(nodes, 300, 0.8), "bge")
    cores = [[j for j in (i - 1, i + 1) if 0 <= j < nodes] for i in range(nodes)]
    draws = sampler(
        score, Run(), draws=20, chains=2, space=Space.plus_one(cores, "neighbours"), thin=500, warmup=30_000
    )
    assert draws.parents.shape == (2, 20, nodes, 2)
    edges = drawn_edges(draws)
    assert np.all(np.diag(edges, 1) + np.diag(edges, -1) == 1.0)


@pytest.mark.full
def test_pure_noise_leaves_the_empty_graph_its_due() -> None:
    # A partition chain that does not count impossible proposals gives the one-block partition too little.
    score = make_score(gaussian(4, 60, 0.0, seed=5), "bge")
    law = posterior(family_weights(score, 4), 4)
    empty = (0, 0, 0, 0)
    assert law[empty] > 0.2
    draws = partition_mcmc(score, Run(seed=4), draws=10_000, chains=4)
    assert drawn_graphs(draws)[empty] / 40_000 == pytest.approx(law[empty], abs=0.01)


@pytest.mark.full
def test_strong_data_leave_only_equivalent_graphs() -> None:
    score = make_score(gaussian(4, 3000, 1.0), "bge")
    law = posterior(family_weights(score, 4), 4)
    draws = partition_mcmc(score, Run(seed=5), draws=5000, chains=4)
    assert np.abs(drawn_edges(draws) - edge_matrix(law, 4)).max() < 0.02
    assert np.allclose(
        drawn_edges(draws)[[0, 1, 2], [1, 2, 3]] + drawn_edges(draws)[[1, 2, 3], [0, 1, 2]], 1.0
    )
