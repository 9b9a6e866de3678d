"""Divergences against sums over graphs worked out one by one."""

import math

import numpy as np
import pytest

from dagora.graph.enumerate import all_parent_sets
from dagora.papers.gpn.divergence import divergence, floor, shares
from dagora.posterior.draws import Draws
from dagora.posterior.exact.enumeration import enumerate_weights


@pytest.fixture
def three_nodes():
    return enumerate_weights(["a", "b", "c"], np.random.default_rng(3).normal(size=(3, 4)))


def draws_of(graphs, log_weights=None) -> Draws:
    parents = np.array(graphs, dtype=np.uint64)[..., None]
    return Draws(
        ("a", "b", "c"),
        parents,
        np.zeros(parents.shape[:2]),
        "p",
        "s",
        "finished",
        "m",
        log_weights=log_weights,
    )


def test_shares_count_the_first_draws_of_all_chains(three_nodes) -> None:
    known = list(all_parent_sets(3))
    chains = [[known[4], known[4], known[7], known[0]], [known[7], known[2], known[2], known[2]]]
    share = shares(draws_of(chains), 4, three_nodes)
    assert {k: p for k, p in enumerate(share) if p} == {4: 0.5, 7: 0.25, 2: 0.25}
    weights = np.log([[1.0, 2.0, 1.0, 9.0], [4.0, 1.0, 9.0, 9.0]])
    weighted = shares(draws_of(chains, weights), 4, three_nodes)
    assert {k: p for k, p in enumerate(weighted) if p} == pytest.approx({4: 3 / 8, 7: 4 / 8, 2: 1 / 8})


def test_weights_undo_what_draws_were_made_under(three_nodes) -> None:
    """Every graph drawn in proportion to q and weighted by p / q gives p back: eq. 14."""
    p = three_nodes.probabilities
    copies = np.random.default_rng(0).integers(1, 6, len(p))
    known = list(all_parent_sets(3))
    flat = [known[k] for k in range(len(p)) for _ in range(copies[k])]
    logs = np.concatenate([[math.log(p[k] / copies[k])] * copies[k] for k in range(len(p))])
    found = shares(draws_of([flat], logs[None]), len(flat), three_nodes)
    assert found == pytest.approx(p)
    assert divergence(found, p) == pytest.approx(0, abs=1e-12)
    assert divergence(copies / copies.sum(), p) > 0.1


def test_divergence_by_hand() -> None:
    q, p = np.array([0.5, 0.5, 0.0]), np.array([0.9, 0.05, 0.05])
    assert divergence(q, p) == pytest.approx(0.5 * math.log(0.5 / 0.9) + 0.5 * math.log(10))
    assert divergence(p, p) == 0


def test_the_floor_is_that_of_independent_draws() -> None:
    """2 M KL is nearly chi-squared with (number of graphs − 1) degrees of freedom."""
    p = np.full(25, 1 / 25)
    low, high = floor(p, [500, 5000], seed=1, repeats=200)
    assert low == pytest.approx(24 / 1000, rel=0.12)
    assert high == pytest.approx(24 / 10_000, rel=0.12)
