"""Exact methods end, and agree with brute force, also where scores span many orders of magnitude."""

import time

import numpy as np
import pytest

from dagora.base.budget import Budget
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.run import Run
from dagora.learners.search.components import LocalProblem
from dagora.learners.search.exact.astar import astar
from dagora.learners.search.exact.dynamic import dynamic
from dagora.learners.search.exact.ilp import ilp
from dagora.learners.search.order.order_search import order_search
from tests.learners.search.exact.exact_oracles import best_of_graphs

SECONDS = 120.0  # kernels may have to be compiled first

# The scores of empty sets, and of all others: from −low to −high.
MAGNITUDES = [
    ((1e9, 2e9), (0.0, 1e-7)),
    ((1e9, 2e9), (0.0, 1.0)),
    ((1e3, 1e4), (1e-12, 1e-9)),
    ((1e-9, 1e9), (1e-9, 1e9)),
    ((1e300, 2e300), (1e290, 1e300)),
    ((1e-300, 2e-300), (0.0, 1e-300)),
    ((1.0, 1.0 + 1e-9), (1.0 - 1e-9, 1.0)),
]


def drawn(rng, low, high):
    """A number in a range; where the range spans magnitudes, its logarithm is uniform."""
    if low > 0 and high / low > 1e6:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))
    return float(rng.uniform(low, high))


def wild_lists(seed, size, empty, other, sets=12):
    rng = np.random.default_rng(seed)
    listed = []
    for child in range(size):
        others = [i for i in range(size) if i != child]
        own = {(): -drawn(rng, *empty)}
        for _ in range(sets):
            parents = rng.choice(others, size=int(rng.integers(1, 4)), replace=False)
            own[tuple(sorted(parents.tolist()))] = -drawn(rng, *other)
        listed.append(list(own.items()))
    return Candidates.of([f"x{i}" for i in range(size)], listed)


@pytest.mark.parametrize(("empty", "other"), MAGNITUDES)
@pytest.mark.parametrize(("size", "seed"), [(4, 0), (4, 1), (4, 2), (8, 3), (8, 4), (8, 5)])
def test_all_exact_methods_agree(empty, other, size, seed):
    candidates = wild_lists(seed, size, empty, other)
    optimum = best_of_graphs(candidates) if size == 4 else dynamic(candidates, Run()).score
    tie = LocalProblem.whole(candidates).tie(optimum)
    for method in (dynamic, astar, ilp):
        begun = time.process_time()
        found = method(candidates, Run(budget=Budget(SECONDS)))
        assert found.status == "optimal", method
        assert abs(found.score - optimum) <= 2 * tie, method
        assert time.process_time() - begun < SECONDS
    heuristic = order_search(candidates, Run(budget=Budget(SECONDS)), patience=500)
    assert heuristic.score <= optimum + tie
    assert heuristic.status in {"finished", "optimal"}


def test_ties_on_the_way_up_do_not_add_up():
    """Every step of dynamic programming may take a variable that loses less than a tie: in all, one tie."""
    size, step, own = 12, 0.9e-9, -1.0 / 12
    last = size - 1
    listed = [[((), own), (tuple(range(1, size)), own + 0.9e-3)]]  # the first and the last want each other
    listed += [[((), own), (tuple(range(x + 1, size)), own + step)] for x in range(1, last)]
    listed += [[((), own), ((0,), own + 1e-3)]]
    candidates = Candidates.of([f"x{i:02}" for i in range(size)], listed)
    best = -1.0 + 1e-3 + (last - 1) * step
    found = dynamic(candidates, Run())
    assert found.status == "optimal"
    assert best - 1.01e-9 <= found.score <= best + 1e-12
