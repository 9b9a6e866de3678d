"""The descent over orders, against the best of all orders and against every single move."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.base.budget import Budget
from dagora.learners.optimise.path import order_descent
from dagora.learners.optimise.path.order_descent import improve_order, obeying_order, solve_given_order
from dagora.learners.optimise.path.smooth_path import PathProgram
from dagora.learners.run import Run
from tests.learners.optimise.order_oracles import (
    FreshSolves,
    check_state,
    obeying_orders,
    obeys,
    random_obeying,
    random_program,
)

KINDS = [
    pytest.param({"lambda1": 0.1}, id="penalty"),
    pytest.param({"lambda1": 0.0, "rows": 20}, id="no-penalty"),
    pytest.param({"lambda1": 0.5, "known": True}, id="known"),
    pytest.param({"lambda1": 0.05, "profile": True}, id="profile"),
    pytest.param({"lambda1": 0.05, "profile": True, "known": True}, id="profile-known"),
]


def solved(program, order):
    return solve_given_order(program, order, np.zeros((len(program),) * 2))


def improved(program, order, *, disturbances=0, seed=0, run=None):
    solution = solved(program, order)
    tried, exact = improve_order(program, solution, run or Run(), np.random.default_rng(seed), disturbances)
    return solution, tried, exact


def state(solution):
    return solution.order, solution.columns, solution.gradients, solution.losses, solution.penalties


@pytest.mark.parametrize("kind", KINDS)
def test_no_single_move_gains_in_the_end(kind):
    for seed in range(25):
        rng = np.random.default_rng(seed)
        program = random_program(rng, 7, **kind)
        order = random_obeying(rng, program)
        fresh = FreshSolves(program)
        solution, tried, exact = improved(program, order, seed=seed)
        assert exact
        assert tried >= 14, "every variable, by estimates and exactly"
        check_state(program, state(solution), 1e-7)
        reached = fresh.order(solution.order)
        assert solution.objective == pytest.approx(reached, rel=1e-8, abs=1e-8)
        assert reached <= fresh.order(order) + 1e-9
        for x in range(7):
            assert min(value for _, value in fresh.moves(solution.order, x)) >= reached - 1e-7


@pytest.mark.parametrize("kind", KINDS)
def test_disturbances_reach_the_best_of_all_orders(kind):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        program = random_program(rng, 6, **kind)
        fresh = FreshSolves(program)
        best = min(fresh.order(order) for order in obeying_orders(program))
        solution, *_ = improved(program, random_obeying(rng, program), disturbances=20)
        assert solution.objective == pytest.approx(best, rel=1e-8, abs=1e-8)
        assert solution.objective >= best - 1e-8 * (1 + abs(best))


def test_disturbances_only_help():
    for seed in range(8):
        rng = np.random.default_rng(seed)
        program = random_program(rng, 9, 0.2)
        order = rng.permutation(9)
        values = [improved(program, order, disturbances=n)[0].objective for n in (0, 1, 5, 20)]
        assert all(late <= early * (1 + 1e-8) for early, late in pairwise(values))


@pytest.mark.parametrize("unit", [1e-7, 1e5])
def test_units_of_the_whole_table_change_nothing(unit):
    """Moments and penalty in other units: the same weights, however small the numbers."""
    program = random_program(np.random.default_rng(2), 8, 0.3)
    other = PathProgram(program.moments * unit**2, 0.3 * unit**2, program.allowed, program.required)
    order = np.argsort(-np.diag(program.moments))
    here, there = improved(program, order)[0], improved(other, order)[0]
    assert here.objective < 0.99 * solved(program, order).objective, "there is something to improve"
    assert np.array_equal(here.order, there.order)
    np.testing.assert_allclose(there.weights, here.weights, rtol=1e-6, atol=1e-9)
    assert there.objective == pytest.approx(here.objective * unit**2, rel=1e-9)


@pytest.mark.full  # kernels for hundreds of columns alone
def test_many_variables_are_judged_by_estimates_alone(monkeypatch):
    program = random_program(np.random.default_rng(1), 8, 0.1)
    solution, tried, exact = improved(program, np.arange(8))
    monkeypatch.setattr(order_descent, "EXACT_TO", 7)
    quick, fewer, not_exact = improved(program, np.arange(8))
    assert exact
    assert not not_exact
    assert fewer < tried
    assert quick.objective >= solution.objective - 1e-9
    assert quick.objective < solved(program, np.arange(8)).objective


def test_the_clock_ends_it_at_once():
    budget = Budget()
    budget.stop("interrupted")
    program = random_program(np.random.default_rng(1), 8, 0.1)
    solution, tried, _ = improved(program, np.arange(8), disturbances=10**9, run=Run(budget=budget))
    assert tried == 0
    assert np.array_equal(solution.order, np.arange(8))
    check_state(program, state(solution))


def test_stopped_halfway_it_keeps_the_best():
    program = random_program(np.random.default_rng(1), 10, 0.1)
    budget, scores = Budget(), []

    def watch(event):
        scores.append(event.score)
        if len(scores) == 30:
            budget.stop("interrupted")

    run = Run(budget=budget, on_event=watch)
    solution, *_ = improved(program, np.arange(10), disturbances=10**9, run=run)
    assert len(scores) == 30
    assert -solution.objective == pytest.approx(max(scores), rel=1e-12)
    check_state(program, state(solution), 1e-7)


def test_same_seed_same_bits():
    program = random_program(np.random.default_rng(1), 9, 0.1)
    one, two = (improved(program, np.arange(9), disturbances=5, seed=3)[0] for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(state(one), state(two), strict=True))


@pytest.mark.parametrize("memory", ["C", "F"])
def test_the_weights_to_start_from_stay_as_they_were(memory):
    rng = np.random.default_rng(0)
    program = random_program(rng, 5, 0.1)
    weights = np.array(rng.normal(size=(5, 5)), order=memory)
    before = weights.copy()
    solution = solve_given_order(program, np.arange(5), weights)
    assert np.array_equal(weights, before)
    np.testing.assert_allclose(solution.weights, solved(program, np.arange(5)).weights, atol=1e-9)
    assert not np.tril(solution.weights).any(), "[i, j] belongs to i → j"
    assert solution.objective == pytest.approx(program.objective(solution.weights), rel=1e-12)


def test_copies_stand_alone():
    program = random_program(np.random.default_rng(0), 5, 0.1)
    first, second = solved(program, np.arange(5)), solved(program, np.arange(5)[::-1])
    copy, columns = first.copy(), first.columns
    first.become(second)
    assert first.columns is columns, "kernels hold these arrays"
    assert all(np.array_equal(a, b) for a, b in zip(state(first), state(second), strict=True))
    assert all(
        np.array_equal(a, b) for a, b in zip(state(copy), state(solved(program, np.arange(5))), strict=True)
    )
    second.columns[:] = 7.0
    assert not (first.columns == 7.0).any()


@given(st.integers(0, 10**6), st.integers(2, 8))
@settings(max_examples=50)
def test_an_order_is_bent_to_obey_and_no_further(seed, d):
    rng = np.random.default_rng(seed)
    required = random_program(rng, d, 0.1, rows=10, known=True).required
    preference = rng.permutation(d)
    order = obeying_order(preference, required)
    assert sorted(order) == list(range(d))
    assert obeys(order, required)
    if obeys(preference, required):
        assert np.array_equal(order, preference)
    # Greedily the most preferred of those that may come next.
    left = list(preference)
    for x in order:
        assert x == next(i for i in left if not required[left, i].any())
        left.remove(x)


def test_a_circle_of_required_edges_is_a_mistake_of_the_caller():
    required = np.array([[False, True], [True, False]])
    with pytest.raises(ValueError, match="cycle"):
        obeying_order(np.arange(2), required)
