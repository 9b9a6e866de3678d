"""Moves along an order, against coordinate descent and against trying every place with every column solved anew."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.learners.optimise.path.column_problem import residual_variance
from dagora.learners.optimise.path.exact_moves import ExactMoves
from dagora.learners.optimise.path.order_moves import find_places, reinsert
from dagora.learners.optimise.path.smooth_path import CUTS
from dagora.learners.optimise.path.workers import ColumnWorkers
from tests.learners.optimise.optimise_oracles import plain_lasso, violation
from tests.learners.optimise.order_oracles import (
    FreshSolves,
    check_state,
    obeying_orders,
    obeys,
    random_obeying,
    random_program,
    state_of,
)

KINDS = [
    pytest.param({"lambda1": 0.0}, id="no-penalty"),
    pytest.param({"lambda1": 0.1}, id="penalty"),
    pytest.param({"lambda1": 1.0, "known": True}, id="known"),
    pytest.param({"lambda1": 0.1, "known": True}, id="known-light"),
    pytest.param({"lambda1": 0.1, "rows": 4}, id="few-rows"),
    pytest.param({"lambda1": 0.05, "profile": True}, id="profile"),
    pytest.param({"lambda1": 0.05, "profile": True, "known": True}, id="profile-known"),
    # Without knowledge all orders would be equal.
    pytest.param({"lambda1": 0.0, "profile": True, "known": True}, id="profile-no-penalty"),
]


def move(program, state, x, tolerance=1e-9):
    before = state.objective
    gained = ExactMoves(program.column_problem, state)(np.array([x]), tolerance, 0) == 0
    return before - state.objective if gained else 0.0


def descend(problem, state, sequence, tolerance, idle):
    return ExactMoves(problem, state)(sequence, tolerance, idle)


def test_residual_variance():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 5)) @ rng.normal(size=(5, 5))
    weights = np.array([0.3, 0.0, -2.0, 0.0, 1.0])
    expected = np.mean((rows[:, 1] - rows @ weights) ** 2)
    assert residual_variance(rows.T @ rows / 50, 1, weights) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("lambda1", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_an_order_is_one_lasso_per_column(seed, lambda1):
    rng = np.random.default_rng(seed)
    program = random_program(rng, 6, lambda1, known=seed > 0)
    order = random_obeying(rng, program)
    begin = None if seed == 0 else rng.normal(size=(6, 6)) * (rng.random((6, 6)) < 0.5)
    state = state_of(program, order, begin)
    _, columns, _, losses, _ = state
    for p, y in enumerate(order):
        parents = [i for i in order[:p] if program.allowed[i, y]]
        gram = program.moments[np.ix_(parents, parents)]
        expected = plain_lasso(gram, program.moments[parents, y], lambda1) if parents else np.zeros(0)
        np.testing.assert_allclose(columns[y][parents], expected, atol=1e-7)
        assert np.count_nonzero(columns[y]) <= len(parents)
    weights = columns.T.copy()
    assert losses.sum() == pytest.approx(program.objective(weights), rel=1e-12)
    check_state(program, state)


@pytest.mark.parametrize("lambda1", [0.0, 0.02, 0.2])
@pytest.mark.parametrize("seed", range(3))
def test_a_profiled_column_is_stationary(seed, lambda1):
    """Its residual variance is divided out of the slope, and differences of the objective confirm the slope."""
    rng = np.random.default_rng(seed)
    program = random_program(rng, 6, lambda1, profile=True)
    order = rng.permutation(6)
    state = state_of(program, order)
    _, columns, gradients, losses, penalties = state
    for p, y in enumerate(order):
        before = order[:p]
        left = residual_variance(program.moments, y, columns[y])
        assert losses[y] == pytest.approx(0.5 * np.log(left) + lambda1 * np.abs(columns[y]).sum())
        assert penalties[y] == pytest.approx(lambda1 * left, rel=1e-8)
        assert violation(columns[y][before], gradients[y][before] / left, lambda1).max(initial=0.0) < 1e-6
        for i in before:
            for step in (-1e-3, 1e-3):
                other = columns[y].copy()
                other[i] += step
                worse = 0.5 * np.log(residual_variance(program.moments, y, other))
                assert worse + lambda1 * np.abs(other).sum() >= losses[y] - 1e-12


@given(
    st.integers(1, 8).flatmap(lambda d: st.tuples(*[st.integers(0, d - 1)] * 2, st.permutations(range(d))))
)
@settings(max_examples=60)
def test_reinsert_is_pop_and_insert(drawn):
    position, place, order = drawn
    moved = np.array(order)
    reinsert(moved, position, place)
    order = list(order)
    order.insert(place, order.pop(position))
    assert moved.tolist() == order


@pytest.mark.parametrize("seed", range(30))
def test_places_are_those_that_keep_required_edges_forward(seed):
    rng = np.random.default_rng(seed)
    program = random_program(rng, 7, 0.1, known=True)
    order = random_obeying(rng, program)
    for x in range(7):
        position, lowest, highest = find_places(program.column_problem, order, x)
        assert order[position] == x
        for place in range(7):
            moved = order.copy()
            reinsert(moved, position, place)
            assert obeys(moved, program.required) == (lowest <= place <= highest)


@pytest.mark.parametrize("kind", KINDS)
def test_the_best_place_is_the_best_of_all_places(kind):
    moved = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        d = int(rng.integers(2, 8))
        program = random_program(rng, d, **kind)
        fresh = FreshSolves(program)
        state = state_of(program, random_obeying(rng, program))
        for x in rng.permutation(d):
            before = fresh.order(state[0])
            best = min(value for _, value in fresh.moves(state[0], x))
            gain = move(program, state, int(x))
            after = fresh.order(state[0])
            assert after == pytest.approx(best, rel=1e-7, abs=1e-7)
            assert state[3].sum() == pytest.approx(after, rel=1e-8, abs=1e-8)
            assert gain == pytest.approx(before - after, rel=1e-7, abs=1e-7)
            assert (gain > 0) == (best < before - 1e-9) or abs(before - best) < 1e-8
            assert obeys(state[0], program.required)
            moved += gain > 0
    assert moved > 15


@pytest.mark.full
@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("known", [pytest.param(False, marks=pytest.mark.slow), True])
def test_with_a_threshold_places_are_judged_by_what_it_leaves(known, cut):
    moved, differs = 0, 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        program = random_program(rng, 6, 0.1, known=known)
        thresholded, full = FreshSolves(program, 0.5, cut), FreshSolves(program)
        problem = program.thresholded_problem(0.5, cut)
        state = state_of(program, random_obeying(rng, program), problem=problem)
        moves = ExactMoves(problem, state)
        for x in map(int, rng.permutation(6)):
            places = thresholded.moves(state.order, x)
            best = min(value for _, value in places)
            differs += full.order(min(places, key=lambda place: place[1])[0]) > min(
                value + 1e-6 for _, value in full.moves(state.order, x)
            )
            moved += moves(np.array([x]), 1e-9, 0) == 0
            assert thresholded.order(state.order) == pytest.approx(best, rel=1e-7, abs=1e-7)
            assert state.objective == pytest.approx(best, rel=1e-7, abs=1e-7)
        again = state_of(program, state.order)
        np.testing.assert_allclose(
            state.columns, again.columns, atol=1e-9, err_msg="solved, weak weights and all"
        )
        np.testing.assert_allclose(state.gradients, again.gradients, atol=1e-9)
    assert moved > 8
    assert differs > 0, "the threshold never mattered"


@pytest.mark.parametrize("kind", KINDS)
def test_after_a_descent_no_move_gains(kind):
    for seed in range(20):
        rng = np.random.default_rng(100 + seed)
        program = random_program(rng, 7, **kind)
        state = state_of(program, random_obeying(rng, program))
        started, idle = state[3].sum(), 0
        sequence = rng.permutation(7)
        while idle < 7:
            idle = descend(program.column_problem, state, sequence, 1e-9, idle)
        assert state[3].sum() <= started
        check_state(program, state)
        fresh = FreshSolves(program)
        reached = fresh.order(state[0])
        for x in range(7):
            assert min(value for _, value in fresh.moves(state[0], x)) >= reached - 1e-7


def test_descents_from_every_order_never_beat_the_best_order():
    program = random_program(np.random.default_rng(5), 5, 0.1, known=True)
    fresh = FreshSolves(program)
    orders = obeying_orders(program)
    best = min(fresh.order(order) for order in orders)
    reached = []
    for order in orders:
        state = state_of(program, order)
        descend(program.column_problem, state, np.tile(np.arange(5), 20), 1e-9, 0)
        reached.append(state[3].sum())
    assert min(reached) == pytest.approx(best, rel=1e-9)
    assert min(reached) >= best * (1 - 1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_many_moves_leave_a_solution(kind):
    rng = np.random.default_rng(9)
    program = random_program(rng, 12, **{**kind, "rows": 40})
    state = state_of(program, random_obeying(rng, program))
    descend(program.column_problem, state, rng.integers(0, 12, 150), 1e-12, 0)
    check_state(program, state)


def test_idle_counts_on_and_ends_the_descent():
    rng = np.random.default_rng(3)
    program = random_program(rng, 5, 0.1)
    state = state_of(program, np.arange(5))
    while descend(program.column_problem, state, np.arange(5), 1e-9, 0) < 5:
        pass
    before = [part.copy() for part in state]
    assert descend(program.column_problem, state, np.array([2]), 1e-9, 3) == 4
    assert descend(program.column_problem, state, np.array([2, 1, 0]), 1e-9, 3) == 5
    assert all(np.array_equal(a, b) for a, b in zip(before, state, strict=True)), (
        "nothing gained, nothing moved"
    )


@pytest.mark.parametrize("kind", [{"lambda1": 0.1}, {"lambda1": 0.05, "profile": True, "known": True}])
@pytest.mark.parametrize("threshold", [0.0, 0.3])
def test_threads_make_the_same_moves(kind, threshold):
    """Variables are judged ahead; whoever comes after a move is judged anew."""
    ends = []
    for jobs in (1, 2, 5):
        rng = np.random.default_rng(7)
        program = random_program(rng, 12, **kind)
        problem = program.thresholded_problem(threshold, "guarded")
        state = state_of(program, random_obeying(rng, program), problem=problem)
        with ColumnWorkers(jobs) as workers:
            moves = ExactMoves(problem, state, workers)
            idles = [moves(rng.permutation(12), 1e-9, 0) for _ in range(4)]
        ends.append((idles, *state))
    assert ends[0][0][0] < 12, "somebody moved"
    for other in ends[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(ends[0], other, strict=True))


@pytest.mark.parametrize("kind", [{"lambda1": 0.1}, {"lambda1": 0.3, "known": True}])
@pytest.mark.parametrize("threshold", [0.0, 0.3])
def test_what_is_kept_is_what_would_be_solved(kind, threshold):
    kept = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        program = random_program(rng, 9, **kind)
        problem = program.thresholded_problem(threshold, "guarded")
        state = state_of(program, random_obeying(rng, program), problem=problem)
        moves = ExactMoves(problem, state)
        for _ in range(3):
            moves(rng.permutation(9), 1e-9, 0)
            fresh = ExactMoves(problem, state)
            for x in range(9):
                fresh.evaluate(x, 1e-9)
            valid = (moves.known.made == moves.known.versions) & (fresh.known.made == 1)
            np.testing.assert_array_equal(moves.known.savings[valid], fresh.known.savings[valid])
            kept += np.count_nonzero(moves.known.savings[valid])
    assert kept > 100


def test_a_large_tolerance_moves_nothing():
    program = random_program(np.random.default_rng(4), 6, 0.1)
    state = state_of(program, np.argsort(-np.diag(program.moments)))
    gains = [move(program, state.copy(), x, 1e-9) for x in range(6)]
    assert max(gains) > 0
    assert [move(program, state, x, max(gains) * (1 + 1e-9)) for x in range(6)] == [0.0] * 6


@pytest.mark.parametrize("profile", [False, True])
def test_a_move_that_gains_nothing_is_taken_back(profile):
    """To the last bit, and what is kept stays valid: so moves come to an end."""
    rng = np.random.default_rng(3)
    program = random_program(rng, 8, 0.1, profile=profile)
    problem = program.column_problem
    state = state_of(program, rng.permutation(8), problem=problem)
    moves = ExactMoves(problem, state)
    while moves(np.arange(8), 1e-9, 0) < 8:
        pass
    before, versions, refused = state.copy(), moves.known.versions.copy(), 0
    for x in range(8):
        for place in range(8):
            if state.order[place] != x:
                refused += not moves.move(x, place)
                if any((mine != theirs).any() for mine, theirs in zip(state, before, strict=True)):
                    assert state.objective < before.objective, "it gained after all"
                    return
    assert refused == 56
    assert (moves.known.versions == versions).all()
