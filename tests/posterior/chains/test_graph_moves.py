"""Changes of single edges leave the law of partitions as it is, and reach every permitted graph."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from dagora.graph.knowledge import Knowledge
from dagora.kernels.random import random_state
from dagora.learners.run import Run
from dagora.posterior.chains.graph_moves import blocks_of, family_weight, is_ancestor, rewire
from dagora.posterior.chains.partition_mcmc import partition_mcmc
from dagora.posterior.space.family_tables import family_tables
from dagora.posterior.space.lookup import lookup_of, sum_in_block
from dagora.posterior.space.priors import prior_named
from dagora.posterior.space.space import Space
from tests.posterior.oracle import (
    RandomScore,
    drawn_edges,
    edge_matrix,
    family_weights,
    graphs,
    members,
    partition_of,
    posterior,
)


def rows_of(graph: tuple[int, ...]) -> np.ndarray:
    return np.array(graph, dtype=np.uint64)[:, None]


def test_blocks_and_ancestors_are_those_of_the_graph() -> None:
    for graph in graphs(4):
        rows = rows_of(graph)
        assert tuple(blocks_of(rows)) == partition_of(graph)
        reach = np.linalg.matrix_power(
            np.eye(4) + [[graph[j] >> i & 1 for j in range(4)] for i in range(4)], 4
        )
        for i in range(4):
            for j in range(4):
                assert is_ancestor(rows, i, j) == (i != j and reach[i, j] > 0)


def test_the_weight_of_a_family_is_found_in_the_table_or_there_is_none() -> None:
    score = RandomScore(5, 1.0)
    space = Space((*[(1, 2)] * 1, (0,), (), (0, 1), (3,)), ((3,), (2, 3), (0, 1), (), (0,)), "some")
    lookup = lookup_of(family_tables(score, space, prior_named("uniform"), Run()))
    for child in range(5):
        core, extra = set(space.cores[child]), set(space.extras[child])
        for mask in range(32):
            if mask >> child & 1:
                continue
            beyond = set(members(mask)) - core
            inside = len(beyond) <= 1 and beyond <= extra
            expected = score.families([(child, members(mask))])[0] if inside else -math.inf
            assert family_weight(lookup, child, np.array([mask], dtype=np.uint64)) == expected


@pytest.mark.parametrize(("changes", "error"), [(3, 0.02), (8, 0.01)])
def test_partitions_keep_their_law_when_nothing_but_edges_is_changed(changes: int, error: float) -> None:
    score = RandomScore(4, 1.0, seed=11)
    space = Space.plus_one([(1, 2), (0,), (3,), ()], "")
    lookup = lookup_of(family_tables(score, space, prior_named("uniform"), Run()))
    permitted = family_weights(score, 4)
    for child, mask in list(permitted):
        if len(set(members(mask)) - set(space.cores[child])) > 1:
            del permitted[child, mask]
    law: Counter[tuple[int, ...]] = Counter()
    for graph, probability in posterior(permitted, 4).items():
        law[partition_of(graph)] += probability
    labels, random, graph = np.zeros(4, dtype=np.int64), random_state(3), np.zeros((4, 1), dtype=np.uint64)
    values = np.array([sum_in_block(lookup, i, labels) for i in range(4)])
    seen: Counter[tuple[int, ...]] = Counter()
    total = 40_000
    for _ in range(total):
        rewire(lookup, labels, values, random, graph, changes)
        seen[tuple(labels.tolist())] += 1
    assert set(seen) <= {labels for labels, probability in law.items() if probability > 0}
    assert max(abs(seen[labels] / total - probability) for labels, probability in law.items()) < error
    assert values == pytest.approx([sum_in_block(lookup, i, labels) for i in range(4)])


@pytest.mark.full
def test_knowledge_so_tight_that_partitions_are_far_apart_is_sampled_rightly() -> None:
    # Only x0 → x2 is open, and no partition lies between those with and without it.
    required = [("x0", "x1"), ("x2", "x3")]
    names = [f"x{i}" for i in range(4)]
    free = [("x0", "x2")]
    forbidden = [(a, b) for a in names for b in names if a != b and (a, b) not in required + free]
    known = Knowledge(required=required, forbidden=forbidden)
    score = RandomScore(4, 0.0)
    draws = partition_mcmc(score, Run(known, seed=1), draws=6000, chains=4)
    assert drawn_edges(draws)[0, 2] == pytest.approx(0.5, abs=0.04)
    weights = dict.fromkeys([(0, 0), (1, 1), (2, 0), (2, 1), (3, 4)], 0.0)
    assert np.allclose(drawn_edges(draws), edge_matrix(posterior(weights, 4), 4), atol=0.04)
