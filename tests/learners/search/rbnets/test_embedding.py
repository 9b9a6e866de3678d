"""Vectors from random walks."""

import numpy as np
import pytest

from dagora.graph.knowledge import Knowledge
from dagora.learners.search.rbnets.embedding import (
    DIMENSIONS,
    WINDOW,
    random_walks,
    skip_grams,
    walk_embedding,
)
from dagora.learners.search.rbnets.environment import OrderGraph
from tests.learners.search.order.order_oracles import random_candidates


def test_walks_place_one_legal_variable_at_a_time():
    candidates = random_candidates(np.random.default_rng(0), 5, density=1.0)
    graph = OrderGraph.of(candidates.obeying(Knowledge(required=[("x4", "x0")])))
    walks = random_walks(graph, 200, np.random.default_rng(1))
    assert walks.shape == (200, 6, 5)
    assert (walks.sum(axis=2) == np.arange(6)).all()
    assert (walks[:, 1:] >= walks[:, :-1]).all()
    assert (walks[:, :, 4] >= walks[:, :, 0]).all(), "x4 stands before x0 on every walk"
    assert set(walks[:, 1].argmax(axis=1)) == {1, 2, 3, 4}


def test_skip_grams_are_near_on_one_walk():
    graph = OrderGraph.of(random_candidates(np.random.default_rng(0), 8))
    walks = random_walks(graph, 20, np.random.default_rng(1))
    states = walks.reshape(-1, 8).astype(int)
    centres, contexts = (states[rows] for rows in skip_grams(20, 9, np.random.default_rng(2)))
    near = contexts[:, 0]
    apart = np.abs(centres.sum(axis=1) - near.sum(axis=1))
    assert apart.max() <= WINDOW
    nested = (centres >= near).all(axis=1) | (centres <= near).all(axis=1)
    assert nested.all(), "states of one walk contain each other"


@pytest.mark.full
def test_states_near_each_other_get_alike_vectors():
    """After fitting, a state's vector is closer to its successors' on a walk than to random states'."""
    graph = OrderGraph.of(random_candidates(np.random.default_rng(0), 8))
    first = np.asarray(walk_embedding(graph, np.random.default_rng(3)), dtype=np.float64)
    again = np.asarray(walk_embedding(graph, np.random.default_rng(3)))
    assert first.shape == (8, DIMENSIONS)
    assert (first == again).all()
    walks = random_walks(graph, 200, np.random.default_rng(4)) @ first
    here, after = walks[:, 4], walks[:, 5]
    strangers = walks[::-1, 5]
    assert np.linalg.norm(here - after, axis=1).mean() < np.linalg.norm(here - strangers, axis=1).mean()
    assert np.isclose(walks.std(), 1.0, rtol=0.2)
