"""Estimated moves: exact where nothing changes sign, undone without a trace, and never against required edges."""

import numpy as np
import pytest

from dagora.learners.optimise.path.column_problem import workspace_for
from dagora.learners.optimise.path.order_moves import reinsert
from dagora.learners.optimise.path.quick_moves import (
    SavingEstimates,
    check_move,
    descend_quickly,
    disturb,
    own_changes,
    prepare_savings,
)
from dagora.learners.optimise.path.smooth_path import PathProgram
from tests.learners.optimise.order_oracles import (
    FreshSolves,
    check_state,
    obeys,
    random_obeying,
    random_program,
    state_of,
)

KINDS = [
    pytest.param({"lambda1": 0.1}, id="penalty"),
    pytest.param({"lambda1": 0.0, "known": True}, id="no-penalty-known"),
    pytest.param({"lambda1": 0.3, "known": True}, id="penalty-known"),
    pytest.param({"lambda1": 0.1, "rows": 5}, id="few-rows"),
    pytest.param({"lambda1": 0.05, "profile": True, "known": True}, id="profile-known"),
]


def alike(rng, d, lambda1, *, profile=False):
    """Columns that are all correlated by about ½: every parent set has positive weights, whatever is in it."""
    moments = np.full((d, d), 0.5) + 0.02 * np.triu(rng.uniform(-1, 1, (d, d)), 1)
    moments = np.triu(moments, 1) + np.triu(moments, 1).T + np.eye(d)
    return PathProgram(moments, lambda1, ~np.eye(d, dtype=bool), np.zeros((d, d), dtype=bool), profile)


def savings_of(program, state):
    savings = np.full((len(program),) * 2, np.nan)
    prepare_savings(program.column_problem, state, savings)
    return savings


def own_changes_of(program, state, position):
    d = len(program)
    changes = np.full(d, np.nan)
    own_changes(program.column_problem, state, position, 0, d - 1, changes, workspace_for(d))
    return changes


def with_savings(program, state):
    """What the quick kernels take."""
    d = len(program)
    return program.column_problem, state, SavingEstimates(savings_of(program, state), np.empty((d, d)))


