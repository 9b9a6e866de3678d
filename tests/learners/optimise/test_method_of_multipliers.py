"""The outer loop of the augmented Lagrangian: its schedule, followed step by step, and how it ends."""

from itertools import pairwise

import numpy as np
import pytest

from dagora.learners.optimise.method_of_multipliers import Multipliers, ProblemMinimum, method_of_multipliers


def follow(values, **limits):
    """Run the loop on minimisations that end with given values of h; return the end and what was asked."""
    asked = []

    def minimise(point, at):
        asked.append((point, at))
        return ProblemMinimum(point + 1, values[len(asked) - 1], in_time=True)

    return method_of_multipliers(0, minimise, **limits), asked


def test_the_schedule_step_by_step():
    # Round 1 ends at once. In round 2, 0.3 is not a quarter of 1, so ρ grows; 0.25 is. Round 3 reaches the end.
    ended, asked = follow([1.0, 0.3, 0.25, 1e-9])
    assert [at for _, at in asked] == [
        Multipliers(alpha=0.0, rho=1.0, rounds=0),
        Multipliers(alpha=1.0, rho=1.0, rounds=1),
        Multipliers(alpha=1.0, rho=10.0, rounds=1),
        Multipliers(alpha=1.0 + 10.0 * 0.25, rho=10.0, rounds=2),
    ]
    assert [point for point, _ in asked] == [0, 1, 2, 3], "each minimisation starts where the last one ended"
    assert ended == (4, 1e-9, 3, True)


def test_a_small_h_ends_a_round_even_if_it_fell_by_less_than_three_quarters():
    ended, asked = follow([1e-4, 0.9e-4], h_tolerance=0.95e-4)
    assert len(asked) == ended.rounds == 2
    assert ended.h == 0.9e-4


def test_the_limit_of_rho_ends_it():
    ended, asked = follow([1.0] * 10, rho_max=1e3)
    assert [at.rho for _, at in asked] == [1.0, 1.0, 10.0, 100.0, 1e3]
    assert ended.rounds == 2
    assert ended.in_time


@pytest.mark.parametrize("stop", [0, 1, 3])
def test_out_of_time_the_last_point_is_returned_and_the_round_does_not_count(stop):
    seen = []

    def minimise(point, at):
        seen.append(at)
        return ProblemMinimum(point + 1, 0.5 ** len(seen), in_time=len(seen) <= stop)

    ended = method_of_multipliers(0, minimise)
    assert len(seen) == stop + 1
    assert ended == (stop + 1, 0.5 ** (stop + 1), seen[-1].rounds, False)


def test_it_solves_a_program_with_a_known_solution():
    """The point of the plane nearest to (2, 1) with h(w) = w₀w₁ = 0 on non-negative numbers is (2, 0)."""

    def minimise(point, at):
        w = np.array(point)
        for _ in range(2000):
            product = w[0] * w[1]
            slope = w - [2.0, 1.0] + (at.alpha + at.rho * product) * w[::-1]
            w = np.maximum(w - slope / (2 + at.alpha + at.rho * 8), 0.0)
        return ProblemMinimum(w, float(w[0] * w[1]), in_time=True)

    rhos = []
    ended = method_of_multipliers(
        np.array([1.0, 0.5]), lambda w, at: (rhos.append(at.rho), minimise(w, at))[1]
    )
    assert ended.h <= 1e-8
    assert ended.point == pytest.approx([2.0, 0.0], abs=1e-6)
    assert all(after in (before, 10 * before) for before, after in pairwise(rhos))
