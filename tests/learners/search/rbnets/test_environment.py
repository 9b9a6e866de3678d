"""The order graph: rewards and legal actions against plain loops over the listed sets."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.graph.knowledge import Knowledge
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.search.rbnets.environment import REWARD_A_STEP, OrderGraph
from tests.learners.search.order.order_oracles import best_of_order, random_candidates


def fitting(candidates, x, placed):
    sets = candidates.sets[x]
    return [v for p, v in zip(sets.parents, sets.scores.tolist(), strict=True) if set(p) <= placed]


def without_empty_sets(candidates, children):
    """The same, but some children need a parent."""
    listed = []
    for sets in candidates:
        pairs = list(zip(sets.parents, sets.scores.tolist(), strict=True))
        listed.append([pair for pair in pairs if pair[0] or sets.child not in children])
    return Candidates.of(candidates.names, listed)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(2, 6), st.booleans())
def test_every_step_of_a_walk(seed, size, needy):
    rng = np.random.default_rng(seed)
    candidates = random_candidates(rng, size, density=1.0)
    if needy:
        candidates = without_empty_sets(candidates, set(range(1, size)))
    graph = OrderGraph.of(candidates)
    episodes = 3
    states = graph.start(episodes)
    placed = [set() for _ in range(episodes)]
    for _ in range(size):
        legal = graph.legal(states)
        expected = [
            [x not in placed[e] and bool(fitting(candidates, x, placed[e])) for x in range(size)]
            for e in range(episodes)
        ]
        assert legal.tolist() == expected
        assert legal.any(axis=1).all(), "no dead end"
        actions = np.array([rng.choice(np.flatnonzero(row)) for row in legal])
        scores = [max(fitting(candidates, x, placed[e])) for e, x in enumerate(actions)]
        assert graph.step(states, actions).tolist() == scores
        for e, x in enumerate(actions):
            placed[e].add(int(x))
        assert [set(np.flatnonzero(row)) for row in graph.members(states)] == placed
    assert not graph.legal(states).any()


def test_rewards_rank_orders_as_scores_do():
    candidates = random_candidates(np.random.default_rng(3), 4)
    graph = OrderGraph.of(candidates)
    shift = None
    for order in permutations(range(4)):
        states, total = graph.start(1), 0.0
        for x in order:
            action = np.array([x])
            total += float(graph.rewards(action, graph.step(states, action))[0])
        score = best_of_order(candidates, order)
        difference = score - graph.scale * total
        shift = difference if shift is None else shift
        assert difference == pytest.approx(shift)
    gains = [sets.scores[0] - graph.base[sets.child] for sets in candidates]
    assert np.sum(gains) / graph.scale == pytest.approx(4 * REWARD_A_STEP)


def test_raw_rewards_are_the_scores_of_equation_7():
    candidates = random_candidates(np.random.default_rng(3), 4)
    graph = OrderGraph.of(candidates, "raw")
    for order in permutations(range(4)):
        states, placed, total = graph.start(1), set(), 0.0
        for x in order:
            action = np.array([x])
            reward = float(graph.rewards(action, graph.step(states, action))[0])
            assert reward == max(fitting(candidates, x, placed))
            placed.add(x)
            total += reward
        assert total == pytest.approx(best_of_order(candidates, order))


def test_the_base_is_the_empty_set_even_where_worse_sets_are_listed():
    listed = [[((), -3.0), ((1,), -9.0), ((2,), -1.0)], [((0,), -4.0), ((2,), -6.0)], [((), -1.0)]]
    graph = OrderGraph.of(Candidates.of("abc", listed))
    assert graph.base.tolist() == [-3.0, -6.0, -1.0]


def test_sets_beyond_64_variables():
    size = 130
    listed = [
        [((), -5.0)] if x == 0 else [((), -5.0), ((x - 1,), -2.0), ((0, x - 1), -1.0)] for x in range(size)
    ]
    listed[1] = [((), -5.0), ((0,), -1.0)]
    graph = OrderGraph.of(Candidates.of([f"x{x}" for x in range(size)], listed))
    states = graph.start(1)
    for x in [0, *range(size - 1, 100, -1), *range(1, 101)]:
        gained = float(graph.step(states, np.array([x]))[0])
        assert gained == (-5.0 if x == 0 or x > 100 else -1.0)
    assert graph.members(states).all()


def test_nothing_to_gain():
    graph = OrderGraph.of(Candidates.of("ab", [[((), -1.0)], [((), -2.0)]]))
    states = graph.start(1)
    assert graph.scale == 1.0
    assert graph.rewards(np.array([1]), graph.step(states, np.array([1]))).tolist() == [0.0]


def test_required_edges_make_actions_illegal():
    candidates = random_candidates(np.random.default_rng(0), 4, density=1.0)
    chain = Knowledge(required=[("x3", "x2"), ("x2", "x1"), ("x1", "x0")])
    graph = OrderGraph.of(candidates.obeying(chain))
    states = graph.start(1)
    for x in (3, 2, 1, 0):
        assert np.flatnonzero(graph.legal(states)[0]).tolist() == [x]
        graph.step(states, np.array([x]))
