"""Bounds against the optimum by enumeration, and against proven optima."""

import numpy as np
import pytest

from dagora.base.budget import Budget
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.candidates.jkl import read_jkl
from dagora.learners.run import Run
from dagora.learners.search.components import LocalProblem
from dagora.learners.search.rbnets import improved
from dagora.learners.search.rbnets.improved import upper_bound
from tests.learners.search.order.order_oracles import best_of_all, random_candidates


@pytest.mark.parametrize("seed", range(6))
def test_small_problems_are_solved(seed):
    candidates = random_candidates(np.random.default_rng(seed), 6)
    assert upper_bound(candidates, Run()) == pytest.approx(best_of_all(candidates))


@pytest.mark.parametrize("seed", range(6))
def test_groups_bound_from_above(seed, monkeypatch):
    candidates = random_candidates(np.random.default_rng(seed), 6)
    monkeypatch.setattr(improved, "EXACT", 1)
    monkeypatch.setattr(improved, "GROUP", 3)
    bound = upper_bound(candidates, Run())
    assert best_of_all(candidates) - 1e-9 <= bound <= LocalProblem.whole(candidates).bound + 1e-9


def test_without_time_or_beyond_a_word_everybody_gets_the_best():
    candidates = random_candidates(np.random.default_rng(0), 6)
    budget = Budget()
    budget.stop("no time")
    assert upper_bound(candidates, Run(budget=budget)) == pytest.approx(LocalProblem.whole(candidates).bound)
    size = 70
    ring = Candidates.of(
        [f"x{x}" for x in range(size)], [[((), -2.0), (((x + 1) % size,), -1.0)] for x in range(size)]
    )
    assert upper_bound(ring, Run()) == -70.0


def test_a_real_problem(data_dir):
    candidates = read_jkl(data_dir / "scores" / "water_500c.jkl")
    assert upper_bound(candidates, Run()) == pytest.approx(-6785.3185, abs=1e-4)
