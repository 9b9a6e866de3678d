"""Relocations that draw a node's place: the log score of every place is that of the whole state there."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dagora.graph.knowledge import Knowledge
from dagora.kernels.random import random_state
from dagora.learners.run import Run
from dagora.posterior.chains.order_relocation import position_scores, relocate_anywhere, take_out
from dagora.posterior.chains.partition_relocation import (
    KINDS_OF_SIGHT,
    leave_block,
    place_scores,
    relocate_to_any_block,
)
from dagora.posterior.space.family_tables import family_tables
from dagora.posterior.space.lookup import Lookup, lookup_of, sum_before, sum_in_block
from dagora.posterior.space.priors import prior_named
from dagora.posterior.space.space import Space
from tests.posterior.oracle import RandomScore, ordered_partitions

NODES = 5
SPACES = {
    "full": Space.full(NODES),
    "plus-one": Space.plus_one([(1, 2), (0, 3), (), (1, 2, 4), (0,)], ""),
    # Node 2 can be no parent of node 0, and node 0 none of node 2.
    "narrow": Space(((1,), (0, 3), (), (1, 2, 4), (0,)), ((3, 4), (2,), (1,), (), (2, 3)), ""),
}
# With the last spread scaled sums lose their digits, and the careful ones are used.
SPREADS = (1.0, 30.0, 400.0)


def lookup_with(space: str, spread: float, knowledge: Knowledge | None = None) -> Lookup:
    score = RandomScore(NODES, spread, seed=3)
    run = Run(knowledge or Knowledge())
    return lookup_of(family_tables(score, SPACES[space], prior_named("uniform"), run))


def order_sums(lookup: Lookup, places: np.ndarray) -> np.ndarray:
    return np.array([sum_before(lookup, i, places, int(places[i])) for i in range(len(places))])


def partition_sums(lookup: Lookup, labels: np.ndarray) -> np.ndarray:
    return np.array([sum_in_block(lookup, i, labels) for i in range(len(labels))])


def assert_same_scores(found: np.ndarray, expected: np.ndarray) -> None:
    # Scores far below the highest are never drawn, and need not be exact.
    near = expected > expected.max() - 45
    assert found[near] == pytest.approx(expected[near], abs=1e-6)
    assert (found[~near] < expected.max() - 40).all()


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("space", SPACES)
def test_every_position_has_the_log_score_of_the_order_there(space: str, spread: float) -> None:
    lookup = lookup_with(space, spread)
    for start in itertools.permutations(range(NODES)):
        for old, node in enumerate(start):
            order = np.array(start)
            places = np.argsort(order)
            values = order_sums(lookup, places)
            if not np.isfinite(values).all():
                continue
            others = [other for other in start if other != node]
            expected = []
            for position in range(NODES):
                there = np.argsort([*others[:position], node, *others[position:]])
                expected.append(order_sums(lookup, there).sum())
            take_out(order, places, old)
            room = np.empty((3, NODES))
            highest = position_scores(lookup, places, values, order, old, room)
            assert highest == pytest.approx(max(expected), abs=1e-6)
            assert_same_scores(room[2], np.array(expected))


def relabelled(labels: tuple[int, ...], node: int, place: int) -> np.ndarray:
    """The partition with the node at a place among the blocks of the others."""
    others = sorted({label for i, label in enumerate(labels) if i != node})
    marks = [2 * others.index(label) + 1 if i != node else place for i, label in enumerate(labels)]
    return np.unique(marks, return_inverse=True)[1].astype(np.int64)


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("space", SPACES)
def test_every_place_has_the_log_score_of_the_partition_there(space: str, spread: float) -> None:
    lookup = lookup_with(space, spread)
    looked_at = 0
    for start in ordered_partitions(NODES):
        values = partition_sums(lookup, np.array(start))
        if not np.isfinite(values).all():
            continue
        for node in range(NODES):
            labels = np.array(start)
            old, rest = leave_block(labels, node, max(start) + 1)
            expected = np.array(
                [
                    partition_sums(lookup, relabelled(start, node, place)).sum()
                    for place in range(2 * rest + 1)
                ]
            )
            room = np.empty((KINDS_OF_SIGHT + 1, 2 * NODES + 2))
            highest = place_scores(lookup, labels, values, node, old, rest, room)
            assert highest == pytest.approx(expected.max(), abs=1e-6)
            assert expected[old] == pytest.approx(values.sum())
            assert_same_scores(room[KINDS_OF_SIGHT, : 2 * rest + 1], expected)
            looked_at += 1
    assert looked_at > 100


@pytest.mark.parametrize("spread", [0.5, 30.0])
def test_steps_leave_states_as_they_should_be(spread: float) -> None:
    """Places, orders and sums stay in step with each other, with required and forbidden edges too."""
    lookup = lookup_with("plus-one", spread, Knowledge(required=[("x1", "x0")], forbidden=[("x2", "x3")]))
    random = random_state(1)
    order = np.array([1, 0, 2, 3, 4])
    places = np.argsort(order)
    values = order_sums(lookup, places)
    moves = 0
    for _ in range(300):
        moves += relocate_anywhere(lookup, places, values, random, order, np.empty((3, NODES)))
        assert (places[order] == np.arange(NODES)).all()
        assert (values == order_sums(lookup, places)).all()
        assert np.isfinite(values).all()
    assert moves > 10
    labels = np.array([1, 0, 0, 0, 0])
    values = partition_sums(lookup, labels)
    blocks, seen = 2, set()
    for _ in range(300):
        room = np.empty((KINDS_OF_SIGHT + 1, 2 * NODES + 2))
        blocks = relocate_to_any_block(lookup, labels, values, blocks, random, room)
        assert sorted(set(labels.tolist())) == list(range(blocks))
        assert (values == partition_sums(lookup, labels)).all()
        assert np.isfinite(values).all()
        seen.add(tuple(labels.tolist()))
    assert len(seen) > 3
