"""Sums over the families that an order or a partition permits, against adding them one by one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from dagora.kernels.random import random_state
from dagora.learners.run import Run
from dagora.posterior.space.family_draws import draw_family
from dagora.posterior.space.family_tables import family_tables
from dagora.posterior.space.lookup import lookup_of, sum_before, sum_in_block
from dagora.posterior.space.priors import prior_named
from dagora.posterior.space.space import Space
from tests.posterior.oracle import RandomScore, members

NODES = 6
SPACES = {
    "full": Space.full(NODES),
    "plus one": Space.plus_one([(1, 2, 5), (0,), (), (0, 1), (2, 3), (4,)], ""),
}
# Spreads of 1000 nats make quick sums run out of digits.
SPREADS = (0.0, 3.0, 40.0, 1000.0)


def families(space: Space, child: int) -> set[int]:
    """Permitted parents of a child, as bit masks."""
    found = set()
    core = sum(1 << j for j in space.cores[child])
    for mask in range(1 << NODES):
        beyond = mask & ~core
        if beyond == 0 or beyond in {1 << e for e in space.extras[child]}:
            found.add(mask)
    return found


def weights(
    space: Space, score: RandomScore, child: int, places: list[int], touching: bool
) -> dict[int, float]:
    """Log weights of the families that are asked for."""
    before = sum(1 << j for j in range(NODES) if places[j] < places[child])
    block = sum(1 << j for j in range(NODES) if places[j] == places[child] - 1)
    asked = [m for m in families(space, child) if m & ~before == 0]
    if touching and places[child] > 0:
        asked = [m for m in asked if m & block]
    return {m: score.families([(child, members(m))])[0] for m in asked}


def states(seed: int) -> list[np.ndarray]:
    """Random partitions, each label in use."""
    rng = np.random.default_rng(seed)
    return [
        np.unique(rng.integers(0, k, NODES), return_inverse=True)[1]
        for k in (1, 2, 3, 4, 6, 6)
        for _ in range(4)
    ]


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("spread", SPREADS)
def test_sums_are_those_of_the_single_families(space: str, spread: float) -> None:
    score = RandomScore(NODES, spread, seed=3, level=-500.0)
    lookup = lookup_of(family_tables(score, SPACES[space], prior_named("uniform"), Run()))
    rng = np.random.default_rng(0)
    for _ in range(20):
        order = rng.permutation(NODES)
        for child in range(NODES):
            expected = np.logaddexp.reduce(list(weights(SPACES[space], score, child, order, False).values()))
            assert sum_before(lookup, child, order, order[child]) == pytest.approx(expected, rel=1e-12)
    for labels in states(1):
        for child in range(NODES):
            asked = list(weights(SPACES[space], score, child, labels, True).values())
            expected = np.logaddexp.reduce(asked) if asked else -np.inf
            assert sum_in_block(lookup, child, labels) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("share", [1e-3, 1e-6, 1e-9, 1e-14, 1e-30])
def test_a_difference_keeps_its_digits_however_small_it_is(share: float) -> None:
    score = RandomScore(3, 0.0)
    score._values[2] = np.log(share)
    score._values[2, 0] = score._values[2, 1] = 0.0  # no parents, or x0 alone, outweigh what has x1 in it
    lookup = lookup_of(family_tables(score, Space.full(3), prior_named("uniform"), Run()))
    assert sum_in_block(lookup, 2, np.array([0, 1, 2])) == pytest.approx(np.log(2 * share), abs=1e-8)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("touching", [False, True])
def test_families_are_drawn_by_their_weight(space: str, touching: bool) -> None:
    score = RandomScore(NODES, 1.5, seed=4)
    lookup = lookup_of(family_tables(score, SPACES[space], prior_named("uniform"), Run()))
    random, row = random_state(7), np.zeros(1, dtype=np.uint64)
    places = np.array([2, 0, 1, 1, 0, 2] if touching else [4, 2, 0, 3, 1, 5])
    for child in (0, 5):
        asked = weights(SPACES[space], score, child, places, touching)
        total = (
            sum_in_block(lookup, child, places)
            if touching
            else sum_before(lookup, child, places, places[child])
        )
        drawn: Counter[int] = Counter()
        for _ in range(4000):
            value = draw_family(lookup, child, places, touching, total, random, row)
            drawn[int(row[0])] += 1
            assert value == pytest.approx(asked[int(row[0])])
        for mask, value in asked.items():
            p = np.exp(value - total)
            assert abs(drawn[mask] / 4000 - p) < 5 * np.sqrt(p * (1 - p) / 4000) + 1e-3
