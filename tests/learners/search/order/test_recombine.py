"""Networks are combined region by region: never worse than the better one, never cyclic."""

import numpy as np
import pytest

from dagora.learners.candidates.candidates import Candidates
from dagora.learners.search.components import LocalProblem
from dagora.learners.search.order.recombine import combine, order_of, regions
from tests.learners.search.order.order_oracles import random_candidates

TOLERANCE = 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_never_worse_than_the_leader_and_never_cyclic(seed):
    rng = np.random.default_rng(seed)
    problem = LocalProblem.whole(random_candidates(rng, 9))
    for _ in range(20):
        one, other = (problem.choose(rng.permutation(9)) for _ in range(2))
        both = combine(problem, one, other, TOLERANCE)
        assert order_of(problem, both) is not None
        assert problem.scores[both].sum() >= problem.scores[one].sum() - TOLERANCE
        assert all(row in {a, b} for row, a, b in zip(both, one, other, strict=True))


def test_a_region_that_closes_a_cycle_is_left_alone():
    # a → b is better than no edge, b → a is better still: both together would be a cycle.
    sets = [[((), -3.0), ((1,), -1.0)], [((), -3.0), ((0,), -2.0)]]
    problem = LocalProblem.whole(Candidates.of("ab", sets))
    forward, backward = problem.choose(np.array([0, 1])), problem.choose(np.array([1, 0]))
    assert [region.tolist() for region in regions(problem, forward, backward)] == [[0, 1]]
    both = combine(problem, forward, backward, TOLERANCE)
    assert both.tolist() == backward.tolist()


def test_the_best_of_both_is_found_where_neither_search_had_it():
    pair = [((), -3.0)], [((), -3.0), ((0,), -1.0)]
    shifted = [((), -3.0)], [((), -3.0), ((2,), -1.0)]
    problem = LocalProblem.whole(Candidates.of("abcd", [*pair, *shifted]))
    left, right = problem.choose(np.array([0, 1, 3, 2])), problem.choose(np.array([1, 0, 2, 3]))
    assert problem.scores[left].sum() == problem.scores[right].sum() == -10.0
    assert problem.scores[combine(problem, left, right, TOLERANCE)].sum() == -8.0