@pytest.mark.parametrize("lambda1", [0.0, 0.03, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_savings_are_exact_where_no_sign_changes(seed, lambda1):
    rng = np.random.default_rng(seed)
    program = alike(rng, 6, lambda1)
    fresh = FreshSolves(program)
    state = state_of(program, rng.permutation(6))
    savings = savings_of(program, state)
    for p, y in enumerate(state[0]):
        before = list(state[0][:p])
        assert (state[1][y][before] > 0).all(), "the construction"
        for x in range(6):
            if x == y:
                assert savings[y, x] == 0
                continue
            rest = [i for i in before if i != x]
            expected = fresh.column(y, rest) - fresh.column(y, [*rest, x])
            assert savings[y, x] == pytest.approx(expected, rel=1e-8)
            assert expected > 1e-4


@pytest.mark.parametrize("seed", range(3))
def test_savings_of_profiled_columns_are_shares_of_the_residual(seed):
    """Without penalty the residual r turns into r (1 ± 2 saving) exactly."""
    rng = np.random.default_rng(seed)
    program = alike(rng, 6, 0.0, profile=True)
    fresh = FreshSolves(program)
    state = state_of(program, rng.permutation(6))
    savings = savings_of(program, state)
    for p, y in enumerate(state[0]):
        before = list(state[0][:p])
        now = fresh.column(y, before)
        for x in set(range(6)) - {y}:
            if x in before:
                without = fresh.column(y, [i for i in before if i != x])
                assert without - now == pytest.approx(0.5 * np.log(1 + 2 * savings[y, x]), rel=1e-7)
            else:
                gained = now - fresh.column(y, [*before, x])
                assert gained == pytest.approx(-0.5 * np.log(1 - 2 * savings[y, x]), rel=1e-7)


@pytest.mark.parametrize(("lambda1", "profile"), [(0.0, False), (0.03, False), (0.1, False), (0.0, True)])
@pytest.mark.parametrize("seed", range(3))
def test_own_changes_are_exact_where_no_sign_changes(seed, lambda1, profile):
    rng = np.random.default_rng(seed)
    program = alike(rng, 6, lambda1, profile=profile)
    fresh = FreshSolves(program)
    order = rng.permutation(6)
    state = state_of(program, order)
    for position, x in enumerate(order):
        changes = own_changes_of(program, state, position)
        rest = [y for y in order if y != x]
        for place in range(6):
            expected = fresh.column(x, rest[:place]) - fresh.column(x, order[:position])
            assert changes[place] == pytest.approx(expected, rel=1e-7, abs=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_estimates_have_the_right_sign(kind):
    """Whatever changes sign: having more to choose from costs nothing."""
    rng = np.random.default_rng(0)
    program = random_program(rng, 8, **kind)
    state = state_of(program, random_obeying(rng, program))
    savings = savings_of(program, state)
    assert (savings >= 0).all()
    assert not savings[~program.allowed.T].any()
    for position in range(8):
        changes = own_changes_of(program, state, position)
        assert (changes[:position] >= 0).all()
        assert changes[position] == 0
        assert (changes[position + 1 :] <= 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_move_that_is_undone_leaves_no_trace(kind):
    rng = np.random.default_rng(1)
    program = random_program(rng, 7, **kind)
    state = state_of(program, random_obeying(rng, program))
    savings, kept = savings_of(program, state), np.empty((7, 7))
    before = [part.copy() for part in (*state, savings)]
    for position in range(7):
        for place in range(7):
            if place == position:
                continue
            estimates = SavingEstimates(savings, kept)
            gain = check_move(
                program.column_problem, state, estimates, position, place, np.inf, workspace_for(7)
            )
            assert gain == 0
            assert all(np.array_equal(a, b) for a, b in zip(before, (*state, savings), strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_the_gain_of_a_move_is_real(kind):
    tried = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        program = random_program(rng, 7, **kind)
        fresh = FreshSolves(program)
        start = state_of(program, random_obeying(rng, program))
        for _ in range(12):
            position, place = rng.choice(7, size=2, replace=False)
            moved = start[0].copy()
            reinsert(moved, position, place)
            if not obeys(moved, program.required):
                continue
            tried += 1
            state = start.copy()
            gain = check_move(*with_savings(program, state), position, place, -np.inf, workspace_for(7))
            assert np.array_equal(state[0], moved)
            assert gain == pytest.approx(fresh.order(start[0]) - fresh.order(moved), rel=1e-6, abs=1e-7)
    assert tried > 20


@pytest.mark.parametrize("kind", KINDS)
def test_hundreds_of_disturbances_leave_a_solution(kind):
    rng = np.random.default_rng(2)
    program = random_program(rng, 9, **kind)
    state = state_of(program, random_obeying(rng, program))
    arguments = with_savings(program, state)
    orders = set()
    for turn in range(300):
        variables = rng.choice(9, size=3, replace=False)
        heights = rng.random(3) if turn % 3 else np.array([0.0, np.nextafter(1.0, 0.0), 0.5])
        disturb(*arguments, variables, heights)
        assert obeys(state[0], program.required)
        orders.add(tuple(state[0]))
        if turn % 60 == 0:
            check_state(program, state, 1e-6)
    assert len(orders) > 50
    check_state(program, state, 1e-6)
    np.testing.assert_allclose(arguments[-1].savings, savings_of(program, state), rtol=1e-12, atol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_quick_descent_only_falls(kind):
    rng = np.random.default_rng(3)
    program = random_program(rng, 10, **kind)
    state = state_of(program, random_obeying(rng, program))
    arguments = with_savings(program, state)
    values, idle = [state[3].sum()], 0
    for x in np.tile(rng.permutation(10), 30):
        before = idle
        idle = descend_quickly(*arguments, np.array([x]), 1e-9, idle)
        values.append(state[3].sum())
        assert (values[-2] - values[-1] > 0.9e-9) == (idle == 0)
        assert idle in {0, before + 1}
        if idle >= 10:
            break
    assert idle == 10
    assert values[-1] < values[0]
    check_state(program, state, 1e-6)


def test_exact_estimates_find_the_best_place():
    """Without a sign that changes the quick move is the exact one."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        program = alike(rng, 6, 0.1)
        spread = rng.uniform(0.8, 1.3, 6)
        program = PathProgram(
            program.moments * np.outer(spread, spread), 0.05, program.allowed, program.required
        )
        fresh = FreshSolves(program)
        state = state_of(program, rng.permutation(6))
        for x in range(6):
            best = min(value for _, value in fresh.moves(state[0], x))
            descend_quickly(*with_savings(program, state), np.array([x]), 1e-9, 0)
            assert state[3].sum() == pytest.approx(best, rel=1e-9)
