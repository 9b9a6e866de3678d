"""What chance comes to: uniform legal orders, and one descent from each."""

from itertools import permutations

import numpy as np
import pytest

from dagora.base.errors import KnowledgeError
from dagora.graph.knowledge import Knowledge
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.candidates.jkl import read_jkl
from dagora.learners.search.rbnets.null_models import descended_orders, draw_orders, random_orders
from tests.learners.search.order.order_oracles import best_of_all, best_of_order, random_candidates


def test_random_orders_are_uniform():
    candidates = random_candidates(np.random.default_rng(0), 3)
    drawn = [tuple(order) for order in draw_orders(candidates, 6000, np.random.default_rng(1))]
    counts = [drawn.count(order) for order in permutations(range(3))]
    assert sum(counts) == 6000
    assert np.abs(np.array(counts) - 1000).max() < 150  # five standard deviations
    scores = random_orders(candidates, 6000, np.random.default_rng(1))
    assert scores.tolist() == pytest.approx([best_of_order(candidates, order) for order in drawn])


def test_a_descent_never_loses_and_nobody_beats_the_optimum():
    candidates = random_candidates(np.random.default_rng(2), 6)
    before = random_orders(candidates, 50, np.random.default_rng(3))
    after = descended_orders(candidates, 50, np.random.default_rng(3))
    assert after.shape == (50,)
    assert after.mean() > before.mean()
    assert after.min() >= before.min()
    assert after.max() == pytest.approx(best_of_all(candidates))


def test_required_edges_hold_in_every_order():
    candidates = random_candidates(np.random.default_rng(4), 4, density=1.0)
    chain = candidates.obeying(Knowledge(required=[("x3", "x1"), ("x1", "x0")]))
    for order in draw_orders(chain, 50, np.random.default_rng(5)).tolist():
        assert order.index(3) < order.index(1) < order.index(0)
    cyclic = Candidates.of("ab", [[((1,), -1.0)], [((0,), -1.0)]])
    with pytest.raises(KnowledgeError, match="'a', 'b'"):
        random_orders(cyclic, 3, np.random.default_rng(0))


def test_known_numbers(data_dir):
    """Best of 300 random orders is near −11831, one descent near −11554; the optimum is −11537.66."""
    candidates = read_jkl(data_dir / "scores" / "alarm_1000.jkl")
    rng = np.random.default_rng(0)
    best = [random_orders(candidates, 300, rng).max() for _ in range(10)]
    assert -11900 < np.median(best) < -11780
    descended = descended_orders(candidates, 100, rng)
    assert -11580 < np.median(descended) < -11540
    assert descended.max() <= -11537.6592
